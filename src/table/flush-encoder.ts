/**
 * Turns the Arrow streams of a flush into Parquet files of bounded size, one at a time. A kernel
 * instance is borrowed for one file and given back before the file is stored.
 */

import type { EncodedFile, KernelInstance, ParquetOptions } from '../columnar/kernel-port.ts';
import type { Clock } from '../iceberg/ports.ts';
import type { Schema } from '../iceberg/spec/schema.ts';

/** Lends a kernel instance for as long as `action` runs; waits while all are out. */
export interface KernelLender {
  use<T>(action: (kernel: KernelInstance) => Promise<T>): Promise<T>;
}

export interface ParquetFile {
  readonly bytes: Uint8Array;
  readonly metrics: EncodedFile;
}

export interface FlushEncoderOptions {
  readonly schema: Schema;
  readonly parquet: ParquetOptions;
  /** A file is closed after the stream that takes it past this; it holds at least one. */
  readonly fileBytesMax: number;
}

export class FlushEncoder {
  readonly #kernels: KernelLender;
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(kernels: KernelLender, clock: Pick<Clock, 'sleep'>) {
    this.#kernels = kernels;
    this.#clock = clock;
  }

  /** `readStream` is called once for each of `streamCount` streams, in order, when its turn comes. */
  async *encode(
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    options: FlushEncoderOptions,
  ): AsyncIterable<ParquetFile> {
    let next = 0;
    while (next < streamCount) {
      const encoded = await this.#kernels.use((kernel) =>
        this.#encodeFile(kernel, next, streamCount, readStream, options),
      );
      next = encoded.next;
      yield { bytes: encoded.bytes, metrics: encoded.metrics };
    }
  }

  async #encodeFile(
    kernel: KernelInstance,
    first: number,
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    options: FlushEncoderOptions,
  ): Promise<ParquetFile & { readonly next: number }> {
    const chunks: Uint8Array[] = [];
    const encoder = kernel.createParquetEncoder(options.schema, options.parquet, (chunk) => {
      // A copy: the chunk may lie in the kernel's memory, which the next call overwrites.
      chunks.push(chunk.slice());
    });
    try {
      let next = first;
      do {
        encoder.append(readStream(next));
        next += 1;
        // Requests that came in meanwhile get their turn between two streams.
        await this.#clock.sleep(0);
      } while (next < streamCount && encoder.encodedBytes < options.fileBytesMax);
      const metrics = encoder.finish();
      return { bytes: drained(chunks), metrics, next };
    } finally {
      encoder.close();
    }
  }
}

/** One array of all chunks; each chunk is let go as soon as it is copied. */
function drained(chunks: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

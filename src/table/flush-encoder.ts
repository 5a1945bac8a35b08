/**
 * Turns the Arrow streams of a flush into Parquet files of bounded size: one after the other for an
 * unpartitioned table, one a partition otherwise. A kernel instance is borrowed for a round of
 * encoding and given back before what it made is stored.
 */

import type {
  EncodedFile,
  KernelLender,
  ParquetEncoder,
  ParquetOptions,
  PartitioningKernelInstance,
} from '../columnar/kernel-port.ts';
import type { Clock } from '../iceberg/ports.ts';
import type { PartitionValue } from '../iceberg/spec/data-file.ts';
import type { PartitionSpec } from '../iceberg/spec/partition-spec.ts';
import type { Schema } from '../iceberg/spec/schema.ts';

export interface ParquetFile {
  readonly bytes: Uint8Array;
  readonly metrics: EncodedFile;
  /** One value a field of the spec, in its order; empty when unpartitioned. */
  readonly partition: readonly PartitionValue[];
}

export interface FlushEncoderOptions {
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  readonly parquet: ParquetOptions;
  /** A file is closed after the stream that takes it past this; it holds at least one. */
  readonly fileBytesMax: number;
}

/** What one round of encoding made; `next` is the first stream that is not in it. */
interface Round {
  readonly files: ParquetFile[];
  readonly next: number;
}

const MIB = 1024 * 1024;
/**
 * Rows of a partitioned table wait for their files: this many bytes of them in the kernel's memory,
 * this many at all. Beyond, a round ends, and a partition gets one more file in the next.
 */
const BUFFER_BYTES_MAX = 12 * MIB;
const WAITING_BYTES_MAX = 28 * MIB;
/** Each is a file to put and to commit: a round ends here too, and one stream may not show more. */
const PARTITIONS_PER_ROUND = 1000;
const PARTITIONS_PER_STREAM = 4000;

export class FlushEncoder {
  readonly #kernels: KernelLender<PartitioningKernelInstance>;
  readonly #clock: Pick<Clock, 'sleep'>;

  constructor(kernels: KernelLender<PartitioningKernelInstance>, clock: Pick<Clock, 'sleep'>) {
    this.#kernels = kernels;
    this.#clock = clock;
  }

  /** `readStream` is called once for each of `streamCount` streams, in order, when its turn comes. */
  async *encode(
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    options: FlushEncoderOptions,
  ): AsyncIterable<ParquetFile> {
    const encodeRound =
      options.spec.fields.length === 0
        ? this.#encodeFile.bind(this)
        : this.#encodePartitions.bind(this);
    let next = 0;
    while (next < streamCount) {
      const round = await this.#kernels.use((kernel) =>
        encodeRound(kernel, next, streamCount, readStream, options),
      );
      next = round.next;
      // Each is let go as soon as it is stored.
      for (let file = round.files.shift(); file !== undefined; file = round.files.shift()) {
        yield file;
      }
    }
  }

  async #encodeFile(
    kernel: PartitioningKernelInstance,
    first: number,
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    options: FlushEncoderOptions,
  ): Promise<Round> {
    const chunks: Uint8Array[] = [];
    const encoder = kernel.createParquetEncoder(options.schema, options.parquet, (chunk) => {
      chunks.push(chunk);
    });
    try {
      const next = await this.#append(
        encoder,
        first,
        streamCount,
        readStream,
        () => encoder.encodedBytes >= options.fileBytesMax,
      );
      const metrics = encoder.finish();
      return { files: [{ bytes: drained(chunks), metrics, partition: [] }], next };
    } finally {
      encoder.close();
    }
  }

  /** Appends streams from `first` on, at least one, until `isFull`; answers which comes next. */
  async #append(
    encoder: Pick<ParquetEncoder, 'append'>,
    first: number,
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    isFull: () => boolean,
  ): Promise<number> {
    let next = first;
    do {
      encoder.append(readStream(next));
      next += 1;
      // Requests that came in meanwhile get their turn between two streams.
      await this.#clock.sleep(0);
    } while (next < streamCount && !isFull());
    return next;
  }

  async #encodePartitions(
    kernel: PartitioningKernelInstance,
    first: number,
    streamCount: number,
    readStream: (index: number) => Uint8Array,
    options: FlushEncoderOptions,
  ): Promise<Round> {
    const encoder = kernel.createPartitionedEncoder(options.schema, options.parquet, {
      spec: options.spec,
      bufferBytesMax: BUFFER_BYTES_MAX,
      partitionsMax: PARTITIONS_PER_ROUND + PARTITIONS_PER_STREAM,
    });
    try {
      const next = await this.#append(
        encoder,
        first,
        streamCount,
        readStream,
        () =>
          encoder.waitingBytes >= WAITING_BYTES_MAX ||
          encoder.partitionCount >= PARTITIONS_PER_ROUND,
      );
      const files: ParquetFile[] = [];
      for (;;) {
        const chunks: Uint8Array[] = [];
        const written = encoder.nextFile((chunk) => {
          chunks.push(chunk);
        });
        if (written === null) return { files, next };
        const { file: metrics, partition } = written;
        files.push({ bytes: drained(chunks), metrics, partition });
        await this.#clock.sleep(0);
      }
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

/** `BodyDecoder` on the module. Chunks wait here, outside its memory, until the slice before them is done. */

import { IcebergError } from '../iceberg/errors.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import type { KernelExports } from './kernel-exports.ts';
import { span } from './kernel-exports.ts';
import type {
  BodyDecoder,
  BodyFormat,
  DecodedSlice,
  DecodeLimits,
  ParquetEncoder,
  PartitionedEncoder,
} from './kernel-port.ts';
import { WasmParquetEncoder } from './parquet-encoder.ts';
import { WasmPartitionedEncoder } from './partitioned-encoder.ts';
import { schemaBytes } from './schema-bytes.ts';

/** What is copied into the module at once. */
const FEED_BYTES = 64 * 1024;

export class WasmBodyDecoder implements BodyDecoder {
  readonly #exports: KernelExports;
  readonly #format: BodyFormat;
  readonly #number: number;
  readonly #waiting: Uint8Array[] = [];
  #isFinished = false;
  #isFinishFed = false;
  #isClosed = false;
  /** Found while feeding on behalf of a call that may not throw it. */
  #failure: unknown = undefined;

  constructor(exports: KernelExports, format: BodyFormat, limits: DecodeLimits) {
    this.#exports = exports;
    this.#format = format;
    this.#number = exports.call([format], (wasm, [name]) =>
      wasm.floe_decoder_open(
        ...span(name),
        limits.sliceBytes,
        limits.rowBytesMax,
        limits.rawBytesMax,
      ),
    );
  }

  push(chunk: Uint8Array): void {
    if (this.#isFinished) {
      throw new IcebergError('internal', 'kernel.body-finished', 'The body has ended');
    }
    this.#throwFailure();
    let rest = chunk;
    while (rest.byteLength > 0 && this.#waiting.length === 0 && !this.#isSliceReady()) {
      this.#feed(rest.subarray(0, FEED_BYTES));
      rest = rest.subarray(FEED_BYTES);
    }
    // A copy: the caller may use its buffer again.
    if (rest.byteLength > 0) this.#waiting.push(rest.slice());
  }

  finish(): void {
    this.#throwFailure();
    this.#isFinished = true;
    this.#drain();
  }

  get ready(): boolean {
    return this.#failure !== undefined || this.#isSliceReady();
  }

  decode(schema: Schema): DecodedSlice {
    this.#throwFailure();
    this.#guard(() =>
      this.#exports.call([schemaBytes(schema)], (wasm, [json]) =>
        wasm.floe_decoder_decode(this.#number, ...span(json)),
      ),
    );
    const facts = this.#exports.facts() as Omit<DecodedSlice, 'ipc'>;
    return { ...facts, ipc: this.#exports.takeBytes() };
  }

  decodeInto(
    schema: Schema,
    encoder: ParquetEncoder | PartitionedEncoder,
  ): Omit<DecodedSlice, 'ipc'> {
    const isOurs =
      encoder instanceof WasmParquetEncoder || encoder instanceof WasmPartitionedEncoder;
    if (!isOurs || !encoder.isOf(this.#exports)) {
      throw new IcebergError(
        'internal',
        'kernel.foreign-encoder',
        'The encoder belongs to another kernel instance',
      );
    }
    this.#throwFailure();
    this.#guard(() =>
      this.#exports.call([schemaBytes(schema)], (wasm, [json]) =>
        wasm.floe_decoder_decode_into(this.#number, encoder.number, ...span(json)),
      ),
    );
    return this.#exports.facts() as Omit<DecodedSlice, 'ipc'>;
  }

  advance(): void {
    this.#guard(() => this.#exports.call([], (wasm) => wasm.floe_decoder_advance(this.#number)));
    try {
      this.#drain();
    } catch (error) {
      // `ready` turns true, and the next `decode` throws it.
      this.#failure = error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.length = 0;
    if (this.#exports.isPoisoned) return;
    this.#exports.call([], (wasm) => {
      wasm.floe_decoder_close(this.#number);
    });
  }

  #isSliceReady(): boolean {
    return this.#exports.call([], (wasm) => wasm.floe_decoder_ready(this.#number)) === 1;
  }

  /** Feeds what waits until a slice is ready or nothing is left. */
  #drain(): void {
    while (this.#waiting.length > 0 && !this.#isSliceReady()) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#feed(next.subarray(0, FEED_BYTES));
      if (next.byteLength > FEED_BYTES) this.#waiting.unshift(next.subarray(FEED_BYTES));
    }
    if (this.#isFinished && !this.#isFinishFed && this.#waiting.length === 0) {
      this.#isFinishFed = true;
      this.#guard(() => this.#exports.call([], (wasm) => wasm.floe_decoder_finish(this.#number)));
    }
  }

  #feed(chunk: Uint8Array): void {
    this.#guard(() =>
      this.#exports.call([chunk], (wasm, [bytes]) =>
        wasm.floe_decoder_push(this.#number, ...span(bytes)),
      ),
    );
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Arrow and Parquet are foreign binary: what makes the module trap is malformed, not our fault. */
  #guard(action: () => number): void {
    try {
      action();
    } catch (error) {
      const isTrap = error instanceof IcebergError && error.code === 'kernel.trapped';
      if (isTrap && this.#format === 'parquet') {
        const message = 'The Parquet file is malformed';
        throw new IcebergError('invalid', 'parquet.malformed', message, { cause: error });
      }
      if (isTrap && this.#format.startsWith('arrow')) {
        const message = 'The Arrow messages are malformed';
        throw new IcebergError('invalid', 'arrow.malformed', message, { cause: error });
      }
      throw error;
    }
  }
}

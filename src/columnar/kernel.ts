/** One instance of the columnar kernel, made from its compiled module. Takes about a millisecond. */

import { WasmBodyDecoder } from './body-decoder.ts';
import { KernelExports } from './kernel-exports.ts';
import type {
  BodyDecoder,
  BodyFormat,
  DecodeLimits,
  ParquetEncoder,
  ParquetOptions,
  PartitionedEncoder,
  PartitioningKernelInstance,
  PartitioningOptions,
} from './kernel-port.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import { WasmParquetEncoder } from './parquet-encoder.ts';
import { WasmPartitionedEncoder } from './partitioned-encoder.ts';

/** An instance that also says whether it may be used again. */
export interface Kernel extends PartitioningKernelInstance {
  /** It trapped; every further call throws. */
  readonly isPoisoned: boolean;
}

export function createKernel(module: WebAssembly.Module): Kernel {
  return new WasmKernel(new KernelExports(module));
}

class WasmKernel implements Kernel {
  readonly #exports: KernelExports;

  constructor(exports: KernelExports) {
    this.#exports = exports;
  }

  createBodyDecoder(format: BodyFormat, limits: DecodeLimits): BodyDecoder {
    return new WasmBodyDecoder(this.#exports, format, limits);
  }

  createParquetEncoder(
    schema: Schema,
    options: ParquetOptions,
    onBytes: (chunk: Uint8Array) => void,
  ): ParquetEncoder {
    return new WasmParquetEncoder(this.#exports, schema, options, onBytes);
  }

  createPartitionedEncoder(
    schema: Schema,
    options: ParquetOptions,
    partitioning: PartitioningOptions,
  ): PartitionedEncoder {
    return new WasmPartitionedEncoder(this.#exports, schema, options, partitioning);
  }

  get memoryBytes(): number {
    return this.#exports.memoryBytes;
  }

  get isPoisoned(): boolean {
    return this.#exports.isPoisoned;
  }
}

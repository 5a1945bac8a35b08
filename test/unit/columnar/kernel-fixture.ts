/** The kernel in Node, and short ways to decode a body and to write a file with it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import type {
  BodyFormat,
  DecodedSlice,
  DecodeLimits,
  EncodedFile,
  ParquetOptions,
  RejectedRow,
} from '../../../src/columnar/kernel-port.ts';
import { createKernel } from '../../../src/columnar/kernel.ts';
import type { Kernel } from '../../../src/columnar/kernel.ts';
import type { NestedField, PrimitiveType, Schema, Type } from '../../../src/iceberg/spec/schema.ts';

// The Workers types know modules only as imports; Node can compile one.
const CompilableModule = WebAssembly.Module as unknown as new (
  bytes: Uint8Array,
) => WebAssembly.Module;

export const kernelModule = new CompilableModule(
  readFileSync(path.join(import.meta.dirname, '../../../wasm/kernel.wasm')),
);

export const LIMITS: DecodeLimits = {
  sliceBytes: 1 << 20,
  rowBytesMax: 1 << 20,
  rawBytesMax: 1000,
};

export const OPTIONS: ParquetOptions = {
  codec: 'zstd',
  compressionLevel: null,
  rowGroupBytes: 16 << 20,
  pageBytes: 1 << 20,
  dictionaryBytes: 1 << 20,
};

export function newKernel(): Kernel {
  return createKernel(kernelModule);
}

type TypeSpec = Type | string;

export function field(id: number, name: string, type: TypeSpec, required = false): NestedField {
  return { id, name, required, type: typeof type === 'string' ? primitive(type) : type };
}

export function schema(...fields: NestedField[]): Schema {
  return { schemaId: 0, fields, identifierFieldIds: [] };
}

function primitive(text: string): Type {
  const decimal = /^decimal\((\d+),(\d+)\)$/.exec(text);
  if (decimal) return { type: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]) };
  const fixed = /^fixed\[(\d+)\]$/.exec(text);
  if (fixed) return { type: 'fixed', length: Number(fixed[1]) };
  return { type: text } as PrimitiveType;
}

export interface DecodedBody {
  readonly slices: readonly DecodedSlice[];
  readonly received: number;
  readonly accepted: number;
  readonly rejected: readonly RejectedRow[];
}

export interface DecodeOptions {
  readonly format?: BodyFormat;
  readonly limits?: Partial<DecodeLimits>;
  /** Bytes a chunk; the whole body at once by default. */
  readonly chunkBytes?: number;
  readonly kernel?: Kernel;
}

/** Decodes a whole body under one schema. */
export function decode(
  body: string | Uint8Array,
  target: Schema,
  options: DecodeOptions = {},
): DecodedBody {
  const kernel = options.kernel ?? newKernel();
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const decoder = kernel.createBodyDecoder(options.format ?? 'ndjson', {
    ...LIMITS,
    ...options.limits,
  });
  const slices: DecodedSlice[] = [];
  const takeReady = () => {
    while (decoder.ready) {
      slices.push(decoder.decode(target));
      decoder.advance();
    }
  };
  const chunkBytes = options.chunkBytes ?? Math.max(bytes.length, 1);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    decoder.push(bytes.subarray(at, at + chunkBytes));
    takeReady();
  }
  decoder.finish();
  takeReady();
  decoder.close();
  const sum = (count: (slice: DecodedSlice) => number) =>
    slices.reduce((total, slice) => total + count(slice), 0);
  return {
    slices,
    received: sum((slice) => slice.rowsReceived),
    accepted: sum((slice) => slice.rowsAccepted),
    rejected: slices.flatMap((slice) => slice.rejected),
  };
}

/** Writes IPC streams into one Parquet file. */
export function encode(
  target: Schema,
  ipcs: readonly Uint8Array[],
  options: Partial<ParquetOptions> = {},
): { bytes: Uint8Array<ArrayBuffer>; file: EncodedFile } {
  const chunks: Uint8Array[] = [];
  const encoder = newKernel().createParquetEncoder(target, { ...OPTIONS, ...options }, (chunk) =>
    chunks.push(chunk),
  );
  for (const ipc of ipcs) encoder.append(ipc);
  const file = encoder.finish();
  encoder.close();
  return { bytes: new Uint8Array(Buffer.concat(chunks)), file };
}

/** A body, all of whose rows must be good, as a Parquet file. */
export function write(
  body: string,
  target: Schema,
  options: Partial<ParquetOptions> = {},
): { bytes: Uint8Array<ArrayBuffer>; file: EncodedFile } {
  const { slices, rejected } = decode(body, target);
  if (rejected.length > 0) throw new Error(`Rejected: ${JSON.stringify(rejected[0])}`);
  return encode(
    target,
    slices.flatMap((slice) => slice.ipc ?? []),
    options,
  );
}

export function ndjson(...rows: unknown[]): string {
  return rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
}

/**
 * The TypeScript face of the columnar kernel, as the service sees it. `kernel.ts` implements it on
 * the WASM module; rows never appear here, only bytes and facts about them.
 *
 * An instance serves one caller at a time; `KernelPool` lends them. After an `internal` error
 * (a trap) the instance is poisoned and must be discarded.
 */

import type { MetricsMode } from '../iceberg/metrics-config.ts';
import type { FileMetrics, PartitionValue } from '../iceberg/spec/data-file.ts';
import type { InferredField, InferredStruct, InferredType } from '../iceberg/spec/inferred-type.ts';
import type { PartitionSpec } from '../iceberg/spec/partition-spec.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import type { SortOrder } from '../iceberg/spec/sort-order.ts';

export type { InferredField, InferredStruct, InferredType };

/** Why one row was not accepted. */
export interface RejectedRow {
  /** Index in the whole body, from 0. */
  readonly row: number;
  /** Dotted path of the column; a part that holds a dot is quoted: `a."b.c"`, `tags.element`. */
  readonly column: string;
  /** `value.type-mismatch`, `value.out-of-range`, `value.inexact`, `value.required`, … */
  readonly code: string;
  readonly message: string;
  /** The row as it came, cut at `rawBytesMax`. */
  readonly raw: string;
}

export interface DecodedSlice {
  readonly rowsReceived: number;
  readonly rowsAccepted: number;
  /** Arrow IPC stream (schema, batches, end) of the accepted rows; null when there are none. */
  readonly ipc: Uint8Array | null;
  readonly rejected: readonly RejectedRow[];
  /**
   * Columns of this slice that the schema lacks, only the missing ones, nested under the known
   * parents; null when there are none. Their values are not in `ipc`: evolve the schema and decode
   * the slice again, or accept the loss knowingly.
   */
  readonly unknown: InferredStruct | null;
}

export type BodyFormat = 'json' | 'ndjson' | 'arrow-stream' | 'arrow-file' | 'parquet' | 'csv';

export interface DecodeLimits {
  /** A slice becomes ready once this many bytes of complete rows are buffered. */
  readonly sliceBytes: number;
  /** A longer single row is refused (`too-large`). */
  readonly rowBytesMax: number;
  readonly rawBytesMax: number;
}

/** Turns a request body, fed in chunks, into slices of accepted and rejected rows. */
export interface BodyDecoder {
  /**
   * Copies a chunk in. @throws invalid `json.malformed` (context: line, column, both from 1),
   * `arrow.malformed`; too-large `row.too-large`, `arrow.batch-too-large`, `arrow.too-large`, `parquet.too-large`
   */
  push(chunk: Uint8Array): void;
  /** No more bytes. @throws invalid `json.truncated`, `arrow.truncated`, `parquet.malformed`, `csv.truncated` when some are missing */
  finish(): void;
  /** A full slice is buffered, or the body is finished and rows are left. */
  readonly ready: boolean;
  /**
   * Decodes the complete rows buffered so far against `schema` and keeps them, so that it can be
   * called again with another schema; `advance` drops them. @throws as `push`, for what is only
   * seen when the rows are parsed (the whole body is then refused)
   */
  decode(schema: Schema): DecodedSlice;
  /**
   * As `decode`, but the accepted rows go straight into `encoder`, which must be of the same instance:
   * for bodies that are written where they arrive. Not to be repeated for the same slice.
   */
  decodeInto(
    schema: Schema,
    encoder: ParquetEncoder | PartitionedEncoder,
  ): Omit<DecodedSlice, 'ipc'>;
  advance(): void;
  close(): void;
}

export interface ParquetOptions {
  readonly codec: 'zstd' | 'snappy' | 'gzip' | 'uncompressed';
  /** zstd: 1..22; gzip: 0..9; null: the kernel's default (zstd 1). */
  readonly compressionLevel: number | null;
  /** A row group is closed when its encoded size reaches this. */
  readonly rowGroupBytes: number;
  readonly pageBytes: number;
  readonly dictionaryBytes: number;
  /** 20,000 by default. */
  readonly pageRowsMax?: number;
  /** The order of the rows within a file; none by default. */
  readonly sort?: SortOptions;
  /** By field id of leaf columns; a column that is not there has all defaults. */
  readonly columns?: ReadonlyMap<number, ColumnOptions>;
}

export interface SortOptions {
  readonly order: SortOrder;
  /**
   * Of rows that are sorted at once, as Arrow. A file that takes more is sorted in runs: see
   * `EncodedFile.isSorted`, and close files by `encodedBytes` before that.
   */
  readonly bufferBytesMax: number;
}

export interface ColumnOptions {
  /** False forbids a dictionary; by default the first rows decide. */
  readonly dictionary?: boolean;
  /** Of the Parquet file itself, in its footer and page index; true by default. */
  readonly statistics?: boolean;
  readonly bloomFilter?: { readonly fpp: number; readonly bytesMax: number };
  /** What `FileMetrics` holds of the column; `truncate(16)` by default. */
  readonly metrics?: MetricsMode;
}

export type EncodedFile = FileMetrics & {
  readonly fileSizeInBytes: bigint;
  /** Whether all rows are in the order that was asked for; absent when none was. */
  readonly isSorted?: boolean;
};

/** Writes one Parquet file. Bytes leave through `onBytes` as they are made, in order; a chunk is the receiver's own. */
export interface ParquetEncoder {
  /**
   * Adds the rows of an Arrow IPC stream made by `BodyDecoder.decode` under this or an earlier
   * schema of the table: columns are matched by field id, missing ones become null.
   */
  append(ipc: Uint8Array): void;
  /** Bytes handed out plus what the open row group holds, encoded. */
  readonly encodedBytes: number;
  finish(): EncodedFile;
  close(): void;
}

export interface PartitioningOptions {
  readonly spec: PartitionSpec;
  /** Of waiting rows, as Arrow, in the kernel's memory; beyond it they are kept outside. */
  readonly bufferBytesMax: number;
  /** More partitions in one write are refused. */
  readonly partitionsMax: number;
}

export interface PartitionedFile {
  /** One value a field of the spec, in its order. */
  readonly partition: readonly PartitionValue[];
  readonly file: EncodedFile;
}

/**
 * Writes one Parquet file a partition. The rows wait until `nextFile` is called, and the files are then
 * written one after the other: many partitions take no more memory than one.
 */
export interface PartitionedEncoder {
  /** As of `ParquetEncoder`; not after the first `nextFile`. @throws too-large `partition.too-many` */
  append(ipc: Uint8Array): void;
  readonly partitionCount: number;
  /** Of the rows that wait, as Arrow, in the kernel's memory and outside it. */
  readonly waitingBytes: number;
  /**
   * Writes the file of the next partition, in the order in which rows first showed them; null when all
   * are written. Its bytes leave through `onBytes` as they are made.
   */
  nextFile(onBytes: (chunk: Uint8Array) => void): PartitionedFile | null;
  close(): void;
}

export interface KernelInstance {
  createBodyDecoder(format: BodyFormat, limits: DecodeLimits): BodyDecoder;
  createParquetEncoder(
    schema: Schema,
    options: ParquetOptions,
    onBytes: (chunk: Uint8Array) => void,
  ): ParquetEncoder;
  /** Linear memory; only grows. */
  readonly memoryBytes: number;
}

/** An instance that can lay rows out by partition. */
export interface PartitioningKernelInstance extends KernelInstance {
  createPartitionedEncoder(
    schema: Schema,
    options: ParquetOptions,
    partitioning: PartitioningOptions,
  ): PartitionedEncoder;
}

/** Lends an instance for as long as `action` runs and takes it back whatever happens; waits while all are out. */
export interface KernelLender<Kernel extends KernelInstance = KernelInstance> {
  use<T>(action: (kernel: Kernel) => Promise<T>): Promise<T>;
}

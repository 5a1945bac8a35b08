/**
 * A data or delete file with its statistics, as a manifest records it. Spec: "Manifests",
 * struct `data_file`; ids of the fields are kept beside the Avro schema in `manifest/`.
 */

/**
 * A partition value in the result type of its transform; `undefined` never occurs, null does.
 * int, float, double and date (days) are numbers; long, time, timestamps and decimals (unscaled)
 * are bigints; uuid is lower-case text; fixed and binary are bytes.
 */
export type PartitionValue = boolean | number | bigint | string | Uint8Array | null;

export type FileContent = 'data' | 'position-deletes' | 'equality-deletes';

/** Counts, sizes and bounds of one file, by field id; what the encoder returns with the bytes. */
export interface FileMetrics {
  readonly recordCount: bigint;
  /** Compressed bytes of each column's chunks. */
  readonly columnSizes: ReadonlyMap<number, bigint>;
  /** Values including nulls and NaNs. */
  readonly valueCounts: ReadonlyMap<number, bigint>;
  readonly nullValueCounts: ReadonlyMap<number, bigint>;
  readonly nanValueCounts: ReadonlyMap<number, bigint>;
  /** Binary single-value form (spec, appendix D); absent where unknown. */
  readonly lowerBounds: ReadonlyMap<number, Uint8Array>;
  readonly upperBounds: ReadonlyMap<number, Uint8Array>;
  /** Ascending offsets of the row groups. */
  readonly splitOffsets: readonly bigint[];
}

export interface DataFile extends FileMetrics {
  readonly content: FileContent;
  /** Full URI. */
  readonly filePath: string;
  /** As the manifest says it: `PARQUET`, `AVRO`, `ORC`, `PUFFIN`. */
  readonly fileFormat: string;
  readonly specId: number;
  /** One value a partition field of the spec, in the spec's order; empty when unpartitioned. */
  readonly partition: readonly PartitionValue[];
  readonly fileSizeInBytes: bigint;
  readonly keyMetadata: Uint8Array | null;
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
  /** v3 only. */
  readonly firstRowId: bigint | null;
  readonly referencedDataFile: string | null;
  readonly contentOffset: bigint | null;
  readonly contentSizeInBytes: bigint | null;
}

/** One row of a manifest list: a manifest and what is known of it. Spec: "Manifest Lists". */

export type ManifestContent = 'data' | 'deletes';

/** Bounds of one partition field over a manifest. */
export interface PartitionFieldSummary {
  readonly containsNull: boolean;
  /** Null where the writer did not say. */
  readonly containsNan: boolean | null;
  /** Binary single-value form of the transform's result type; null when every value is null. */
  readonly lowerBound: Uint8Array | null;
  readonly upperBound: Uint8Array | null;
}

export interface ManifestFile {
  /** Full URI. */
  readonly manifestPath: string;
  readonly manifestLength: bigint;
  readonly partitionSpecId: number;
  readonly content: ManifestContent;
  /** 0 for manifests of v1. */
  readonly sequenceNumber: bigint;
  /** Lowest data sequence number among live entries. */
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  /** The counts are null only in lists of v1. */
  readonly addedFilesCount: number | null;
  readonly existingFilesCount: number | null;
  readonly deletedFilesCount: number | null;
  readonly addedRowsCount: bigint | null;
  readonly existingRowsCount: bigint | null;
  readonly deletedRowsCount: bigint | null;
  /** One a partition field; an empty list is not the same as null and is kept as read. */
  readonly partitions: readonly PartitionFieldSummary[] | null;
  readonly keyMetadata: Uint8Array | null;
  /** v3 data manifests. */
  readonly firstRowId: bigint | null;
}

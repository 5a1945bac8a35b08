/** Snapshots, refs and logs. Spec: "Snapshots", "Snapshot References", table metadata fields. */

export type SnapshotOperation = 'append' | 'replace' | 'overwrite' | 'delete';

export interface SnapshotSummary {
  readonly operation: SnapshotOperation;
  /** Every other key; numbers are decimal text. */
  readonly properties: ReadonlyMap<string, string>;
}

export interface Snapshot {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | null;
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  /** Full URI of the manifest list. */
  readonly manifestList: string;
  readonly summary: SnapshotSummary;
  readonly schemaId: number | null;
  /** v3 only. */
  readonly firstRowId: bigint | null;
  readonly addedRows: bigint | null;
  /** v3 only: the encryption key of the manifest list. */
  readonly keyId?: string;
}

export interface SnapshotRef {
  readonly snapshotId: bigint;
  readonly type: 'branch' | 'tag';
  readonly minSnapshotsToKeep?: number;
  readonly maxSnapshotAgeMs?: bigint;
  readonly maxRefAgeMs?: bigint;
}

export interface SnapshotLogEntry {
  readonly timestampMs: number;
  readonly snapshotId: bigint;
}

export interface MetadataLogEntry {
  readonly timestampMs: number;
  readonly metadataFile: string;
}

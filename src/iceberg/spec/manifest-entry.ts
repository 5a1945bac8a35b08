/** One row of a manifest. Spec: "Manifests", `manifest_entry`. */

import type { DataFile } from './data-file.ts';

export type ManifestEntryStatus = 'existing' | 'added' | 'deleted';

/**
 * The ids are null only for an added file that is not committed yet: a reader then inherits them
 * from the manifest list. An existing or deleted entry always carries those it was added with.
 */
export interface ManifestEntry {
  readonly status: ManifestEntryStatus;
  /** Snapshot that added the file, or for a deleted entry the one that deleted it. */
  readonly snapshotId: bigint | null;
  /** Data sequence number: orders the rows against deletes. */
  readonly sequenceNumber: bigint | null;
  /** Sequence number of the snapshot that added the file. */
  readonly fileSequenceNumber: bigint | null;
  readonly dataFile: DataFile;
}

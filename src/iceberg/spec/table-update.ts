/** Changes to table metadata, as the REST protocol names them (`action`). */

import type { PartitionSpec } from './partition-spec.ts';
import type { Schema } from './schema.ts';
import type { Snapshot, SnapshotRef } from './snapshot.ts';
import type { SortOrder } from './sort-order.ts';
import type { FormatVersion } from './table-metadata.ts';

export type TableUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly formatVersion: FormatVersion }
  | { readonly action: 'add-schema'; readonly schema: Schema; readonly lastColumnId: number }
  /** -1: the last one added by the same commit. */
  | { readonly action: 'set-current-schema'; readonly schemaId: number }
  | { readonly action: 'add-spec'; readonly spec: PartitionSpec }
  | { readonly action: 'set-default-spec'; readonly specId: number }
  | { readonly action: 'add-sort-order'; readonly sortOrder: SortOrder }
  | { readonly action: 'set-default-sort-order'; readonly sortOrderId: number }
  | { readonly action: 'add-snapshot'; readonly snapshot: Snapshot }
  | { readonly action: 'set-snapshot-ref'; readonly refName: string; readonly ref: SnapshotRef }
  | { readonly action: 'remove-snapshots'; readonly snapshotIds: readonly bigint[] }
  | { readonly action: 'remove-snapshot-ref'; readonly refName: string }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: ReadonlyMap<string, string> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] };

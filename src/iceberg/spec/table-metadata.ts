/**
 * Table metadata as a value; `parseTableMetadata` and `serializeTableMetadata` hold the wire form.
 * Spec: "Table Metadata Fields".
 */

import type { JsonObject, JsonValue } from '../json.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Schema } from './schema.ts';
import type { MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef } from './snapshot.ts';
import type { SortOrder } from './sort-order.ts';

export type FormatVersion = 1 | 2 | 3;

export interface TableMetadata {
  readonly formatVersion: FormatVersion;
  readonly tableUuid: string;
  /** Absolute, without a trailing slash. */
  readonly location: string;
  readonly lastSequenceNumber: bigint;
  readonly lastUpdatedMs: number;
  /** Highest field id ever assigned; never decreases. */
  readonly lastColumnId: number;
  readonly schemas: readonly Schema[];
  readonly currentSchemaId: number;
  readonly partitionSpecs: readonly PartitionSpec[];
  readonly defaultSpecId: number;
  readonly lastPartitionId: number;
  readonly sortOrders: readonly SortOrder[];
  readonly defaultSortOrderId: number;
  readonly properties: ReadonlyMap<string, string>;
  /** Null when the table has no snapshot (-1, null and an absent key all mean that). */
  readonly currentSnapshotId: bigint | null;
  readonly snapshots: readonly Snapshot[];
  readonly snapshotLog: readonly SnapshotLogEntry[];
  readonly metadataLog: readonly MetadataLogEntry[];
  readonly refs: ReadonlyMap<string, SnapshotRef>;
  /** Kept as they were read: lists of JSON objects this version of Floe does not look into. */
  readonly statistics: readonly JsonValue[];
  readonly partitionStatistics: readonly JsonValue[];
  /** v3 only. */
  readonly nextRowId: bigint | null;
  /** Members this version of Floe does not know, e.g. `encryption-keys`: written back as read. */
  readonly otherMembers?: JsonObject;
}

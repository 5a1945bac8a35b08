/** What the specification demands of table metadata beyond the shape of its JSON. */

import { IcebergError } from '../errors.ts';
import { highestFieldId } from './data-types.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Schema } from './schema.ts';
import type { Snapshot } from './snapshot.ts';
import type { SortOrder } from './sort-order.ts';
import type { TableMetadata } from './table-metadata.ts';

/** Writers' clocks differ: entries may be out of order by this much (as in the Java library). */
export const LOG_TOLERANCE_MS = 60_000;

/** @throws corrupt, with a code that names the first defect found */
export function validateTableMetadata(metadata: TableMetadata): void {
  if (metadata.location === '') throw defect('location-empty', 'the location is empty');
  validateSchemas(metadata);
  validateSpecs(metadata);
  validateSortOrders(metadata);
  validateSnapshots(metadata);
  validateRefs(metadata);
  validateLogs(metadata);
}

/** The current schema. */
export function currentSchema(metadata: TableMetadata): Schema {
  const schema = metadata.schemas.find((one) => one.schemaId === metadata.currentSchemaId);
  if (schema === undefined) {
    throw defect('current-schema-missing', `there is no schema ${metadata.currentSchemaId}`);
  }
  return schema;
}

/** The partition spec that new files are written by. */
export function defaultSpec(metadata: TableMetadata): PartitionSpec {
  const spec = metadata.partitionSpecs.find((one) => one.specId === metadata.defaultSpecId);
  if (spec === undefined) {
    throw defect('default-spec-missing', `there is no partition spec ${metadata.defaultSpecId}`);
  }
  return spec;
}

/** The order that new files are asked to have. */
export function defaultSortOrder(metadata: TableMetadata): SortOrder {
  const order = metadata.sortOrders.find((one) => one.orderId === metadata.defaultSortOrderId);
  if (order === undefined) {
    throw defect(
      'default-sort-order-missing',
      `there is no sort order ${metadata.defaultSortOrderId}`,
    );
  }
  return order;
}

/** The snapshot of that id, or null. */
export function findSnapshot(metadata: TableMetadata, snapshotId: bigint | null): Snapshot | null {
  return metadata.snapshots.find((snapshot) => snapshot.snapshotId === snapshotId) ?? null;
}

export function currentSnapshot(metadata: TableMetadata): Snapshot | null {
  return findSnapshot(metadata, metadata.currentSnapshotId);
}

/** From the snapshot of that id backwards to the oldest ancestor that is still kept. */
export function ancestorsOf(metadata: TableMetadata, snapshotId: bigint | null): Snapshot[] {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  const ancestors: Snapshot[] = [];
  let id = snapshotId;
  while (id !== null) {
    const snapshot = byId.get(id);
    if (snapshot === undefined) break;
    // Taking it out of the map ends a cycle in a broken file.
    byId.delete(id);
    ancestors.push(snapshot);
    id = snapshot.parentSnapshotId;
  }
  return ancestors;
}

function validateSchemas(metadata: TableMetadata): void {
  const ids = metadata.schemas.map((schema) => schema.schemaId);
  checkUnique(ids, 'duplicate-schema-id', 'schema id');
  if (!ids.includes(metadata.currentSchemaId)) {
    throw defect('current-schema-missing', `there is no schema ${metadata.currentSchemaId}`);
  }
  for (const schema of metadata.schemas) {
    const highest = highestFieldId(schema);
    if (highest > metadata.lastColumnId) {
      throw defect(
        'last-column-id',
        `last-column-id ${metadata.lastColumnId} is below field ${highest} of schema ${schema.schemaId}`,
      );
    }
  }
}

function validateSpecs(metadata: TableMetadata): void {
  const ids = metadata.partitionSpecs.map((spec) => spec.specId);
  checkUnique(ids, 'duplicate-spec-id', 'partition spec id');
  defaultSpec(metadata);
  for (const spec of metadata.partitionSpecs) {
    const fieldIds = spec.fields.map((field) => field.fieldId);
    checkUnique(fieldIds, 'duplicate-partition-field-id', `field id of spec ${spec.specId}`);
    for (const id of fieldIds) {
      if (id > metadata.lastPartitionId) {
        throw defect(
          'last-partition-id',
          `last-partition-id ${metadata.lastPartitionId} is below partition field ${id}`,
        );
      }
    }
  }
}

function validateSortOrders(metadata: TableMetadata): void {
  const ids = metadata.sortOrders.map((order: SortOrder) => order.orderId);
  checkUnique(ids, 'duplicate-sort-order-id', 'sort order id');
  defaultSortOrder(metadata);
}

function validateSnapshots(metadata: TableMetadata): void {
  const byId = new Map<bigint, Snapshot>();
  for (const snapshot of metadata.snapshots) {
    if (byId.has(snapshot.snapshotId)) {
      throw defect('duplicate-snapshot-id', `snapshot ${snapshot.snapshotId} occurs twice`);
    }
    byId.set(snapshot.snapshotId, snapshot);
    if (snapshot.sequenceNumber > metadata.lastSequenceNumber) {
      throw defect(
        'last-sequence-number',
        `snapshot ${snapshot.snapshotId} has sequence number ${snapshot.sequenceNumber}, ` +
          `above last-sequence-number ${metadata.lastSequenceNumber}`,
      );
    }
  }
  const current = metadata.currentSnapshotId;
  if (current !== null && !byId.has(current)) {
    throw defect('current-snapshot-missing', `there is no snapshot ${current}`);
  }
}

function validateRefs(metadata: TableMetadata): void {
  const ids = new Set(metadata.snapshots.map((snapshot) => snapshot.snapshotId));
  for (const [name, ref] of metadata.refs) {
    if (!ids.has(ref.snapshotId)) {
      throw defect('ref-snapshot-missing', `ref "${name}": there is no snapshot ${ref.snapshotId}`);
    }
  }
  const main = metadata.refs.get('main');
  if (main !== undefined && main.type !== 'branch') {
    throw defect('main-not-branch', 'the ref "main" is a tag');
  }
  if ((main?.snapshotId ?? null) !== metadata.currentSnapshotId) {
    throw defect(
      'main-not-current',
      `main is ${main?.snapshotId ?? 'absent'}, current-snapshot-id ${metadata.currentSnapshotId}`,
    );
  }
}

function validateLogs(metadata: TableMetadata): void {
  checkSorted(metadata.snapshotLog, metadata.lastUpdatedMs, 'snapshot-log');
  checkSorted(metadata.metadataLog, metadata.lastUpdatedMs, 'metadata-log');
}

function checkSorted(
  log: readonly { readonly timestampMs: number }[],
  lastUpdatedMs: number,
  name: string,
): void {
  let previous: number | null = null;
  for (const { timestampMs } of log) {
    if (previous !== null && timestampMs - previous < -LOG_TOLERANCE_MS) {
      throw defect(`${name}-unsorted`, `${name} goes back from ${previous} to ${timestampMs}`);
    }
    previous = timestampMs;
  }
  if (previous !== null && lastUpdatedMs - previous < -LOG_TOLERANCE_MS) {
    throw defect(
      'last-updated-ms',
      `last-updated-ms ${lastUpdatedMs} is before the last entry of ${name} ${previous}`,
    );
  }
}

function checkUnique(ids: readonly number[], code: string, what: string): void {
  const seen = new Set<number>();
  for (const id of ids) {
    if (seen.has(id)) throw defect(code, `${what} ${id} occurs twice`);
    seen.add(id);
  }
}

function defect(code: string, problem: string): IcebergError {
  return new IcebergError('corrupt', `metadata.${code}`, `Table metadata: ${problem}`);
}

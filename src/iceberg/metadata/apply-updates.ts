/**
 * New metadata from old metadata and the updates of one commit. Pure: no I/O, no clock. The rules
 * beyond the specification (logs, reuse of ids) are those of the Java library's builder, which
 * rejects files that break them.
 */

import { IcebergError, unreachable } from '../errors.ts';
import { stripTrailingSlashes } from '../location-provider.ts';
import { sameFields } from '../spec/data-types.ts';
import { samePartitioning } from '../spec/partition-spec-json.ts';
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts';
import { sameOrdering } from '../spec/sort-order-json.ts';
import { MAIN_BRANCH } from '../spec/table-metadata-json.ts';
import { validateTableMetadata } from '../spec/table-metadata-rules.ts';
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts';
import type { TableUpdate } from '../spec/table-update.ts';
import { FORMAT_VERSION_PROPERTY, RESERVED_PROPERTIES } from '../table-properties.ts';
import { checkSchemaVersion } from './schema-rules.ts';
import { removeSnapshots, trimmedMetadataLog, updatedSnapshotLog } from './metadata-logs.ts';

/** The id that means "the one this commit added last". */
const LAST_ADDED = -1;

export interface UpdateContext {
  readonly nowMs: number;
  /** Full URI of the file `base` was read from; null when there was none. */
  readonly previousMetadataLocation: string | null;
}

interface Draft {
  metadata: TableMetadata;
  readonly addedSnapshotIds: Set<bigint>;
  lastAddedSchemaId: number | null;
  lastAddedSpecId: number | null;
  lastAddedSortOrderId: number | null;
}

/**
 * The metadata after all updates in order; `base` itself when there are none. `lastUpdatedMs` never
 * goes back, whatever the clock says.
 * @throws invalid for an update that cannot apply; conflict when a newer commit overtook it
 */
export function applyUpdates(
  base: TableMetadata,
  updates: readonly TableUpdate[],
  context: UpdateContext,
): TableMetadata {
  if (updates.length === 0) return base;
  const draft: Draft = {
    metadata: base,
    addedSnapshotIds: new Set(),
    lastAddedSchemaId: null,
    lastAddedSpecId: null,
    lastAddedSortOrderId: null,
  };
  for (const update of updates) applyUpdate(draft, update);
  const lastUpdatedMs = updatedMs(base, draft, context.nowMs);
  const result: TableMetadata = {
    ...draft.metadata,
    lastUpdatedMs,
    snapshotLog: updatedSnapshotLog(base, draft.metadata, draft.addedSnapshotIds, lastUpdatedMs),
    metadataLog: trimmedMetadataLog(base, draft.metadata, context.previousMetadataLocation),
  };
  validateTableMetadata(result);
  return result;
}

function applyUpdate(draft: Draft, update: TableUpdate): void {
  const { metadata } = draft;
  switch (update.action) {
    case 'assign-uuid':
      if (metadata.tableUuid.toLowerCase() !== update.uuid.toLowerCase()) {
        throw invalid('table-uuid', 'the UUID of a table cannot change');
      }
      return;
    case 'upgrade-format-version':
      draft.metadata = upgrade(metadata, update.formatVersion);
      return;
    case 'add-schema':
      addSchema(draft, update);
      return;
    case 'set-current-schema': {
      const currentSchemaId = resolve(update.schemaId, draft.lastAddedSchemaId, 'schema');
      requireId(metadata.schemas, 'schemaId', currentSchemaId, 'schema');
      draft.metadata = { ...metadata, currentSchemaId };
      return;
    }
    case 'add-spec':
      addSpec(draft, update);
      return;
    case 'set-default-spec': {
      const defaultSpecId = resolve(update.specId, draft.lastAddedSpecId, 'partition spec');
      requireId(metadata.partitionSpecs, 'specId', defaultSpecId, 'partition spec');
      draft.metadata = { ...metadata, defaultSpecId };
      return;
    }
    case 'add-sort-order':
      addSortOrder(draft, update);
      return;
    case 'set-default-sort-order': {
      const orderId = resolve(update.sortOrderId, draft.lastAddedSortOrderId, 'sort order');
      requireId(metadata.sortOrders, 'orderId', orderId, 'sort order');
      draft.metadata = { ...metadata, defaultSortOrderId: orderId };
      return;
    }
    case 'add-snapshot':
      draft.metadata = addSnapshot(metadata, update.snapshot);
      draft.addedSnapshotIds.add(update.snapshot.snapshotId);
      return;
    case 'set-snapshot-ref':
      draft.metadata = setRef(metadata, update.refName, update.ref);
      return;
    case 'remove-snapshots':
      draft.metadata = removeSnapshots(metadata, new Set(update.snapshotIds));
      return;
    case 'remove-snapshot-ref':
      draft.metadata = removeRef(metadata, update.refName);
      return;
    case 'set-location':
      draft.metadata = { ...metadata, location: stripTrailingSlashes(update.location) };
      return;
    case 'set-properties':
      draft.metadata = setProperties(metadata, update.updates);
      return;
    case 'remove-properties': {
      const properties = new Map(metadata.properties);
      for (const key of update.removals) properties.delete(key);
      draft.metadata = { ...metadata, properties };
      return;
    }
    default:
      unreachable(update);
  }
}

function upgrade(metadata: TableMetadata, formatVersion: FormatVersion): TableMetadata {
  if (formatVersion < metadata.formatVersion) {
    throw invalid(
      'format-version',
      `version ${metadata.formatVersion} cannot go back to ${formatVersion}`,
    );
  }
  const nextRowId = formatVersion === 3 ? (metadata.nextRowId ?? 0n) : null;
  return { ...metadata, formatVersion, nextRowId };
}

function addSchema(draft: Draft, update: TableUpdate & { action: 'add-schema' }): void {
  const { metadata } = draft;
  if (update.lastColumnId < metadata.lastColumnId) {
    throw invalid(
      'last-column-id',
      `last-column-id ${update.lastColumnId} is below ${metadata.lastColumnId}: ids are never reused`,
    );
  }
  checkSchemaVersion(update.schema, metadata.formatVersion);
  const same = metadata.schemas.find((schema) => sameFields(schema, update.schema));
  const schemaId = same?.schemaId ?? 1 + highest(metadata.schemas.map((one) => one.schemaId));
  draft.lastAddedSchemaId = schemaId;
  draft.metadata = {
    ...metadata,
    lastColumnId: update.lastColumnId,
    schemas:
      same === undefined ? [...metadata.schemas, { ...update.schema, schemaId }] : metadata.schemas,
  };
}

function addSpec(draft: Draft, update: TableUpdate & { action: 'add-spec' }): void {
  const { metadata } = draft;
  const same = metadata.partitionSpecs.find((spec) => samePartitioning(spec, update.spec));
  const specId = same?.specId ?? 1 + highest(metadata.partitionSpecs.map((one) => one.specId));
  draft.lastAddedSpecId = specId;
  if (same !== undefined) return;
  const fieldIds = update.spec.fields.map((field) => field.fieldId);
  draft.metadata = {
    ...metadata,
    partitionSpecs: [...metadata.partitionSpecs, { ...update.spec, specId }],
    lastPartitionId: Math.max(metadata.lastPartitionId, ...fieldIds),
  };
}

function addSortOrder(draft: Draft, update: TableUpdate & { action: 'add-sort-order' }): void {
  const { metadata } = draft;
  const same = metadata.sortOrders.find((order) => sameOrdering(order, update.sortOrder));
  // Id 0 is the unsorted order, and only that.
  const newId = Math.max(1, 1 + highest(metadata.sortOrders.map((one) => one.orderId)));
  const orderId = same?.orderId ?? (update.sortOrder.fields.length === 0 ? 0 : newId);
  draft.lastAddedSortOrderId = orderId;
  if (same !== undefined) return;
  draft.metadata = {
    ...metadata,
    sortOrders: [...metadata.sortOrders, { ...update.sortOrder, orderId }],
  };
}

function addSnapshot(metadata: TableMetadata, snapshot: Snapshot): TableMetadata {
  const { snapshotId, sequenceNumber, parentSnapshotId } = snapshot;
  if (metadata.snapshots.some((known) => known.snapshotId === snapshotId)) {
    throw invalid('duplicate-snapshot-id', `snapshot ${snapshotId} already exists`);
  }
  const isStale =
    metadata.formatVersion > 1 &&
    sequenceNumber <= metadata.lastSequenceNumber &&
    parentSnapshotId !== null;
  if (isStale) {
    throw new IcebergError(
      'conflict',
      'update.sequence-number',
      `Snapshot ${snapshotId} has sequence number ${sequenceNumber}, ` +
        `but ${metadata.lastSequenceNumber} was already given`,
    );
  }
  const lastSequenceNumber =
    sequenceNumber > metadata.lastSequenceNumber ? sequenceNumber : metadata.lastSequenceNumber;
  return {
    ...metadata,
    snapshots: [...metadata.snapshots, snapshot],
    lastSequenceNumber,
    nextRowId: nextRowIdAfter(metadata, snapshot),
  };
}

function nextRowIdAfter(metadata: TableMetadata, snapshot: Snapshot): bigint | null {
  if (metadata.formatVersion < 3) return metadata.nextRowId;
  const nextRowId = metadata.nextRowId ?? 0n;
  if (snapshot.firstRowId === null || snapshot.addedRows === null) {
    throw invalid('first-row-id', 'a snapshot of version 3 needs first-row-id and added-rows');
  }
  if (snapshot.firstRowId < nextRowId) {
    throw new IcebergError(
      'conflict',
      'update.first-row-id',
      `Snapshot ${snapshot.snapshotId} begins at row ${snapshot.firstRowId}, ` +
        `but rows up to ${nextRowId} are taken`,
    );
  }
  return nextRowId + snapshot.addedRows;
}

function setRef(metadata: TableMetadata, name: string, ref: SnapshotRef): TableMetadata {
  if (!metadata.snapshots.some((snapshot) => snapshot.snapshotId === ref.snapshotId)) {
    throw invalid('ref-snapshot-missing', `there is no snapshot ${ref.snapshotId}`);
  }
  if (name === MAIN_BRANCH && ref.type !== 'branch') {
    throw invalid('main-not-branch', 'main is always a branch');
  }
  const refs = new Map(metadata.refs).set(name, ref);
  return name === MAIN_BRANCH
    ? { ...metadata, refs, currentSnapshotId: ref.snapshotId }
    : { ...metadata, refs };
}

function removeRef(metadata: TableMetadata, name: string): TableMetadata {
  const refs = new Map(metadata.refs);
  refs.delete(name);
  return name === MAIN_BRANCH
    ? { ...metadata, refs, currentSnapshotId: null }
    : { ...metadata, refs };
}

function setProperties(
  metadata: TableMetadata,
  updates: ReadonlyMap<string, string>,
): TableMetadata {
  const properties = new Map(metadata.properties);
  let upgraded = metadata;
  for (const [key, value] of updates) {
    if (key === FORMAT_VERSION_PROPERTY) {
      if (value !== '1' && value !== '2' && value !== '3') {
        throw invalid('format-version', `"${value}" is not a format version`);
      }
      upgraded = upgrade(upgraded, value === '1' ? 1 : value === '2' ? 2 : 3);
    } else if (RESERVED_PROPERTIES.has(key)) {
      throw invalid('reserved-property', `the property "${key}" is reserved`);
    } else {
      properties.set(key, value);
    }
  }
  return { ...upgraded, properties };
}

/**
 * Logs must ascend even when this clock is behind the last writer's, and a file is never older than
 * a snapshot in it.
 */
function updatedMs(base: TableMetadata, draft: Draft, nowMs: number): number {
  let latest = Math.max(Math.floor(nowMs), base.lastUpdatedMs + 1);
  for (const snapshot of draft.metadata.snapshots) {
    if (draft.addedSnapshotIds.has(snapshot.snapshotId)) {
      latest = Math.max(latest, snapshot.timestampMs);
    }
  }
  return latest;
}

function resolve(id: number, lastAdded: number | null, what: string): number {
  if (id !== LAST_ADDED) return id;
  if (lastAdded === null) throw invalid('nothing-added', `this commit adds no ${what}`);
  return lastAdded;
}

function requireId<K extends string>(
  list: readonly Readonly<Record<K, number>>[],
  key: K,
  id: number,
  what: string,
): void {
  if (!list.some((one) => one[key] === id)) {
    throw invalid('unknown-id', `there is no ${what} ${id}`);
  }
}

function highest(ids: readonly number[]): number {
  return Math.max(-1, ...ids);
}

function invalid(code: string, problem: string): IcebergError {
  return new IcebergError('invalid', `update.${code}`, `Table update: ${problem}`);
}

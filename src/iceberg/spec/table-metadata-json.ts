/**
 * Table metadata files: text to value and back. Reads format versions 1 to 3, writes 2 and 3.
 * Spec: "Table Metadata Fields", appendix C.
 */

import { IcebergError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { JsonNode, jsonFromMap, jsonInt64, jsonObject, parseJson, serializeJson } from '../json.ts';
import { PARTITION_FIELD_ID_MIN, parsePartitionFields } from './partition-spec-json.ts';
import { parsePartitionSpec, serializePartitionSpec } from './partition-spec-json.ts';
import type { PartitionSpec } from './partition-spec.ts';
import { parseSchema, serializeSchema } from './schema-json.ts';
import type { Schema } from './schema.ts';
import {
  parseSnapshot,
  parseSnapshotRef,
  serializeSnapshot,
  serializeSnapshotRef,
} from './snapshot-json.ts';
import type { SnapshotRef } from './snapshot.ts';
import { parseSortOrder, serializeSortOrder } from './sort-order-json.ts';
import type { SortOrder } from './sort-order.ts';
import { UNSORTED_ORDER } from './sort-order.ts';
import type { FormatVersion, TableMetadata } from './table-metadata.ts';
import { validateTableMetadata } from './table-metadata-rules.ts';

/** The branch every table has. */
export const MAIN_BRANCH = 'main';

const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  'format-version',
  'table-uuid',
  'location',
  'last-sequence-number',
  'last-updated-ms',
  'last-column-id',
  'schema',
  'schemas',
  'current-schema-id',
  'partition-spec',
  'partition-specs',
  'default-spec-id',
  'last-partition-id',
  'sort-orders',
  'default-sort-order-id',
  'properties',
  'current-snapshot-id',
  'snapshots',
  'snapshot-log',
  'metadata-log',
  'refs',
  'statistics',
  'partition-statistics',
  'next-row-id',
]);

/**
 * Reads and validates the text of a metadata file.
 * @throws corrupt with a code that names the defect; unsupported for a newer format
 */
export function parseTableMetadata(text: string): TableMetadata {
  return tableMetadataFromJson(new JsonNode(parseJson(text)));
}

/** The same from a parsed document, e.g. the `metadata` member of a catalog's answer. */
export function tableMetadataFromJson(node: JsonNode): TableMetadata {
  const formatVersion = parseFormatVersion(node);
  const { schemas, currentSchemaId } = parseSchemas(node);
  const { specs, defaultSpecId } = parseSpecs(node);
  const { sortOrders, defaultSortOrderId } = parseSortOrders(node, formatVersion);
  const currentSnapshotId = parseCurrentSnapshotId(node);
  const lastPartitionId = node.optional('last-partition-id')?.int();
  const otherMembers = Object.entries(node.object()).filter(([key]) => !KNOWN_MEMBERS.has(key));
  const metadata: TableMetadata = {
    formatVersion,
    tableUuid: parseUuid(node),
    location: node.member('location').string(),
    lastSequenceNumber: formatVersion === 1 ? 0n : node.member('last-sequence-number').long(),
    lastUpdatedMs: node.member('last-updated-ms').millis(),
    lastColumnId: node.member('last-column-id').int(),
    schemas,
    currentSchemaId,
    partitionSpecs: specs,
    defaultSpecId,
    lastPartitionId: lastPartitionId ?? highestPartitionFieldId(specs),
    sortOrders,
    defaultSortOrderId,
    properties: node.optional('properties')?.stringMap() ?? new Map(),
    currentSnapshotId,
    snapshots: node.optional('snapshots')?.items().map(parseSnapshot) ?? [],
    snapshotLog: items(node, 'snapshot-log').map((entry) => ({
      timestampMs: entry.member('timestamp-ms').millis(),
      snapshotId: entry.member('snapshot-id').long(),
    })),
    metadataLog: items(node, 'metadata-log').map((entry) => ({
      timestampMs: entry.member('timestamp-ms').millis(),
      metadataFile: entry.member('metadata-file').string(),
    })),
    refs: parseRefs(node, currentSnapshotId),
    statistics: items(node, 'statistics').map((entry) => entry.value),
    partitionStatistics: items(node, 'partition-statistics').map((entry) => entry.value),
    nextRowId: formatVersion === 3 ? node.member('next-row-id').long() : null,
    ...(otherMembers.length === 0 ? {} : { otherMembers: Object.fromEntries(otherMembers) }),
  };
  validateTableMetadata(metadata);
  return metadata;
}

/** The text of a metadata file. @throws unsupported for version 1: upgrade first */
export function serializeTableMetadata(metadata: TableMetadata): string {
  return serializeJson(tableMetadataToJson(metadata));
}

export function tableMetadataToJson(metadata: TableMetadata): JsonObject {
  if (metadata.formatVersion === 1) {
    throw new IcebergError(
      'unsupported',
      'metadata.write-v1',
      'Format version 1 is not written; upgrade the table to version 2',
    );
  }
  const { currentSnapshotId, nextRowId } = metadata;
  // Java reads -1 as "none" in v2 and null in v3.
  const noSnapshot = metadata.formatVersion === 2 ? -1 : null;
  return jsonObject({
    'format-version': metadata.formatVersion,
    'table-uuid': metadata.tableUuid,
    location: metadata.location,
    'last-sequence-number': jsonInt64(metadata.lastSequenceNumber),
    'last-updated-ms': metadata.lastUpdatedMs,
    'last-column-id': metadata.lastColumnId,
    'current-schema-id': metadata.currentSchemaId,
    schemas: metadata.schemas.map(serializeSchema),
    'default-spec-id': metadata.defaultSpecId,
    'partition-specs': metadata.partitionSpecs.map(serializePartitionSpec),
    'last-partition-id': metadata.lastPartitionId,
    'default-sort-order-id': metadata.defaultSortOrderId,
    'sort-orders': metadata.sortOrders.map(serializeSortOrder),
    properties: jsonFromMap(metadata.properties),
    'current-snapshot-id': currentSnapshotId === null ? noSnapshot : jsonInt64(currentSnapshotId),
    'next-row-id': nextRowId === null ? undefined : jsonInt64(nextRowId),
    refs: Object.fromEntries(
      [...metadata.refs].map(([name, ref]): [string, JsonValue] => [
        name,
        serializeSnapshotRef(ref),
      ]),
    ),
    snapshots: metadata.snapshots.map(serializeSnapshot),
    statistics: metadata.statistics,
    'partition-statistics': metadata.partitionStatistics,
    'snapshot-log': metadata.snapshotLog.map((entry) => ({
      'timestamp-ms': entry.timestampMs,
      'snapshot-id': jsonInt64(entry.snapshotId),
    })),
    'metadata-log': metadata.metadataLog.map((entry) => ({
      'timestamp-ms': entry.timestampMs,
      'metadata-file': entry.metadataFile,
    })),
    ...metadata.otherMembers,
  });
}

function parseFormatVersion(node: JsonNode): FormatVersion {
  const version = node.member('format-version').int();
  if (version === 1 || version === 2 || version === 3) return version;
  if (version < 1) throw node.fail('metadata.format-version', `no format version ${version}`);
  throw new IcebergError(
    'unsupported',
    'metadata.format-version',
    `Format version ${version} is newer than the versions 1 to 3 that are known`,
  );
}

function parseUuid(node: JsonNode): string {
  const uuid = node.optional('table-uuid');
  if (uuid !== null) return uuid.string();
  if (node.member('format-version').int() > 1) {
    throw node.fail('metadata.table-uuid-missing', '"table-uuid" is missing');
  }
  throw new IcebergError(
    'unsupported',
    'metadata.table-uuid-missing',
    'Version 1 tables without a UUID are not supported',
  );
}

function parseSchemas(node: JsonNode): { schemas: Schema[]; currentSchemaId: number } {
  const list = node.optional('schemas');
  if (list !== null) {
    return {
      schemas: list.items().map(parseSchema),
      currentSchemaId: node.member('current-schema-id').int(),
    };
  }
  if (node.member('format-version').int() > 1) {
    throw node.fail('metadata.schemas-missing', '"schemas" is missing');
  }
  const schema = parseSchema(node.member('schema'));
  return { schemas: [schema], currentSchemaId: schema.schemaId };
}

function parseSpecs(node: JsonNode): { specs: PartitionSpec[]; defaultSpecId: number } {
  const list = node.optional('partition-specs');
  if (list !== null) {
    return {
      specs: list.items().map(parsePartitionSpec),
      defaultSpecId: node.member('default-spec-id').int(),
    };
  }
  if (node.member('format-version').int() > 1) {
    throw node.fail('metadata.partition-specs-missing', '"partition-specs" is missing');
  }
  const fields = parsePartitionFields(node.member('partition-spec'));
  return { specs: [{ specId: 0, fields }], defaultSpecId: 0 };
}

function parseSortOrders(
  node: JsonNode,
  formatVersion: FormatVersion,
): { sortOrders: SortOrder[]; defaultSortOrderId: number } {
  const list = node.optional('sort-orders');
  if (list !== null) {
    return {
      sortOrders: list.items().map(parseSortOrder),
      defaultSortOrderId: node.member('default-sort-order-id').int(),
    };
  }
  if (formatVersion > 1) {
    throw node.fail('metadata.sort-orders-missing', '"sort-orders" is missing');
  }
  return { sortOrders: [UNSORTED_ORDER], defaultSortOrderId: UNSORTED_ORDER.orderId };
}

/** -1, null and an absent member all mean that there is no snapshot. */
function parseCurrentSnapshotId(node: JsonNode): bigint | null {
  const id = node.optional('current-snapshot-id')?.long() ?? null;
  return id === -1n ? null : id;
}

/** Metadata written before refs existed behaves as if `main` pointed at the current snapshot. */
function parseRefs(node: JsonNode, currentSnapshotId: bigint | null): Map<string, SnapshotRef> {
  const refs = new Map<string, SnapshotRef>();
  for (const [name, ref] of node.optional('refs')?.entries() ?? []) {
    refs.set(name, parseSnapshotRef(ref));
  }
  if (currentSnapshotId !== null && !refs.has(MAIN_BRANCH)) {
    refs.set(MAIN_BRANCH, { snapshotId: currentSnapshotId, type: 'branch' });
  }
  return refs;
}

function highestPartitionFieldId(specs: readonly PartitionSpec[]): number {
  return specs
    .flatMap((spec) => spec.fields)
    .reduce((highest, field) => Math.max(highest, field.fieldId), PARTITION_FIELD_ID_MIN - 1);
}

function items(node: JsonNode, key: string): JsonNode[] {
  return node.optional(key)?.items() ?? [];
}

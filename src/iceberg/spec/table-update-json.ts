/** Table updates in the JSON form of the REST protocol ("TableUpdate"). */

import { IcebergError, unreachable } from '../errors.ts';
import type { JsonNode, JsonObject } from '../json.ts';
import { jsonFromMap, jsonInt64 } from '../json.ts';
import { highestFieldId } from './data-types.ts';
import { parsePartitionSpec, serializePartitionSpec } from './partition-spec-json.ts';
import { parseSchema, serializeSchema } from './schema-json.ts';
import {
  parseSnapshot,
  parseSnapshotRef,
  serializeSnapshot,
  serializeSnapshotRef,
} from './snapshot-json.ts';
import { parseSortOrder, serializeSortOrder } from './sort-order-json.ts';
import type { FormatVersion } from './table-metadata.ts';
import type { TableUpdate } from './table-update.ts';

/** @throws invalid `update.unknown`; unsupported for actions of the protocol not implemented here */
export function parseTableUpdate(node: JsonNode): TableUpdate {
  const action = node.member('action').string();
  switch (action) {
    case 'assign-uuid':
      return { action, uuid: node.member('uuid').string() };
    case 'upgrade-format-version':
      return { action, formatVersion: parseFormatVersion(node.member('format-version')) };
    case 'add-schema': {
      const schema = parseSchema(node.member('schema'));
      // Deprecated in the protocol; without it the schema's own ids tell.
      const lastColumnId = node.optional('last-column-id')?.int() ?? highestFieldId(schema);
      return { action, schema, lastColumnId };
    }
    case 'set-current-schema':
      return { action, schemaId: node.member('schema-id').int() };
    case 'add-spec':
      return { action, spec: parsePartitionSpec(node.member('spec')) };
    case 'set-default-spec':
      return { action, specId: node.member('spec-id').int() };
    case 'add-sort-order':
      return { action, sortOrder: parseSortOrder(node.member('sort-order')) };
    case 'set-default-sort-order':
      return { action, sortOrderId: node.member('sort-order-id').int() };
    case 'add-snapshot':
      return { action, snapshot: parseSnapshot(node.member('snapshot')) };
    case 'set-snapshot-ref':
      return { action, refName: node.member('ref-name').string(), ref: parseSnapshotRef(node) };
    case 'remove-snapshots':
      return {
        action,
        snapshotIds: node
          .member('snapshot-ids')
          .items()
          .map((id) => id.long()),
      };
    case 'remove-snapshot-ref':
      return { action, refName: node.member('ref-name').string() };
    case 'set-location':
      return { action, location: node.member('location').string() };
    case 'set-properties':
      return { action, updates: node.member('updates').stringMap() };
    case 'remove-properties':
      return {
        action,
        removals: node
          .member('removals')
          .items()
          .map((key) => key.string()),
      };
    default:
      throw unknownAction(node, action);
  }
}

export function serializeTableUpdate(update: TableUpdate): JsonObject {
  const { action } = update;
  switch (action) {
    case 'assign-uuid':
      return { action, uuid: update.uuid };
    case 'upgrade-format-version':
      return { action, 'format-version': update.formatVersion };
    case 'add-schema':
      return {
        action,
        schema: serializeSchema(update.schema),
        // Deprecated, but older servers want it.
        'last-column-id': update.lastColumnId,
      };
    case 'set-current-schema':
      return { action, 'schema-id': update.schemaId };
    case 'add-spec':
      return { action, spec: serializePartitionSpec(update.spec) };
    case 'set-default-spec':
      return { action, 'spec-id': update.specId };
    case 'add-sort-order':
      return { action, 'sort-order': serializeSortOrder(update.sortOrder) };
    case 'set-default-sort-order':
      return { action, 'sort-order-id': update.sortOrderId };
    case 'add-snapshot':
      return { action, snapshot: serializeSnapshot(update.snapshot) };
    case 'set-snapshot-ref':
      return { action, 'ref-name': update.refName, ...serializeSnapshotRef(update.ref) };
    case 'remove-snapshots':
      return { action, 'snapshot-ids': update.snapshotIds.map(jsonInt64) };
    case 'remove-snapshot-ref':
      return { action, 'ref-name': update.refName };
    case 'set-location':
      return { action, location: update.location };
    case 'set-properties':
      return { action, updates: jsonFromMap(update.updates) };
    case 'remove-properties':
      return { action, removals: update.removals };
    default:
      return unreachable(update);
  }
}

const UNIMPLEMENTED_ACTIONS: ReadonlySet<string> = new Set([
  'set-statistics',
  'remove-statistics',
  'set-partition-statistics',
  'remove-partition-statistics',
  'remove-partition-specs',
  'remove-schemas',
  'add-encryption-key',
  'remove-encryption-key',
]);

function unknownAction(node: JsonNode, action: string): IcebergError {
  if (UNIMPLEMENTED_ACTIONS.has(action)) {
    return new IcebergError(
      'unsupported',
      'update.unsupported',
      `The update "${action}" is not supported`,
    );
  }
  return node.fail('update.unknown', `unknown update "${action}"`);
}

function parseFormatVersion(node: JsonNode): FormatVersion {
  const version = node.int();
  if (version === 1 || version === 2 || version === 3) return version;
  throw new IcebergError(
    'unsupported',
    'metadata.format-version',
    `Format version ${version} is not supported`,
  );
}

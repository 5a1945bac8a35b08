/** Table requirements in the JSON form of the REST protocol ("TableRequirement"). */

import { unreachable } from '../errors.ts';
import type { JsonNode, JsonObject } from '../json.ts';
import { jsonInt64 } from '../json.ts';
import type { TableRequirement } from './table-requirement.ts';

/** @throws invalid `requirement.unknown`: what is not understood cannot be checked */
export function parseTableRequirement(node: JsonNode): TableRequirement {
  const type = node.member('type').string();
  switch (type) {
    case 'assert-create':
      return { type };
    case 'assert-table-uuid':
      return { type, uuid: node.member('uuid').string() };
    case 'assert-ref-snapshot-id':
      return {
        type,
        ref: node.member('ref').string(),
        snapshotId: node.optional('snapshot-id')?.long() ?? null,
      };
    case 'assert-last-assigned-field-id':
      return { type, lastAssignedFieldId: node.member('last-assigned-field-id').int() };
    case 'assert-current-schema-id':
      return { type, currentSchemaId: node.member('current-schema-id').int() };
    case 'assert-last-assigned-partition-id':
      return { type, lastAssignedPartitionId: node.member('last-assigned-partition-id').int() };
    case 'assert-default-spec-id':
      return { type, defaultSpecId: node.member('default-spec-id').int() };
    case 'assert-default-sort-order-id':
      return { type, defaultSortOrderId: node.member('default-sort-order-id').int() };
    default:
      throw node.fail('requirement.unknown', `unknown requirement "${type}"`);
  }
}

export function serializeTableRequirement(requirement: TableRequirement): JsonObject {
  const { type } = requirement;
  switch (type) {
    case 'assert-create':
      return { type };
    case 'assert-table-uuid':
      return { type, uuid: requirement.uuid };
    case 'assert-ref-snapshot-id': {
      const { ref, snapshotId } = requirement;
      return { type, ref, 'snapshot-id': snapshotId === null ? null : jsonInt64(snapshotId) };
    }
    case 'assert-last-assigned-field-id':
      return { type, 'last-assigned-field-id': requirement.lastAssignedFieldId };
    case 'assert-current-schema-id':
      return { type, 'current-schema-id': requirement.currentSchemaId };
    case 'assert-last-assigned-partition-id':
      return { type, 'last-assigned-partition-id': requirement.lastAssignedPartitionId };
    case 'assert-default-spec-id':
      return { type, 'default-spec-id': requirement.defaultSpecId };
    case 'assert-default-sort-order-id':
      return { type, 'default-sort-order-id': requirement.defaultSortOrderId };
    default:
      return unreachable(requirement);
  }
}

/** Whether what a commit was planned on still holds. Pure; the catalog calls it before it applies. */

import { unreachable } from '../errors.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import type { TableRequirement } from '../spec/table-requirement.ts';

/**
 * The message of the first requirement that fails, or null when all hold.
 * `metadata` is null when the table does not exist.
 */
export function checkRequirements(
  metadata: TableMetadata | null,
  requirements: readonly TableRequirement[],
): string | null {
  for (const requirement of requirements) {
    const problem = checkRequirement(metadata, requirement);
    if (problem !== null) return `Requirement failed: ${problem}`;
  }
  return null;
}

function checkRequirement(
  metadata: TableMetadata | null,
  requirement: TableRequirement,
): string | null {
  if (requirement.type === 'assert-create') {
    return metadata === null ? null : 'the table already exists';
  }
  if (metadata === null) return 'the table does not exist';
  switch (requirement.type) {
    case 'assert-table-uuid':
      return compare(
        'table UUID',
        requirement.uuid.toLowerCase(),
        metadata.tableUuid.toLowerCase(),
      );
    case 'assert-ref-snapshot-id': {
      const actual = metadata.refs.get(requirement.ref)?.snapshotId ?? null;
      return compare(`ref "${requirement.ref}"`, requirement.snapshotId, actual);
    }
    case 'assert-last-assigned-field-id':
      return compare(
        'last assigned field id',
        requirement.lastAssignedFieldId,
        metadata.lastColumnId,
      );
    case 'assert-current-schema-id':
      return compare('current schema id', requirement.currentSchemaId, metadata.currentSchemaId);
    case 'assert-last-assigned-partition-id':
      return compare(
        'last assigned partition id',
        requirement.lastAssignedPartitionId,
        metadata.lastPartitionId,
      );
    case 'assert-default-spec-id':
      return compare('default spec id', requirement.defaultSpecId, metadata.defaultSpecId);
    case 'assert-default-sort-order-id':
      return compare(
        'default sort order id',
        requirement.defaultSortOrderId,
        metadata.defaultSortOrderId,
      );
    default:
      return unreachable(requirement);
  }
}

function compare<T extends string | number | bigint | null>(
  what: string,
  expected: T,
  actual: T,
): string | null {
  if (expected === actual) return null;
  return `${what} is ${actual ?? 'absent'}, expected ${expected ?? 'absent'}`;
}

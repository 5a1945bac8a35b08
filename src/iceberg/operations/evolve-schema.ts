/** The change that adds columns to a table's schema. Pure. */

import type { SchemaLimits } from '../metadata/union-by-name.ts';
import { DEFAULT_SCHEMA_LIMITS, unionByName } from '../metadata/union-by-name.ts';
import type { InferredStruct } from '../spec/inferred-type.ts';
import { NAME_MAPPING_PROPERTY, updateNameMapping } from '../spec/name-mapping.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { currentSchema } from '../spec/table-metadata-rules.ts';
import type { TableRequirement } from '../spec/table-requirement.ts';
import type { TableUpdate } from '../spec/table-update.ts';

export { DEFAULT_SCHEMA_LIMITS, unionByName };
export type { SchemaLimits };

export interface SchemaChange {
  readonly updates: readonly TableUpdate[];
  readonly requirements: readonly TableRequirement[];
}

/** The change that adds the missing columns to a table; null when there is nothing to add. */
export function evolveSchema(
  metadata: TableMetadata,
  missing: InferredStruct,
  limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS,
): SchemaChange | null {
  const base = currentSchema(metadata);
  const { schema, lastColumnId, changed } = unionByName(
    base,
    missing,
    metadata.lastColumnId,
    limits,
  );
  if (!changed) return null;
  const updates: TableUpdate[] = [
    { action: 'add-schema', schema, lastColumnId },
    { action: 'set-current-schema', schemaId: -1 },
  ];
  const mapping = metadata.properties.get(NAME_MAPPING_PROPERTY);
  if (mapping !== undefined) {
    const updated = updateNameMapping(mapping, schema);
    updates.push({
      action: 'set-properties',
      updates: new Map([[NAME_MAPPING_PROPERTY, updated]]),
    });
  }
  return {
    updates,
    requirements: [
      { type: 'assert-table-uuid', uuid: metadata.tableUuid },
      { type: 'assert-last-assigned-field-id', lastAssignedFieldId: metadata.lastColumnId },
      { type: 'assert-current-schema-id', currentSchemaId: metadata.currentSchemaId },
    ],
  };
}

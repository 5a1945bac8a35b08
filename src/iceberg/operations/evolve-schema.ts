/** The change that fits a table's schema to the columns that arrived. Pure. */

import { checkPartitionNames, partitionFieldHurtByPromotion } from '../metadata/layout-sources.ts';
import type { UnionRules } from '../metadata/union-by-name.ts';
import { unionByName } from '../metadata/union-by-name.ts';
import type { InferredStruct } from '../spec/inferred-type.ts';
import type { Schema } from '../spec/schema.ts';
import { NAME_MAPPING_PROPERTY, updateNameMapping } from '../spec/name-mapping.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { currentSchema } from '../spec/table-metadata-rules.ts';
import type { TableRequirement } from '../spec/table-requirement.ts';
import type { TableUpdate } from '../spec/table-update.ts';

export interface SchemaChange {
  readonly updates: readonly TableUpdate[];
  readonly requirements: readonly TableRequirement[];
}

/**
 * The change that adds the missing columns to a table, and widens columns under the policy `widen`;
 * null when there is nothing to do, and always under `strict`.
 * @throws invalid as `unionByName`; `schema.partition-name`
 */
export function evolveSchema(
  metadata: TableMetadata,
  arrived: InferredStruct,
  rules: Pick<UnionRules, 'policy' | 'limits'> = {},
): SchemaChange | null {
  const base = currentSchema(metadata);
  const { schema, lastColumnId, changed } = unionByName(base, arrived, metadata.lastColumnId, {
    ...rules,
    formatVersion: metadata.formatVersion,
    mayWiden: (fieldId, from) => partitionFieldHurtByPromotion(metadata, fieldId, from) === null,
  });
  if (!changed) return null;
  checkPartitionNames(metadata, base, schema);
  return schemaChange(metadata, schema, lastColumnId);
}

/** Makes `schema` the current one, if the table's schema is still the one it was derived from. */
export function schemaChange(
  metadata: TableMetadata,
  schema: Schema,
  lastColumnId: number,
): SchemaChange {
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

/** How a table's schema may follow the rows, as its properties say. */

import { IcebergError } from '../iceberg/errors.ts';
import type { SchemaLimits } from '../iceberg/metadata/inferred-fields.ts';
import { DEFAULT_SCHEMA_LIMITS } from '../iceberg/metadata/inferred-fields.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import { TABLE_PROPERTIES, tableProperty } from '../iceberg/table-properties.ts';

export interface SchemaRules {
  readonly policy: SchemaPolicy;
  /** New columns one request may bring, nested ones included. */
  readonly newColumnsMax: number;
  readonly limits: SchemaLimits;
}

/** @throws invalid `property.invalid` */
export function schemaRulesOf(properties: ReadonlyMap<string, string>): SchemaRules {
  return {
    policy: tableProperty(properties, TABLE_PROPERTIES.schemaPolicy),
    newColumnsMax: tableProperty(properties, TABLE_PROPERTIES.newColumnsMax),
    limits: {
      ...DEFAULT_SCHEMA_LIMITS,
      columnsMax: tableProperty(properties, TABLE_PROPERTIES.columnsMax),
    },
  };
}

/** Of a table that does not exist yet. */
export const DEFAULT_SCHEMA_RULES: SchemaRules = schemaRulesOf(new Map());

/** The policy `rescue` of the design: unknown columns kept in one of their own. */
export function rescueNotYet(): IcebergError {
  return new IcebergError(
    'unsupported',
    'schema.rescue-not-yet',
    'The schema policy "rescue" is not served yet: choose strict, add or widen',
  );
}

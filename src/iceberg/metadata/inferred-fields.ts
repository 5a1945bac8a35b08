/**
 * The columns of a slice of rows, made fit for a schema: what has no leaf left out, names folded,
 * bounds checked.
 */

import { IcebergError } from '../errors.ts';
import { schemaFieldIds } from '../spec/data-types.ts';
import type { InferredField, InferredStruct, InferredType } from '../spec/inferred-type.ts';
import type { Schema, Type } from '../spec/schema.ts';
import { checkTopLevelName, foldedName } from './column-names.ts';

export interface SchemaLimits {
  /** Fields at any depth, list elements and map entries included. */
  readonly columnsMax: number;
  /** Nested levels below the top. */
  readonly depthMax: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = { columnsMax: 1000, depthMax: 32 };

/**
 * The fields of a new table, without ids: what has no leaf left out, names folded.
 * @throws as `unionByName`
 */
export function prunedFields(struct: InferredStruct, limits: SchemaLimits): InferredField[] {
  for (const { name } of struct.fields) checkTopLevelName(name);
  return pruneFields(struct.fields, 0, limits);
}

/** @throws invalid `schema.too-many-columns` */
export function checkColumnCount(schema: Schema, limits: SchemaLimits): void {
  const count = schemaFieldIds(schema).length;
  if (count <= limits.columnsMax) return;
  throw new IcebergError(
    'invalid',
    'schema.too-many-columns',
    `The table would have ${count} columns, nested ones included; the limit is ${limits.columnsMax}`,
    { context: { limit: limits.columnsMax, count } },
  );
}

/** @throws invalid `schema.too-deep` */
export function checkDepth(depth: number, limits: SchemaLimits): void {
  if (depth <= limits.depthMax) return;
  throw new IcebergError(
    'invalid',
    'schema.too-deep',
    `Columns are nested deeper than ${limits.depthMax} levels`,
    { context: { limit: limits.depthMax } },
  );
}

/** The same for all that is nested in a type; `depth` is that of the column it belongs to. */
export function checkTypeDepth(type: Type, depth: number, limits: SchemaLimits): void {
  checkDepth(depth, limits);
  switch (type.type) {
    case 'struct':
      for (const field of type.fields) checkTypeDepth(field.type, depth + 1, limits);
      return;
    case 'list':
      checkTypeDepth(type.element, depth + 1, limits);
      return;
    case 'map':
      checkTypeDepth(type.key, depth + 1, limits);
      checkTypeDepth(type.value, depth + 1, limits);
      return;
    default:
  }
}

/** The type without what has no leaf, and with names folded; null when nothing is left. */
export function pruneType(
  type: InferredType,
  depth: number,
  limits: SchemaLimits,
): InferredType | null {
  checkDepth(depth, limits);
  if (typeof type === 'string') return type === '' || type === 'unknown' ? null : type;
  switch (type.type) {
    case 'struct': {
      const fields = pruneFields(type.fields, depth, limits);
      return fields.length === 0 ? null : { type: 'struct', fields };
    }
    case 'list': {
      const element = pruneType(type.element, depth + 1, limits);
      return element === null ? null : { type: 'list', element };
    }
    case 'map': {
      const key = pruneType(type.key, depth + 1, limits);
      const value = pruneType(type.value, depth + 1, limits);
      return key === null || value === null ? null : { type: 'map', key, value };
    }
  }
}

function pruneFields(
  fields: readonly InferredField[],
  depth: number,
  limits: SchemaLimits,
): InferredField[] {
  const byName = new Map<string, InferredField>();
  for (const { name, type } of fields) {
    const pruned = pruneType(type, depth + 1, limits);
    if (pruned === null) continue;
    if (name === '') {
      throw new IcebergError('invalid', 'schema.empty-name', 'A nested field has an empty name');
    }
    const folded = foldedName(name);
    const first = byName.get(folded);
    if (first === undefined) {
      byName.set(folded, { name, type: pruned });
    } else if (isStruct(first.type) && isStruct(pruned)) {
      // `{"o":{"X":…},"O":{"Y":…}}` is one struct with both fields.
      const merged = pruneFields([...first.type.fields, ...pruned.fields], depth, limits);
      byName.set(folded, { name: first.name, type: { type: 'struct', fields: merged } });
    }
  }
  return [...byName.values()];
}

function isStruct(type: InferredType): type is InferredStruct {
  return typeof type !== 'string' && type.type === 'struct';
}

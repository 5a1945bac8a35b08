/**
 * Adds the columns that arrived and the table lacks. Names are folded: two names equal under lower
 * case are one column, at every depth, because Hive, Glue, Trino and Spark cannot read a table with
 * both. A name with a dot is a name, never a path. Nothing is dropped, renamed or retyped here: a
 * column of another kind than the one that arrived stays as it is.
 */

import { IcebergError } from '../errors.ts';
import { checkTopLevelName, foldedName, indexOfName } from './column-names.ts';
import { assignTypeIds, FieldIdSource } from './fresh-ids.ts';
import { schemaFieldIds } from '../spec/data-types.ts';
import type { InferredField, InferredStruct, InferredType } from '../spec/inferred-type.ts';
import type { NestedField, Schema, Type } from '../spec/schema.ts';

export interface SchemaLimits {
  /** Fields at any depth, list elements and map entries included. */
  readonly columnsMax: number;
  /** Nested levels below the top. */
  readonly depthMax: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = { columnsMax: 1000, depthMax: 32 };

export interface SchemaUnion {
  /** With the schema id of the input; a catalog gives the new one. */
  readonly schema: Schema;
  /** At least the one passed in. */
  readonly lastColumnId: number;
  /** False when every column was there already. */
  readonly changed: boolean;
}

/**
 * The schema with the missing columns added as optional ones, new ids above `lastColumnId`.
 * Structs without a leaf and lists of nothing are skipped: no file can hold them.
 * @throws invalid `schema.reserved-name`, `schema.empty-name`, `schema.too-many-columns`,
 * `schema.too-deep`
 */
export function unionByName(
  schema: Schema,
  missing: InferredStruct,
  lastColumnId: number,
  limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS,
): SchemaUnion {
  const ids = new FieldIdSource(lastColumnId);
  for (const { name } of missing.fields) checkTopLevelName(name);
  const fields = unionFields(schema.fields, missing.fields, ids, 0, limits);
  const changed = fields !== schema.fields;
  const union: Schema = changed ? { ...schema, fields } : schema;
  if (changed) checkColumnCount(union, limits);
  return { schema: union, lastColumnId: ids.lastColumnId, changed };
}

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

/** The same array when nothing is added, so that a change is seen by identity. */
function unionFields(
  existing: readonly NestedField[],
  missing: readonly InferredField[],
  ids: FieldIdSource,
  depth: number,
  limits: SchemaLimits,
): readonly NestedField[] {
  checkDepth(depth, limits);
  let fields = existing;
  for (const field of missing) {
    const index = indexOfName(fields, field.name);
    const known = fields[index];
    if (known === undefined) {
      const type = pruneType(field.type, depth + 1, limits);
      if (type === null) continue;
      if (field.name === '') {
        throw new IcebergError('invalid', 'schema.empty-name', 'A column has an empty name');
      }
      // A column's own id comes before those nested in it.
      const id = ids.next();
      const added = { id, name: field.name, required: false, type: assignTypeIds(type, ids) };
      fields = [...fields, added];
    } else {
      const type = unionType(known.type, field.type, ids, depth + 1, limits);
      if (type !== known.type) fields = fields.with(index, { ...known, type });
    }
  }
  return fields;
}

function unionType(
  known: Type,
  found: InferredType,
  ids: FieldIdSource,
  depth: number,
  limits: SchemaLimits,
): Type {
  if (typeof found === 'string') return known;
  if (known.type === 'struct' && found.type === 'struct') {
    const fields = unionFields(known.fields, found.fields, ids, depth, limits);
    return fields === known.fields ? known : { ...known, fields };
  }
  if (known.type === 'list' && found.type === 'list') {
    const element = unionType(known.element, found.element, ids, depth + 1, limits);
    return element === known.element ? known : { ...known, element };
  }
  if (known.type === 'map' && found.type === 'map') {
    // Keys are never evolved: the spec forbids it.
    const value = unionType(known.value, found.value, ids, depth + 1, limits);
    return value === known.value ? known : { ...known, value };
  }
  return known;
}

/** The type without what has no leaf, and with names folded; null when nothing is left. */
function pruneType(type: InferredType, depth: number, limits: SchemaLimits): InferredType | null {
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

function checkDepth(depth: number, limits: SchemaLimits): void {
  if (depth <= limits.depthMax) return;
  throw new IcebergError(
    'invalid',
    'schema.too-deep',
    `Columns are nested deeper than ${limits.depthMax} levels`,
    { context: { limit: limits.depthMax } },
  );
}

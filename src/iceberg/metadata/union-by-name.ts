/**
 * Fits a schema to the columns that arrived, by the policy of the table. Names are folded, at every
 * depth. Nothing is ever dropped or renamed here: a column of another kind than the one that arrived
 * stays as it is.
 */

import { IcebergError } from '../errors.ts';
import { isPrimitive, parsePrimitiveType } from '../spec/data-types.ts';
import type { InferredField, InferredStruct, InferredType } from '../spec/inferred-type.ts';
import type { NestedField, PrimitiveType, Schema, Type } from '../spec/schema.ts';
import type { FormatVersion } from '../spec/table-metadata.ts';
import { canPromote } from '../spec/type-promotion.ts';
import { checkTopLevelName, indexOfName } from './column-names.ts';
import { assignTypeIds, FieldIdSource } from './fresh-ids.ts';
import type { SchemaLimits } from './inferred-fields.ts';
import {
  checkColumnCount,
  checkDepth,
  DEFAULT_SCHEMA_LIMITS,
  pruneType,
} from './inferred-fields.ts';
import { checkField } from './schema-rules.ts';

/**
 * `strict`: no column is added; `add`: missing columns are added, optional, at any depth; `widen`: as
 * `add`, and a column becomes of the type that arrived where that is a legal promotion.
 */
export type SchemaPolicy = 'strict' | 'add' | 'widen';

export interface UnionRules {
  /** `add` when left out. */
  readonly policy?: SchemaPolicy;
  readonly limits?: SchemaLimits;
  /** Decides which types a column may have; the newest when left out. */
  readonly formatVersion?: FormatVersion;
  /** Whether a column may be widened, e.g. not when its partition values would change. */
  readonly mayWiden?: (fieldId: number, from: PrimitiveType) => boolean;
}

export interface SchemaUnion {
  /** With the schema id of the input; a catalog gives the new one. */
  readonly schema: Schema;
  /** At least the one passed in. */
  readonly lastColumnId: number;
  /** False when every column was there already, and under `strict`. */
  readonly changed: boolean;
  /** Under `strict` the columns that were not added, the topmost missing name of each; else empty. */
  readonly missingColumns: readonly (readonly string[])[];
}

/**
 * The schema after the policy was applied, new ids above `lastColumnId`. Structs without a leaf and
 * lists of nothing are skipped: no file can hold them.
 * @throws invalid `schema.reserved-name`, `schema.empty-name`, `schema.too-many-columns`,
 * `schema.too-deep`, `type.needs-version-3`
 */
export function unionByName(
  schema: Schema,
  arrived: InferredStruct,
  lastColumnId: number,
  rules: UnionRules = {},
): SchemaUnion {
  const union = new Union(lastColumnId, rules);
  if (rules.policy !== 'strict') for (const { name } of arrived.fields) checkTopLevelName(name);
  const fields = union.fields(schema.fields, arrived.fields, []);
  const changed = fields !== schema.fields;
  const result: Schema = changed ? { ...schema, fields } : schema;
  if (changed) checkColumnCount(result, rules.limits ?? DEFAULT_SCHEMA_LIMITS);
  return {
    schema: result,
    lastColumnId: union.ids.lastColumnId,
    changed,
    missingColumns: union.missingColumns,
  };
}

/** One union under way. Whatever is not changed comes back as the same object. */
class Union {
  readonly ids: FieldIdSource;
  readonly missingColumns: string[][] = [];
  readonly #policy: SchemaPolicy;
  readonly #limits: SchemaLimits;
  readonly #formatVersion: FormatVersion;
  readonly #mayWiden: (fieldId: number, from: PrimitiveType) => boolean;

  constructor(lastColumnId: number, rules: UnionRules) {
    this.ids = new FieldIdSource(lastColumnId);
    this.#policy = rules.policy ?? 'add';
    this.#limits = rules.limits ?? DEFAULT_SCHEMA_LIMITS;
    this.#formatVersion = rules.formatVersion ?? 3;
    this.#mayWiden = rules.mayWiden ?? (() => true);
  }

  fields(
    existing: readonly NestedField[],
    arrived: readonly InferredField[],
    parent: readonly string[],
  ): readonly NestedField[] {
    checkDepth(parent.length, this.#limits);
    let fields = existing;
    for (const field of arrived) {
      const path = [...parent, field.name];
      const index = indexOfName(fields, field.name);
      const known = fields[index];
      if (known === undefined) {
        const added = this.#newField(field, path);
        if (added !== null) fields = [...fields, added];
      } else {
        const type = this.#type(known.id, known.type, field.type, path);
        if (type !== known.type) fields = fields.with(index, { ...known, type });
      }
    }
    return fields;
  }

  #newField(field: InferredField, path: readonly string[]): NestedField | null {
    const type = pruneType(field.type, path.length, this.#limits);
    if (type === null) return null;
    if (this.#policy === 'strict') {
      this.missingColumns.push([...path]);
      return null;
    }
    if (field.name === '') {
      throw new IcebergError('invalid', 'schema.empty-name', 'A column has an empty name');
    }
    // A column's own id comes before those nested in it.
    const id = this.ids.next();
    const added: NestedField = {
      id,
      name: field.name,
      required: false,
      type: assignTypeIds(type, this.ids),
    };
    checkField(added, path, this.#formatVersion);
    return added;
  }

  /** `fieldId` is that of the field, element or value whose type `known` is. */
  #type(fieldId: number, known: Type, arrived: InferredType, path: readonly string[]): Type {
    if (isPrimitive(known)) return this.#primitive(fieldId, known, arrived, path);
    if (typeof arrived === 'string') return known;
    if (known.type === 'struct' && arrived.type === 'struct') {
      const fields = this.fields(known.fields, arrived.fields, path);
      return fields === known.fields ? known : { ...known, fields };
    }
    if (known.type === 'list' && arrived.type === 'list') {
      const elementPath = [...path, 'element'];
      const element = this.#type(known.elementId, known.element, arrived.element, elementPath);
      return element === known.element ? known : { ...known, element };
    }
    if (known.type === 'map' && arrived.type === 'map') {
      // Keys are never evolved: the spec forbids it.
      const value = this.#type(known.valueId, known.value, arrived.value, [...path, 'value']);
      return value === known.value ? known : { ...known, value };
    }
    return known;
  }

  #primitive(
    fieldId: number,
    known: PrimitiveType,
    arrived: InferredType,
    path: readonly string[],
  ): Type {
    if (this.#policy !== 'widen') return known;
    const pruned = pruneType(arrived, path.length, this.#limits);
    if (pruned === null) return known;
    // A nested type may only replace `unknown`; ids are drawn once that is certain.
    const isNested = typeof pruned !== 'string';
    if (isNested && known.type !== 'unknown') return known;
    const type = isNested ? assignTypeIds(pruned, this.ids) : parsePrimitiveType(pruned);
    const mayWiden = canPromote(known, type, this.#formatVersion) && this.#mayWiden(fieldId, known);
    return mayWiden ? type : known;
  }
}

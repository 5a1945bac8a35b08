/**
 * Changes of a schema that somebody asks for, all or none. Pure: the answer is what would be
 * committed, and its difference for people, so that a dry run is the same call without the commit.
 * Every column the change does not name stays as it is, even where another writer broke our rules.
 */

import { IcebergError, unreachable } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { JsonNode } from '../json.ts';
import { checkTopLevelName, foldedName, indexOfName, pathText } from '../metadata/column-names.ts';
import { assignTypeIds, FieldIdSource } from '../metadata/fresh-ids.ts';
import type { SchemaLimits } from '../metadata/inferred-fields.ts';
import {
  checkColumnCount,
  checkTypeDepth,
  DEFAULT_SCHEMA_LIMITS,
} from '../metadata/inferred-fields.ts';
import {
  checkDroppable,
  checkPartitionNames,
  partitionFieldHurtByPromotion,
} from '../metadata/layout-sources.ts';
import type { SchemaDifference } from '../metadata/schema-difference.ts';
import { schemaDifference, typeText } from '../metadata/schema-difference.ts';
import type { ColumnPath } from '../metadata/schema-editor.ts';
import { editColumn, editStruct, findColumn } from '../metadata/schema-editor.ts';
import { checkField, checkIdentifierFields } from '../metadata/schema-rules.ts';
import { fieldIdsOf, isPrimitive, parsePrimitiveType, sameFields } from '../spec/data-types.ts';
import type { NestedField, PrimitiveType, Schema, Type } from '../spec/schema.ts';
import { parseSingleValue, serializeSingleValue } from '../spec/single-value-json.ts';
import { promotedValue } from '../spec/single-value.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { currentSchema } from '../spec/table-metadata-rules.ts';
import { canPromote } from '../spec/type-promotion.ts';
import type { ColumnChange, ColumnPosition } from './column-change.ts';
import type { SchemaChange } from './evolve-schema.ts';
import { schemaChange } from './evolve-schema.ts';

type Fields = readonly NestedField[];

export interface SchemaUpdate {
  /** The schema as it would be; its id is still the current one's. */
  readonly schema: Schema;
  /** What to commit; null when the schema stays the same. */
  readonly change: SchemaChange | null;
  readonly difference: readonly SchemaDifference[];
}

/**
 * Applies the changes in order; a later one sees what the earlier ones made.
 * @throws invalid `schema.*` and `type.*`, each illegal change with a code of its own
 */
export function updateSchema(
  metadata: TableMetadata,
  changes: readonly ColumnChange[],
  limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS,
): SchemaUpdate {
  const base = currentSchema(metadata);
  const draft = new SchemaDraft(metadata, limits);
  for (const change of changes) draft.apply(change);
  const { schema, ids } = draft;
  if (ids.lastColumnId > metadata.lastColumnId) checkColumnCount(schema, limits);
  checkIdentifierFields(schema);
  checkPartitionNames(metadata, base, schema);
  return {
    schema,
    change: sameFields(base, schema) ? null : schemaChange(metadata, schema, ids.lastColumnId),
    difference: schemaDifference(base, schema),
  };
}

class SchemaDraft {
  readonly ids: FieldIdSource;
  readonly #metadata: TableMetadata;
  readonly #limits: SchemaLimits;
  #schema: Schema;

  constructor(metadata: TableMetadata, limits: SchemaLimits) {
    this.ids = new FieldIdSource(metadata.lastColumnId);
    this.#metadata = metadata;
    this.#limits = limits;
    this.#schema = currentSchema(metadata);
  }

  get schema(): Schema {
    return this.#schema;
  }

  apply(change: ColumnChange): void {
    switch (change.action) {
      case 'add':
        this.#add(change);
        return;
      case 'drop':
        this.#drop(change.path);
        return;
      case 'rename':
        this.#rename(change.path, change.name);
        return;
      case 'move':
        this.#siblings(change.path, (fields, field) => moved(fields, field, change.position));
        return;
      case 'widen':
        this.#column(change.path, (column) => this.#widened(column, change));
        return;
      case 'make-optional':
        this.#column(change.path, (column) => ({ ...column, required: false }));
        return;
      case 'set-doc':
        this.#siblings(change.path, (fields, field) =>
          replaced(fields, withDoc(field, change.doc)),
        );
        return;
      case 'set-write-default':
        this.#siblings(change.path, (fields, field) =>
          replaced(fields, this.#withWriteDefault(field, change)),
        );
        return;
      case 'set-identifier-fields': {
        const ids = change.paths.map((path) => findColumn(this.#schema.fields, path).id);
        this.#schema = { ...this.#schema, identifierFieldIds: [...new Set(ids)] };
        return;
      }
      default:
        unreachable(change);
    }
  }

  #add(change: ColumnChange & { action: 'add' }): void {
    const { path, position } = change;
    this.#setFields(
      editStruct(this.#schema.fields, path.slice(0, -1), (fields) => {
        const name = path.at(-1) ?? '';
        checkNewName(fields, path, name, null);
        const field = this.#newField(change, name);
        const extended = [...fields, field];
        return position === undefined ? extended : moved(extended, field, position);
      }),
    );
  }

  #newField(change: ColumnChange & { action: 'add' }, name: string): NestedField {
    const { path, doc, required = false, initialDefault = null } = change;
    const writeDefault = change.writeDefault ?? initialDefault;
    if (required && initialDefault === null) {
      throw refused(
        'schema.required-without-default',
        path,
        'cannot be required: the rows that are there have no value for it. Give an initial default ' +
          '(format version 3), or add it as optional',
      );
    }
    const id = this.ids.next();
    const field: NestedField = {
      id,
      name,
      required,
      type: assignTypeIds(change.type, this.ids),
      ...(doc === undefined ? {} : { doc }),
      ...(initialDefault === null ? {} : { initialDefault }),
      ...(writeDefault === null ? {} : { writeDefault }),
    };
    checkTypeDepth(field.type, path.length, this.#limits);
    checkField(field, path, this.#metadata.formatVersion);
    return field;
  }

  #drop(path: ColumnPath): void {
    const { identifierFieldIds } = this.#schema;
    this.#siblings(path, (fields, field) => {
      const ids = new Set([field.id, ...fieldIdsOf(field.type)]);
      if (identifierFieldIds.some((id) => ids.has(id))) {
        throw refused('schema.identifier-field', path, 'identifies rows and cannot be dropped');
      }
      checkDroppable(this.#metadata, field);
      if (fields.length > 1) return fields.filter((one) => one !== field);
      throw path.length === 1
        ? refused('schema.no-columns', path, 'is the last one: a table needs at least one column')
        : refused('schema.empty-struct', path, 'is the last field of its struct; drop the struct');
    });
  }

  #rename(path: ColumnPath, name: string): void {
    this.#siblings(path, (fields, field) => {
      checkNewName(fields, [...path.slice(0, -1), name], name, field);
      return replaced(fields, field, { ...field, name });
    });
  }

  #widened(column: NestedField, change: ColumnChange & { action: 'widen' }): NestedField {
    const { path } = change;
    const { formatVersion } = this.#metadata;
    const from = column.type;
    const isText = typeof change.type === 'string';
    // Ids for a nested type are drawn only where one may stand.
    if (!isPrimitive(from) || (!isText && from.type !== 'unknown')) {
      throw illegalPromotion(path, typeText(from), isText ? change.type : change.type.type);
    }
    const to = isText ? parsePrimitiveType(change.type) : assignTypeIds(change.type, this.ids);
    if (typeText(to) === typeText(from)) return column;
    if (!canPromote(from, to, formatVersion)) {
      throw illegalPromotion(path, typeText(from), typeText(to));
    }
    const hurt = partitionFieldHurtByPromotion(this.#metadata, column.id, from);
    if (hurt !== null) {
      throw refused(
        'schema.partition-source',
        path,
        `cannot become a ${typeText(to)}: the values of partition field "${hurt.name}" would change`,
      );
    }
    const widened = { ...withPromotedDefaults(column, from, to), type: to };
    checkTypeDepth(to, path.length, this.#limits);
    checkField(widened, path, formatVersion);
    return widened;
  }

  #withWriteDefault(
    field: NestedField,
    change: ColumnChange & { action: 'set-write-default' },
  ): NestedField {
    if (change.value === null) return without(field, 'writeDefault');
    const changed = { ...field, writeDefault: change.value };
    checkField(changed, change.path, this.#metadata.formatVersion);
    return changed;
  }

  /** Edits one column, which may be the element of a list or the value of a map. */
  #column(path: ColumnPath, edit: (column: NestedField) => NestedField): void {
    this.#setFields(editColumn(this.#schema.fields, path, edit));
  }

  /** Edits the struct a field is in. */
  #siblings(path: ColumnPath, edit: (fields: Fields, field: NestedField) => Fields): void {
    const field = findColumn(this.#schema.fields, path);
    this.#setFields(
      editStruct(this.#schema.fields, path.slice(0, -1), (fields) => edit(fields, field)),
    );
  }

  #setFields(fields: Fields): void {
    this.#schema = { ...this.#schema, fields };
  }
}

function checkNewName(
  fields: Fields,
  path: ColumnPath,
  name: string,
  renamed: NestedField | null,
): void {
  if (name === '') throw refused('schema.empty-name', path, 'has an empty name');
  if (path.length === 1) checkTopLevelName(name);
  const other = fields.find(
    (field) => field !== renamed && foldedName(field.name) === foldedName(name),
  );
  if (other === undefined) return;
  throw refused(
    'schema.duplicate-name',
    path,
    `cannot be named so: "${other.name}" is there, and case does not count`,
  );
}

function moved(fields: Fields, field: NestedField, position: ColumnPosition): Fields {
  const others = fields.filter((one) => one !== field);
  if (position.at === 'first') return [field, ...others];
  const index = indexOfName(others, position.column);
  if (index === -1) {
    throw refused(
      'schema.unknown-neighbour',
      [field.name],
      `cannot be moved next to "${position.column}": no other field of its struct has that name`,
    );
  }
  return others.toSpliced(position.at === 'before' ? index : index + 1, 0, field);
}

function replaced(fields: Fields, field: NestedField, by: NestedField = field): Fields {
  return fields.map((one) => (one.id === field.id ? by : one));
}

function withDoc(field: NestedField, doc: string | null): NestedField {
  return doc === null ? without(field, 'doc') : { ...field, doc };
}

function without(field: NestedField, key: 'doc' | 'writeDefault'): NestedField {
  const copy: { -readonly [K in keyof NestedField]: NestedField[K] } = { ...field };
  delete copy[key];
  return copy;
}

/** A default stays the same value, in the form of the wider type. */
function withPromotedDefaults(field: NestedField, from: PrimitiveType, to: Type): NestedField {
  if (!isPrimitive(to)) return field;
  const { initialDefault, writeDefault } = field;
  const promote = (value: JsonValue): JsonValue => {
    const promoted = promotedValue(to, parseSingleValue(new JsonNode(value), from));
    return promoted === null ? null : serializeSingleValue(to, promoted);
  };
  return {
    ...field,
    ...(initialDefault === undefined ? {} : { initialDefault: promote(initialDefault) }),
    ...(writeDefault === undefined ? {} : { writeDefault: promote(writeDefault) }),
  };
}

function illegalPromotion(path: ColumnPath, from: string, to: string): IcebergError {
  return refused(
    'schema.illegal-promotion',
    path,
    `cannot become a ${to} from a ${from}: readers would not understand what is stored`,
  );
}

function refused(code: string, path: ColumnPath, problem: string): IcebergError {
  const column = pathText(path);
  return new IcebergError('invalid', code, `Column ${column} ${problem}`, { context: { column } });
}

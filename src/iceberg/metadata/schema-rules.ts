/**
 * What a schema that somebody declares, or changes, must keep to. Schemas read from metadata files
 * are not checked by this: other writers may know more than Floe does.
 */

import { IcebergError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { JsonNode } from '../json.ts';
import { isPrimitive, primitiveTypeText } from '../spec/data-types.ts';
import type { NestedField, Schema, Type } from '../spec/schema.ts';
import { parseSingleValue } from '../spec/single-value-json.ts';
import { checkTopLevelName, foldedName, pathText } from './column-names.ts';

type Path = readonly string[];

const TYPES_OF_VERSION_3: ReadonlySet<string> = new Set([
  'timestamp_ns',
  'timestamptz_ns',
  'unknown',
  'variant',
]);

/**
 * @throws invalid `schema.reserved-name`, `schema.empty-name`, `schema.duplicate-name`,
 * `schema.empty-struct`, `schema.no-columns`, `schema.identifier-field`, `schema.default`,
 * `schema.default-needs-version-3`, `type.needs-version-3`, `type.unknown-required`
 */
export function checkSchema(schema: Schema, formatVersion: number): void {
  if (schema.fields.length === 0) {
    throw new IcebergError('invalid', 'schema.no-columns', 'A table needs at least one column');
  }
  for (const { name } of schema.fields) checkTopLevelName(name);
  checkFields(schema.fields, [], formatVersion);
  checkIdentifierFields(schema);
}

/**
 * The least that is asked of a schema another writer commits: that readers of the table's version
 * understand it. @throws invalid `type.needs-version-3`, `schema.default-needs-version-3`
 */
export function checkSchemaVersion(schema: Schema, formatVersion: number): void {
  if (formatVersion < 3) checkFieldsVersion(schema.fields, [], formatVersion);
}

/** @throws invalid `schema.identifier-field` */
export function checkIdentifierFields(schema: Schema): void {
  for (const id of schema.identifierFieldIds) checkIdentifierField(schema, id);
}

/**
 * One field of a schema with all that is nested in it, e.g. one that is to be added; `path` ends with
 * its name. @throws as `checkSchema`
 */
export function checkField(field: NestedField, path: Path, formatVersion: number): void {
  if (field.type.type === 'unknown' && field.required) {
    throw invalid('type.unknown-required', path, 'is of type unknown and must be optional');
  }
  checkDefaults(field, path, formatVersion);
  checkType(field.type, path, formatVersion);
}

function checkFieldsVersion(
  fields: readonly NestedField[],
  parent: Path,
  formatVersion: number,
): void {
  for (const field of fields) {
    const path = [...parent, field.name];
    if (field.initialDefault !== undefined) checkDefaults(field, path, formatVersion);
    checkNestedVersion(field.type, path, formatVersion);
  }
}

function checkNestedVersion(type: Type, path: Path, formatVersion: number): void {
  switch (type.type) {
    case 'struct':
      checkFieldsVersion(type.fields, path, formatVersion);
      return;
    case 'list':
      checkNestedVersion(type.element, [...path, 'element'], formatVersion);
      return;
    case 'map':
      checkNestedVersion(type.key, [...path, 'key'], formatVersion);
      checkNestedVersion(type.value, [...path, 'value'], formatVersion);
      return;
    default:
      checkTypeVersion(type, path, formatVersion);
  }
}

function checkDefaults(field: NestedField, path: Path, formatVersion: number): void {
  for (const value of [field.initialDefault, field.writeDefault]) {
    if (value === undefined || value === null) continue;
    if (formatVersion < 3) {
      throw invalid(
        'schema.default-needs-version-3',
        path,
        'has a default value, which only tables of format version 3 can hold',
      );
    }
    checkDefault(field.type, path, value);
  }
}

function checkFields(fields: readonly NestedField[], parent: Path, formatVersion: number): void {
  const seen = new Map<string, string>();
  for (const field of fields) {
    const path = [...parent, field.name];
    if (field.name === '') throw invalid('schema.empty-name', path, 'has an empty name');
    const other = seen.get(foldedName(field.name));
    if (other !== undefined) {
      throw invalid(
        'schema.duplicate-name',
        path,
        `and "${other}" are one name where case does not count`,
      );
    }
    seen.set(foldedName(field.name), field.name);
    checkField(field, path, formatVersion);
  }
}

function checkType(type: Type, path: Path, formatVersion: number): void {
  switch (type.type) {
    case 'struct':
      if (type.fields.length === 0) {
        throw invalid('schema.empty-struct', path, 'is a struct without fields: no file holds it');
      }
      checkFields(type.fields, path, formatVersion);
      return;
    case 'list':
      checkType(type.element, [...path, 'element'], formatVersion);
      return;
    case 'map':
      checkType(type.key, [...path, 'key'], formatVersion);
      checkType(type.value, [...path, 'value'], formatVersion);
      return;
    default:
      checkTypeVersion(type, path, formatVersion);
  }
}

function checkTypeVersion(type: Type, path: Path, formatVersion: number): void {
  if (formatVersion >= 3 || !isPrimitive(type) || !TYPES_OF_VERSION_3.has(type.type)) return;
  throw invalid(
    'type.needs-version-3',
    path,
    `is a ${type.type}, which only tables of format version 3 can hold`,
  );
}

/** Required primitives other than float and double, reached through required structs only. */
function checkIdentifierField(schema: Schema, fieldId: number): void {
  const path = pathOfStructField(schema.fields, fieldId);
  if (path === null) {
    throw new IcebergError(
      'invalid',
      'schema.identifier-field',
      `Identifier field ${fieldId} is not a column, or is inside a list or map`,
    );
  }
  for (const field of path) {
    if (!field.required) {
      throw invalid(
        'schema.identifier-field',
        [field.name],
        'is optional and cannot identify rows',
      );
    }
  }
  const type = path.at(-1)?.type;
  if (type === undefined || !isPrimitive(type) || ['float', 'double'].includes(type.type)) {
    throw invalid(
      'schema.identifier-field',
      path.map((field) => field.name),
      'cannot identify rows: only primitives other than float and double can',
    );
  }
}

function pathOfStructField(fields: readonly NestedField[], fieldId: number): NestedField[] | null {
  for (const field of fields) {
    if (field.id === fieldId) return [field];
    if (field.type.type !== 'struct') continue;
    const rest = pathOfStructField(field.type.fields, fieldId);
    if (rest !== null) return [field, ...rest];
  }
  return null;
}

function checkDefault(type: Type, path: Path, value: JsonValue): void {
  if (type.type === 'struct') {
    const isEmptyObject =
      typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    if (isEmptyObject && !Array.isArray(value)) return;
    throw invalid('schema.default', path, 'can only have {} as default: its fields have their own');
  }
  if (!isPrimitive(type) || type.type === 'unknown' || type.type === 'variant') {
    throw invalid('schema.default', path, `is a ${type.type} and can only default to null`);
  }
  try {
    parseSingleValue(new JsonNode(value, pathText(path), 'invalid'), type);
  } catch (cause) {
    throw new IcebergError(
      'invalid',
      'schema.default',
      `The default of column ${pathText(path)} is not a value of type ${primitiveTypeText(type)}`,
      { context: { column: pathText(path) }, cause },
    );
  }
}

function invalid(code: string, path: Path, problem: string): IcebergError {
  const column = pathText(path);
  return new IcebergError('invalid', code, `Column ${column} ${problem}`, { context: { column } });
}

/**
 * Finds a column by its path and puts a changed one in its place. A path is a list of names, never a
 * joined string: names may hold dots. Below a list the name is `element`, below a map `value`.
 */

import { IcebergError } from '../errors.ts';
import type { ListType, MapType, NestedField, Type } from '../spec/schema.ts';
import { indexOfName, pathText } from './column-names.ts';

export type ColumnPath = readonly string[];

type Fields = readonly NestedField[];

/**
 * The fields with those of one struct replaced by what `edit` makes of them; `parent` is the path of
 * the struct, empty for the top level.
 * @throws invalid `schema.unknown-column`, `schema.not-a-struct`, `schema.map-key`
 */
export function editStruct(
  fields: Fields,
  parent: ColumnPath,
  edit: (fields: Fields) => Fields,
): Fields {
  if (parent.length === 0) return edit(fields);
  return editColumn(fields, parent, (column) => {
    if (column.type.type === 'struct') {
      return { ...column, type: { ...column.type, fields: edit(column.type.fields) } };
    }
    throw new IcebergError(
      'invalid',
      'schema.not-a-struct',
      `Column ${pathText(parent)} is a ${column.type.type} and has no fields of its own`,
    );
  });
}

/**
 * The fields with one column replaced. A list's element and a map's value take part as fields named
 * `element` and `value`; of those only type and nullability are put back.
 * @throws invalid `schema.unknown-column`, `schema.map-key`
 */
export function editColumn(
  fields: Fields,
  path: ColumnPath,
  edit: (column: NestedField) => NestedField,
): Fields {
  return editFields(fields, path, 0, edit);
}

/** The column of that path. @throws as `editColumn` */
export function findColumn(fields: Fields, path: ColumnPath): NestedField {
  const found: NestedField[] = [];
  editColumn(fields, path, (column) => {
    found.push(column);
    return column;
  });
  const [column] = found;
  if (column === undefined) throw unknownColumn(path);
  return column;
}

function editFields(
  fields: Fields,
  path: ColumnPath,
  depth: number,
  edit: (column: NestedField) => NestedField,
): Fields {
  const name = path[depth];
  const index = name === undefined ? -1 : indexOfName(fields, name);
  const field = fields[index];
  if (field === undefined) throw unknownColumn(path);
  return fields.with(index, editAt(field, path, depth + 1, edit));
}

function editAt(
  column: NestedField,
  path: ColumnPath,
  depth: number,
  edit: (column: NestedField) => NestedField,
): NestedField {
  if (depth === path.length) return edit(column);
  return { ...column, type: editType(column.type, path, depth, edit) };
}

function editType(
  type: Type,
  path: ColumnPath,
  depth: number,
  edit: (column: NestedField) => NestedField,
): Type {
  if (type.type === 'struct') {
    return { ...type, fields: editFields(type.fields, path, depth, edit) };
  }
  if (type.type === 'list' && path[depth] === 'element') {
    const element = editAt(elementOf(type), path, depth + 1, edit);
    return { ...type, element: element.type, elementRequired: element.required };
  }
  if (type.type === 'map' && path[depth] === 'value') {
    const value = editAt(valueOf(type), path, depth + 1, edit);
    return { ...type, value: value.type, valueRequired: value.required };
  }
  if (type.type === 'map' && path[depth] === 'key') {
    throw new IcebergError(
      'invalid',
      'schema.map-key',
      `${pathText(path)}: the keys of a map cannot be changed`,
    );
  }
  throw unknownColumn(path);
}

function elementOf(type: ListType): NestedField {
  const { elementId: id, elementRequired: required } = type;
  return { id, name: 'element', required, type: type.element };
}

function valueOf(type: MapType): NestedField {
  const { valueId: id, valueRequired: required } = type;
  return { id, name: 'value', required, type: type.value };
}

function unknownColumn(path: ColumnPath): IcebergError {
  return new IcebergError(
    'invalid',
    'schema.unknown-column',
    `There is no column ${pathText(path)}`,
    { context: { column: pathText(path) } },
  );
}

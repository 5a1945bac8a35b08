/**
 * Type strings and the walk over nested types. Spec: "Schemas and Data Types", appendix C.
 * Geometry and geography (v3) are not implemented.
 */

import { IcebergError } from '../errors.ts';
import { serializeJson } from '../json.ts';
import type { NestedField, PrimitiveType, PrimitiveTypeName, Schema, Type } from './schema.ts';

/** The highest id a column may have; those above belong to metadata columns. Spec: "Reserved Field IDs". */
export const FIELD_ID_MAX = 2_147_483_447;

const PRIMITIVE_NAMES: ReadonlySet<string> = new Set<PrimitiveTypeName>([
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'binary',
  'unknown',
  'variant',
]);

/**
 * A primitive type from its text; spaces inside parameters are tolerated.
 * @throws invalid `type.unknown`, `type.out-of-range`; unsupported `type.unsupported`
 */
export function parsePrimitiveType(text: string): PrimitiveType {
  const name = text.trim();
  if (isPrimitiveName(name)) return { type: name };
  const decimal = /^decimal\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(name);
  if (decimal !== null) {
    const precision = Number(decimal[1]);
    const scale = Number(decimal[2]);
    if (precision < 1 || precision > 38 || scale > precision) {
      throw new IcebergError('invalid', 'type.out-of-range', `Impossible decimal type "${text}"`);
    }
    return { type: 'decimal', precision, scale };
  }
  const fixed = /^fixed\[\s*(\d{1,9})\s*\]$/.exec(name);
  if (fixed !== null) return { type: 'fixed', length: Number(fixed[1]) };
  if (/^(geometry|geography)\b/.test(name)) {
    throw new IcebergError('unsupported', 'type.unsupported', `Type "${text}" is not supported`);
  }
  throw new IcebergError('invalid', 'type.unknown', `Unknown type "${text}"`);
}

/** The canonical text: `decimal(9,2)`, `fixed[16]`. */
export function primitiveTypeText(type: PrimitiveType): string {
  switch (type.type) {
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'fixed':
      return `fixed[${type.length}]`;
    default:
      return type.type;
  }
}

export function isPrimitive(type: Type): type is PrimitiveType {
  return type.type !== 'struct' && type.type !== 'list' && type.type !== 'map';
}

/** Every field id of a type, in the order of the document: list elements, map keys and values too. */
export function* fieldIdsOf(type: Type): Generator<number> {
  switch (type.type) {
    case 'struct':
      for (const field of type.fields) {
        yield field.id;
        yield* fieldIdsOf(field.type);
      }
      return;
    case 'list':
      yield type.elementId;
      yield* fieldIdsOf(type.element);
      return;
    case 'map':
      yield type.keyId;
      yield* fieldIdsOf(type.key);
      yield type.valueId;
      yield* fieldIdsOf(type.value);
      return;
    default:
  }
}

export function schemaFieldIds(schema: Schema): number[] {
  return [...fieldIdsOf({ type: 'struct', fields: schema.fields })];
}

/** The highest field id in a schema at any depth; 0 for an empty one. */
export function highestFieldId(schema: Schema): number {
  return schemaFieldIds(schema).reduce((highest, id) => Math.max(highest, id), 0);
}

/** The field of that id inside structs at any depth, not inside lists and maps. */
export function findStructField(
  fields: readonly NestedField[],
  fieldId: number,
): NestedField | null {
  for (const field of fields) {
    if (field.id === fieldId) return field;
    if (field.type.type !== 'struct') continue;
    const nested = findStructField(field.type.fields, fieldId);
    if (nested !== null) return nested;
  }
  return null;
}

/** Same ids, names, nullability and types, whatever the schema ids. */
export function sameFields(left: Schema, right: Schema): boolean {
  return (
    sameType({ type: 'struct', fields: left.fields }, { type: 'struct', fields: right.fields }) &&
    left.identifierFieldIds.length === right.identifierFieldIds.length &&
    left.identifierFieldIds.every((id) => right.identifierFieldIds.includes(id))
  );
}

function sameType(left: Type, right: Type): boolean {
  if (left.type === 'struct' && right.type === 'struct') {
    return (
      left.fields.length === right.fields.length &&
      left.fields.every((field, i) => sameField(field, right.fields[i]))
    );
  }
  if (left.type === 'list' && right.type === 'list') {
    return (
      left.elementId === right.elementId &&
      left.elementRequired === right.elementRequired &&
      sameType(left.element, right.element)
    );
  }
  if (left.type === 'map' && right.type === 'map') {
    return (
      left.keyId === right.keyId &&
      left.valueId === right.valueId &&
      left.valueRequired === right.valueRequired &&
      sameType(left.key, right.key) &&
      sameType(left.value, right.value)
    );
  }
  return (
    isPrimitive(left) && isPrimitive(right) && primitiveTypeText(left) === primitiveTypeText(right)
  );
}

function sameField(left: NestedField, right: NestedField | undefined): boolean {
  return (
    right !== undefined &&
    left.id === right.id &&
    left.name === right.name &&
    left.required === right.required &&
    left.doc === right.doc &&
    sameDefault(left.initialDefault, right.initialDefault) &&
    sameDefault(left.writeDefault, right.writeDefault) &&
    sameType(left.type, right.type)
  );
}

function sameDefault(
  left: NestedField['initialDefault'],
  right: NestedField['initialDefault'],
): boolean {
  if (left === undefined || right === undefined) return left === right;
  return serializeJson(left) === serializeJson(right);
}

function isPrimitiveName(name: string): name is PrimitiveTypeName {
  return PRIMITIVE_NAMES.has(name);
}

/** The fields right below a type; the parts of a list or map under the names the specification gives them. */
export function childFields(type: Type): readonly NestedField[] {
  switch (type.type) {
    case 'struct':
      return type.fields;
    case 'list': {
      const { elementId: id, elementRequired: required, element } = type;
      return [{ id, name: 'element', required, type: element }];
    }
    case 'map': {
      const { valueId: id, valueRequired: required } = type;
      return [
        { id: type.keyId, name: 'key', required: true, type: type.key },
        { id, name: 'value', required, type: type.value },
      ];
    }
    default:
      return [];
  }
}

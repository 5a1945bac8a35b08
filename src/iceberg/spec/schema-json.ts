/** Schemas in their JSON form. Spec: appendix C, "Schemas", "Data Types". */

import { IcebergError } from '../errors.ts';
import type { JsonNode, JsonObject } from '../json.ts';
import { jsonObject } from '../json.ts';
import {
  FIELD_ID_MAX,
  isPrimitive,
  parsePrimitiveType,
  primitiveTypeText,
  schemaFieldIds,
} from './data-types.ts';
import type { ListType, MapType, NestedField, Schema, StructType, Type } from './schema.ts';

/** A nesting beyond this is taken for an attack on the stack. */
const TYPE_DEPTH_MAX = 200;

/** A schema that lacks `schema-id` (v1, or a request) reads as id 0. */
export function parseSchema(node: JsonNode): Schema {
  const fields = parseFields(node, 0);
  const schema: Schema = {
    schemaId: node.optional('schema-id')?.int() ?? 0,
    fields,
    identifierFieldIds:
      node
        .optional('identifier-field-ids')
        ?.items()
        .map((id) => id.int()) ?? [],
  };
  validateSchema(schema, node);
  return schema;
}

export function serializeSchema(schema: Schema): JsonObject {
  return jsonObject({
    type: 'struct',
    'schema-id': schema.schemaId,
    'identifier-field-ids':
      schema.identifierFieldIds.length === 0 ? undefined : schema.identifierFieldIds,
    fields: schema.fields.map(serializeField),
  });
}

export function serializeType(type: Type): string | JsonObject {
  switch (type.type) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(serializeField) };
    case 'list':
      return {
        type: 'list',
        'element-id': type.elementId,
        element: serializeType(type.element),
        'element-required': type.elementRequired,
      };
    case 'map':
      return {
        type: 'map',
        'key-id': type.keyId,
        key: serializeType(type.key),
        'value-id': type.valueId,
        value: serializeType(type.value),
        'value-required': type.valueRequired,
      };
    default:
      return primitiveTypeText(type);
  }
}

function serializeField(field: NestedField): JsonObject {
  return jsonObject({
    id: field.id,
    name: field.name,
    required: field.required,
    type: serializeType(field.type),
    doc: field.doc,
    'initial-default': field.initialDefault,
    'write-default': field.writeDefault,
  });
}

function parseType(node: JsonNode, depth: number): Type {
  if (depth > TYPE_DEPTH_MAX) throw node.fail('schema.too-deep', 'types are nested too deeply');
  if (typeof node.value === 'string') return parsePrimitive(node, node.value);
  const kind = node.member('type').string();
  switch (kind) {
    case 'struct':
      return { type: 'struct', fields: parseFields(node, depth) } satisfies StructType;
    case 'list':
      return {
        type: 'list',
        elementId: node.member('element-id').int(),
        element: parseType(node.member('element'), depth + 1),
        elementRequired: node.member('element-required').boolean(),
      } satisfies ListType;
    case 'map':
      return {
        type: 'map',
        keyId: node.member('key-id').int(),
        key: parseType(node.member('key'), depth + 1),
        valueId: node.member('value-id').int(),
        value: parseType(node.member('value'), depth + 1),
        valueRequired: node.member('value-required').boolean(),
      } satisfies MapType;
    default:
      throw node.fail('type.unknown', `unknown nested type "${kind}"`);
  }
}

function parsePrimitive(node: JsonNode, text: string): Type {
  try {
    return parsePrimitiveType(text);
  } catch (error) {
    // The kind of the document (stored or sent) decides, except for what is valid but not ours.
    if (!(error instanceof IcebergError) || error.kind === 'unsupported') throw error;
    throw node.fail(error.code, error.message);
  }
}

function parseFields(node: JsonNode, depth: number): NestedField[] {
  return node
    .member('fields')
    .items()
    .map((field) => {
      const doc = field.optional('doc')?.string();
      const initialDefault = field.optional('initial-default')?.value;
      const writeDefault = field.optional('write-default')?.value;
      return {
        id: field.member('id').int(),
        name: field.member('name').string(),
        required: field.member('required').boolean(),
        type: parseType(field.member('type'), depth + 1),
        ...(doc === undefined ? {} : { doc }),
        ...(initialDefault === undefined ? {} : { initialDefault }),
        ...(writeDefault === undefined ? {} : { writeDefault }),
      };
    });
}

function validateSchema(schema: Schema, node: JsonNode): void {
  const ids = schemaFieldIds(schema);
  const seen = new Set<number>();
  for (const id of ids) {
    if (id > FIELD_ID_MAX) throw node.fail('schema.reserved-id', `field id ${id} is reserved`);
    if (seen.has(id)) throw node.fail('schema.duplicate-id', `field id ${id} occurs twice`);
    seen.add(id);
  }
  for (const id of schema.identifierFieldIds) {
    if (!seen.has(id)) {
      throw node.fail('schema.identifier-missing', `identifier field ${id} is not in the schema`);
    }
  }
  checkNames({ type: 'struct', fields: schema.fields }, node);
}

function checkNames(type: Type, node: JsonNode): void {
  if (type.type === 'struct') {
    const names = new Set<string>();
    for (const field of type.fields) {
      if (names.has(field.name)) {
        throw node.fail('schema.duplicate-name', `two fields are named "${field.name}"`);
      }
      names.add(field.name);
      checkNames(field.type, node);
    }
  } else if (type.type === 'list') {
    checkNames(type.element, node);
  } else if (!isPrimitive(type)) {
    checkNames(type.key, node);
    checkNames(type.value, node);
  }
}

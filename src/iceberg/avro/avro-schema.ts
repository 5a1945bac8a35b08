/**
 * Avro schemas as far as manifests need them: every type of the format, with the field ids that
 * Iceberg adds. Spec: Avro 1.11 "Schema Declaration"; Iceberg appendix A.
 */

import type { JsonNode } from '../json.ts';

export type AvroPrimitiveName =
  | 'null'
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'bytes'
  | 'string';

export interface AvroField {
  readonly name: string;
  /** Iceberg's `field-id`; null in files that lack it. */
  readonly fieldId: number | null;
  readonly type: AvroType;
}

export interface AvroRecordType {
  readonly kind: 'record';
  readonly name: string;
  /** Filled after creation, since a record may contain itself. */
  readonly fields: AvroField[];
}

export type AvroType =
  | { readonly kind: AvroPrimitiveName; readonly logicalType: string | null }
  | {
      readonly kind: 'fixed';
      readonly name: string;
      readonly size: number;
      readonly logicalType: string | null;
    }
  | { readonly kind: 'enum'; readonly name: string; readonly symbols: readonly string[] }
  | { readonly kind: 'array'; readonly items: AvroType }
  | { readonly kind: 'map'; readonly values: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecordType;

/** A nesting beyond this is taken for an attack on the stack. */
const SCHEMA_DEPTH_MAX = 100;

/** @throws corrupt `avro.schema` */
export function parseAvroSchema(node: JsonNode): AvroType {
  return parseType(node, new Map(), '', 0);
}

function parseType(
  node: JsonNode,
  named: Map<string, AvroType>,
  namespace: string,
  depth: number,
): AvroType {
  if (depth > SCHEMA_DEPTH_MAX) throw node.fail('avro.schema', 'the schema is nested too deeply');
  if (typeof node.value === 'string') {
    return parseNamedOrPrimitive(node, node.value, named, namespace);
  }
  if (Array.isArray(node.value)) {
    const branches = node.items().map((item) => parseType(item, named, namespace, depth + 1));
    return { kind: 'union', branches };
  }
  const typeNode = node.member('type');
  // `{"type": {"type": …}}` and `{"type": ["null", …]}` only wrap another schema.
  if (typeof typeNode.value !== 'string') return parseType(typeNode, named, namespace, depth + 1);
  const logicalType = node.optional('logicalType')?.string() ?? null;
  switch (typeNode.value) {
    case 'record':
      return parseRecord(node, named, namespace, depth);
    case 'array': {
      const items = parseType(node.member('items'), named, namespace, depth + 1);
      return { kind: 'array', items };
    }
    case 'map': {
      const values = parseType(node.member('values'), named, namespace, depth + 1);
      return { kind: 'map', values };
    }
    case 'fixed': {
      const { fullName } = nameOf(node, namespace);
      const size = node.member('size').int();
      if (size < 0) throw node.fail('avro.schema', `size ${size} is negative`);
      return define(named, fullName, { kind: 'fixed', name: fullName, size, logicalType });
    }
    case 'enum': {
      const { fullName } = nameOf(node, namespace);
      const symbols = node
        .member('symbols')
        .items()
        .map((symbol) => symbol.string());
      return define(named, fullName, { kind: 'enum', name: fullName, symbols });
    }
    default: {
      if (isPrimitiveName(typeNode.value)) return { kind: typeNode.value, logicalType };
      return parseNamedOrPrimitive(typeNode, typeNode.value, named, namespace);
    }
  }
}

function parseRecord(
  node: JsonNode,
  named: Map<string, AvroType>,
  namespace: string,
  depth: number,
): AvroRecordType {
  const { fullName, space } = nameOf(node, namespace);
  const record: AvroRecordType = { kind: 'record', name: fullName, fields: [] };
  named.set(fullName, record);
  for (const field of node.member('fields').items()) {
    record.fields.push({
      name: field.member('name').string(),
      fieldId: field.optional('field-id')?.int() ?? null,
      type: parseType(field.member('type'), named, space, depth + 1),
    });
  }
  return record;
}

function parseNamedOrPrimitive(
  node: JsonNode,
  name: string,
  named: ReadonlyMap<string, AvroType>,
  namespace: string,
): AvroType {
  if (isPrimitiveName(name)) return { kind: name, logicalType: null };
  const type = named.get(name) ?? named.get(`${namespace}.${name}`);
  if (type === undefined) throw node.fail('avro.schema', `unknown type "${name}"`);
  return type;
}

function nameOf(node: JsonNode, namespace: string): { fullName: string; space: string } {
  const name = node.member('name').string();
  if (name.includes('.')) return { fullName: name, space: name.slice(0, name.lastIndexOf('.')) };
  const space = node.optional('namespace')?.string() ?? namespace;
  return { fullName: space === '' ? name : `${space}.${name}`, space };
}

function define(named: Map<string, AvroType>, fullName: string, type: AvroType): AvroType {
  named.set(fullName, type);
  return type;
}

function isPrimitiveName(name: string): name is AvroPrimitiveName {
  switch (name) {
    case 'null':
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'bytes':
    case 'string':
      return true;
    default:
      return false;
  }
}

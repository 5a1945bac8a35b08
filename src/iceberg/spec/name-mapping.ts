/**
 * The property `schema.name-mapping.default`: names for files that were imported without field ids.
 * Our own files always carry ids; the mapping is only kept in step with the schema.
 * Spec: "Column Projection", appendix C "Name Mapping Serialization".
 */

import type { JsonValue } from '../json.ts';
import { JsonNode, jsonObject, parseJson, serializeJson } from '../json.ts';
import type { Schema, Type } from './schema.ts';

export const NAME_MAPPING_PROPERTY = 'schema.name-mapping.default';

interface MappedField {
  readonly names: readonly string[];
  readonly fieldId: number | null;
  readonly fields: readonly MappedField[];
}

/**
 * The mapping with an entry for every field of the schema. A renamed column is found by its new name
 * too. A name that a column of the schema has is that column's alone, so that the data of a dropped
 * column of that name does not come back.
 */
export function updateNameMapping(text: string, schema: Schema): string {
  const mapping = parseFields(new JsonNode(parseJson(text), NAME_MAPPING_PROPERTY));
  const children = childrenOf({ type: 'struct', fields: schema.fields });
  return serializeJson(merge(mapping, children).map(serializeField));
}

interface Child {
  readonly id: number;
  readonly name: string;
  readonly type: Type;
}

/** What a mapping lists below a type; the spec names list and map children itself. */
function childrenOf(type: Type): Child[] {
  switch (type.type) {
    case 'struct':
      return type.fields.map(({ id, name, type: fieldType }) => ({ id, name, type: fieldType }));
    case 'list':
      return [{ id: type.elementId, name: 'element', type: type.element }];
    case 'map':
      return [
        { id: type.keyId, name: 'key', type: type.key },
        { id: type.valueId, name: 'value', type: type.value },
      ];
    default:
      return [];
  }
}

function merge(mapping: readonly MappedField[], children: readonly Child[]): MappedField[] {
  const known = new Set(mapping.map((field) => field.fieldId));
  const added = children.filter((child) => !known.has(child.id));
  const ownerOf = new Map(children.map((child) => [child.name, child.id]));
  const kept = mapping
    .map((field) => {
      const child = children.find((one) => one.id === field.fieldId);
      const names = field.names.filter(
        (name) => (ownerOf.get(name) ?? field.fieldId) === field.fieldId,
      );
      if (child === undefined) return { ...field, names };
      return {
        names: names.includes(child.name) ? names : [...names, child.name],
        fieldId: field.fieldId,
        fields: merge(field.fields, childrenOf(child.type)),
      };
    })
    .filter((field) => field.names.length > 0);
  return [
    ...kept,
    ...added.map((child) => ({
      names: [child.name],
      fieldId: child.id,
      fields: merge([], childrenOf(child.type)),
    })),
  ];
}

function parseFields(node: JsonNode): MappedField[] {
  return node.items().map((field) => {
    const nested = field.optional('fields');
    return {
      names: field
        .member('names')
        .items()
        .map((name) => name.string()),
      fieldId: field.optional('field-id')?.int() ?? null,
      fields: nested === null ? [] : parseFields(nested),
    };
  });
}

function serializeField(field: MappedField): JsonValue {
  return jsonObject({
    'field-id': field.fieldId ?? undefined,
    names: field.names,
    fields: field.fields.length === 0 ? undefined : field.fields.map(serializeField),
  });
}

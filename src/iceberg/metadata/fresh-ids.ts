/**
 * Field ids for new columns. All fields of a struct get their ids first, in order, then what is
 * nested in them; a list's element and a map's key and value come before their own nested fields.
 * The Java library and the REST servers number the same way.
 */

import { IcebergError } from '../errors.ts';
import { FIELD_ID_MAX, parsePrimitiveType } from '../spec/data-types.ts';
import type { InferredField, InferredType } from '../spec/inferred-type.ts';
import type { NestedField, Type } from '../spec/schema.ts';

/** Hands out ids above `lastColumnId`; ids of dropped columns are never given again. */
export class FieldIdSource {
  lastColumnId: number;

  constructor(lastColumnId: number) {
    this.lastColumnId = lastColumnId;
  }

  next(): number {
    if (this.lastColumnId >= FIELD_ID_MAX) {
      throw new IcebergError('overloaded', 'schema.ids-exhausted', 'No field ids are left');
    }
    this.lastColumnId += 1;
    return this.lastColumnId;
  }
}

/**
 * Optional fields with fresh ids for fields without; every one must have a leaf.
 * @throws invalid `type.unknown` for a primitive the spec does not know
 */
export function assignFieldIds(
  fields: readonly InferredField[],
  ids: FieldIdSource,
): NestedField[] {
  const withIds = fields.map((field) => ({ ...field, id: ids.next() }));
  return withIds.map(({ id, name, type }) => ({
    id,
    name,
    required: false,
    type: assignTypeIds(type, ids),
  }));
}

/** The same for one type: ids for what is inside it. */
export function assignTypeIds(type: InferredType, ids: FieldIdSource): Type {
  if (typeof type === 'string') return parsePrimitiveType(type);
  switch (type.type) {
    case 'struct':
      return { type: 'struct', fields: assignFieldIds(type.fields, ids) };
    case 'list': {
      const elementId = ids.next();
      const element = assignTypeIds(type.element, ids);
      return { type: 'list', elementId, element, elementRequired: false };
    }
    case 'map': {
      const keyId = ids.next();
      const valueId = ids.next();
      const key = assignTypeIds(type.key, ids);
      const value = assignTypeIds(type.value, ids);
      return { type: 'map', keyId, key, valueId, value, valueRequired: false };
    }
  }
}

/** The same columns under fresh ids, nullability and docs kept: what creating a table does. */
export function reassignFieldIds(
  fields: readonly NestedField[],
  ids: FieldIdSource,
  idMap: Map<number, number>,
): NestedField[] {
  const renumbered = fields.map((field) => {
    const id = ids.next();
    idMap.set(field.id, id);
    return { ...field, id };
  });
  return renumbered.map((field) => ({ ...field, type: reassignTypeIds(field.type, ids, idMap) }));
}

function reassignTypeIds(type: Type, ids: FieldIdSource, idMap: Map<number, number>): Type {
  switch (type.type) {
    case 'struct':
      return { type: 'struct', fields: reassignFieldIds(type.fields, ids, idMap) };
    case 'list': {
      const elementId = ids.next();
      idMap.set(type.elementId, elementId);
      return { ...type, elementId, element: reassignTypeIds(type.element, ids, idMap) };
    }
    case 'map': {
      const keyId = ids.next();
      const valueId = ids.next();
      idMap.set(type.keyId, keyId).set(type.valueId, valueId);
      return {
        ...type,
        keyId,
        valueId,
        key: reassignTypeIds(type.key, ids, idMap),
        value: reassignTypeIds(type.value, ids, idMap),
      };
    }
    default:
      return type;
  }
}

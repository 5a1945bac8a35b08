/** What lies between two schemas of one table, for people: fields are matched by id. */

import { serializeJson } from '../json.ts';
import { childFields, isPrimitive, primitiveTypeText } from '../spec/data-types.ts';
import type { NestedField, Schema, Type } from '../spec/schema.ts';
import { pathText } from './column-names.ts';

export interface SchemaDifference {
  readonly change:
    | 'add'
    | 'drop'
    | 'rename'
    | 'type'
    | 'nullability'
    | 'doc'
    | 'write-default'
    | 'order'
    | 'identifier-fields';
  /** The path after the change, of a dropped column that before; empty for the top level. */
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface Place {
  readonly field: NestedField;
  readonly path: readonly string[];
  /** Null at the top level. */
  readonly parentId: number | null;
}

/** In the order of the new schema, then what was dropped; what is nested in an added column counts as part of it. */
export function schemaDifference(before: Schema, after: Schema): SchemaDifference[] {
  const old = places(before);
  const now = places(after);
  const differences: SchemaDifference[] = [];
  for (const [id, place] of now) {
    const previous = old.get(id);
    if (previous !== undefined) differences.push(...fieldDifferences(previous, place));
    else if (place.parentId === null || old.has(place.parentId)) differences.push(added(place));
  }
  for (const [id, place] of old) {
    const isTopmost = place.parentId === null || now.has(place.parentId);
    if (!now.has(id) && isTopmost) differences.push(dropped(place));
  }
  differences.push(...orderDifferences(old, now));
  const identifiers = [identifierText(before, old), identifierText(after, now)] as const;
  if (identifiers[0] !== identifiers[1]) {
    differences.push(difference('identifier-fields', [], ...identifiers));
  }
  return differences;
}

/** `add items.element.qty: long`; `type a: int → long`. */
export function differenceText({ change, column, before, after }: SchemaDifference): string {
  const subject = column === '' ? change : `${change} ${column}`;
  if (before === null || after === null) return `${subject}: ${after ?? before ?? ''}`;
  return `${subject}: ${before} → ${after}`;
}

/** `struct<a: int, b: list<string>>`; required fields are marked. */
export function typeText(type: Type): string {
  if (isPrimitive(type)) return primitiveTypeText(type);
  switch (type.type) {
    case 'struct':
      return `struct<${type.fields.map((field) => `${field.name}: ${fieldText(field)}`).join(', ')}>`;
    case 'list':
      return `list<${typeText(type.element)}>`;
    case 'map':
      return `map<${typeText(type.key)}, ${typeText(type.value)}>`;
  }
}

function fieldText(field: Pick<NestedField, 'type' | 'required'>): string {
  return `${typeText(field.type)}${field.required ? ' required' : ''}`;
}

function fieldDifferences(before: Place, after: Place): SchemaDifference[] {
  const [old, now] = [before.field, after.field];
  const found: SchemaDifference[] = [];
  const compare = (
    change: SchemaDifference['change'],
    left: string | null,
    right: string | null,
  ): void => {
    if (left !== right) found.push(difference(change, after.path, left, right));
  };
  compare('rename', old.name, now.name);
  // Of nested types the parts are compared, each for itself.
  if (isPrimitive(old.type)) compare('type', typeText(old.type), typeText(now.type));
  compare('nullability', nullability(old), nullability(now));
  compare('doc', old.doc ?? null, now.doc ?? null);
  compare('write-default', defaultText(old), defaultText(now));
  return found;
}

/** Whether the fields that both have are in another order, a struct at a time. */
function orderDifferences(
  old: ReadonlyMap<number, Place>,
  now: ReadonlyMap<number, Place>,
): SchemaDifference[] {
  const before = siblings(old, now);
  const after = siblings(now, old);
  return [...after].flatMap(([parentId, ids]) => {
    const previous = before.get(parentId) ?? [];
    if (ids.join() === previous.join()) return [];
    const names = (list: readonly number[]): string =>
      list.map((id) => now.get(id)?.field.name ?? '').join(', ');
    const path = parentId === null ? [] : (now.get(parentId)?.path ?? []);
    return [difference('order', path, names(previous), names(ids))];
  });
}

/** Ids of the fields in both, in the order of the first, by parent. */
function siblings(
  places: ReadonlyMap<number, Place>,
  others: ReadonlyMap<number, Place>,
): Map<number | null, number[]> {
  const byParent = new Map<number | null, number[]>();
  for (const [id, { parentId }] of places) {
    if (!others.has(id)) continue;
    byParent.set(parentId, [...(byParent.get(parentId) ?? []), id]);
  }
  return byParent;
}

function places(schema: Schema): Map<number, Place> {
  const found = new Map<number, Place>();
  const visit = (field: NestedField, parent: readonly string[], parentId: number | null): void => {
    const path = [...parent, field.name];
    found.set(field.id, { field, path, parentId });
    for (const child of childFields(field.type)) visit(child, path, field.id);
  };
  for (const field of schema.fields) visit(field, [], null);
  return found;
}

function added({ field, path }: Place): SchemaDifference {
  return difference('add', path, null, fieldText(field));
}

function dropped({ field, path }: Place): SchemaDifference {
  return difference('drop', path, fieldText(field), null);
}

function identifierText(schema: Schema, places: ReadonlyMap<number, Place>): string {
  return schema.identifierFieldIds.map((id) => pathText(places.get(id)?.path ?? [])).join(', ');
}

function nullability(field: NestedField): string {
  return field.required ? 'required' : 'optional';
}

function defaultText(field: NestedField): string | null {
  return field.writeDefault === undefined ? null : serializeJson(field.writeDefault);
}

function difference(
  change: SchemaDifference['change'],
  path: readonly string[],
  before: string | null,
  after: string | null,
): SchemaDifference {
  return { change, column: pathText(path), before, after };
}

/** What a partition spec or a sort order that somebody asks for must keep to. */

import { IcebergError } from '../errors.ts';
import { findStructField, isPrimitive, primitiveTypeText } from '../spec/data-types.ts';
import type { PartitionField, PartitionSpec } from '../spec/partition-spec.ts';
import type { NestedField, PrimitiveType, Schema } from '../spec/schema.ts';
import type { SortOrder } from '../spec/sort-order.ts';
import type { Transform } from '../spec/transform.ts';
import { canTransform, parseTransform } from '../spec/transform.ts';
import { foldedName } from './column-names.ts';

/**
 * @throws invalid `partition-spec.unknown-source`, `partition-spec.unknown-transform`,
 * `partition-spec.source-type`, `partition-spec.duplicate-name`, `partition-spec.duplicate-field`,
 * `partition-spec.redundant`, `partition-spec.name-clash`, `partition-spec.empty-name`
 */
export function checkPartitionSpec(spec: PartitionSpec, schema: Schema): void {
  const names = new Set<string>();
  const meanings = new Set<string>();
  for (const field of spec.fields) {
    if (field.name === '') throw invalid('empty-name', 'A partition field has an empty name');
    const name = foldedName(field.name);
    if (names.has(name)) {
      throw invalid('duplicate-name', `Two partition fields are named "${field.name}"`);
    }
    names.add(name);
    const transform = requireTransform(field.transform);
    // A void field of v1 outlives its source, and any number of them may share one.
    if (transform.kind === 'void') continue;
    checkSource(field, transform, schema);
    checkMeaning(field, transform, meanings);
    if (clashesWithColumn(field, schema)) {
      throw invalid(
        'name-clash',
        `"${field.name}" is the name of a column; give the partition field another one`,
      );
    }
  }
}

/** @throws invalid `sort-order.unknown-source`, `sort-order.unknown-transform`, `sort-order.source-type` */
export function checkSortOrder(order: SortOrder, schema: Schema): void {
  for (const { sourceId, transform: text } of order.fields) {
    const transform = parseTransform(text);
    if (transform === null || transform.kind === 'void') {
      throw invalidOrder('unknown-transform', `Rows cannot be sorted by "${text}"`);
    }
    const source = findStructField(schema.fields, sourceId);
    if (source === null || !isPrimitive(source.type)) {
      throw invalidOrder('unknown-source', `There is no primitive column with id ${sourceId}`);
    }
    if (!canTransform(transform, source.type)) {
      throw invalidOrder('source-type', notApplicable(text, source, source.type));
    }
  }
}

/** Whether readers that know columns by name would take the partition field for a column. */
export function clashesWithColumn(field: PartitionField, schema: Schema): boolean {
  const column = columnNamed(schema.fields, foldedName(field.name), '');
  if (column === null) return false;
  const isOfThatColumn = field.transform === 'identity' || field.transform === 'void';
  return !isOfThatColumn || column.id !== field.sourceId;
}

function requireTransform(text: string): Transform {
  const transform = parseTransform(text);
  if (transform !== null) return transform;
  throw invalid(
    'unknown-transform',
    `"${text}" is not a transform: identity, bucket[N], truncate[W], year, month, day, hour, void`,
  );
}

function checkSource(field: PartitionField, transform: Transform, schema: Schema): void {
  const source = findStructField(schema.fields, field.sourceId);
  if (source === null || !isPrimitive(source.type)) {
    throw invalid(
      'unknown-source',
      `Partition field "${field.name}": there is no primitive column with id ${field.sourceId} ` +
        'outside of lists and maps',
    );
  }
  if (!canTransform(transform, source.type)) {
    throw invalid('source-type', notApplicable(field.transform, source, source.type));
  }
}

/** Units of time of one column include one another: only the smallest has any effect. */
function checkMeaning(field: PartitionField, transform: Transform, meanings: Set<string>): void {
  const isTime = ['year', 'month', 'day', 'hour'].includes(transform.kind);
  const exact = `${field.sourceId} ${field.transform}`;
  if (meanings.has(exact)) {
    throw invalid(
      'duplicate-field',
      `Two partition fields are ${field.transform} of the same column`,
    );
  }
  meanings.add(exact);
  if (!isTime) return;
  const time = `${field.sourceId} time`;
  if (meanings.has(time)) {
    throw invalid(
      'redundant',
      `Partition field "${field.name}" adds nothing: another unit of time of the same column is there`,
    );
  }
  meanings.add(time);
}

/** By the full name with dots, as readers resolve names; already folded. */
function columnNamed(
  fields: readonly NestedField[],
  name: string,
  prefix: string,
): NestedField | null {
  for (const field of fields) {
    const fullName = prefix + foldedName(field.name);
    if (fullName === name) return field;
    if (field.type.type !== 'struct') continue;
    const nested = columnNamed(field.type.fields, name, `${fullName}.`);
    if (nested !== null) return nested;
  }
  return null;
}

function notApplicable(transform: string, source: NestedField, type: PrimitiveType): string {
  return `${transform} does not apply to column "${source.name}" of type ${primitiveTypeText(type)}`;
}

function invalid(code: string, message: string): IcebergError {
  return new IcebergError('invalid', `partition-spec.${code}`, message);
}

function invalidOrder(code: string, message: string): IcebergError {
  return new IcebergError('invalid', `sort-order.${code}`, message);
}

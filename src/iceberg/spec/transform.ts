/**
 * Partition transforms: their text, what they apply to, and the type of what they give.
 * `apply-transform.ts` computes values. Spec: "Partition Transforms".
 */

import { IcebergError, unreachable } from '../errors.ts';
import { findStructField, isPrimitive } from './data-types.ts';
import type { PartitionField, PartitionSpec } from './partition-spec.ts';
import type { PrimitiveType, Schema } from './schema.ts';

export type Transform =
  | { readonly kind: 'identity' | 'year' | 'month' | 'day' | 'hour' | 'void' }
  | { readonly kind: 'bucket'; readonly bucketCount: number }
  | { readonly kind: 'truncate'; readonly width: number };

export interface PartitionColumn {
  readonly field: PartitionField;
  /** Type of the values in manifests. */
  readonly resultType: PrimitiveType;
}

const PARAMETER_MAX = 2 ** 31 - 1;

/** A transform from its canonical text; null for one this version does not know. */
export function parseTransform(text: string): Transform | null {
  switch (text) {
    case 'identity':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'void':
      return { kind: text };
    default: {
      const match = /^(bucket|truncate)\[(\d{1,10})\]$/.exec(text);
      const parameter = Number(match?.[2]);
      if (match === null || parameter < 1 || parameter > PARAMETER_MAX) return null;
      return match[1] === 'bucket'
        ? { kind: 'bucket', bucketCount: parameter }
        : { kind: 'truncate', width: parameter };
    }
  }
}

/** @throws unsupported `partition-spec.transform` for a transform this version does not know */
export function knownTransform(text: string): Transform {
  const transform = parseTransform(text);
  if (transform !== null) return transform;
  throw new IcebergError(
    'unsupported',
    'partition-spec.transform',
    `Partition transform "${text}" is not supported`,
  );
}

/** Whether a column of that type can be the source. */
export function canTransform(transform: Transform, source: PrimitiveType): boolean {
  switch (transform.kind) {
    case 'identity':
      return source.type !== 'unknown' && source.type !== 'variant';
    case 'void':
      return source.type !== 'variant';
    case 'bucket':
      return !['boolean', 'float', 'double', 'unknown', 'variant'].includes(source.type);
    case 'truncate':
      return ['int', 'long', 'decimal', 'string', 'binary'].includes(source.type);
    case 'year':
    case 'month':
    case 'day':
      return source.type === 'date' || isTimestamp(source);
    case 'hour':
      return isTimestamp(source);
    default:
      return unreachable(transform);
  }
}

/**
 * The fields of a spec with their result types. `schemas` is searched in order, so that the source
 * of an old spec is found although its column was dropped since.
 * @throws corrupt `partition-spec.source-missing`; unsupported `partition-spec.transform`
 */
export function partitionColumns(
  spec: PartitionSpec,
  schemas: readonly Schema[],
): PartitionColumn[] {
  return spec.fields.map((field) => ({
    field,
    resultType:
      field.transform === 'void'
        ? voidType(field, schemas)
        : resultType(field.transform, sourceType(field, schemas)),
  }));
}

/** @throws unsupported `partition-spec.transform` for a transform this version does not know */
export function resultType(transformText: string, source: PrimitiveType): PrimitiveType {
  const transform = knownTransform(transformText);
  switch (transform.kind) {
    case 'identity':
    case 'truncate':
    case 'void':
      return source;
    case 'day':
      return { type: 'date' };
    case 'year':
    case 'month':
    case 'hour':
    case 'bucket':
      return { type: 'int' };
    default:
      return unreachable(transform);
  }
}

/** A void field is always null and outlives its source; the spec lets it be an int then. */
function voidType(field: PartitionField, schemas: readonly Schema[]): PrimitiveType {
  const source = findSource(field, schemas);
  return source === null || !canTransform({ kind: 'identity' }, source) ? { type: 'int' } : source;
}

function sourceType(field: PartitionField, schemas: readonly Schema[]): PrimitiveType {
  const source = findSource(field, schemas);
  if (source !== null) return source;
  throw new IcebergError(
    'corrupt',
    'partition-spec.source-missing',
    `Partition field "${field.name}": no schema has a primitive column ${field.sourceId}`,
  );
}

function findSource(field: PartitionField, schemas: readonly Schema[]): PrimitiveType | null {
  for (const schema of schemas) {
    const source = findStructField(schema.fields, field.sourceId);
    if (source !== null && isPrimitive(source.type)) return source.type;
  }
  return null;
}

function isTimestamp(type: PrimitiveType): boolean {
  return type.type.startsWith('timestamp');
}

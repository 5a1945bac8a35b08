/** The result types of partition transforms. Spec: "Partition Transforms". */

import { IcebergError } from '../errors.ts';
import { findStructField, isPrimitive } from './data-types.ts';
import type { PartitionField, PartitionSpec } from './partition-spec.ts';
import type { PrimitiveType, Schema } from './schema.ts';

export interface PartitionColumn {
  readonly field: PartitionField;
  /** Type of the values in manifests. */
  readonly resultType: PrimitiveType;
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
    resultType: resultType(field.transform, sourceType(field, schemas)),
  }));
}

/** @throws unsupported `partition-spec.transform` for a transform this version does not know */
export function resultType(transform: string, source: PrimitiveType): PrimitiveType {
  if (transform === 'identity' || transform === 'void' || /^truncate\[\d+\]$/.test(transform)) {
    return source;
  }
  if (transform === 'day') return { type: 'date' };
  if (/^(year|month|hour|bucket\[\d+\])$/.test(transform)) return { type: 'int' };
  throw new IcebergError(
    'unsupported',
    'partition-spec.transform',
    `Partition transform "${transform}" is not supported`,
  );
}

function sourceType(field: PartitionField, schemas: readonly Schema[]): PrimitiveType {
  for (const schema of schemas) {
    const source = findStructField(schema.fields, field.sourceId);
    if (source !== null && isPrimitive(source.type)) return source.type;
  }
  throw new IcebergError(
    'corrupt',
    'partition-spec.source-missing',
    `Partition field "${field.name}": no schema has a primitive column ${field.sourceId}`,
  );
}

/** Partition tuples in manifests: their Avro types and values. Spec: appendix A. */

import { uniqueAvroNames } from '../avro/avro-name.ts';
import type { AvroType } from '../avro/avro-schema.ts';
import { AvroRecord } from '../avro/avro-value.ts';
import type { AvroValue } from '../avro/avro-value.ts';
import { IcebergError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { PartitionValue } from '../spec/data-file.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import type { PrimitiveType } from '../spec/schema.ts';
import {
  bigEndianOf,
  bytesToUuid,
  decimalRequiredBytes,
  fromBigEndian,
  promotedValue,
  uuidToBytes,
} from '../spec/single-value.ts';
import type { PartitionColumn } from '../spec/transform.ts';

/** The record `r102`. Values are always nullable; an unpartitioned table has the empty record. */
export function partitionRecordSchema(columns: readonly PartitionColumn[]): JsonObject {
  const names = uniqueAvroNames(columns.map((column) => column.field.name));
  const definedNames = new Set<string>();
  return {
    type: 'record',
    name: 'r102',
    fields: columns.map(({ field, resultType }, i) => {
      const name = names[i] ?? '';
      return {
        name,
        type: ['null', avroType(resultType, definedNames)],
        default: null,
        'field-id': field.fieldId,
        ...(name === field.name ? {} : { 'iceberg-field-name': field.name }),
      };
    }),
  };
}

/** Values in the order of the columns, as a record. */
export function partitionRecord(
  columns: readonly PartitionColumn[],
  partition: readonly PartitionValue[],
): AvroRecord {
  if (partition.length !== columns.length) {
    throw new IcebergError(
      'internal',
      'manifest.partition-width',
      `${partition.length} partition values for ${columns.length} partition fields`,
    );
  }
  const record = new AvroRecord();
  columns.forEach(({ field, resultType }, i) => {
    // A carried entry may be older than a promotion of its source column.
    const value = promotedValue(resultType, partition[i] ?? null);
    record.set(field.fieldId, field.name, toAvro(resultType, value));
  });
  return record;
}

/** Values in the order of the spec; a field the file lacks reads as null. */
export function readPartition(
  spec: PartitionSpec,
  recordType: AvroType | null,
  record: AvroValue,
): PartitionValue[] {
  if (!(record instanceof AvroRecord)) return spec.fields.map(() => null);
  const types = new Map<number, AvroType>();
  if (recordType?.kind === 'record') {
    for (const { fieldId, type } of recordType.fields) {
      if (fieldId !== null) types.set(fieldId, nonNull(type));
    }
  }
  return spec.fields.map((field) =>
    fromAvro(types.get(field.fieldId) ?? null, record.get(field.fieldId, field.name)),
  );
}

function avroType(type: PrimitiveType, definedNames: Set<string>): JsonValue {
  switch (type.type) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'string':
      return type.type;
    case 'binary':
      return 'bytes';
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
    case 'timestamptz':
      return {
        type: 'long',
        logicalType: 'timestamp-micros',
        'adjust-to-utc': type.type === 'timestamptz',
      };
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return {
        type: 'long',
        logicalType: 'timestamp-nanos',
        'adjust-to-utc': type.type === 'timestamptz_ns',
      };
    case 'uuid':
      return named(definedNames, 'uuid_fixed', { type: 'fixed', size: 16, logicalType: 'uuid' });
    case 'fixed':
      return named(definedNames, `fixed_${type.length}`, { type: 'fixed', size: type.length });
    case 'decimal':
      return named(definedNames, `decimal_${type.precision}_${type.scale}`, {
        type: 'fixed',
        size: decimalRequiredBytes(type.precision),
        logicalType: 'decimal',
        precision: type.precision,
        scale: type.scale,
      });
    case 'unknown':
      return 'null';
    case 'variant':
      throw new IcebergError(
        'unsupported',
        'partition-spec.source-type',
        'A variant column cannot be partitioned by',
      );
  }
}

/** Avro defines a named type once and refers to it by name afterwards. */
function named(definedNames: Set<string>, name: string, definition: JsonObject): JsonValue {
  if (definedNames.has(name)) return name;
  definedNames.add(name);
  return { ...definition, name };
}

function toAvro(type: PrimitiveType, value: PartitionValue): AvroValue {
  if (value === null) return null;
  if (type.type === 'uuid' && typeof value === 'string') return uuidToBytes(value);
  if (type.type === 'decimal' && typeof value === 'bigint') {
    return bigEndianOf(value, decimalRequiredBytes(type.precision));
  }
  return value;
}

/** By the file's own type, so that what another writer chose (bytes for a decimal) reads as well. */
function fromAvro(type: AvroType | null, value: AvroValue): PartitionValue {
  if (value instanceof Uint8Array) {
    const logicalType = type !== null && 'logicalType' in type ? type.logicalType : null;
    if (logicalType === 'decimal') return fromBigEndian(value);
    if (logicalType === 'uuid') return bytesToUuid(value);
    return value;
  }
  if (value === null) return null;
  if (typeof value !== 'object') return value;
  throw new IcebergError('corrupt', 'manifest.partition-type', 'A partition value is nested');
}

function nonNull(type: AvroType): AvroType {
  if (type.kind !== 'union') return type;
  return type.branches.find((branch) => branch.kind !== 'null') ?? type;
}

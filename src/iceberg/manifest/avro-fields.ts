/**
 * Typed access to the fields of records in manifests and lists. Integers are taken in either width:
 * other writers are not strict about it.
 */

import { AvroRecord } from '../avro/avro-value.ts';
import type { AvroValue } from '../avro/avro-value.ts';
import { IcebergError } from '../errors.ts';

export function optionalLong(record: AvroRecord, id: number, name: string): bigint | null {
  const value = record.get(id, name);
  if (value === null) return null;
  return toLong(value, name);
}

export function requiredLong(record: AvroRecord, id: number, name: string): bigint {
  return optionalLong(record, id, name) ?? missing(name);
}

export function optionalInt(record: AvroRecord, id: number, name: string): number | null {
  const value = record.get(id, name);
  if (value === null) return null;
  return toInt(value, name);
}

export function requiredInt(record: AvroRecord, id: number, name: string): number {
  return optionalInt(record, id, name) ?? missing(name);
}

export function optionalText(record: AvroRecord, id: number, name: string): string | null {
  const value = record.get(id, name);
  if (value === null || typeof value === 'string') return value;
  throw unexpected(name);
}

export function requiredText(record: AvroRecord, id: number, name: string): string {
  return optionalText(record, id, name) ?? missing(name);
}

export function optionalBytes(record: AvroRecord, id: number, name: string): Uint8Array | null {
  const value = record.get(id, name);
  if (value === null || value instanceof Uint8Array) return value;
  throw unexpected(name);
}

export function optionalBoolean(record: AvroRecord, id: number, name: string): boolean | null {
  const value = record.get(id, name);
  if (value === null || typeof value === 'boolean') return value;
  throw unexpected(name);
}

/** The records of a list; null when the list is null. */
export function optionalRecords(record: AvroRecord, id: number, name: string): AvroRecord[] | null {
  return (
    optionalList(record, id, name)?.map((item) => {
      if (item instanceof AvroRecord) return item;
      throw unexpected(name);
    }) ?? null
  );
}

export function longList(record: AvroRecord, id: number, name: string): bigint[] | null {
  return optionalList(record, id, name)?.map((item) => toLong(item, name)) ?? null;
}

export function intList(record: AvroRecord, id: number, name: string): number[] | null {
  return optionalList(record, id, name)?.map((item) => toInt(item, name)) ?? null;
}

/** A map by field id; empty when the field is null. */
export function longMap(
  record: AvroRecord,
  id: number,
  name: string,
  keyId: number,
  valueId: number,
): Map<number, bigint> {
  const map = new Map<number, bigint>();
  for (const pair of optionalRecords(record, id, name) ?? []) {
    map.set(requiredInt(pair, keyId, 'key'), requiredLong(pair, valueId, 'value'));
  }
  return map;
}

export function bytesMap(
  record: AvroRecord,
  id: number,
  name: string,
  keyId: number,
  valueId: number,
): Map<number, Uint8Array> {
  const map = new Map<number, Uint8Array>();
  for (const pair of optionalRecords(record, id, name) ?? []) {
    const value = optionalBytes(pair, valueId, 'value') ?? missing(name);
    map.set(requiredInt(pair, keyId, 'key'), value);
  }
  return map;
}

function optionalList(record: AvroRecord, id: number, name: string): readonly AvroValue[] | null {
  const value = record.get(id, name);
  if (value === null) return null;
  if (isList(value)) return value;
  throw unexpected(name);
}

function isList(value: AvroValue): value is readonly AvroValue[] {
  return Array.isArray(value);
}

function toLong(value: AvroValue, name: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw unexpected(name);
}

function toInt(value: AvroValue, name: string): number {
  const int = typeof value === 'bigint' ? Number(value) : value;
  if (typeof int === 'number' && Number.isSafeInteger(int)) return int;
  throw unexpected(name);
}

function missing(name: string): never {
  throw new IcebergError('corrupt', 'manifest.field-missing', `Manifest: "${name}" is missing`);
}

function unexpected(name: string): IcebergError {
  return new IcebergError(
    'corrupt',
    'manifest.field-type',
    `Manifest: "${name}" has an unexpected type`,
  );
}

/**
 * `DataFile` records as text, for the logs of the two Durable Objects. Exact: 64-bit numbers are
 * decimal strings, bytes are hex. This form is private to Floe's own storage; a manifest is Avro.
 */

import { IcebergError } from '../iceberg/errors.ts';
import type { DataFile, FileContent, PartitionValue } from '../iceberg/spec/data-file.ts';

type RecordedPartitionValue =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Text: JSON has no NaN and no -0. */
  | { readonly kind: 'number' | 'bigint' | 'string' | 'bytes'; readonly value: string };

interface DataFileRecord {
  readonly content: FileContent;
  readonly filePath: string;
  readonly fileFormat: string;
  readonly specId: number;
  readonly partition: readonly RecordedPartitionValue[];
  readonly recordCount: string;
  readonly fileSizeInBytes: string;
  readonly columnSizes: readonly [number, string][];
  readonly valueCounts: readonly [number, string][];
  readonly nullValueCounts: readonly [number, string][];
  readonly nanValueCounts: readonly [number, string][];
  readonly lowerBounds: readonly [number, string][];
  readonly upperBounds: readonly [number, string][];
  readonly splitOffsets: readonly string[];
  readonly keyMetadata: string | null;
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
  readonly firstRowId: string | null;
  readonly referencedDataFile: string | null;
  readonly contentOffset: string | null;
  readonly contentSizeInBytes: string | null;
}

export function serializeDataFile(file: DataFile): string {
  const record: DataFileRecord = {
    content: file.content,
    filePath: file.filePath,
    fileFormat: file.fileFormat,
    specId: file.specId,
    partition: file.partition.map(recordPartitionValue),
    recordCount: file.recordCount.toString(),
    fileSizeInBytes: file.fileSizeInBytes.toString(),
    columnSizes: entries(file.columnSizes, String),
    valueCounts: entries(file.valueCounts, String),
    nullValueCounts: entries(file.nullValueCounts, String),
    nanValueCounts: entries(file.nanValueCounts, String),
    lowerBounds: entries(file.lowerBounds, hexOf),
    upperBounds: entries(file.upperBounds, hexOf),
    splitOffsets: file.splitOffsets.map(String),
    keyMetadata: file.keyMetadata === null ? null : hexOf(file.keyMetadata),
    equalityIds: file.equalityIds,
    sortOrderId: file.sortOrderId,
    firstRowId: textOrNull(file.firstRowId),
    referencedDataFile: file.referencedDataFile,
    contentOffset: textOrNull(file.contentOffset),
    contentSizeInBytes: textOrNull(file.contentSizeInBytes),
  };
  return JSON.stringify(record);
}

/** The inverse of `serializeDataFile`, for text that it made: nothing else is validated. */
export function parseDataFile(text: string): DataFile {
  const record = JSON.parse(text) as DataFileRecord;
  return {
    ...record,
    partition: record.partition.map(partitionValueOf),
    recordCount: BigInt(record.recordCount),
    fileSizeInBytes: BigInt(record.fileSizeInBytes),
    columnSizes: mapOf(record.columnSizes, BigInt),
    valueCounts: mapOf(record.valueCounts, BigInt),
    nullValueCounts: mapOf(record.nullValueCounts, BigInt),
    nanValueCounts: mapOf(record.nanValueCounts, BigInt),
    lowerBounds: mapOf(record.lowerBounds, bytesOfHex),
    upperBounds: mapOf(record.upperBounds, bytesOfHex),
    splitOffsets: record.splitOffsets.map(BigInt),
    keyMetadata: record.keyMetadata === null ? null : bytesOfHex(record.keyMetadata),
    firstRowId: bigintOrNull(record.firstRowId),
    contentOffset: bigintOrNull(record.contentOffset),
    contentSizeInBytes: bigintOrNull(record.contentSizeInBytes),
  };
}

function recordPartitionValue(value: PartitionValue): RecordedPartitionValue {
  if (value === null) return { kind: 'null' };
  if (value instanceof Uint8Array) return { kind: 'bytes', value: hexOf(value) };
  switch (typeof value) {
    case 'boolean':
      return { kind: 'boolean', value };
    case 'number':
      return { kind: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
    case 'bigint':
      return { kind: 'bigint', value: value.toString() };
    case 'string':
      return { kind: 'string', value };
    default:
      throw new IcebergError(
        'internal',
        'journal.unexpected-value',
        `A partition value of type ${typeof value} cannot be recorded`,
      );
  }
}

function partitionValueOf(recorded: RecordedPartitionValue): PartitionValue {
  switch (recorded.kind) {
    case 'null':
      return null;
    case 'boolean':
    case 'string':
      return recorded.value;
    case 'number':
      return Number(recorded.value);
    case 'bigint':
      return BigInt(recorded.value);
    case 'bytes':
      return bytesOfHex(recorded.value);
  }
}

function entries<V>(map: ReadonlyMap<number, V>, write: (value: V) => string): [number, string][] {
  return [...map].map(([id, value]) => [id, write(value)]);
}

function mapOf<V>(
  recorded: readonly [number, string][],
  read: (text: string) => V,
): ReadonlyMap<number, V> {
  return new Map(recorded.map(([id, text]) => [id, read(text)]));
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : value.toString();
}

function bigintOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOfHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

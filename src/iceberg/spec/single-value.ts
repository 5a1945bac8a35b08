/**
 * Single values in their binary form (bounds, partition summaries). Spec: appendix D. Values are
 * those of `PartitionValue`.
 */

import { IcebergError } from '../errors.ts';
import { MICROS_PER_DAY } from './calendar.ts';
import type { PartitionValue } from './data-file.ts';
import { primitiveTypeText } from './data-types.ts';
import type { PrimitiveType } from './schema.ts';

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** @throws internal `single-value.mismatch` when the value is not one of the type */
export function toBinary(type: PrimitiveType, value: PartitionValue): Uint8Array {
  switch (type.type) {
    case 'boolean':
      if (typeof value === 'boolean') return Uint8Array.of(value ? 1 : 0);
      break;
    case 'int':
    case 'date':
      if (typeof value === 'number') return fixedWidth(4, (v) => v.setInt32(0, value, true));
      break;
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (typeof value === 'bigint') return fixedWidth(8, (v) => v.setBigInt64(0, value, true));
      break;
    case 'float':
      if (typeof value === 'number') return fixedWidth(4, (v) => v.setFloat32(0, value, true));
      break;
    case 'double':
      if (typeof value === 'number') return fixedWidth(8, (v) => v.setFloat64(0, value, true));
      break;
    case 'decimal':
      if (typeof value === 'bigint') return bigEndian(value);
      break;
    case 'string':
      if (typeof value === 'string') return textEncoder.encode(value);
      break;
    case 'uuid':
      if (typeof value === 'string') return uuidToBytes(value);
      break;
    case 'fixed':
    case 'binary':
      if (value instanceof Uint8Array) return value;
      break;
    case 'unknown':
    case 'variant':
      break;
  }
  throw new IcebergError(
    'internal',
    'single-value.mismatch',
    `A ${typeof value} is not a value of type ${primitiveTypeText(type)}`,
  );
}

/**
 * The value of a bound. Bounds written before a promotion are recognised by their length: 4 bytes
 * under `long` are an int, under `double` a float, under a timestamp without zone a date.
 * @throws corrupt `single-value.length`
 */
export function fromBinary(type: PrimitiveType, bytes: Uint8Array): PartitionValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type.type) {
    case 'boolean':
      checkLength(type, bytes, 1);
      return bytes[0] !== 0;
    case 'int':
    case 'date':
      checkLength(type, bytes, 4);
      return view.getInt32(0, true);
    case 'long':
      if (bytes.length === 4) return BigInt(view.getInt32(0, true));
      checkLength(type, bytes, 8);
      return view.getBigInt64(0, true);
    case 'timestamp':
    case 'timestamp_ns':
      if (bytes.length === 4) return promotedValue(type, view.getInt32(0, true));
      checkLength(type, bytes, 8);
      return view.getBigInt64(0, true);
    case 'time':
    case 'timestamptz':
    case 'timestamptz_ns':
      checkLength(type, bytes, 8);
      return view.getBigInt64(0, true);
    case 'float':
      checkLength(type, bytes, 4);
      return view.getFloat32(0, true);
    case 'double':
      if (bytes.length === 4) return view.getFloat32(0, true);
      checkLength(type, bytes, 8);
      return view.getFloat64(0, true);
    case 'decimal':
      return fromBigEndian(bytes);
    case 'string':
      return textDecoder.decode(bytes);
    case 'uuid':
      checkLength(type, bytes, 16);
      return bytesToUuid(bytes);
    case 'fixed':
    case 'binary':
      return bytes;
    case 'unknown':
    case 'variant':
      throw new IcebergError(
        'unsupported',
        'single-value.type',
        `Type ${type.type} has no binary single-value form`,
      );
  }
}

/**
 * A value that was written before its column was promoted to `type`, as a value of `type`: an int
 * under `long`, a date under a timestamp. Any other value is returned as it is.
 */
export function promotedValue(type: PrimitiveType, value: PartitionValue): PartitionValue {
  if (typeof value !== 'number') return value;
  switch (type.type) {
    case 'long':
      return BigInt(value);
    case 'timestamp':
      return BigInt(value) * MICROS_PER_DAY;
    case 'timestamp_ns':
      return BigInt(value) * MICROS_PER_DAY * 1000n;
    default:
      return value;
  }
}

/** Two's complement, big-endian, as few bytes as hold the sign. */
export function bigEndian(value: bigint): Uint8Array {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length += 1;
  return bigEndianOf(value, length);
}

/** The same in a given number of bytes, sign-extended. */
export function bigEndianOf(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let i = length - 1; i >= 0; i -= 1) {
    bytes[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

export function fromBigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** Bytes of a Parquet or Avro fixed that holds a decimal of that precision. */
export function decimalRequiredBytes(precision: number): number {
  const highest = 10n ** BigInt(precision) - 1n;
  return bigEndian(highest).length;
}

/** @throws invalid `single-value.uuid` */
export function uuidToBytes(uuid: string): Uint8Array {
  const hex = uuid.replaceAll('-', '');
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) {
    throw new IcebergError('invalid', 'single-value.uuid', `"${uuid}" is not a UUID`);
  }
  return hexToBytes(hex);
}

export function bytesToUuid(bytes: Uint8Array): string {
  const hex = bytesToHex(bytes);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

/** Lower case. */
export function bytesToHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Either case. */
export function hexToBytes(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}

/**
 * Order of two values of one type as the spec sorts them: text by code points, bytes unsigned,
 * -0 before 0. NaN never takes part in bounds.
 */
export function compareValues(
  left: NonNullable<PartitionValue>,
  right: NonNullable<PartitionValue>,
): number {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  if (typeof left === 'string' && typeof right === 'string') {
    return compareBytes(textEncoder.encode(left), textEncoder.encode(right));
  }
  if (left === right && left === 0)
    return Number(Object.is(right, -0)) - Number(Object.is(left, -0));
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i += 1) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function fixedWidth(size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  write(new DataView(bytes.buffer));
  return bytes;
}

function checkLength(type: PrimitiveType, bytes: Uint8Array, length: number): void {
  if (bytes.length === length) return;
  throw new IcebergError(
    'corrupt',
    'single-value.length',
    `A ${type.type} takes ${length} bytes, found ${bytes.length}`,
  );
}

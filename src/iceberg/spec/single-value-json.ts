/**
 * Single values in their JSON form: default values, and values of the REST protocol.
 * Spec: appendix D, "JSON single-value serialization". Values are those of `PartitionValue`.
 */

import type { JsonNode, JsonValue } from '../json.ts';
import { jsonInt64 } from '../json.ts';
import type { IcebergError } from '../errors.ts';
import {
  dateText,
  MICROS_PER_DAY,
  nanoTimestampText,
  parseDate,
  parseTime,
  timestampText,
  timeText,
} from './calendar.ts';
import type { PartitionValue } from './data-file.ts';
import { primitiveTypeText } from './data-types.ts';
import type { PrimitiveType } from './schema.ts';
import { bytesToHex, hexToBytes } from './single-value.ts';

const INT32_MAX = 2 ** 31 - 1;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws the node's kind, `single-value.malformed`, when it is not a value of the type */
export function parseSingleValue(
  node: JsonNode,
  type: PrimitiveType,
): Exclude<PartitionValue, null> {
  const value = fromJson(type, node.value);
  if (value === null) throw malformed(node, type);
  return value;
}

/** The canonical JSON form of a value that is one of the type. */
export function serializeSingleValue(
  type: PrimitiveType,
  value: Exclude<PartitionValue, null>,
): JsonValue {
  if (value instanceof Uint8Array) return bytesToHex(value);
  if (type.type === 'date' && typeof value === 'number') return dateText(value);
  if (typeof value !== 'bigint') return value;
  switch (type.type) {
    case 'decimal':
      return decimalText(value, type.scale);
    case 'time':
      return timeText(value);
    case 'timestamp':
      return timestampText(value);
    case 'timestamptz':
      return `${timestampText(value)}+00:00`;
    case 'timestamp_ns':
      return nanoTimestampText(value);
    case 'timestamptz_ns':
      return `${nanoTimestampText(value)}+00:00`;
    default:
      return jsonInt64(value);
  }
}

/** `14.20` of the unscaled 1420 with scale 2: trailing zeros tell the scale. */
export function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  if (scale === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function fromJson(type: PrimitiveType, json: JsonValue): PartitionValue {
  switch (type.type) {
    case 'boolean':
      return typeof json === 'boolean' ? json : null;
    case 'int':
      return typeof json === 'number' && Number.isInteger(json) && fitsInt(json) ? json : null;
    case 'long':
      return longFromJson(json);
    case 'float':
      return typeof json === 'number' && Number.isFinite(Math.fround(json))
        ? Math.fround(json)
        : null;
    case 'double':
      return typeof json === 'number' || typeof json === 'bigint' ? Number(json) : null;
    default:
      return typeof json === 'string' ? fromText(type, json) : null;
  }
}

function fromText(type: PrimitiveType, text: string): PartitionValue {
  switch (type.type) {
    case 'decimal':
      return decimalFromText(text, type.precision, type.scale);
    case 'date':
      return parseDate(text);
    case 'time':
      return parseTime(text, 6);
    case 'timestamp':
      return timestampFromText(text, 6, false);
    case 'timestamptz':
      return timestampFromText(text, 6, true);
    case 'timestamp_ns':
      return timestampFromText(text, 9, false);
    case 'timestamptz_ns':
      return timestampFromText(text, 9, true);
    case 'string':
      return text;
    case 'uuid': {
      const folded = text.toLowerCase();
      return UUID.test(folded) ? folded : null;
    }
    case 'fixed':
      return text.length === 2 * type.length ? bytesFromHex(text) : null;
    case 'binary':
      return bytesFromHex(text);
    default:
      return null;
  }
}

function longFromJson(json: JsonValue): bigint | null {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : null;
  return typeof json === 'bigint' && BigInt.asIntN(64, json) === json ? json : null;
}

function decimalFromText(text: string, precision: number, scale: number): bigint | null {
  const match = /^(-?)(\d{1,38})(?:\.(\d{1,38}))?$/.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = ''] = match;
  // Another scale is another type; rounding would store something nobody wrote.
  if (fraction.length !== scale) return null;
  const magnitude = BigInt(whole + fraction);
  if (magnitude >= 10n ** BigInt(precision)) return null;
  return sign === '-' ? -magnitude : magnitude;
}

function timestampFromText(text: string, digits: 6 | 9, hasZone: boolean): bigint | null {
  const match = /^([^T]+)T([0-9:.]+)(Z|[+-]\d{2}:\d{2})?$/.exec(text);
  if (match === null) return null;
  const [, date = '', time = '', zone] = match;
  // The specification writes UTC only; another offset would have to be converted by guesswork.
  const isUtc = zone === 'Z' || zone === '+00:00';
  if (hasZone ? !isUtc : zone !== undefined) return null;
  const days = parseDate(date);
  const unitsOfDay = parseTime(time, digits);
  if (days === null || unitsOfDay === null) return null;
  const unitsPerDay = MICROS_PER_DAY * (digits === 9 ? 1000n : 1n);
  const units = BigInt(days) * unitsPerDay + unitsOfDay;
  return BigInt.asIntN(64, units) === units ? units : null;
}

function bytesFromHex(text: string): Uint8Array | null {
  return /^([0-9a-f]{2})*$/i.test(text) ? hexToBytes(text) : null;
}

function fitsInt(value: number): boolean {
  return value >= -INT32_MAX - 1 && value <= INT32_MAX;
}

function malformed(node: JsonNode, type: PrimitiveType): IcebergError {
  return node.fail('single-value.malformed', `not a value of type ${primitiveTypeText(type)}`);
}

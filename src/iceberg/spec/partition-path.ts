/**
 * Partition values as people read them in object keys. Only for people: readers take the values
 * from manifests. The specification leaves the form open; this is the one the Java library writes.
 */

import { unreachable } from '../errors.ts';
import {
  dateText,
  nanoTimestampText,
  timestampText,
  timeText,
  twoDigits,
  yearText,
} from './calendar.ts';
import { firstCodePoints } from './apply-transform.ts';
import type { PartitionValue } from './data-file.ts';
import type { PrimitiveType } from './schema.ts';
import { decimalText } from './single-value-json.ts';
import type { PartitionColumn, Transform } from './transform.ts';
import { knownTransform } from './transform.ts';

const EPOCH_YEAR = 1970;
/** S3 and R2 end a key at 1024 bytes; the rest is for the table's location and the file's name. */
const PATH_BYTES_MAX = 512;
/** What is left of each name and value when the whole is too long. */
const CUT_CODE_POINTS = 24;

const textEncoder = new TextEncoder();

/**
 * `name=value/name=value` of one partition, both sides form-encoded once; empty when unpartitioned,
 * and when even the shortened form would not fit a key. The result is part of the key and of the
 * recorded location, byte for byte: it must not be encoded again but by HTTP.
 */
export function partitionPath(
  columns: readonly PartitionColumn[],
  partition: readonly PartitionValue[],
): string {
  const parts = columns.map(({ field, resultType }, i): [string, string] => [
    field.name,
    toHumanString(knownTransform(field.transform), resultType, partition[i] ?? null),
  ]);
  const path = joinParts(parts);
  if (path.length <= PATH_BYTES_MAX) return path;
  const cut = joinParts(
    parts.map(([name, value]) => [
      firstCodePoints(name, CUT_CODE_POINTS),
      firstCodePoints(value, CUT_CODE_POINTS),
    ]),
  );
  return cut.length <= PATH_BYTES_MAX ? cut : '';
}

/** `2017`, `2017-11`, `2017-11-16`, `2017-11-16-22`, `null`; bytes as base64, times in ISO form. */
export function toHumanString(
  transform: Transform,
  resultType: PrimitiveType,
  value: PartitionValue,
): string {
  if (value === null) return 'null';
  switch (transform.kind) {
    case 'year':
      return yearText(Number(value) + EPOCH_YEAR);
    case 'month': {
      const year = Math.floor(Number(value) / 12);
      return `${yearText(year + EPOCH_YEAR)}-${twoDigits(Number(value) - year * 12 + 1)}`;
    }
    case 'day':
      return dateText(Number(value));
    case 'hour': {
      const days = Math.floor(Number(value) / 24);
      return `${dateText(days)}-${twoDigits(Number(value) - days * 24)}`;
    }
    case 'identity':
    case 'truncate':
    case 'bucket':
    case 'void':
      return valueText(resultType, value);
    default:
      return unreachable(transform);
  }
}

function valueText(type: PrimitiveType, value: Exclude<PartitionValue, null>): string {
  if (value instanceof Uint8Array) return base64(value);
  if (type.type === 'date') return dateText(Number(value));
  if (typeof value !== 'bigint') return Object.is(value, -0) ? '-0' : String(value);
  switch (type.type) {
    case 'decimal':
      return decimalText(value, type.scale);
    case 'time':
      return timeText(value);
    case 'timestamp':
      return timestampText(value);
    case 'timestamptz':
      return `${timestampText(value)}Z`;
    case 'timestamp_ns':
      return nanoTimestampText(value);
    case 'timestamptz_ns':
      return `${nanoTimestampText(value)}Z`;
    default:
      return String(value);
  }
}

function joinParts(parts: readonly (readonly [string, string])[]): string {
  return parts.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('/');
}

/** `application/x-www-form-urlencoded`, over the UTF-8 bytes: even half a surrogate pair passes. */
function formEncode(text: string): string {
  let encoded = '';
  for (const byte of textEncoder.encode(text)) {
    const character = String.fromCodePoint(byte);
    if (/[A-Za-z0-9.*_-]/.test(character)) encoded += character;
    else if (character === ' ') encoded += '+';
    else encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
}

/**
 * The partition value of a column's value. The kernel computes these for rows; this is the same in
 * the terms of `PartitionValue`, for single values and as the reference the kernel is tested by.
 * Spec: "Partition Transforms", appendix B.
 */

import { IcebergError, unreachable } from '../errors.ts';
import { daysToCivil, microsToDays, microsToHours, nanosToMicros } from './calendar.ts';
import type { PartitionValue } from './data-file.ts';
import { primitiveTypeText } from './data-types.ts';
import { murmur3 } from './murmur3.ts';
import type { PrimitiveType } from './schema.ts';
import { toBinary } from './single-value.ts';
import { canTransform } from './transform.ts';
import type { Transform } from './transform.ts';

const EPOCH_YEAR = 1970;

/**
 * The result in the type `resultType` names; null for null, whatever the transform.
 * @throws invalid `partition-spec.source-type` when the transform does not apply to the type; internal
 * `single-value.mismatch` when the value is not one of the type
 */
export function applyTransform(
  transform: Transform,
  source: PrimitiveType,
  value: PartitionValue,
): PartitionValue {
  if (!canTransform(transform, source)) {
    throw new IcebergError(
      'invalid',
      'partition-spec.source-type',
      `Transform ${transform.kind} does not apply to ${primitiveTypeText(source)}`,
    );
  }
  if (value === null) return null;
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'void':
      return null;
    case 'bucket':
      return (bucketHash(source, value) & 0x7fff_ffff) % transform.bucketCount;
    case 'truncate':
      return truncate(source, value, transform.width);
    case 'year':
      return daysToCivil(dayOf(source, value)).year - EPOCH_YEAR;
    case 'month': {
      const { year, month } = daysToCivil(dayOf(source, value));
      return (year - EPOCH_YEAR) * 12 + month - 1;
    }
    case 'day':
      return dayOf(source, value);
    case 'hour':
      return microsToHours(microsOf(source, value));
    default:
      return unreachable(transform);
  }
}

/** The 32-bit hash that `bucket` takes the remainder of. */
export function bucketHash(source: PrimitiveType, value: Exclude<PartitionValue, null>): number {
  switch (source.type) {
    // Hashed as a long, so that the bucket stays the same when the column is promoted.
    case 'int':
    case 'date':
      if (typeof value !== 'number') break;
      return murmur3(toBinary({ type: 'long' }, BigInt(value)));
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return murmur3(toBinary({ type: 'long' }, microsOf(source, value)));
    default:
      return murmur3(toBinary(source, value));
  }
  throw mismatch(source, value);
}

function truncate(
  source: PrimitiveType,
  value: Exclude<PartitionValue, null>,
  width: number,
): PartitionValue {
  switch (source.type) {
    case 'int':
      // Below the lowest int the Java library wraps around, and so must we.
      if (typeof value === 'number')
        return Number(BigInt.asIntN(32, floorTo(BigInt(value), width)));
      break;
    case 'long':
      if (typeof value === 'bigint') return BigInt.asIntN(64, floorTo(value, width));
      break;
    case 'decimal':
      if (typeof value === 'bigint') return floorTo(value, width);
      break;
    case 'string':
      if (typeof value === 'string') return firstCodePoints(value, width);
      break;
    case 'binary':
      if (value instanceof Uint8Array) return value.slice(0, width);
      break;
    default:
  }
  throw mismatch(source, value);
}

/** The largest multiple of the width that is not above the value. */
function floorTo(value: bigint, width: number): bigint {
  const divisor = BigInt(width);
  const remainder = value % divisor;
  return value - (remainder < 0n ? remainder + divisor : remainder);
}

/** The first `count` code points: never half of a surrogate pair. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

function dayOf(source: PrimitiveType, value: Exclude<PartitionValue, null>): number {
  if (source.type !== 'date') return microsToDays(microsOf(source, value));
  if (typeof value === 'number') return value;
  throw mismatch(source, value);
}

function microsOf(source: PrimitiveType, value: Exclude<PartitionValue, null>): bigint {
  if (typeof value !== 'bigint') throw mismatch(source, value);
  return source.type.endsWith('_ns') ? nanosToMicros(value) : value;
}

function mismatch(source: PrimitiveType, value: Exclude<PartitionValue, null>): IcebergError {
  return new IcebergError(
    'internal',
    'single-value.mismatch',
    `A ${typeof value} is not a value of type ${primitiveTypeText(source)}`,
  );
}

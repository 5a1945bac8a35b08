/** When two files are in the same partition. */

import type { DataFile, PartitionValue } from './data-file.ts';
import { bytesToHex } from './single-value.ts';

/**
 * Text that is equal exactly for equal partitions of one spec: null, '' and 'null' differ, -0 and 0
 * differ, every NaN is one partition.
 */
export function partitionKey({
  specId,
  partition,
}: Pick<DataFile, 'specId' | 'partition'>): string {
  return JSON.stringify([specId, ...partition.map(valueKey)]);
}

function valueKey(value: PartitionValue): string {
  if (value instanceof Uint8Array) return `bytes:${bytesToHex(value)}`;
  if (Object.is(value, -0)) return 'number:-0';
  return `${value === null ? 'null' : typeof value}:${String(value)}`;
}

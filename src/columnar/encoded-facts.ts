/** What the module says of a file it has written. */

import type { PartitionValue } from '../iceberg/spec/data-file.ts';
import type { EncodedFile } from './kernel-port.ts';

/** What the module answers: 64-bit numbers as decimal text, bounds in hexadecimal. */
export interface EncodedFacts {
  readonly fileSizeInBytes: string;
  readonly recordCount: string;
  /** Null when no order was asked for. */
  readonly isSorted: boolean | null;
  readonly splitOffsets: readonly string[];
  readonly columnSizes: readonly Pair[];
  readonly valueCounts: readonly Pair[];
  readonly nullValueCounts: readonly Pair[];
  readonly nanValueCounts: readonly Pair[];
  readonly lowerBounds: readonly Pair[];
  readonly upperBounds: readonly Pair[];
}

type Pair = readonly [fieldId: number, value: string];

/** One value of a partition; null, or what it is and what it says. */
export type PartitionFact =
  | null
  | { readonly boolean: boolean }
  | { readonly number: number }
  | { readonly integer: string }
  /** The bits, the double's as decimal text. */
  | { readonly float: number }
  | { readonly double: string }
  | { readonly text: string }
  /** In hexadecimal. */
  | { readonly bytes: string };

export function toEncodedFile(facts: EncodedFacts): EncodedFile {
  return {
    fileSizeInBytes: BigInt(facts.fileSizeInBytes),
    recordCount: BigInt(facts.recordCount),
    splitOffsets: facts.splitOffsets.map(BigInt),
    columnSizes: counts(facts.columnSizes),
    valueCounts: counts(facts.valueCounts),
    nullValueCounts: counts(facts.nullValueCounts),
    nanValueCounts: counts(facts.nanValueCounts),
    lowerBounds: bounds(facts.lowerBounds),
    upperBounds: bounds(facts.upperBounds),
    ...(facts.isSorted !== null && { isSorted: facts.isSorted }),
  };
}

export function toPartitionValue(fact: PartitionFact): PartitionValue {
  if (fact === null) return null;
  if ('boolean' in fact) return fact.boolean;
  if ('number' in fact) return fact.number;
  if ('integer' in fact) return BigInt(fact.integer);
  if ('text' in fact) return fact.text;
  if ('bytes' in fact) return fromHex(fact.bytes);
  const view = new DataView(new ArrayBuffer(8));
  if ('float' in fact) {
    view.setUint32(0, fact.float);
    return view.getFloat32(0);
  }
  view.setBigUint64(0, BigInt(fact.double));
  return view.getFloat64(0);
}

function counts(pairs: readonly Pair[]): Map<number, bigint> {
  return new Map(pairs.map(([fieldId, value]) => [fieldId, BigInt(value)]));
}

function bounds(pairs: readonly Pair[]): Map<number, Uint8Array> {
  return new Map(pairs.map(([fieldId, value]) => [fieldId, fromHex(value)]));
}

function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

/** Avro's binary encoding. Spec: Avro 1.11 "Binary Encoding". */

import { assert, IcebergError } from '../errors.ts';
import type { AvroType } from './avro-schema.ts';
import { AvroRecord } from './avro-value.ts';
import type { AvroValue } from './avro-value.ts';

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A growing buffer of encoded bytes. */
export class AvroEncoder {
  #bytes: Uint8Array = new Uint8Array(4096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  boolean(value: boolean): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value ? 1 : 0;
  }

  /** Zig-zag, seven bits a byte. */
  int(value: number): void {
    assert(
      Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX,
      'avro.int-range',
      `${value} is not a 32-bit integer`,
    );
    this.#reserve(5);
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  long(value: bigint): void {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      this.int(Number(value));
      return;
    }
    assert(
      BigInt.asIntN(64, value) === value,
      'avro.long-range',
      `${value} is not a 64-bit integer`,
    );
    this.#reserve(10);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest > 0x7fn) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  float(value: number): void {
    this.#reserve(4);
    new DataView(this.#bytes.buffer).setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  double(value: number): void {
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(value: Uint8Array): void {
    this.int(value.length);
    this.raw(value);
  }

  string(value: string): void {
    this.bytes(textEncoder.encode(value));
  }

  /** A value under its schema. A union is a null beside one other type, as Iceberg writes them. */
  value(type: AvroType, value: AvroValue): void {
    switch (type.kind) {
      case 'null':
        return;
      case 'boolean':
        if (typeof value === 'boolean') return this.boolean(value);
        break;
      case 'int':
        if (typeof value === 'number') return this.int(value);
        break;
      case 'long':
        if (typeof value === 'bigint') return this.long(value);
        break;
      case 'float':
        if (typeof value === 'number') return this.float(value);
        break;
      case 'double':
        if (typeof value === 'number') return this.double(value);
        break;
      case 'bytes':
        if (value instanceof Uint8Array) return this.bytes(value);
        break;
      case 'string':
        if (typeof value === 'string') return this.string(value);
        break;
      case 'fixed':
        if (value instanceof Uint8Array && value.length === type.size) return this.raw(value);
        break;
      case 'array':
        if (Array.isArray(value)) return this.#array(type.items, value);
        break;
      case 'record':
        if (value instanceof AvroRecord) {
          for (const field of type.fields) {
            this.value(field.type, value.get(field.fieldId ?? -1, field.name));
          }
          return;
        }
        break;
      case 'union': {
        const index = type.branches.findIndex((one) => (one.kind === 'null') === (value === null));
        const branch = type.branches[index];
        if (branch === undefined) break;
        this.int(index);
        return this.value(branch, value);
      }
      case 'enum':
      case 'map':
        break;
    }
    throw new IcebergError('internal', 'avro.value', `A value does not fit Avro type ${type.kind}`);
  }

  #array(items: AvroType, values: readonly AvroValue[]): void {
    if (values.length > 0) {
      this.int(values.length);
      for (const value of values) this.value(items, value);
    }
    this.int(0);
  }
}

/** Reads values one after the other. Every method throws corrupt `avro.truncated` past the end. */
export class AvroDecoder {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length;
  }

  /** A view, not a copy. */
  raw(length: number): Uint8Array {
    const end = this.#position + length;
    if (length < 0 || end > this.#bytes.length) throw truncated(this.#position);
    const bytes = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return bytes;
  }

  boolean(): boolean {
    return this.#byte() !== 0;
  }

  int(): number {
    const value = this.long();
    if (value < INT32_MIN || value > INT32_MAX) {
      throw corrupt('avro.int-range', `${value} is not a 32-bit integer`, this.#position);
    }
    return Number(value);
  }

  long(): bigint {
    // Most values fit in four bytes: no bigint arithmetic for them.
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt((low >>> 1) ^ -(low & 1));
    }
    let value = BigInt(low);
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const bits = BigInt.asUintN(64, value);
        return (bits >> 1n) ^ -(bits & 1n);
      }
    }
    throw corrupt('avro.long-range', 'an integer is longer than ten bytes', this.#position);
  }

  bytes(): Uint8Array {
    const length = this.long();
    if (length < 0n || length > BigInt(this.#bytes.length)) throw truncated(this.#position);
    return this.raw(Number(length));
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return textDecoder.decode(bytes);
    } catch (cause) {
      throw new IcebergError('corrupt', 'avro.utf8', 'A string is not UTF-8', { cause });
    }
  }

  /** A value under the schema it was written with. Byte values are copies. */
  value(type: AvroType): AvroValue {
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean':
        return this.boolean();
      case 'int':
        return this.int();
      case 'long':
        return this.long();
      case 'float':
        return this.#float(4);
      case 'double':
        return this.#float(8);
      case 'bytes':
        return this.bytes().slice();
      case 'string':
        return this.string();
      case 'fixed':
        return this.raw(type.size).slice();
      case 'enum': {
        const symbol = type.symbols[this.int()];
        if (symbol === undefined) {
          throw corrupt('avro.enum', 'no such enum symbol', this.#position);
        }
        return symbol;
      }
      case 'array': {
        const items: AvroValue[] = [];
        this.#blocks(() => items.push(this.value(type.items)));
        return items;
      }
      case 'map': {
        const map = new Map<string, AvroValue>();
        this.#blocks(() => map.set(this.string(), this.value(type.values)));
        return map;
      }
      case 'union': {
        const branch = type.branches[this.int()];
        if (branch === undefined) {
          throw corrupt('avro.union', 'no such union branch', this.#position);
        }
        return this.value(branch);
      }
      case 'record': {
        const record = new AvroRecord();
        for (const field of type.fields) {
          record.set(field.fieldId, field.name, this.value(field.type));
        }
        return record;
      }
    }
  }

  /** Arrays and maps come in counted blocks; a negative count is followed by the block's size. */
  #blocks(readItem: () => void): void {
    for (;;) {
      let count = this.long();
      if (count === 0n) return;
      if (count < 0n) {
        count = -count;
        this.long();
      }
      // Items of no bytes (nulls, empty records) could otherwise be promised without end.
      if (count > BigInt(this.#bytes.length)) throw truncated(this.#position);
      for (let i = 0n; i < count; i++) readItem();
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw truncated(this.#position);
    this.#position += 1;
    return byte;
  }

  #float(size: 4 | 8): number {
    const at = this.#position;
    this.raw(size);
    return size === 4 ? this.#view.getFloat32(at, true) : this.#view.getFloat64(at, true);
  }
}

function truncated(position: number): IcebergError {
  return corrupt('avro.truncated', 'the data ends too early', position);
}

function corrupt(code: string, problem: string, position: number): IcebergError {
  return new IcebergError('corrupt', code, `Avro: ${problem} (at byte ${position})`, {
    context: { position },
  });
}

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeAvroName, uniqueAvroNames } from '../../../../src/iceberg/avro/avro-name.ts';
import { AvroRecord } from '../../../../src/iceberg/avro/avro-value.ts';
import type { AvroValue } from '../../../../src/iceberg/avro/avro-value.ts';
import { AvroDecoder, AvroEncoder } from '../../../../src/iceberg/avro/binary-encoding.ts';
import type { AvroCodec } from '../../../../src/iceberg/avro/object-container-file.ts';
import {
  readContainer,
  writeContainer,
} from '../../../../src/iceberg/avro/object-container-file.ts';
import type { JsonObject } from '../../../../src/iceberg/json.ts';

const SYNC = new Uint8Array(16).fill(7);
const SCHEMA: JsonObject = {
  type: 'record',
  name: 'row',
  fields: [
    { name: 'a', type: 'long', 'field-id': 1 },
    { name: 'b', type: ['null', 'string'], default: null, 'field-id': 2 },
  ],
};

function container(codec: AvroCodec, records: Iterable<AvroValue>, schema = SCHEMA) {
  return writeContainer(
    { schema, metadata: new Map([['k', 'v']]), codec, syncMarker: SYNC },
    records,
  );
}

async function recordsOf(bytes: Uint8Array): Promise<AvroRecord[]> {
  const records: AvroRecord[] = [];
  for await (const record of readContainer(bytes).records) {
    if (record instanceof AvroRecord) records.push(record);
  }
  return records;
}

function row(a: bigint, b: string | null): AvroRecord {
  return new AvroRecord().set(1, 'a', a).set(2, 'b', b);
}

describe('C075: Avro longs', () => {
  it.each([
    [0n, [0]],
    [-1n, [1]],
    [1n, [2]],
    [-64n, [0x7f]],
    [64n, [0x80, 1]],
    [2n ** 63n - 1n, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
    [-(2n ** 63n), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
  ])('%s has the bytes the specification gives it', (value, bytes) => {
    const encoder = new AvroEncoder();
    encoder.long(value);
    expect([...encoder.toBytes()]).toEqual(bytes);
    expect(new AvroDecoder(Uint8Array.from(bytes)).long()).toBe(value);
  });

  it('survive the round whatever their size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const encoder = new AvroEncoder();
        encoder.long(value);
        expect(new AvroDecoder(encoder.toBytes()).long()).toBe(value);
      }),
    );
  });

  it('longer than ten bytes are refused', () => {
    expect(() => new AvroDecoder(new Uint8Array(12).fill(0xff)).long()).toThrow(/ten bytes/);
  });
});

describe('Avro container files', () => {
  it.each(['null', 'deflate'] as const)('survive the round with codec %s', async (codec) => {
    const rows = Array.from({ length: 30_000 }, (_, i) => row(BigInt(i), `text ${i}`));
    const bytes = await container(codec, rows);
    const read = await recordsOf(bytes);
    expect(read).toHaveLength(30_000);
    expect(read[29_999]?.get(1, 'a')).toBe(29_999n);
    expect(read[29_999]?.get(2, 'b')).toBe('text 29999');
    expect(readContainer(bytes).metadata.get('k')).toBe('v');
  });

  it('are read by field id, in any order, with unknown fields of every type skipped', async () => {
    const schema: JsonObject = {
      type: 'record',
      name: 'row',
      namespace: 'other.writer',
      fields: [
        { name: 'kind', type: { type: 'enum', name: 'e', symbols: ['X', 'Y'] } },
        { name: 'tags', type: { type: 'map', values: ['null', 'double'] }, 'field-id': 90 },
        { name: 'again', type: ['null', 'e'] },
        { name: 'renamed', type: ['string', 'null'], 'field-id': 2 },
        { name: 'fx', type: { type: 'fixed', name: 'f', size: 2 }, 'field-id': 91 },
        { name: 'A', type: { type: 'long', logicalType: 'x' }, 'field-id': 1 },
      ],
    };
    // Written by hand: maps and enums are only read here.
    const block = new AvroEncoder();
    block.int(1);
    block.int(-1);
    block.int(10);
    block.string('t');
    block.int(1);
    block.double(0.5);
    block.int(0);
    block.int(1);
    block.int(0);
    block.int(0);
    block.string('text');
    block.raw(Uint8Array.of(1, 2));
    block.long(2n ** 62n);
    const empty = await container('null', [], schema);
    const file = new AvroEncoder();
    file.raw(empty);
    file.int(1);
    file.bytes(block.toBytes());
    file.raw(SYNC);
    const [record] = await recordsOf(file.toBytes());
    expect(record?.get(1, 'a')).toBe(2n ** 62n);
    expect(record?.get(2, 'b')).toBe('text');
    expect(record?.get(-1, 'kind')).toBe('Y');
    expect(record?.get(3, 'absent')).toBeNull();
  });

  it('of another format, cut off, or with a wrong marker are corrupt', async () => {
    const bytes = await container('deflate', [row(1n, null)]);
    expect(() => readContainer(Uint8Array.of(1, 2, 3, 4))).toThrow(/Not an Avro/);
    for (let length = 5; length < bytes.length; length += 1) {
      // A file may end after its header; then it has no rows.
      const cut = bytes.slice(0, length);
      const outcome = await recordsOf(cut).then(
        (records) => records.length,
        (error: unknown) => error,
      );
      if (outcome !== 0) expect(outcome).toMatchObject({ kind: 'corrupt' });
    }
    const damaged = bytes.slice();
    damaged[damaged.length - 1] = 8;
    await expect(recordsOf(damaged)).rejects.toMatchObject({ code: 'avro.sync' });
  });

  it('with a codec that is not here are unsupported, by name', async () => {
    const bytes = await container('null', []);
    const text = new TextDecoder('latin1').decode(bytes);
    const at = text.indexOf('avro.codec') + 'avro.codec'.length;
    const renamed = Uint8Array.from([
      ...bytes.slice(0, at),
      12,
      ...new TextEncoder().encode('snappy'),
      ...bytes.slice(at + 5),
    ]);
    expect(() => readContainer(renamed)).toThrow(
      expect.objectContaining({ kind: 'unsupported', code: 'avro.codec' }),
    );
  });
});

describe('C038: Avro names', () => {
  it.each([
    ['a key', 'a_x20key'],
    ['9lives', '_9lives'],
    ['x.y', 'x_x2Ey'],
    ['😎', '_xD83D_xDE0E'],
    ['plain_1', 'plain_1'],
  ])('%s becomes %s', (name, sanitized) => {
    expect(sanitizeAvroName(name)).toBe(sanitized);
    expect(sanitized).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  });

  it('stay unique when two fall together', () => {
    expect(new Set(uniqueAvroNames(['a b', 'a_x20b', 'a b_2', 'a_x20b_2'])).size).toBe(4);
  });
});

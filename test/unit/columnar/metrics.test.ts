/** The manifest metrics that come with a file: counts, sizes, bounds. */

import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import { decode, encode, field, ndjson, schema, write } from './kernel-fixture.ts';

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');
const text = (bytes: Uint8Array | undefined) =>
  bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

function metricsOf(type: string, ...values: unknown[]) {
  const { file } = write(ndjson(...values.map((v) => ({ v }))), schema(field(1, 'v', type)));
  return file;
}

function boundsOf(type: string, ...values: unknown[]) {
  const file = metricsOf(type, ...values);
  return [hex(file.lowerBounds.get(1)), hex(file.upperBounds.get(1))];
}

function stringBounds(...values: string[]) {
  const file = metricsOf('string', ...values);
  return [text(file.lowerBounds.get(1)), text(file.upperBounds.get(1))];
}

describe('bounds of strings', () => {
  const a15 = 'a'.repeat(15);
  it.each([
    ['abcdefghijklmnoй-tail', 'abcdefghijklmnoй', 'abcdefghijklmnoк'],
    [`${a15}\ud7ffzz`, `${a15}\ud7ff`, `${a15}\ue000`],
    [`ab${'\u{10ffff}'.repeat(14)}z`, `ab${'\u{10ffff}'.repeat(14)}`, 'ac'],
    ['\u{10ffff}'.repeat(20), '\u{10ffff}'.repeat(16), undefined],
    ['😀'.repeat(20), '😀'.repeat(16), `${'😀'.repeat(15)}\u{1f601}`],
    ['exactly sixteen!', 'exactly sixteen!', 'exactly sixteen!'],
    ['', '', ''],
  ])('%j is between %j and %j (C056, C057)', (value, lower, upper) => {
    expect(stringBounds(value)).toEqual([lower, upper]);
  });

  it('are in the order of UTF-8, not of UTF-16 (C058)', () => {
    expect(boundsOf('string', '～', '😀')).toEqual(['efbd9e', 'f09f9880']);
    expect(boundsOf('string', '😀', '～')).toEqual(['efbd9e', 'f09f9880']);
  });

  it('contain every value and are as long as they may be', { timeout: 60_000 }, () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 8 }), (values) => {
        const file = metricsOf('string', ...values);
        const [lower, upper] = [file.lowerBounds.get(1), file.upperBounds.get(1)];
        expect(Array.from(text(lower) ?? '').length).toBeLessThanOrEqual(16);
        expect(Array.from(text(upper) ?? '').length).toBeLessThanOrEqual(16);
        for (const value of values) {
          const bytes = Buffer.from(value);
          expect(Buffer.compare(bytes, Buffer.from(lower ?? []))).toBeGreaterThanOrEqual(0);
          if (upper) expect(Buffer.compare(bytes, Buffer.from(upper))).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('bounds of numbers', () => {
  it('leave NaN out and count it (C059)', async () => {
    const { Float64, Table, tableToIPC, vectorFromArray } = await import('apache-arrow');
    const target = schema(field(1, 'd', 'double'));
    const of = (...values: number[]) => {
      const ipc = tableToIPC(new Table({ d: vectorFromArray(values, new Float64()) }), 'stream');
      const { slices } = decode(ipc, target, { format: 'arrow-stream' });
      const { file } = encode(
        target,
        slices.flatMap((slice) => slice.ipc ?? []),
      );
      const bound = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).readDoubleLE();
      expect(file.nullValueCounts.get(1)).toBe(0n);
      return [
        bound(file.lowerBounds.get(1)),
        bound(file.upperBounds.get(1)),
        file.nanValueCounts.get(1),
      ];
    };
    expect(of(NaN, 1, Infinity)).toEqual([1, Infinity, 1n]);
    expect(of(NaN)).toEqual([undefined, undefined, 1n]);
    expect(of(-Infinity, NaN)).toEqual([-Infinity, -Infinity, 1n]);
  });

  it('hold both zeros when a zero is at the end of the range (C060)', () => {
    const both = ['0000000000000080', '0000000000000000'];
    const negative = write('{"v":-0.0}', schema(field(1, 'v', 'double'))).file;
    expect([hex(negative.lowerBounds.get(1)), hex(negative.upperBounds.get(1))]).toEqual(both);
    expect(boundsOf('double', 0)).toEqual(both);
    expect(boundsOf('float', 0, 1)).toEqual(['00000080', '0000803f']);
    expect(boundsOf('double', -1, 0)).toEqual(['000000000000f0bf', '0000000000000000']);
  });

  it('of decimals are minimal big-endian two’s complement (C061)', () => {
    expect(boundsOf('decimal(6,2)', '123.45', '-0.01', '-1.28')).toEqual(['80', '3039']);
    expect(boundsOf('decimal(12,0)', 128, 0)).toEqual(['00', '0080']);
    expect(boundsOf('decimal(38,0)', '-129')).toEqual(['ff7f', 'ff7f']);
  });

  it('are exact over 64 bits (C001)', () => {
    const { file } = write(
      '{"v":9007199254740993}\n{"v":9223372036854775807}',
      schema(field(1, 'v', 'long')),
    );
    expect([hex(file.lowerBounds.get(1)), hex(file.upperBounds.get(1))]).toEqual([
      '0100000000002000',
      'ffffffffffffff7f',
    ]);
  });
});

describe('counts', () => {
  it('are there for every column, absent ones too, and all-null columns have no bounds (C062, C064)', () => {
    const types = [
      'string',
      'long',
      'decimal(9,2)',
      'uuid',
      'timestamptz',
      'double',
      'boolean',
      'binary',
    ];
    const target = schema(
      field(100, 'id', 'long'),
      ...types.map((type, index) => field(index + 1, `c${index}`, type)),
    );
    const { file } = write(ndjson({ id: 1, c0: null }, { id: 2 }), target);
    for (let id = 1; id <= types.length; id += 1) {
      expect([file.valueCounts.get(id), file.nullValueCounts.get(id)]).toEqual([2n, 2n]);
      expect(file.columnSizes.get(id)).toBeGreaterThan(0n);
    }
    expect([...file.lowerBounds.keys()]).toEqual([100]);
    expect([...file.upperBounds.keys()]).toEqual([100]);
    expect([...file.nanValueCounts]).toEqual([[6, 0n]]);
  });

  it('of a struct’s leaves count rows whose struct is null; lists and maps have sizes only', () => {
    const target = schema(
      field(1, 's', { type: 'struct', fields: [field(2, 'x', 'long')] }),
      field(3, 'l', {
        type: 'list',
        elementId: 4,
        element: { type: 'long' },
        elementRequired: false,
      }),
    );
    const { file } = write(
      ndjson({ s: { x: 1 }, l: [1, 2] }, { s: { x: null } }, { s: null }, {}),
      target,
    );
    expect([...file.valueCounts]).toEqual([[2, 4n]]);
    expect([...file.nullValueCounts]).toEqual([[2, 3n]]);
    expect([...file.columnSizes.keys()]).toEqual([2, 4]);
    expect(hex(file.lowerBounds.get(2))).toBe('0100000000000000');
  });

  it('and bounds are those of the whole file, not of its last row group (C065)', () => {
    const target = schema(
      field(1, 'n', 'long'),
      field(2, 's', 'string'),
      field(3, 't', 'timestamptz'),
    );
    const part = (from: number, s: string, t: string) => {
      const rows = Array.from({ length: 5000 }, (_, n) => ({ n: from + n, s, t }));
      return decode(ndjson(...rows), target).slices.flatMap((slice) => slice.ipc ?? []);
    };
    const { file, bytes } = encode(
      target,
      [
        ...part(50_000, 'b', '1971-01-01T00:00:00Z'),
        ...part(-7, 'a', '1969-01-01T00:00:00Z'),
        ...part(9, '～', '1970-01-01T00:00:00Z'),
      ],
      { rowGroupBytes: 500 },
    );
    const metadata = parquetMetadata(bytes.buffer);
    expect(metadata.row_groups.length).toBeGreaterThan(1);
    expect(Buffer.from(file.lowerBounds.get(1) ?? []).readBigInt64LE()).toBe(-7n);
    expect(Buffer.from(file.upperBounds.get(1) ?? []).readBigInt64LE()).toBe(54_999n);
    expect([text(file.lowerBounds.get(2)), text(file.upperBounds.get(2))]).toEqual(['a', '～']);
    expect(Buffer.from(file.lowerBounds.get(3) ?? []).readBigInt64LE()).toBe(-31536000000000n);
    expect(Buffer.from(file.upperBounds.get(3) ?? []).readBigInt64LE()).toBe(31536000000000n);
    expect(file.recordCount).toBe(15_000n);
    expect(file.splitOffsets).toHaveLength(metadata.row_groups.length);
    expect(file.splitOffsets).toEqual(file.splitOffsets.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(file.splitOffsets[0]).toBe(4n);
    const sizeOf = (index: number) =>
      metadata.row_groups.reduce(
        (sum, group) => sum + (group.columns[index]?.meta_data?.total_compressed_size ?? 0n),
        0n,
      );
    expect([...file.columnSizes.values()]).toEqual([sizeOf(0), sizeOf(1), sizeOf(2)]);
  });
});

/** What a table's properties and its sort order ask of its files. */

import { Float64, makeData, makeVector, Table, tableToIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import type { ColumnOptions, ParquetOptions } from '../../../src/columnar/kernel-port.ts';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';
import type { SortField } from '../../../src/iceberg/spec/sort-order.ts';
import {
  decode,
  encode,
  field,
  ndjson,
  newKernel,
  OPTIONS,
  schema,
  write,
} from './kernel-fixture.ts';

function sort(
  fields: readonly SortField[],
  bufferBytesMax = 16 << 20,
): NonNullable<ParquetOptions['sort']> {
  return { order: { orderId: 1, fields }, bufferBytesMax };
}

function by(
  sourceId: number,
  direction: 'asc' | 'desc' = 'asc',
  nullOrder: 'nulls-first' | 'nulls-last' = 'nulls-first',
  transform = 'identity',
): SortField {
  return { sourceId, transform, direction, nullOrder };
}

async function column(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<unknown[]> {
  const rows = await parquetReadObjects({ file: bytes.buffer });
  return rows.map((row) => row[name] as unknown);
}

describe('a sort order', () => {
  const target = schema(field(1, 'n', 'long'), field(2, 's', 'string'));

  it.each([
    ['asc', 'nulls-first', [null, -5n, 0n, 3n]],
    ['asc', 'nulls-last', [-5n, 0n, 3n, null]],
    ['desc', 'nulls-first', [null, 3n, 0n, -5n]],
    ['desc', 'nulls-last', [3n, 0n, -5n, null]],
  ] as const)('puts rows in order: %s, %s', async (direction, nullOrder, expected) => {
    const body = ndjson({ n: 0 }, { n: null }, { n: 3 }, { n: -5 });
    const options = { codec: 'snappy', sort: sort([by(1, direction, nullOrder)]) } as const;
    const { bytes, file } = write(body, target, options);
    expect(file.isSorted).toBe(true);
    expect(await column(bytes, 'n')).toEqual(expected);
  });

  it('compares text by its UTF-8 bytes, and later fields where earlier ones are equal', async () => {
    const words = ['é', 'z', '', '\uffff', '😀', 'a', 'ab', 'a\u0000', 'a'];
    const body = ndjson(...words.map((s, n) => ({ s, n })));
    const options = { codec: 'snappy', sort: sort([by(2), by(1, 'desc')]) } as const;
    const { bytes } = write(body, target, options);
    expect(await column(bytes, 's')).toEqual(
      words.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect((await column(bytes, 'n')).slice(1, 3)).toEqual([8n, 5n]);
  });

  it('sorts by what transforms give, equal ones as they came', async () => {
    const body = ndjson({ n: 17 }, { n: 3 }, { n: 12 }, { n: 8 });
    const options = {
      codec: 'snappy',
      sort: sort([by(1, 'asc', 'nulls-first', 'truncate[10]')]),
    } as const;
    expect(await column(write(body, target, options).bytes, 'n')).toEqual([3n, 8n, 17n, 12n]);
  });

  it('orders doubles from -NaN over both zeros to NaN', async () => {
    const values = new Float64Array([1, Number.NaN, 0, -1, Infinity, -0, -Infinity]);
    const vector = makeVector(makeData({ type: new Float64(), data: values }));
    const doubles = schema(field(1, 'd', 'double'));
    const stream = tableToIPC(new Table({ d: vector }), 'stream');
    const { slices } = decode(stream, doubles, { format: 'arrow-stream' });
    const ipcs = slices.flatMap((slice) => slice.ipc ?? []);
    const { bytes } = encode(doubles, ipcs, { codec: 'snappy', sort: sort([by(1)]) });
    expect(await column(bytes, 'd')).toEqual([-Infinity, -1, -0, 0, 1, Infinity, Number.NaN]);
  });

  it('says when a file took more rows than are sorted at once', async () => {
    const rows = (from: number) =>
      ndjson(...Array.from({ length: 1000 }, (_, i) => ({ n: from - i })));
    const ipc = (from: number) =>
      decode(rows(from), target).slices.flatMap((slice) => slice.ipc ?? []);
    const small = { codec: 'snappy', sort: sort([by(1)], 1000) } as const;
    const apart = encode(target, [...ipc(1000), ...ipc(2000)], small);
    expect(apart.file.isSorted).toBe(true);
    const mixed = encode(target, [...ipc(1000), ...ipc(1500)], small);
    expect(mixed.file.isSorted).toBe(false);
    expect(new Set(await column(mixed.bytes, 'n')).size).toBe(1500);
    expect(encode(target, ipc(1000)).file).not.toHaveProperty('isSorted');
  });

  it('holds within each partition', async () => {
    const body = ndjson(...Array.from({ length: 100 }, (_, i) => ({ n: 100 - i, s: `p${i % 2}` })));
    const encoder = newKernel().createPartitionedEncoder(
      target,
      { ...OPTIONS, codec: 'snappy', sort: sort([by(1)]) },
      {
        spec: {
          specId: 0,
          fields: [{ sourceId: 2, fieldId: 1000, name: 's', transform: 'identity' }],
        },
        bufferBytesMax: 1 << 20,
        partitionsMax: 10,
      },
    );
    for (const slice of decode(body, target).slices) if (slice.ipc) encoder.append(slice.ipc);
    for (const first of [2n, 1n]) {
      const chunks: Uint8Array[] = [];
      expect(encoder.nextFile((chunk) => chunks.push(chunk))?.file.isSorted).toBe(true);
      const found = await column(new Uint8Array(Buffer.concat(chunks)), 'n');
      expect(found).toEqual(Array.from({ length: 50 }, (_, i) => first + BigInt(2 * i)));
    }
  });
});

describe('options of a column', () => {
  const target = schema(field(1, 'n', 'long'), field(2, 's', 'string'));
  const body = ndjson(
    ...Array.from({ length: 2000 }, (_, n) => ({ n, s: `a value that repeats, ${n % 7}` })),
  );
  const withOptions = (options: ColumnOptions, of: Schema = target) => {
    const columns = new Map([[2, options]]);
    const { bytes, file } = write(body, of, { codec: 'gzip', columns });
    const chunks = parquetMetadata(bytes.buffer).row_groups[0]?.columns ?? [];
    return { file, chunk: chunks[1]?.meta_data, other: chunks[0]?.meta_data };
  };

  it('forbid its dictionary', () => {
    expect(withOptions({}).chunk?.encodings).toContain('RLE_DICTIONARY');
    expect(withOptions({ dictionary: false }).chunk?.encodings).not.toContain('RLE_DICTIONARY');
  });

  it('leave its statistics out of the file, not out of the manifest', () => {
    const { chunk, other, file } = withOptions({ statistics: false });
    expect(chunk?.statistics?.max_value).toBeUndefined();
    expect(other?.statistics?.max_value).toBe(1999n);
    expect(file.upperBounds.has(2)).toBe(true);
  });

  it('give it a bloom filter no larger than allowed', () => {
    expect(withOptions({}).chunk?.bloom_filter_offset).toBeUndefined();
    for (const bytesMax of [1024, 100_000]) {
      const { chunk } = withOptions({ bloomFilter: { fpp: 0.01, bytesMax } });
      expect(chunk?.bloom_filter_offset).toBeGreaterThan(0n);
      // The header takes a few bytes itself.
      expect(chunk?.bloom_filter_length).toBeLessThanOrEqual(bytesMax + 32);
    }
  });

  it('say what the manifest is told', () => {
    const keys = (options: ColumnOptions) => {
      const { file } = withOptions(options);
      const upper = file.upperBounds.get(2);
      return [
        file.columnSizes.has(2),
        file.valueCounts.has(2),
        upper === undefined ? null : Buffer.from(upper).toString(),
      ];
    };
    expect(keys({})).toEqual([true, true, 'a value that req']);
    expect(keys({ metrics: { kind: 'none' } })).toEqual([true, false, null]);
    expect(keys({ metrics: { kind: 'counts' } })).toEqual([true, true, null]);
    expect(keys({ metrics: { kind: 'truncate', length: 3 } })).toEqual([true, true, 'a w']);
    expect(keys({ metrics: { kind: 'full' } })).toEqual([true, true, 'a value that repeats, 6']);
  });

  it('are refused when they make no sense', () => {
    expect(() => withOptions({ bloomFilter: { fpp: 2, bytesMax: 10 } })).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'parquet.invalid-option' }),
    );
  });

  it('come with a limit of rows a page', () => {
    const { bytes } = write(body, target, { codec: 'uncompressed', pageRowsMax: 100 });
    const whole = write(body, target, { codec: 'uncompressed' });
    expect(bytes.length).toBeGreaterThan(whole.bytes.length + 20 * 20);
  });
});

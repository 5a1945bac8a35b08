/** Arrow IPC streams made by apache-arrow, into the columns of a table. */

import {
  Bool,
  Date_,
  DateUnit,
  Dictionary,
  Field,
  FixedSizeBinary,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  List,
  Null,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema as ArrowSchema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
  makeData,
  makeVector,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow';
import type { DataType } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';
import { decode, encode, field, newKernel, schema, LIMITS } from './kernel-fixture.ts';

const format = 'arrow-stream';

function stream(
  columns: Record<string, { type: DataType; values: readonly unknown[] | BigInt64Array }>,
): Uint8Array {
  const vectors = Object.entries(columns).map(
    ([name, { type, values }]) =>
      [
        name,
        values instanceof BigInt64Array
          ? makeVector(makeData({ type: type as TimestampNanosecond, data: values }))
          : vectorFromArray(values, type),
      ] as const,
  );
  return tableToIPC(new Table(Object.fromEntries(vectors)), 'stream');
}

function failure(bytes: Uint8Array, target: Schema = schema(), chunkBytes?: number): IcebergError {
  try {
    decode(bytes, target, { format, ...(chunkBytes !== undefined && { chunkBytes }) });
  } catch (error) {
    if (error instanceof IcebergError) return error;
    throw error;
  }
  throw new Error('The stream was accepted');
}

async function readBack(bytes: Uint8Array, target: Schema): Promise<Record<string, unknown>[]> {
  const { slices, rejected } = decode(bytes, target, { format, chunkBytes: 100 });
  expect(rejected).toEqual([]);
  const ipcs = slices.flatMap((slice) => slice.ipc ?? []);
  const written = encode(target, ipcs, { codec: 'snappy' });
  return await parquetReadObjects({ file: written.bytes.buffer });
}

describe('an Arrow stream', () => {
  it('is cast where nothing is lost, columns found by name', async () => {
    const bytes = stream({
      s: { type: new Dictionary(new Utf8(), new Int32()), values: ['x', 'y', null, 'x'] },
      ID: { type: new Int16(), values: [1, -2, 3, null] },
      big: { type: new Uint64(), values: [1n, 2n ** 63n - 1n, 0n, null] },
      r: { type: new Float32(), values: [0.5, NaN, -0, null] },
      b: { type: new Bool(), values: [true, false, null, true] },
      t: { type: new TimestampMillisecond('UTC'), values: [0, 1, null, -1] },
      nothing: { type: new Null(), values: [null, null, null, null] },
    });
    const target = schema(
      field(1, 'id', 'long'),
      field(2, 's', 'string'),
      field(3, 'big', 'long'),
      field(4, 'r', 'double'),
      field(5, 'b', 'boolean'),
      field(6, 't', 'timestamptz'),
    );
    const rows = await readBack(bytes, target);
    expect(rows.map((row) => [row['id'], row['s'], row['big'], row['b']])).toEqual([
      [1n, 'x', 1n, true],
      [-2n, 'y', 2n ** 63n - 1n, false],
      [3n, null, 0n, null],
      [null, 'x', null, true],
    ]);
    expect(rows.map((row) => row['r'])).toEqual([0.5, NaN, -0, null]);
    expect(rows.map((row) => (row['t'] as Date | null)?.getTime())).toEqual([0, 1, undefined, -1]);
  });

  it('says the types of columns the schema lacks', () => {
    const bytes = stream({
      i: { type: new Int32(), values: [1] },
      l: { type: new Int64(), values: [1n] },
      u: { type: new Uint64(), values: [1n] },
      f: { type: new Float32(), values: [1] },
      d: { type: new Float64(), values: [1] },
      t: { type: new TimestampMicrosecond(), values: [1] },
      z: { type: new TimestampMicrosecond('UTC'), values: [1] },
      day: { type: new Date_(DateUnit.DAY), values: [new Date(0)] },
      list: { type: new List(new Field('item', new Utf8(), true)), values: [['a']] },
      struct: { type: new Struct([new Field('x', new Bool(), true)]), values: [{ x: true }] },
      fixed: { type: new FixedSizeBinary(3), values: [new Uint8Array(3)] },
      nothing: { type: new Null(), values: [null] },
    });
    const { slices } = decode(bytes, schema(), { format });
    const types = slices[0]?.unknown?.fields.map(({ name, type }) => [name, type]);
    expect(types).toEqual([
      ['i', 'int'],
      ['l', 'long'],
      ['u', 'decimal(20,0)'],
      ['f', 'float'],
      ['d', 'double'],
      ['t', 'timestamp'],
      ['z', 'timestamptz'],
      ['day', 'date'],
      ['list', { type: 'list', element: 'string' }],
      ['struct', { type: 'struct', fields: [{ name: 'x', type: 'boolean' }] }],
      ['fixed', 'fixed[3]'],
    ]);
  });

  it('rejects single rows whose values do not fit', () => {
    const bytes = stream({
      id: { type: new Uint64(), values: [1n, 2n ** 63n, null] },
      t: { type: new TimestampNanosecond(), values: BigInt64Array.of(1000n, 1000n, 1001n) },
    });
    const target = schema(field(1, 'id', 'long'), field(2, 't', 'timestamp'));
    const { accepted, rejected } = decode(bytes, target, { format });
    expect(accepted).toBe(1);
    expect(rejected.map(({ row, column, code, raw }) => [row, column, code, raw])).toEqual([
      [1, 'id', 'value.out-of-range', '{"id":"9223372036854775808","t":1000}'],
      [2, 't', 'value.inexact', '{"id":null,"t":1001}'],
    ]);
    const required = schema(field(1, 'id', 'long', true), field(3, 'x', 'long'));
    expect(
      decode(bytes, required, { format }).rejected.map(({ row, code }) => [row, code]),
    ).toEqual([
      [1, 'value.out-of-range'],
      [2, 'value.required'],
    ]);
  });

  it('keeps columns together when some are taken whole and some are judged by value', () => {
    const target = schema(
      field(1, 'word', 'string', true),
      field(2, 'small', 'int'),
      field(3, 'at', 'timestamptz'),
      field(4, 'missing', 'double'),
      field(5, 'plain', 'long'),
    );
    const words = ['a', 'b', null, 'a', 'c'];
    const bytes = stream({
      word: { type: new Dictionary(new Utf8(), new Int32()), values: words },
      small: { type: new Int64(), values: [1n, 2n, 3n, 2n ** 40n, 5n] },
      at: {
        type: new TimestampMicrosecond('Europe/Warsaw'),
        values: new BigInt64Array([1n, 2n, 3n, 4n, 5n]),
      },
      plain: { type: new Int64(), values: [10n, 20n, 30n, 40n, null] },
    });
    const { slices, rejected } = decode(bytes, target, { format });
    expect(rejected.map(({ row, column, code }) => [row, column, code])).toEqual([
      [2, 'word', 'value.required'],
      [3, 'small', 'value.out-of-range'],
    ]);
    const rows = tableFromIPC(slices[0]?.ipc ?? new Uint8Array()).toArray();
    const seen = rows.map((row: Record<string, unknown>) => [
      row['word'],
      row['small'],
      row['missing'],
      row['plain'],
    ]);
    expect(seen).toEqual([
      ['a', 1, null, 10n],
      ['b', 2, null, 20n],
      ['c', 5, null, null],
    ]);
  });

  it('is refused as a whole when a column has another type', () => {
    const bytes = stream({
      s: { type: new Struct([new Field('x', new Utf8(), true)]), values: [{ x: 'a' }] },
    });
    const target = schema(field(1, 's', { type: 'struct', fields: [field(2, 'x', 'long')] }));
    expect(failure(bytes, target)).toMatchObject({
      kind: 'invalid',
      code: 'arrow.type-mismatch',
      context: { column: 's.x', expected: 'long', found: 'Utf8' },
    });
    const zoned = stream({ t: { type: new TimestampMicrosecond('UTC'), values: [1] } });
    expect(failure(zoned, schema(field(1, 't', 'timestamp'))).code).toBe('arrow.type-mismatch');
  });

  it('without rows is a body without rows (C014)', () => {
    const target = schema(field(1, 'id', 'long'));
    const empty = tableToIPC(
      new Table(new ArrowSchema([new Field('id', new Int64(), true)])),
      'stream',
    );
    expect(decode(empty, target, { format })).toMatchObject({ received: 0, slices: [] });
    const arrow = new ArrowSchema([new Field('id', new Int64(), true)]);
    const zero = new RecordBatch(
      arrow,
      makeData({
        type: new Struct(arrow.fields),
        length: 0,
        nullCount: 0,
        children: [
          makeData({ type: new Int64(), length: 0, nullCount: 0, data: new BigInt64Array(0) }),
        ],
      }),
    );
    const writer = new RecordBatchStreamWriter();
    writer.write(zero);
    writer.finish();
    expect(decode(writer.toUint8Array(true), target, { format })).toMatchObject({
      received: 0,
      slices: [],
    });
    expect(decode(new Uint8Array(0), target, { format })).toMatchObject({ received: 0 });
  });

  it('counts rows over its batches', () => {
    const part = (values: bigint[]) => stream({ id: { type: new Uint64(), values } });
    expect(
      decode(part([1n, 2n ** 64n - 1n]), schema(field(1, 'id', 'long')), { format }).rejected,
    ).toMatchObject([{ row: 1 }]);
    const table = (values: bigint[]) => new Table({ id: vectorFromArray(values, new Uint64()) });
    const batches = tableToIPC(table([1n, 2n]).concat(table([3n, 2n ** 63n])), 'stream');
    const result = decode(batches, schema(field(1, 'id', 'long')), {
      format,
      limits: { sliceBytes: 1 },
      chunkBytes: 16,
    });
    expect(result).toMatchObject({ received: 4, accepted: 3 });
    expect(result.rejected).toMatchObject([{ row: 3 }]);
    expect(result.slices).toHaveLength(2);
  });

  it('that is cut, damaged or foreign is refused and never read beyond its end', () => {
    const bytes = tableToIPC(
      tableFromArrays({
        id: Int32Array.from({ length: 100 }, (_, n) => n),
        s: Array.from({ length: 100 }, (_, n) => `text ${n}`),
      }),
      'stream',
    );
    expect(failure(bytes.subarray(0, bytes.length - 300)).code).toBe('arrow.truncated');
    expect(failure(Buffer.from('{"a":1}\n{"a":2}\n{"a":3}')).kind).toBe('invalid');
    expect(failure(Buffer.concat([bytes, Buffer.from('more')])).code).toBe('arrow.malformed');
    let seed = 7;
    for (let round = 0; round < 300; round += 1) {
      const damaged = Uint8Array.from(bytes);
      for (let change = 0; change < 3; change += 1) {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        damaged[seed % damaged.length] = seed >>> 16;
      }
      try {
        decode(damaged, schema(field(1, 'id', 'int'), field(2, 's', 'string')), { format });
      } catch (error) {
        expect(error).toBeInstanceOf(IcebergError);
        expect((error as IcebergError).code).toMatch(/^(arrow|schema|column)\./);
      }
    }
  });

  it('with a message of boundless size is refused before memory is', () => {
    const kernel = newKernel();
    const decoder = kernel.createBodyDecoder(format, LIMITS);
    const rows = 600_000;
    const bytes = tableToIPC(
      tableFromArrays({
        a: new Float64Array(rows),
        b: new Float64Array(rows),
        c: new Float64Array(rows),
        d: new Float64Array(rows),
      }),
      'stream',
    );
    expect(bytes.length).toBeGreaterThan(16 << 20);
    expect(() => {
      decoder.push(bytes);
    }).toThrow(/larger than/);
    expect(kernel.memoryBytes).toBeLessThan(64 << 20);
  });
});

/** CSV with a header, by the types of the schema or those the values show. */

import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';

import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';
import type { DecodeOptions } from './kernel-fixture.ts';
import { decode, field, schema } from './kernel-fixture.ts';

const csv = { format: 'csv' } as const;
const target = schema(
  field(1, 'id', 'long'),
  field(2, 'name', 'string'),
  field(3, 'price', 'decimal(9,2)'),
  field(4, 'at', 'timestamptz'),
  field(5, 'ok', 'boolean'),
);

function rows(body: string, of: Schema = target, options: DecodeOptions = {}): unknown[] {
  const { slices, rejected } = decode(body, of, { ...csv, ...options });
  expect(rejected).toEqual([]);
  return slices.flatMap(({ ipc }) =>
    ipc === null
      ? []
      : tableFromIPC(ipc)
          .toArray()
          .map((row: Record<string, unknown>) => [row['id'], row['name'], row['ok']]),
  );
}

function failure(body: string | Uint8Array): unknown[] {
  try {
    decode(body, target, csv);
  } catch (error) {
    if (error instanceof IcebergError) return [error.code, error.context['line']];
    throw error;
  }
  throw new Error('The body was accepted');
}

describe('CSV', () => {
  const body =
    '\ufeffname,ID,ok\r\n"Doe, ""J""\nż",1,TRUE\r\n,9007199254740993,false\r\n\r\n"",3,\n12,-4,true';

  it('is read by its header, quotes, and nulls, however it is cut', () => {
    const expected = [
      [1n, 'Doe, "J"\nż', true],
      [9007199254740993n, null, false],
      [3n, '', null],
      [-4n, '12', true],
    ];
    expect(rows(body)).toEqual(expected);
    for (let chunkBytes = 1; chunkBytes < 20; chunkBytes += 1) {
      expect(rows(body, target, { chunkBytes, limits: { sliceBytes: 10 } })).toEqual(expected);
    }
  });

  it('rejects single rows by name, with their line', () => {
    const text =
      'id,price,at,ok\n1,1.50,2026-01-01T00:00:00Z,true\nx,1,,\n2,1.005,,\n3,1,yesterday,\n4,1,,maybe\n5,1\n6,"2",,\n';
    const { accepted, rejected } = decode(text, target, csv);
    expect(accepted).toBe(2);
    expect(rejected.map(({ row, column, code }) => [row, column, code])).toEqual([
      [1, 'id', 'value.type-mismatch'],
      [2, 'price', 'value.inexact'],
      [3, 'at', 'value.type-mismatch'],
      [4, 'ok', 'value.type-mismatch'],
      [5, '', 'csv.field-count'],
    ]);
    expect(rejected[0]).toMatchObject({
      raw: 'x,1,,',
      message: expect.stringMatching(/^line 3: /),
    });
    expect(decode('id\n1\n\n2\nx', target, { ...csv, chunkBytes: 2 }).rejected).toMatchObject([
      { row: 2, message: expect.stringMatching(/^line 5: /) as unknown },
    ]);
  });

  it('shows the types of new columns: what all values of a slice are', () => {
    const text =
      'n,d,b,s,zip,mixed,empty,big\n1,1,true,x,007,1,,1\n2,2.5,false,2,123,true,,9223372036854775808\n';
    const { slices } = decode(text, schema(), csv);
    expect(slices[0]?.unknown?.fields).toEqual([
      { name: 'n', type: 'long' },
      { name: 'd', type: 'double' },
      { name: 'b', type: 'boolean' },
      { name: 's', type: 'string' },
      { name: 'zip', type: 'string' },
      { name: 'mixed', type: 'string' },
      { name: 'big', type: 'double' },
    ]);
  });

  it.each([
    ['a,b\n1,"x\n', ['csv.truncated', 2]],
    ['a,b\n1,x"y"\n', ['csv.malformed', 2]],
    ['a,b\n1,2\n\n"x"y,1\n', ['csv.malformed', 4]],
    ['a,A\n1,2\n', ['csv.duplicate-column', 1]],
    ['a,,c\n1,2,3\n', ['column.invalid-name', 1]],
    ['\n_row_id\n1\n', ['column.reserved-name', 2]],
  ])('%j is refused', (text, expected) => {
    expect(failure(text)).toEqual(expected);
  });

  it('is refused when it is not UTF-8, or a row is endless', () => {
    expect(failure(Buffer.from([0x61, 0x0a, 0x31, 0x0a, 0xff, 0x0a]))).toEqual([
      'csv.invalid-utf8',
      3,
    ]);
    expect(failure(`id\n"${'x'.repeat(2 << 20)}`)[0]).toBe('row.too-large');
  });

  it.each(['', 'id,name\n', '\n\n'])('has no rows in %j', (text) => {
    expect(decode(text, target, csv).received).toBe(0);
  });
});

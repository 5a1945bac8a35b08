/** What each column type takes from JSON, what it refuses, and that nothing changes on the way. */

import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import { isIcebergError } from '../../../src/iceberg/errors.ts';
import { decode, field, ndjson, schema, write } from './kernel-fixture.ts';

async function readBack(type: string, ...values: string[]): Promise<unknown[]> {
  const target = schema(field(1, 'v', type));
  const body = values.map((value) => `{"v":${value}}`).join('\n');
  const { bytes } = write(body, target, { codec: 'snappy' });
  return (await parquetReadObjects({ file: bytes.buffer })).map((row) => row['v']);
}

function rejection(type: string, value: string): string | undefined {
  const { rejected, accepted } = decode(`{"v":${value}}\n{"v":null}`, schema(field(1, 'v', type)));
  expect(accepted).toBe(2 - rejected.length);
  for (const row of rejected) {
    expect(row).toMatchObject({ row: 0, column: 'v', raw: `{"v":${value}}` });
  }
  return rejected[0]?.code;
}

describe('exact numbers', () => {
  it('keeps 64-bit integers (C001)', async () => {
    const values = ['9007199254740993', '-9223372036854775808', '9223372036854775807', '0'];
    expect(await readBack('long', ...values)).toEqual(values.map(BigInt));
    expect(rejection('long', '9223372036854775808')).toBe('value.out-of-range');
    expect(rejection('long', '-9223372036854775809')).toBe('value.out-of-range');
    expect(rejection('int', '2147483648')).toBe('value.out-of-range');
  });

  it('takes whole numbers however they are written, and no fractions, into a long (C002, C004)', async () => {
    expect(await readBack('long', '1.0', '1e3', '-0', '12.50e1')).toEqual([1n, 1000n, 0n, 125n]);
    expect(await readBack('int', '1.0', '-2147483648')).toEqual([1, -2147483648]);
    expect(rejection('long', '3.5')).toBe('value.type-mismatch');
    expect(rejection('long', '1.00000000000000000000001')).toBe('value.type-mismatch');
    expect(rejection('int', '0.5')).toBe('value.type-mismatch');
  });

  it('refuses what a double cannot hold, and keeps the sign of zero (C003, C004)', async () => {
    const [zero, ...rest] = await readBack(
      'double',
      '-0.0',
      '2.25',
      '9007199254740992',
      '1e22',
      '3',
    );
    expect(Object.is(zero, -0)).toBe(true);
    expect(rest).toEqual([2.25, 9007199254740992, 1e22, 3]);
    expect(rejection('double', '1e400')).toBe('value.out-of-range');
    expect(rejection('double', '-1e400')).toBe('value.out-of-range');
    expect(rejection('double', '9007199254740993')).toBe('value.inexact');
    expect(rejection('double', '123456789012345678901234567890')).toBe('value.inexact');
    expect(rejection('float', '1e39')).toBe('value.out-of-range');
    expect(await readBack('float', '0.1', '16777216')).toEqual([Math.fround(0.1), 16777216]);
  });

  it('takes decimals digit by digit, from numbers and from text', async () => {
    const target = schema(field(1, 'd', 'decimal(38,2)'));
    const body = '{"d":"123456789012345678901234567890123456.78"}\n{"d":-0.01}\n{"d":1e2}';
    const { file } = write(body, target);
    expect(Buffer.from(file.lowerBounds.get(1) ?? []).toString('hex')).toBe('ff');
    expect(Buffer.from(file.upperBounds.get(1) ?? []).toString('hex')).toBe(
      12345678901234567890123456789012345678n.toString(16).padStart(32, '0'),
    );
    expect(rejection('decimal(6,2)', '0.005')).toBe('value.inexact');
    expect(rejection('decimal(6,2)', '10000')).toBe('value.out-of-range');
    expect(rejection('decimal(6,2)', '"NaN"')).toBe('value.type-mismatch');
    expect(rejection('decimal(6,2)', 'true')).toBe('value.type-mismatch');
  });
});

describe('no conversions (C005)', () => {
  it.each([
    ['long', '"12"'],
    ['long', '"12abc"'],
    ['long', '""'],
    ['long', 'true'],
    ['boolean', '"yes"'],
    ['boolean', '0'],
    ['double', '"1.5"'],
    ['double', '"NaN"'],
    ['string', '1'],
    ['string', 'true'],
    ['string', '{"a":1}'],
    ['string', '["a"]'],
    ['long', '[1]'],
    ['long', '{}'],
  ])('%s refuses %s', (type, value) => {
    expect(rejection(type, value)).toBe('value.type-mismatch');
  });
});

describe('time, identifiers and bytes', () => {
  it('takes timestamps to the microsecond and cuts finer digits', async () => {
    const target = schema(field(1, 'v', 'timestamptz'));
    const { file } = write(
      ndjson({ v: '1969-12-31T23:59:59.9999999Z' }, { v: '2017-11-16T14:31:08.123456-08:00' }),
      target,
    );
    const bound = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).readBigInt64LE();
    expect(bound(file.lowerBounds.get(1))).toBe(-1n);
    expect(bound(file.upperBounds.get(1))).toBe(1510871468123456n);
  });

  it.each([
    ['timestamptz', '"2017-11-16T22:31:08"'],
    ['timestamptz', '"2017-02-30T22:31:08Z"'],
    ['timestamptz', '1510871468'],
    ['timestamptz', '"unknown"'],
    ['timestamp', '"2017-11-16T22:31:08Z"'],
    ['date', '"2023-02-29"'],
    ['date', '"2023-02-28T00:00:00Z"'],
    ['time', '"24:00:00"'],
    ['uuid', '"f79c3e09677c4bbda4793f349cb785e7"'],
    ['binary', '"a!"'],
    ['fixed[2]', '"AAAA"'],
  ])('%s refuses %s', (type, value) => {
    expect(rejection(type, value)).toBe('value.type-mismatch');
  });

  it('takes dates, times, uuids and base64', async () => {
    const target = schema(
      field(1, 'd', 'date'),
      field(2, 't', 'time'),
      field(3, 'u', 'uuid'),
      field(4, 'b', 'binary'),
      field(5, 'f', 'fixed[2]'),
    );
    const { file } = write(
      ndjson({
        d: '2017-11-16',
        t: '22:31:08.000001',
        u: 'f79c3e09-677c-4bbd-a479-3f349cb785e7',
        b: 'AP8=',
        f: 'AQI',
      }),
      target,
    );
    const bounds = [...file.lowerBounds].map(([, bytes]) => Buffer.from(bytes).toString('hex'));
    expect(bounds).toEqual([
      '4e440000',
      '018307e012000000',
      'f79c3e09677c4bbda4793f349cb785e7',
      '00ff',
      '0102',
    ]);
    expect(file.upperBounds).toEqual(file.lowerBounds);
  });
});

describe('rows', () => {
  const target = schema(
    field(1, 'id', 'long', true),
    field(2, 'tags', {
      type: 'list',
      elementId: 3,
      element: { type: 'string' },
      elementRequired: false,
    }),
    field(4, 's', {
      type: 'struct',
      fields: [field(5, 'a.b', 'long'), field(6, 'r', 'int', true)],
    }),
  );

  it('loses a bad row and nothing else, whatever part of it came first', async () => {
    const good = { id: 1, tags: ['a', null], s: { 'a.b': 1, r: 2 } };
    const { accepted, rejected, slices } = decode(
      ndjson(
        good,
        { id: 2, tags: ['a', 'b', 3] },
        { id: 3, tags: ['x'], s: { 'a.b': 'no', r: 1 } },
        { id: 4, s: { 'a.b': 1 } },
        { tags: [] },
        { id: null },
        '{"id":5,"id":6}',
        '{"id":5,"ID":6}',
        '[1]',
        '17',
        good,
      ),
      target,
    );
    expect(accepted).toBe(2);
    expect(rejected.map(({ row, column, code }) => [row, column, code])).toEqual([
      [1, 'tags.element', 'value.type-mismatch'],
      [2, 's."a.b"', 'value.type-mismatch'],
      [3, 's.r', 'value.required'],
      [4, 'id', 'value.required'],
      [5, 'id', 'value.required'],
      [6, 'id', 'value.duplicate-key'],
      [7, 'id', 'value.duplicate-key'],
      [8, '', 'json.not-an-object'],
      [9, '', 'json.not-an-object'],
    ]);
    expect(slices).toHaveLength(1);
  });

  it('keeps [], [null] and null apart in a list column (C009)', async () => {
    const { bytes } = write(
      ndjson(
        { id: 1, tags: [] },
        { id: 2, tags: [null] },
        { id: 3, tags: null },
        { id: 4, tags: ['x'] },
      ),
      target,
      { codec: 'snappy' },
    );
    const rows = await parquetReadObjects({ file: bytes.buffer, columns: ['tags'] });
    expect(rows.map((row) => row['tags'])).toEqual([[], [null], null, ['x']]);
  });

  it('takes maps, and refuses a key that is there twice', () => {
    const maps = schema(
      field(1, 'm', {
        type: 'map',
        keyId: 2,
        key: { type: 'string' },
        valueId: 3,
        value: { type: 'long' },
        valueRequired: false,
      }),
    );
    const { rejected, accepted } = decode(
      '{"m":{"a":1,"b":null}}\n{"m":{}}\n{"m":{"a":1,"a":2}}',
      maps,
    );
    expect(accepted).toBe(2);
    expect(rejected).toMatchObject([{ row: 2, column: 'm.a', code: 'value.duplicate-key' }]);
  });

  it('finds columns under another case of their name, and keeps names like __proto__ (C155)', async () => {
    const names = schema(
      field(1, 'Id', 'long'),
      field(2, '__proto__', 'long'),
      field(3, 'constructor', 'string'),
    );
    const { bytes } = write('{"id":1,"__proto__":2,"constructor":"x"}', names, { codec: 'snappy' });
    const columns = await parquetReadObjects({
      file: bytes.buffer,
      columns: ['Id', 'constructor'],
    });
    expect(columns).toEqual([{ Id: 1n, constructor: 'x' }]);
  });

  it('refuses half of a surrogate pair, which no UTF-8 text can hold', () => {
    const { rejected, accepted } = decode(
      '{"v":"\\ud800"}\n{"v":"\\ud83e\\udd8a"}',
      schema(field(1, 'v', 'string')),
    );
    expect(accepted).toBe(1);
    expect(rejected).toMatchObject([{ row: 0, column: 'v', code: 'value.invalid-unicode' }]);
  });

  it('cuts what it shows of a long row between characters', () => {
    const { rejected } = decode(
      `{"v":1,"s":"${'ż'.repeat(100)}"}`,
      schema(field(1, 'v', 'string')),
      {
        limits: { rawBytesMax: 12 },
      },
    );
    expect(rejected[0]?.raw).toBe('{"v":1,"s":"');
  });

  it('refuses a column type it cannot write', () => {
    const open = () => decode('{"v":1}', schema(field(1, 'v', 'variant')));
    expect(open).toThrow(/variant/);
    try {
      open();
    } catch (error) {
      expect(isIcebergError(error, 'unsupported')).toBe(true);
    }
  });
});

/** What becomes of columns a table does not have: by its properties, and by request. */

import {
  Float64,
  Int32,
  Int64,
  RecordBatchStreamWriter,
  Table,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import type { QuarantineBody } from '../../src/api/tables.ts';
import { call, columnsOf, flushed, ingest, refused, table } from './http-harness.ts';

type Columns = readonly (readonly [name: string, type: unknown])[];

async function declare(
  name: string,
  columns: Columns,
  properties: Readonly<Record<string, string>> = {},
): Promise<number> {
  const fields = columns.map(([column, type], id) => ({ id, name: column, required: false, type }));
  const { status } = await call(`/tables/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ schema: { type: 'struct', fields }, properties }),
  });
  return status;
}

const ARROW = { headers: { 'content-type': 'application/vnd.apache.arrow.stream' } };

async function arrowStream(rows: Table): Promise<Uint8Array> {
  return await RecordBatchStreamWriter.writeAll(rows).toUint8Array();
}

const STRICT = { 'schema-policy': 'strict' };
const nested = (id: number, fields: readonly object[]): object => ({
  type: 'list',
  'element-id': id,
  'element-required': false,
  element: { type: 'struct', fields },
});

describe('strict', () => {
  it('sets rows with unknown columns aside by name, and keeps the others', async () => {
    await declare('policy/strict', [['id', 'long']], STRICT);
    const rows = [
      '{"id":1}',
      '{"id":2,"new":"x"}',
      '{"id":3,"new":null}',
      '{"id":4,"new":{"a":1}}',
    ];
    const { body } = await ingest('policy/strict', rows.join('\n'));
    expect(body.rows).toEqual({ received: 4, accepted: 2, quarantined: 2 });
    expect(body.errors.map(({ row, column, code }) => [row, column, code])).toEqual([
      [1, 'new', 'column.unknown'],
      [3, 'new', 'column.unknown'],
    ]);
    expect(await columnsOf('policy/strict')).toEqual(['id']);
    const page = (await call<QuarantineBody>('/tables/policy/strict/quarantine')).body;
    expect(page.rows.map(({ raw }) => raw)).toEqual([rows[1], rows[3]]);
    expect((await flushed('policy/strict')).rows).toBe(2);
  });

  it('finds unknown columns at any depth, names with dots, and names in another case', async () => {
    await declare(
      'policy/deep',
      [
        ['Items', nested(90, [{ id: 91, name: 'sku', required: false, type: 'string' }])],
        ['a', { type: 'struct', fields: [{ id: 92, name: 'b', required: false, type: 'long' }] }],
      ],
      STRICT,
    );
    const rows = [
      '{"items":[{"SKU":"a"},{"sku":"b"}],"A":{"B":1}}',
      '{"items":[{"sku":"a"},{"sku":"b","qty":1}]}',
      '{"a":{"b":1,"c":{"d":1}}}',
      '{"a.b":1}',
      '{"a":{"b":2},"x":1,"X":2}',
    ];
    const { body } = await ingest('policy/deep', rows.join('\n'));
    expect(body.rows).toEqual({ received: 5, accepted: 1, quarantined: 4 });
    expect(body.errors.slice(0, 3).map(({ column, code }) => [column, code])).toEqual([
      ['Items.element.qty', 'column.unknown'],
      ['a.c', 'column.unknown'],
      ['"a.b"', 'column.unknown'],
    ]);
    expect((await flushed('policy/deep')).rows).toBe(1);
  });

  it('says of a wrong value in a known column what it would say otherwise', async () => {
    await declare('policy/both', [['id', 'long']], STRICT);
    const { body } = await ingest('policy/both', '{"id":"x"}\n{"new":1}');
    expect(body.errors.map(({ code }) => code)).toEqual(['value.type-mismatch', 'column.unknown']);
  });

  it('refuses the request with on-error=reject, and makes no table of rows', async () => {
    await declare('policy/reject', [['id', 'long']], STRICT);
    const { status, error } = await refused('policy/reject', '{"id":1}\n{"new":1}', {
      query: '?on-error=reject',
    });
    expect([status, error.code, error.context['reason']]).toEqual([
      422,
      'rows.rejected',
      'column.unknown',
    ]);
    const missing = await refused('policy/none', '{"id":1}', { query: '?schema-policy=strict' });
    expect([missing.status, missing.error.code]).toEqual([404, 'table.not-found']);
    expect(await table('policy/none')).toBeNull();
  });

  it('may be asked for by one request, or lifted by one', async () => {
    await ingest('policy/once', '{"id":1}');
    const strict = await ingest('policy/once', '{"new":1}', { query: '?schema-policy=strict' });
    expect(strict.body.rows).toEqual({ received: 1, accepted: 0, quarantined: 1 });
    expect(await columnsOf('policy/once')).toEqual(['id']);
    await declare('policy/lifted', [['id', 'long']], STRICT);
    const lifted = await ingest('policy/lifted', '{"new":1}', { query: '?schema-policy=add' });
    expect(lifted.body.rows.accepted).toBe(1);
    expect(await columnsOf('policy/lifted')).toEqual(['id', 'new']);
  });

  it('refuses an Arrow body whole, whose columns are those of every row', async () => {
    await declare('policy/arrow', [['id', 'long']], STRICT);
    const rows = new Table({
      id: vectorFromArray([1n, 2n], new Int64()),
      more: vectorFromArray([null, 5], new Int32()),
    });
    const { status, error } = await refused('policy/arrow', await arrowStream(rows), ARROW);
    expect([status, error.code, error.context['columns']]).toEqual([
      400,
      'schema.unknown-columns',
      'more',
    ]);
    expect(await columnsOf('policy/arrow')).toEqual(['id']);
    const known = await ingest('policy/arrow', await arrowStream(rows.select(['id'])), ARROW);
    expect(known.body.rows.accepted).toBe(2);
  });
});

describe('widen', () => {
  const WIDEN = { 'schema-policy': 'widen' };

  it('promotes a column that a value does not fit, and only that one', async () => {
    await declare(
      'policy/widen',
      [
        ['n', 'int'],
        ['m', 'int'],
        ['f', 'float'],
        ['deep', { type: 'struct', fields: [{ id: 90, name: 'n', required: false, type: 'int' }] }],
      ],
      WIDEN,
    );
    const rows =
      '{"n":1,"m":1,"f":1.5}\n{"n":9007199254740993,"m":2}\n{"deep":{"n":3000000000},"more":1}';
    const { body } = await ingest('policy/widen', rows);
    expect(body).toMatchObject({ rows: { received: 3, accepted: 3, quarantined: 0 }, errors: [] });
    expect((await table('policy/widen'))?.schema.fields).toMatchObject([
      { name: 'n', type: 'long' },
      { name: 'm', type: 'int' },
      { name: 'f', type: 'float' },
      { name: 'deep', type: { fields: [{ type: 'long' }] } },
      { name: 'more', type: 'long' },
    ]);
    expect((await flushed('policy/widen')).rows).toBe(3);
  });

  it('promotes by the type of an Arrow column', async () => {
    await declare(
      'policy/widen-arrow',
      [
        ['f', 'float'],
        ['n', 'int'],
        ['s', 'string'],
      ],
      WIDEN,
    );
    const rows = new Table({
      f: vectorFromArray([0.1], new Float64()),
      n: vectorFromArray([3_000_000_000n], new Int64()),
    });
    const plain = await refused('policy/widen-arrow', await arrowStream(rows), {
      ...ARROW,
      query: '?schema-policy=add',
    });
    expect(plain.error.code).toBe('arrow.type-mismatch');
    const wrong = new Table({
      f: vectorFromArray([0.1], new Float64()),
      s: vectorFromArray([1n], new Int64()),
    });
    const both = await refused('policy/widen-arrow', await arrowStream(wrong), ARROW);
    expect(both.error.code).toBe('arrow.type-mismatch');
    expect((await table('policy/widen-arrow'))?.schema.fields).toMatchObject([
      { type: 'float' },
      {},
      {},
    ]);
    expect(
      (await ingest('policy/widen-arrow', await arrowStream(rows), ARROW)).body.rows.accepted,
    ).toBe(1);
    expect((await table('policy/widen-arrow'))?.schema.fields).toMatchObject([
      { name: 'f', type: 'double' },
      { name: 'n', type: 'long' },
      { name: 's', type: 'string' },
    ]);
  });

  it('takes rows that wait under the narrower type along', async () => {
    await declare('policy/waiting', [['n', 'int']], WIDEN);
    await ingest('policy/waiting', '{"n":7}');
    await ingest('policy/waiting', '{"n":3000000000}');
    expect((await flushed('policy/waiting')).rows).toBe(2);
  });

  it('gives a column its type that was declared as unknown, which nothing else does', async () => {
    await declare(
      'policy/untyped',
      [
        ['id', 'long'],
        ['u', 'unknown'],
      ],
      { 'format-version': '3' },
    );
    const added = await refused('policy/untyped', '{"id":1,"u":2}');
    expect([added.status, added.error.code]).toEqual([400, 'schema.untyped-column']);
    expect((await ingest('policy/untyped', '{"id":1,"u":null}')).body.rows.accepted).toBe(1);
    const widened = await ingest('policy/untyped', '{"id":1,"u":2}', {
      query: '?schema-policy=widen',
    });
    expect(widened.body.rows.accepted).toBe(1);
    expect((await table('policy/untyped'))?.schema.fields).toMatchObject([
      { name: 'id' },
      { name: 'u', type: 'long' },
    ]);
    expect((await flushed('policy/untyped')).rows).toBe(2);
  });

  it('leaves aside what no promotion makes fit, and does not touch the schema for it', async () => {
    await declare(
      'policy/no-promotion',
      [
        ['n', 'int'],
        ['l', 'long'],
      ],
      WIDEN,
    );
    const before = (await call('/tables/policy/no-promotion/schema')).text;
    const { body } = await ingest(
      'policy/no-promotion',
      '{"n":"text"}\n{"l":1.5}\n{"n":1.5}\n{"n":1}',
    );
    expect(body.rows).toEqual({ received: 4, accepted: 1, quarantined: 3 });
    expect((await call('/tables/policy/no-promotion/schema')).text).toBe(before);
  });

  it('does nothing for a request that is refused, or under another policy', async () => {
    await declare('policy/kept', [['n', 'int']], WIDEN);
    const row = '{"n":3000000000}';
    const { error } = await refused('policy/kept', `${row}\n{"n":"x"}`, {
      query: '?on-error=reject',
    });
    expect(error.code).toBe('rows.rejected');
    const added = await ingest('policy/kept', row, { query: '?schema-policy=add' });
    expect(added.body.rows.quarantined).toBe(1);
    expect((await table('policy/kept'))?.schema.fields).toMatchObject([{ type: 'int' }]);
    const whole = await ingest('policy/kept', row, { query: '?on-error=reject' });
    expect(whole.body.rows.accepted).toBe(1);
    expect((await table('policy/kept'))?.schema.fields).toMatchObject([{ type: 'long' }]);
  });
});

describe('caps on columns', () => {
  const wide = (prefix: string, count: number): string =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n])),
    );

  it('bound what one request may bring, nested ones included, and leave the table alone', async () => {
    await declare('policy/cap', [['id', 'long']], { 'schema-new-columns-max': '3' });
    const { status, error } = await refused('policy/cap', '{"a":{"b":1,"c":2},"d":[1]}');
    expect([status, error.code]).toEqual([400, 'schema.too-many-new-columns']);
    expect(error.context).toMatchObject({ limit: 3, count: 5 });
    expect(await columnsOf('policy/cap')).toEqual(['id']);
    expect((await ingest('policy/cap', '{"a":{"b":1,"c":2}}')).status).toBe(200);
    expect((await ingest('policy/cap', '{"a":{"d":1}}')).status).toBe(200);
  });

  it('bound the table', async () => {
    await declare('policy/table-cap', [['id', 'long']], { 'schema-columns-max': '5' });
    expect((await ingest('policy/table-cap', wide('a', 4))).status).toBe(200);
    const { status, error } = await refused('policy/table-cap', wide('b', 1));
    expect([status, error.code]).toEqual([400, 'schema.too-many-columns']);
    expect(
      await declare(
        'policy/too-wide',
        [
          ['a', 'int'],
          ['b', 'int'],
        ],
        { 'schema-columns-max': '1' },
      ),
    ).toBe(400);
  });

  it('are 1000 where nothing is said', async () => {
    const { error } = await refused('policy/default-cap', wide('c', 1001));
    expect(error.code).toBe('schema.too-many-columns');
  });
});

describe('a policy nobody serves', () => {
  it('is refused, in a declaration and in a request', async () => {
    expect(await declare('policy/rescue', [['id', 'long']], { 'schema-policy': 'rescue' })).toBe(
      501,
    );
    const { status, error } = await refused('policy/rescue', '{"id":1}', {
      query: '?schema-policy=rescue',
    });
    expect([status, error.code]).toEqual([501, 'schema.rescue-not-yet']);
    expect(await declare('policy/odd', [['id', 'long']], { 'schema-policy': 'loose' })).toBe(400);
    const odd = await refused('policy/odd', '{"id":1}', { query: '?schema-policy=loose' });
    expect([odd.status, odd.error.code]).toEqual([400, 'request.invalid-parameter']);
  });
});

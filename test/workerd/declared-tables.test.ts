/** Tables that are declared before their first row, over HTTP, by the id of the case where there is one. */

import { describe, expect, it } from 'vitest';
import type { ErrorResponseBody } from '../../src/api/ingest.ts';
import type { TableBody } from '../../src/api/tables.ts';
import type { Answer } from './http-harness.ts';
import { call, flushed, ingest, table } from './http-harness.ts';

type Column = readonly [name: string, type: unknown, required?: boolean];

const field = ([name, type, required = false]: Column, index: number): object => ({
  id: index + 100,
  name,
  required,
  type,
});

async function declare<Body = TableBody>(
  name: string,
  columns: readonly Column[],
  rest: object = {},
): Promise<Answer<Body>> {
  return await call<Body>(`/tables/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ schema: { type: 'struct', fields: columns.map(field) }, ...rest }),
  });
}

const errorOf = (text: string): ErrorResponseBody['error'] =>
  (JSON.parse(text) as ErrorResponseBody).error;

describe('PUT /tables/{namespace}/{table}', () => {
  it('creates the table as declared, with ids of its own', async () => {
    const { status, body } = await declare(
      'declared/orders',
      [
        ['id', 'long', true],
        ['price', 'decimal(10,2)'],
        ['tags', { type: 'list', 'element-id': 7, element: 'string', 'element-required': false }],
      ],
      {
        name: 'orders',
        properties: { owner: 'ann' },
        'partition-spec': { 'spec-id': 0, fields: [] },
        'write-order': {
          'order-id': 3,
          fields: [
            {
              transform: 'identity',
              'source-id': 100,
              direction: 'asc',
              'null-order': 'nulls-first',
            },
          ],
        },
      },
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'orders',
      formatVersion: 2,
      properties: { owner: 'ann' },
      schema: {
        fields: [
          { id: 1, name: 'id', required: true, type: 'long' },
          { id: 2, name: 'price', type: 'decimal(10,2)' },
          { id: 3, name: 'tags', type: { type: 'list', 'element-id': 4, element: 'string' } },
        ],
      },
      totals: { rows: '0' },
    });
    expect((await call('/tables/declared/orders')).body).toEqual(body);
  });

  it('answers 409 when the table is there, and leaves it as it is', async () => {
    await declare('declared/twice', [['a', 'long']]);
    const { status, text } = await declare('declared/twice', [['b', 'long']]);
    expect([status, errorOf(text).code]).toEqual([409, 'table.already-exists']);
    expect((await table('declared/twice'))?.schema.fields).toMatchObject([{ name: 'a' }]);
    await ingest('declared/by-rows', '{"n":1}');
    expect((await declare('declared/by-rows', [['n', 'int']])).status).toBe(409);
  });

  it('creates a table once when many ask at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => declare('declared/race', [['a', 'long']])),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 409, 409, 409, 409]);
  });

  it('refuses default values, which the rows would not get', async () => {
    const { status, text } = await call('/tables/declared/defaults', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        schema: {
          type: 'struct',
          fields: [{ id: 1, name: 'n', required: false, type: 'long', 'write-default': 7 }],
        },
        properties: { 'format-version': '3' },
      }),
    });
    expect([status, errorOf(text).code]).toEqual([501, 'schema.defaults-not-yet']);
  });

  it.each<[string, readonly Column[], object, number, string]>([
    [
      'a transform the column does not take',
      [['s', 'string']],
      {
        'partition-spec': {
          fields: [{ 'source-id': 100, 'field-id': 1000, name: 's_day', transform: 'day' }],
        },
      },
      400,
      'partition-spec.source-type',
    ],
    ['a staged creation', [['a', 'long']], { 'stage-create': true }, 501, 'table.stage-create'],
    ['another name', [['a', 'long']], { name: 'other' }, 400, 'table.name-mismatch'],
    [
      'another location',
      [['a', 'long']],
      { location: 's3://elsewhere/x' },
      400,
      'table.location-fixed',
    ],
    ['an unknown type', [['a', 'money']], {}, 400, 'type.unknown'],
    ['a type of version 3', [['a', 'timestamp_ns']], {}, 400, 'type.needs-version-3'],
    ['a reserved name', [['_file', 'string']], {}, 400, 'schema.reserved-name'],
    [
      'a property out of range',
      [['a', 'long']],
      { properties: { 'write.parquet.compression-codec': 'lzo' } },
      400,
      'property.invalid',
    ],
    [
      'properties that are no text',
      [['a', 'long']],
      { properties: { a: 1 } },
      400,
      'json.unexpected-type',
    ],
  ])('refuses %s by name', async (what, columns, rest, status, code) => {
    const name = `declared/refused-${what.replaceAll(' ', '-')}`;
    const answer = await declare(name, columns, rest);
    expect([answer.status, errorOf(answer.text).code]).toEqual([status, code]);
    expect(await table(name)).toBeNull();
  });

  it.each([
    ['text/plain', '{}', 415, 'body.unsupported-type'],
    ['application/json', '{"schema":', 400, 'json.malformed'],
    ['application/json', '{}', 400, 'json.missing-key'],
    ['application/json', `"${'x'.repeat(1_100_000)}"`, 413, 'body.too-large'],
  ])('refuses a body of %s that is no declaration', async (type, body, status, code) => {
    const answer = await call('/tables/declared/no-body', {
      method: 'PUT',
      headers: { 'content-type': type },
      body,
    });
    expect([answer.status, errorOf(answer.text).code]).toEqual([status, code]);
  });
});

describe('declared types', () => {
  it('drive how the rows are read', async () => {
    await declare('declared/types', [
      ['i', 'int'],
      ['f', 'float'],
      ['p', 'decimal(10,2)'],
      ['d', 'date'],
      ['t', 'time'],
      ['ts', 'timestamp'],
      ['tz', 'timestamptz'],
      ['u', 'uuid'],
      ['x', 'fixed[4]'],
      ['b', 'binary'],
      [
        'm',
        {
          type: 'map',
          'key-id': 200,
          key: 'string',
          'value-id': 201,
          value: 'long',
          'value-required': false,
        },
      ],
    ]);
    const row = {
      i: 7,
      f: 1.5,
      p: '5e1',
      d: '1969-12-31',
      t: '23:59:59.999999',
      ts: '2031-03-04T23:30:00',
      tz: '2031-03-04T23:30:00-05:00',
      u: '0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9',
      x: 'AP8A/w==',
      b: 'yv4=',
      m: { k: 1 },
    };
    const { body } = await ingest('declared/types', JSON.stringify(row));
    expect(body).toMatchObject({ rows: { accepted: 1, quarantined: 0 }, errors: [] });
    expect((await flushed('declared/types')).rows).toBe(1);
    const columns = (await table('declared/types'))?.schema.fields;
    expect(columns).toHaveLength(Object.keys(row).length);
  });

  it.each([
    ['C016', 'decimal(5,2)', ['"1.005"', '"999.999"', '"1000.00"'], '"-999.99"'],
    ['C021', 'date', ['"2031-02-30"', '"2031-3-4"'], '"0001-01-01"'],
    ['C022', 'uuid', ['"not-a-uuid"'], '"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"'],
    ['C002', 'int', ['2147483648', '1.5', '"12"'], '-2147483648'],
  ])('%s: a wrong %s is set aside by name, the right one kept', async (id, type, wrong, right) => {
    const name = `declared/${id.toLowerCase()}`;
    await declare(name, [['v', type]]);
    const rows = [...wrong, right].map((value) => `{"v":${value}}`).join('\n');
    const { body } = await ingest(name, rows);
    expect(body.rows).toEqual({
      received: wrong.length + 1,
      accepted: 1,
      quarantined: wrong.length,
    });
    for (const { column, code } of body.errors) {
      expect(column).toBe('v');
      expect(code).toMatch(/^value\./);
    }
    expect((await flushed(name)).rows).toBe(1);
  });

  it('C034: null, or nothing, in a required column is refused', async () => {
    await declare('declared/c034', [
      ['a', 'long'],
      ['b', 'string', true],
    ]);
    const { body } = await ingest('declared/c034', '{"a":1,"b":null}\n{"a":2}\n{"a":3,"b":"x"}');
    expect(body.rows).toEqual({ received: 3, accepted: 1, quarantined: 2 });
    expect(body.errors.map(({ column, code }) => [column, code])).toEqual([
      ['b', 'value.required'],
      ['b', 'value.required'],
    ]);
  });

  it('may be of format version 3, beside columns that are inferred', async () => {
    const declared = await declare('declared/v3', [['at', 'timestamptz_ns']], {
      properties: { 'format-version': '3' },
    });
    expect(declared.body).toMatchObject({ formatVersion: 3 });
    const { body } = await ingest(
      'declared/v3',
      '{"at":"1969-12-31T23:59:59.999999999Z","more":"text"}',
      { query: '?wait=committed' },
    );
    expect(body).toMatchObject({ status: 'committed', rows: { accepted: 1 } });
    expect((await table('declared/v3'))?.schema.fields).toMatchObject([
      { name: 'at', type: 'timestamptz_ns' },
      { name: 'more', type: 'string' },
    ]);
  });
});

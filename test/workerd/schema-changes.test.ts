/** `POST /tables/{namespace}/{table}/schema` over HTTP, with rows on their way meanwhile. */

import { env } from 'cloudflare:workers';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import type { ErrorResponseBody } from '../../src/api/ingest.ts';
import type { SchemaUpdateBody } from '../../src/api/tables.ts';
import type { Env } from '../../src/worker/config.ts';
import type { Answer } from './http-harness.ts';
import { call, columnsOf, flushed, ingest, refused, table } from './http-harness.ts';

const lake = (env as unknown as Env).LAKE;
const JSON_TYPE = { 'content-type': 'application/json' };

interface Column {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: unknown;
}

/** Snappy, which the reader below knows. */
async function declare(
  name: string,
  columns: readonly (readonly [string, string])[],
): Promise<void> {
  const fields = columns.map(([column, type], index) => ({
    id: index,
    name: column,
    required: index === 0,
    type,
  }));
  const answer = await call(`/tables/${name}`, {
    method: 'PUT',
    headers: JSON_TYPE,
    body: JSON.stringify({
      schema: { type: 'struct', fields },
      properties: { 'write.parquet.compression-codec': 'snappy' },
    }),
  });
  expect(answer.status).toBe(201);
}

async function change(
  name: string,
  changes: readonly object[],
  query = '',
): Promise<Answer<SchemaUpdateBody & ErrorResponseBody>> {
  return await call(`/tables/${name}/schema${query}`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ changes }),
  });
}

const fieldsOf = (body: SchemaUpdateBody): Column[] => (body.schema as { fields: Column[] }).fields;

/** The rows of every data file under the names they have there. */
async function storedRows(name: string): Promise<unknown[]> {
  const { objects } = await lake.list({ prefix: `${name.replace('/', '.db/')}/data/` });
  const files = await Promise.all(objects.map(async ({ key }) => await lake.get(key)));
  const rows = await Promise.all(
    files.map(async (file) =>
      file === null ? [] : await parquetReadObjects({ file: await file.arrayBuffer() }),
    ),
  );
  return rows.flat();
}

describe('POST …/schema', () => {
  it('makes every kind of change in one commit, and says what is different', async () => {
    await declare('change/all', [
      ['id', 'long'],
      ['n', 'int'],
      ['old', 'string'],
      ['gone', 'double'],
    ]);
    const { status, body } = await change('change/all', [
      {
        action: 'add',
        path: ['place'],
        type: { type: 'struct', fields: [{ name: 'zip', type: 'string' }] },
      },
      { action: 'add', path: ['place', 'lat'], type: 'double', position: { first: true } },
      { action: 'widen', path: ['n'], type: 'long' },
      { action: 'rename', path: ['old'], name: 'new' },
      { action: 'drop', path: ['gone'] },
      { action: 'set-doc', path: ['new'], doc: 'what it is' },
      { action: 'set-identifier-fields', paths: [['id']] },
      { action: 'make-optional', path: ['n'] },
      { action: 'move', path: ['place'], position: { after: 'id' } },
    ]);
    expect([status, body.committed]).toEqual([200, true]);
    expect(fieldsOf(body).map(({ id, name }) => [id, name])).toEqual([
      [1, 'id'],
      [5, 'place'],
      [2, 'n'],
      [3, 'new'],
    ]);
    expect(body.schema).toMatchObject({ 'schema-id': 1, 'identifier-field-ids': [1] });
    expect(body.differences.map(({ text }) => text)).toEqual([
      'add place: struct<lat: double, zip: string>',
      'type n: int → long',
      'rename new: old → new',
      'doc new: what it is',
      'drop gone: double',
      'identifier-fields:  → id',
    ]);
    expect((await table('change/all'))?.schema).toEqual(body.schema);
  });

  it('answers the same by a dry run, and commits nothing', async () => {
    await declare('change/dry', [['id', 'long']]);
    const before = await call('/tables/change/dry');
    const changes = [{ action: 'add', path: ['more'], type: 'string' }];
    const dry = await change('change/dry', changes, '?dry-run=true');
    expect(dry.body.committed).toBe(false);
    expect((await call('/tables/change/dry')).text).toBe(before.text);
    const real = await change('change/dry', changes);
    expect(real.body.differences).toEqual(dry.body.differences);
    expect(fieldsOf(real.body)).toEqual(fieldsOf(dry.body));
  });

  it('commits nothing when nothing is different', async () => {
    await declare('change/nothing', [['id', 'long']]);
    const before = await call('/tables/change/nothing');
    const { body } = await change('change/nothing', [{ action: 'make-optional', path: ['id'] }]);
    expect(body.committed).toBe(true);
    const again = await change('change/nothing', [{ action: 'make-optional', path: ['id'] }]);
    expect([again.status, again.body.committed, again.body.differences]).toEqual([200, false, []]);
    expect((await call('/tables/change/nothing')).text).not.toBe(before.text);
  });

  it.each<[string, readonly object[], string]>([
    ['an unknown column', [{ action: 'drop', path: ['nope'] }], 'schema.unknown-column'],
    [
      'a name that is taken, case aside',
      [{ action: 'add', path: ['N'], type: 'int' }],
      'schema.duplicate-name',
    ],
    [
      'a type that is narrower',
      [{ action: 'widen', path: ['n'], type: 'int' }],
      'schema.illegal-promotion',
    ],
    [
      'a required column',
      [{ action: 'add', path: ['r'], type: 'int', required: true }],
      'schema.required-without-default',
    ],
    [
      'no column left',
      [
        { action: 'drop', path: ['n'] },
        { action: 'drop', path: ['s'] },
      ],
      'schema.no-columns',
    ],
    ['a change nobody knows', [{ action: 'explode', path: ['n'] }], 'schema.unknown-action'],
    ['a path that is text', [{ action: 'drop', path: 'n' }], 'json.unexpected-type'],
    ['a type nobody knows', [{ action: 'add', path: ['m'], type: 'money' }], 'type.unknown'],
  ])('refuses %s, and with it the changes beside it', async (what, changes, code) => {
    const name = `change/${code.replaceAll('.', '-')}-${what.length}`;
    await declare(name, [
      ['n', 'long'],
      ['s', 'string'],
    ]);
    const before = (await call(`/tables/${name}`)).text;
    const innocent = { action: 'add', path: ['innocent'], type: 'int' };
    const { status, body } = await change(name, [
      ...(code === 'schema.no-columns' ? [] : [innocent]),
      ...changes,
    ]);
    expect([status, body.error.code]).toEqual([400, code]);
    expect((await call(`/tables/${name}`)).text).toBe(before);
  });

  it('refuses default values, which the rows would not get', async () => {
    await declare('change/defaults', [['n', 'long']]);
    for (const one of [
      { action: 'add', path: ['d'], type: 'long', 'initial-default': 7 },
      { action: 'set-write-default', path: ['n'], value: 7 },
    ]) {
      const { status, body } = await change('change/defaults', [one]);
      expect([status, body.error.code]).toEqual([501, 'schema.defaults-not-yet']);
    }
  });

  it('answers 404 where there is no table, and 413 to more changes than it takes', async () => {
    const drop = { action: 'drop', path: ['a'] };
    expect((await change('change/missing', [drop])).body.error.code).toBe('table.not-found');
    const many = await change(
      'change/missing',
      Array.from({ length: 1001 }, () => drop),
    );
    expect([many.status, many.body.error.code]).toEqual([413, 'schema.too-many-changes']);
  });

  it('leaves rows alone that were accepted under the schema before', async () => {
    await declare('change/pending', [
      ['id', 'long'],
      ['n', 'int'],
      ['old', 'string'],
      ['gone', 'string'],
    ]);
    await ingest('change/pending', '{"id":1,"n":7,"old":"a","gone":"x"}');
    await change('change/pending', [
      { action: 'widen', path: ['n'], type: 'long' },
      { action: 'rename', path: ['old'], name: 'new' },
      { action: 'drop', path: ['gone'] },
      { action: 'move', path: ['n'], position: { first: true } },
    ]);
    await ingest('change/pending', '{"id":2,"n":9007199254740993,"new":"b"}');
    expect((await flushed('change/pending')).rows).toBe(2);
    expect(await storedRows('change/pending')).toEqual([
      { n: 7n, id: 1n, new: 'a' },
      { n: 9007199254740993n, id: 2n, new: 'b' },
    ]);
  });

  it('C029, C031: gives a column that comes back an id of its own', async () => {
    await declare('change/c029', [
      ['a', 'long'],
      ['b', 'long'],
      ['c', 'string'],
    ]);
    await ingest('change/c029', '{"a":1,"c":"old"}', { query: '?wait=committed' });
    await change('change/c029', [{ action: 'drop', path: ['c'] }]);
    await ingest('change/c029', '{"a":2,"c":"new"}', { query: '?wait=committed' });
    const { body } = await call<{ schema: { fields: Column[] } }>('/tables/change/c029');
    expect(body.schema.fields.map(({ id, name }) => [id, name])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [4, 'c'],
    ]);
  });

  it('C032: a renamed column is not known by its old name any more', async () => {
    await declare('change/c032', [
      ['id', 'long'],
      ['qty', 'long'],
    ]);
    await change('change/c032', [{ action: 'rename', path: ['qty'], name: 'quantity' }]);
    await ingest('change/c032', '{"id":1,"qty":5,"quantity":6}', { query: '?wait=committed' });
    const { body } = await call<{ schema: { fields: Column[] } }>('/tables/change/c032');
    expect(body.schema.fields.map(({ id, name }) => [id, name])).toEqual([
      [1, 'id'],
      [2, 'quantity'],
      [3, 'qty'],
    ]);
    expect(await storedRows('change/c032')).toEqual([{ id: 1n, quantity: 6n, qty: 5n }]);
  });

  it('C037: takes a name with a dot for a name, and a path for a path', async () => {
    await ingest('change/c037', '{"a.b":1,"a":{"b":2}}');
    const { body } = await change('change/c037', [
      { action: 'rename', path: ['a.b'], name: 'dotted' },
      { action: 'rename', path: ['a', 'b'], name: 'nested' },
    ]);
    expect(body.differences.map(({ text }) => text)).toEqual([
      'rename dotted: a.b → dotted',
      'rename a.nested: b → nested',
    ]);
  });

  it('in the middle of eight clients loses no row, refuses none, and makes one new field', async () => {
    await ingest('change/busy', '{"id":0}');
    const client = async (number: number): Promise<number> => {
      let accepted = 0;
      for (let batch = 0; batch < 6; batch += 1) {
        const row = { id: number * 100 + batch, ...(batch < 3 ? {} : { late: batch }) };
        const { status, body } = await ingest('change/busy', JSON.stringify(row));
        expect(status).toBe(200);
        accepted += body.rows.accepted;
      }
      return accepted;
    };
    const clients = Array.from({ length: 8 }, (_, number) => client(number));
    await change('change/busy', [
      { action: 'add', path: ['more'], type: 'string' },
      { action: 'set-doc', path: ['id'], doc: 'counted' },
    ]);
    const accepted = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    expect(accepted).toBe(48);
    await flushed('change/busy');
    expect(await table('change/busy')).toMatchObject({
      totals: { rows: '49' },
      quarantinedRows: 0,
    });
    expect((await columnsOf('change/busy')).toSorted()).toEqual(['id', 'late', 'more']);
  });

  it('does not let an old request bring a dropped column back unnoticed', async () => {
    await declare('change/drop', [
      ['id', 'long'],
      ['s', 'string'],
    ]);
    await change('change/drop', [{ action: 'drop', path: ['s'] }]);
    const { error } = await refused('change/drop', '{"id":1,"s":[1]}\n{"id":"x"}', {
      query: '?on-error=reject',
    });
    expect(error.code).toBe('rows.rejected');
    expect(await columnsOf('change/drop')).toEqual(['id']);
  });
});

/** Bodies of every format over HTTP: the same rows, whatever they come in. */

import { Float64, Int64, Table, Utf8, tableToIPC, vectorFromArray } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import type { QuarantineBody, ReplayBody } from '../../src/api/tables.ts';
import { call, columnsOf, flushed, gzip, ingest, refused, table, utf8 } from './http-harness.ts';

const rows = new Table({
  id: vectorFromArray([1n, 2n, 3n], new Int64()),
  price: vectorFromArray([1.5, null, -0.25], new Float64()),
  note: vectorFromArray(['a', 'b "c", d', null], new Utf8()),
});
const CSV = 'id,price,note\r\n1,1.5,a\r\n2,,"b ""c"", d"\r\n3,-0.25,\r\n';
const CSV_TYPE = { headers: { 'content-type': 'text/csv' } };

describe('a body', () => {
  it.each([
    ['csv', 'text/csv', utf8(CSV)],
    ['arrow-file', 'application/vnd.apache.arrow.file', tableToIPC(rows, 'file')],
    ['arrow-stream', 'application/vnd.apache.arrow.stream', tableToIPC(rows, 'stream')],
  ])('of %s makes the same table, plain and gzip', async (format, contentType, body) => {
    const name = `formats/${format}`;
    const plain = await ingest(name, body, { headers: { 'content-type': contentType } });
    expect(plain.body).toMatchObject({ rows: { received: 3, accepted: 3 }, errors: [] });
    const zipped = await ingest(name, await gzip(body), {
      headers: { 'content-type': contentType, 'content-encoding': 'gzip' },
    });
    expect(zipped.body.rows.accepted).toBe(3);
    expect((await table(name))?.schema.fields).toMatchObject([
      { name: 'id', type: 'long' },
      { name: 'price', type: 'double' },
      { name: 'note', type: 'string' },
    ]);
    expect((await flushed(name)).rows).toBe(6);
  });

  it.each([
    ['application/vnd.apache.parquet', 'parquet.malformed'],
    ['application/vnd.apache.arrow.file', 'arrow.malformed'],
  ])('of %s that is none is refused by name', async (contentType, code) => {
    const answer = await refused('formats/none', utf8('{"id":1}'.repeat(20)), {
      headers: { 'content-type': contentType },
    });
    expect([answer.status, answer.error.code]).toEqual([400, code]);
    expect(await table('formats/none')).toBeNull();
  });
});

describe('a line of CSV', () => {
  it('with a wrong value is set aside, and stays as it is when it is sent again', async () => {
    await ingest('formats/csv-bad', 'id,n\n1,2', CSV_TYPE);
    const { body } = await ingest('formats/csv-bad', 'id,n\nx,3\n4,5', CSV_TYPE);
    expect(body.rows).toEqual({ received: 2, accepted: 1, quarantined: 1 });
    const replay = await call<ReplayBody>('/tables/formats/csv-bad/quarantine/replay', {
      method: 'POST',
    });
    expect(replay.body.rows).toEqual({ replayed: 1, landed: 0, kept: 1 });
    const page = await call<QuarantineBody>('/tables/formats/csv-bad/quarantine');
    expect(page.body.rows).toMatchObject([{ raw: 'x,3', column: 'id' }]);
  });

  it('with a value in an unknown column is set aside under strict', async () => {
    await ingest('formats/csv-strict', 'id\n1', CSV_TYPE);
    const { body } = await ingest('formats/csv-strict', 'id,more\n2,x\n3,', {
      ...CSV_TYPE,
      query: '?schema-policy=strict',
    });
    expect(body.rows).toEqual({ received: 2, accepted: 1, quarantined: 1 });
    expect(body.errors).toMatchObject([{ row: 0, column: 'more', code: 'column.unknown' }]);
    expect(await columnsOf('formats/csv-strict')).toEqual(['id']);
  });
});

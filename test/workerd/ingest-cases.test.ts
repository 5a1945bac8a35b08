/** Known failures of other systems with JSON input, by the id of the case, over HTTP. */

import { RecordBatch, Schema, Table, tableToIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import {
  call,
  columnsOf,
  flushed,
  gzip,
  ingest,
  refused,
  streamOf,
  table,
  utf8,
} from './http-harness.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const ARROW_TYPE = { 'content-type': 'application/vnd.apache.arrow.stream' };

describe('C010: text that straddles chunks', () => {
  it('arrives unharmed when every byte comes alone, with no newline at the end', async () => {
    const body = utf8('{"s":"żółw 🦊"}\n{"s":"終"}');
    const answer = await ingest('cases/c010', streamOf(body, 1));
    expect(answer.body.rows).toEqual({ received: 2, accepted: 2, quarantined: 0 });
    for (let split = 1; split < body.byteLength; split += 1) {
      const { body: split2 } = await ingest('cases/c010', streamOf(body, split));
      expect(split2.rows.accepted).toBe(2);
    }
    const zipped = await ingest('cases/c010', streamOf(await gzip(body), 1), {
      headers: { 'content-encoding': 'gzip' },
    });
    expect(zipped.body.rows.accepted).toBe(2);
  });

  it('is refused when it is not UTF-8', async () => {
    const body = new Uint8Array([...utf8('{"s":"'), 0xc3, 0x28, ...utf8('"}')]);
    const { status, error } = await refused('cases/c010-invalid', body);
    expect(status).toBe(400);
    expect(error.code).toMatch(/^json\./);
  });
});

describe('C011: byte order mark, CRLF, blank lines', () => {
  it('are skipped, and a line separator inside a string is text', async () => {
    const body = new Uint8Array([
      0xef,
      0xbb,
      0xbf,
      ...utf8('{"a":1}\r\n\r\n{"a":2,"s":"\u2028"}\r\n   \n'),
    ]);
    const { body: answer } = await ingest('cases/c011', body);
    expect(answer.rows).toEqual({ received: 2, accepted: 2, quarantined: 0 });
  });

  it('leave a bad line named and the table as it was', async () => {
    await ingest('cases/c011-bad', '{"a":1}');
    const { status, error } = await refused('cases/c011-bad', '{"a":1}\r\n\r\n{"a":}\r\n{"a":3}');
    expect([status, error.context['line']]).toEqual([400, 3]);
    expect((await flushed('cases/c011-bad')).rows).toBe(1);
  });
});

describe('C012: one key, three kinds', () => {
  it('keeps the first kind and quarantines the others, in one request', async () => {
    const { body } = await ingest('cases/c012', '{"e":"x"}\n{"e":{"k":1}}\n{"e":[1,2]}');
    expect(body.rows).toEqual({ received: 3, accepted: 1, quarantined: 2 });
    expect(body.errors.map(({ row, column }) => [row, column])).toEqual([
      [1, 'e'],
      [2, 'e'],
    ]);
  });

  it('does the same over three requests, and rejects with nothing kept when asked', async () => {
    await ingest('cases/c012-three', '{"e":"x"}');
    for (const row of ['{"e":{"k":1}}', '{"e":[1,2]}']) {
      const { body } = await ingest('cases/c012-three', row);
      expect(body.rows).toEqual({ received: 1, accepted: 0, quarantined: 1 });
      const rejected = await refused('cases/c012-three', row, { query: '?on-error=reject' });
      expect(rejected.status).toBe(422);
    }
    expect((await flushed('cases/c012-three')).rows).toBe(1);
    expect(await columnsOf('cases/c012-three')).toEqual(['e']);
  });
});

describe('C013: a key for every row', () => {
  it('is refused before the schema has a column each', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => `{"id":${i},"by_user":{"u${i}":${i}}}`);
    const { status, error } = await refused('cases/c013', rows.join('\n'));
    expect([status, error.code]).toEqual([400, 'schema.too-many-columns']);
    expect(await table('cases/c013')).toBeNull();
  });
});

describe('C014: no rows at all', () => {
  it('changes nothing, whatever the emptiness looks like', async () => {
    await ingest('cases/c014', '{"n":1}', { query: '?wait=committed' });
    const before = (await call('/tables/cases/c014/snapshots')).text;
    const noBatches = tableToIPC(new Table(new Schema([])), 'stream');
    const noRows = tableToIPC(new Table(new RecordBatch({})), 'stream');
    for (const [body, headers] of [
      ['[]', JSON_TYPE],
      ['', JSON_TYPE],
      ['', {}],
      ['\n\n', {}],
      [noBatches, ARROW_TYPE],
      [noRows, ARROW_TYPE],
    ] as const) {
      const answer = await ingest('cases/c014', body, { headers, query: '?wait=committed' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        status: 'committed',
        rows: { received: 0, accepted: 0, quarantined: 0 },
        snapshotId: null,
      });
    }
    expect((await flushed('cases/c014')).rows).toBe(0);
    expect((await call('/tables/cases/c014/snapshots')).text).toBe(before);
  });

  it('does not make a table', async () => {
    expect((await ingest('cases/c014-new', '[]', { headers: JSON_TYPE })).status).toBe(200);
    expect(await table('cases/c014-new')).toBeNull();
  });
});

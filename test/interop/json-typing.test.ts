/** Cases C001 to C014 and those of names, from the request to what other engines read. */

import { Field, Int64, Schema, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { expect, it } from 'vitest';
import { describeWithEngines, useLake } from './rig/lake.ts';

interface Receipt {
  status: string;
  rows: { received: number; accepted: number; quarantined: number };
  errors: { row: number; column: string; code: string }[];
}

describeWithEngines('JSON becomes typed columns', () => {
  const lake = useLake();

  /** `id name type` of each column, by PyIceberg. */
  const columns = async (table: string): Promise<string[]> => {
    const answer = await lake.engines.python('pyiceberg-history', await lake.existing(table));
    return answer['fields'] as string[];
  };
  const snapshotCount = async (table: string): Promise<number> => {
    const answer = await lake.engines.python('pyiceberg-history', await lake.existing(table));
    return (answer['snapshots'] as string[]).length;
  };
  const count = async (table: string): Promise<unknown> =>
    (await lake.duckdb(table, 'SELECT count(*) AS n FROM t'))[0]?.['n'];

  it('C001: keeps 64-bit integers to the last digit and refuses the first one beyond', async () => {
    const table = 'typing/c001';
    await lake.append(table, '{"id":9007199254740993,"n":-9223372036854775808}');
    await lake.append(table, '{"id":9223372036854775807,"n":0}');
    expect(await lake.rows(table, 'id')).toEqual([
      { id: 9007199254740993n, n: -9223372036854775808n },
      { id: 9223372036854775807n, n: 0n },
    ]);
    const beyond = await lake.post(table, '{"id":9223372036854775808,"n":1}', {
      query: '&on-error=reject',
    });
    expect(beyond.status).toBe(422);
    expect(await count(table)).toBe(2n);
  });

  it('C002: never changes a long column into a double', async () => {
    const table = 'typing/c002';
    await lake.append(table, '{"k":"a","v":3}');
    const answer = await lake.post(table, '{"k":"b","v":3.5}');
    const receipt = answer.body as Receipt;
    expect(receipt.rows).toEqual({ received: 1, accepted: 0, quarantined: 1 });
    expect(receipt.errors).toMatchObject([{ row: 0, column: 'v', code: 'value.type-mismatch' }]);
    expect(await lake.rows(table, 'k')).toEqual([{ k: 'a', v: 3n }]);
    expect(await columns(table)).toEqual(['1 k string', '2 v long']);
  });

  it('C003: types a column by the whole request and rejects what a double cannot hold', async () => {
    const table = 'typing/c003';
    const answer = await lake.post(
      table,
      '[{"k":1,"v":1},{"k":2,"v":null},{"k":3,"v":2.25},{"k":4,"v":9007199254740993}]',
    );
    expect(answer.body).toMatchObject({
      rows: { received: 4, accepted: 3, quarantined: 1 },
      errors: [{ row: 3, column: 'v', code: 'value.inexact' }],
    });
    expect(await lake.rows(table, 'k')).toEqual([
      { k: 1n, v: 1 },
      { k: 2n, v: null },
      { k: 3n, v: 2.25 },
    ]);
  });

  it('C004: takes number literals for what they say', async () => {
    const table = 'typing/c004';
    await lake.append(table, '{"d":0.5,"q":0.5,"l":5,"m":5,"z":5}');
    await lake.append(table, '{"l":1.0,"m":1e3,"z":-0,"q":-0.0}');
    const overflow = await lake.post(table, '{"d":1e400,"l":9}');
    expect(overflow.body).toMatchObject({
      rows: { received: 1, accepted: 0, quarantined: 1 },
      errors: [{ row: 0, column: 'd', code: 'value.out-of-range' }],
    });
    expect(await lake.rows(table, 'l')).toEqual([
      { d: null, q: -0, l: 1n, m: 1000n, z: 0n },
      { d: 0.5, q: 0.5, l: 5n, m: 5n, z: 5n },
    ]);
  });

  it('C005: invents no default for a value of the wrong type', async () => {
    const table = 'typing/c005';
    await lake.append(table, '{"n":1,"f":true}');
    for (const body of ['{"n":"12abc","f":"yes"}', '{"n":"","f":0}', '{"n":"12","f":true}']) {
      const answer = await lake.post(table, body, { query: '&on-error=reject' });
      expect(answer.status, body).toBe(422);
      expect(answer.text).toContain('n');
    }
    expect(await count(table)).toBe(1n);
  });

  it('C006: leaves text that looks like a time as text', async () => {
    const table = 'typing/c006';
    const whens = ['2031-03-04T05:06:07Z', 'unknown', '2031-03-04'];
    for (const [id, when] of whens.entries()) await lake.append(table, { id: BigInt(id), when });
    expect(await lake.rows(table, 'id')).toEqual(
      whens.map((when, id) => ({ id: BigInt(id), when })),
    );
    expect(await columns(table)).toEqual(['1 id long', '2 when string']);
  });

  it('C007: creates no column from nulls alone', async () => {
    const table = 'typing/c007';
    await lake.append(table, '{"id":1,"x":null}');
    expect(await columns(table)).toEqual(['1 id long']);
    await lake.append(table, '{"id":2,"x":42}');
    expect(await lake.rows(table, 'id')).toEqual([
      { id: 1n, x: null },
      { id: 2n, x: 42n },
    ]);
  });

  it('C008: creates no struct without fields', async () => {
    const table = 'typing/c008';
    await lake.append(table, '{"id":1,"meta":{}}');
    expect(await columns(table)).toEqual(['1 id long']);
    await lake.append(table, '{"id":2,"meta":{"a":1}}');
    await lake.append(table, '{"id":3,"o":{"in":{}}}');
    expect(await lake.rows(table, 'id')).toMatchObject([
      { id: 1n, meta: null },
      { id: 2n, meta: { a: 1n } },
      { id: 3n, meta: null },
    ]);
  });

  it('C009: waits for the type of a list and then keeps [], [null] and null apart', async () => {
    const table = 'typing/c009';
    await lake.append(table, '{"id":1,"tags":[]}');
    await lake.append(table, '{"id":2,"tags":[null]}');
    expect(await columns(table)).toEqual(['1 id long']);
    await lake.append(table, '{"id":3,"tags":["x"]}');
    await lake.append(table, '[{"id":4,"tags":[]},{"id":5,"tags":[null]},{"id":6,"tags":null}]');
    const rows = await lake.rows(table, 'id');
    expect(rows.slice(2)).toEqual([
      { id: 3n, tags: ['x'] },
      { id: 4n, tags: [] },
      { id: 5n, tags: [null] },
      { id: 6n, tags: null },
    ]);
  });

  it('C010: keeps text whole however the body is cut', async () => {
    const table = 'typing/c010';
    const bytes = new TextEncoder().encode('{"s":"żółw 🦊"}\n{"s":"終"}');
    const body = new ReadableStream({
      async pull(controller) {
        for (const byte of bytes) {
          controller.enqueue(Uint8Array.of(byte));
          // Lets each byte leave in a chunk of its own.
          await new Promise((resolve) => setImmediate(resolve));
        }
        controller.close();
      },
    });
    const answer = await lake.request('POST', `/ingest/${table}?wait=committed`, {
      headers: { 'content-type': 'application/x-ndjson' },
      body,
      // @ts-expect-error: streaming bodies need it, and the types of fetch here lack it
      duplex: 'half',
    });
    expect(answer.status, answer.text).toBe(200);
    expect(await lake.rows(table, 's')).toEqual([{ s: 'żółw 🦊' }, { s: '終' }]);
    const malformed = await lake.post(
      table,
      Uint8Array.of(0x7b, 0x22, 0x73, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d),
    );
    expect(malformed.status).toBe(400);
  });

  it('C011: skips a BOM, CRLF and blank lines, and names the line that is broken', async () => {
    const table = 'typing/c011';
    const type = 'application/x-ndjson';
    await lake.append(table, '\uFEFF{"a":1}\r\n\r\n{"a":2}\r\n   \n', type);
    await lake.append(table, '{"a":3,"s":"one\u2028line"}', type);
    const broken = await lake.post(table, '{"a":4}\n{"a":}\n{"a":5}', { type });
    expect(broken.status).toBe(400);
    expect(broken.body).toMatchObject({ error: { code: 'json.malformed', context: { line: 2 } } });
    expect((await lake.rows(table, 'a')).map((row) => row['a'])).toEqual([1n, 2n, 3n]);
  });

  it('C012: keeps the first kind of a column and never half a request', async () => {
    const table = 'typing/c012';
    const rows = ['{"id":1,"e":"x"}', '{"id":2,"e":{"k":1}}', '{"id":3,"e":[1,2]}'];
    const together = await lake.post(table, `[${rows.join(',')}]`);
    expect(together.body).toMatchObject({ rows: { received: 3, accepted: 1, quarantined: 2 } });
    const before = await snapshotCount(table);
    for (const row of rows.slice(1)) {
      const answer = await lake.post(table, row, { query: '&on-error=reject' });
      expect(answer.status).toBe(422);
    }
    expect(await snapshotCount(table)).toBe(before);
    expect(await lake.rows(table, 'id')).toEqual([{ id: 1n, e: 'x' }]);
  });

  it('C013: has a bound for columns made from keys', async () => {
    const table = 'typing/c013';
    await lake.append(table, '{"id":0}');
    const rows = Array.from({ length: 5000 }, (_, i) => `{"id":${i},"by_user":{"u${i}":${i}}}`);
    const answer = await lake.post(table, rows.join('\n'), { type: 'application/x-ndjson' });
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect((await columns(table)).length).toBe(1);
    expect(await count(table)).toBe(1n);
  });

  it('C014: makes no snapshot of an empty request', async () => {
    const table = 'typing/c014';
    await lake.append(table, '{"id":1}');
    const before = (await lake.existing(table)).metadata;
    const arrow = 'application/vnd.apache.arrow.stream';
    const schema = new Schema([new Field('id', new Int64(), true)]);
    const emptyBatch = new Table({ id: vectorFromArray([], new Int64()) });
    const requests: [string | Uint8Array, string][] = [
      ['[]', 'application/json'],
      ['', 'application/x-ndjson'],
      ['\n\n', 'application/x-ndjson'],
      [tableToIPC(new Table(schema), 'stream'), arrow],
      [tableToIPC(emptyBatch, 'stream'), arrow],
    ];
    for (const [body, type] of requests) {
      const answer = await lake.post(table, body, { type });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ rows: { received: 0, accepted: 0, quarantined: 0 } });
    }
    expect((await lake.existing(table)).metadata).toBe(before);
  });

  it('C037: keeps a dotted key and a nested one apart', async () => {
    const table = 'typing/c037';
    await lake.append(table, '{"a.b":1,"a":{"b":2}}');
    expect(await lake.duckdb(table, 'SELECT "a.b" AS dotted, a.b AS nested FROM t')).toEqual([
      { dotted: 1n, nested: 2n },
    ]);
  });

  it('C039: folds names that differ only by case into one column', async () => {
    const table = 'typing/c039';
    await lake.append(table, '{"userId":1}');
    await lake.append(table, '{"userid":2}');
    expect(await lake.rows(table, 'userId')).toEqual([{ userId: 1n }, { userId: 2n }]);
  });

  it('C040: refuses the names of metadata columns', async () => {
    const table = 'typing/c040';
    await lake.append(table, '{"id":1}');
    for (const name of ['_file', '_pos', '_deleted']) {
      const answer = await lake.post(table, `{"id":2,"${name}":1}`);
      expect(answer.body, name).toMatchObject({
        rows: { received: 1, accepted: 0, quarantined: 1 },
        errors: [{ row: 0, column: name, code: 'column.reserved-name' }],
      });
    }
    expect(await columns(table)).toEqual(['1 id long']);
  });

  it('C041: reads columns whose names need quoting', async () => {
    const table = 'typing/c041';
    await lake.append(table, '{"two words":1,"my/data":2,"ключ":3}');
    expect(await lake.rows(table, 'two words')).toEqual([
      { 'two words': 1n, 'my/data': 2n, ключ: 3n },
    ]);
  });
});

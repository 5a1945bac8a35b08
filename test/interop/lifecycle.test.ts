/** Tables that come, change under many writers, go, and come again. */

import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { describeWithEngines, useLake } from './rig/lake.ts';

describeWithEngines('a table over its life', () => {
  const lake = useLake();

  it('is made once when many clients post to a name that does not exist yet', async () => {
    const table = 'life/race';
    const clients = Array.from({ length: 8 }, (_, client) => client);
    await Promise.all(
      clients.map((client) => lake.append(table, { id: client, [`from_${client}`]: `${client}` })),
    );
    const rows = await lake.duckdb(table, 'SELECT * FROM t ORDER BY id');
    expect(rows).toHaveLength(clients.length);
    for (const client of clients) {
      const names = Object.keys(rows[client] ?? {}).filter((name) => name.startsWith('from_'));
      expect(names.toSorted()).toEqual(clients.map((each) => `from_${each}`));
      expect(rows[client]?.[`from_${client}`]).toBe(`${client}`);
    }
  });

  it('holds what was durable once it is flushed', async () => {
    const table = 'life/flush';
    await lake.append(table, { id: 0 });
    for (const id of [1, 2, 3]) {
      const answer = await lake.request('POST', `/ingest/${table}`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      });
      expect(answer.body).toMatchObject({ status: 'durable', snapshotId: null });
    }
    const flushed = await lake.request('POST', `/tables/${table}/flush`);
    expect(flushed.status, flushed.text).toBe(200);
    const rows = await lake.duckdb(table, 'SELECT id FROM t ORDER BY id');
    expect(rows.map((row) => row['id'])).toEqual([0n, 1n, 2n, 3n]);
  });

  it('takes compressed bodies', async () => {
    const table = 'life/gzip';
    const lines = Array.from({ length: 5000 }, (_, id) => JSON.stringify({ id, text: 'a' }));
    const answer = await lake.request('POST', `/ingest/${table}?wait=committed`, {
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      body: gzipSync(lines.join('\n')),
    });
    expect(answer.body).toMatchObject({ status: 'committed', rows: { accepted: 5000 } });
    expect(await lake.duckdb(table, 'SELECT count(*) AS n FROM t')).toEqual([{ n: 5000n }]);
  });

  it('starts anew, under another id, after it was dropped', async () => {
    const table = 'life/again';
    await lake.append(table, { id: 1, old: true });
    const uuidOf = async (): Promise<string> =>
      /"table-uuid":"([^"]+)"/.exec(await lake.metadataText(table))?.[1] ?? '';
    const before = await uuidOf();
    const dropped = await lake.request('DELETE', `/tables/${table}`);
    expect(dropped.status, dropped.text).toBeLessThan(300);
    expect(await lake.address(table)).toBeNull();
    await lake.append(table, { id: 2, fresh: 'yes' });
    expect(await uuidOf()).not.toBe(before);
    expect(await lake.duckdb(table, 'SELECT * FROM t')).toEqual([{ id: 2n, fresh: 'yes' }]);
  });
});

/** What was acknowledged is in the table after the process was killed, once; nothing else is. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { IngestResponseBody } from '../../src/api/ingest.ts';
import { Lake, describeWithEngines } from './rig/lake.ts';

const clients = 4;
const rowsPerBatch = 200;
const rounds = 3;

describeWithEngines('kill -9 in the middle of ingestion', () => {
  const lake = new Lake();
  beforeAll(() => lake.runtime.start());
  afterAll(() => lake.close());

  it('keeps exactly the acknowledged rows over several kills', async () => {
    const acknowledged = new Set<number>();
    /** Sent when the process died: these may be there or not, but only as whole batches. */
    const unknown = new Set<number>();
    /** Named in answers of requests that waited for the commit. */
    const snapshots = new Set<string>();
    let nextBatch = 0;
    for (let round = 0; round < rounds; round += 1) {
      const killAt = nextBatch + 30 + round * 17;
      let isKilled = false;
      const client = async (): Promise<void> => {
        while (!isKilled) {
          const batch = nextBatch;
          nextBatch += 1;
          unknown.add(batch);
          // A refused or cut connection is what this test is about.
          const receipt = await send(lake, batch).catch(() => null);
          if (receipt !== null) {
            unknown.delete(batch);
            acknowledged.add(batch);
            if (receipt.snapshotId !== null) snapshots.add(receipt.snapshotId);
          }
          if (nextBatch >= killAt && !isKilled) {
            isKilled = true;
            await lake.runtime.kill();
          }
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      await lake.runtime.start();
    }
    expect(acknowledged.size).toBeGreaterThan(rounds * 20);

    const flushed = await lake.request('POST', '/tables/crash/events/flush');
    expect(flushed.status, flushed.text).toBe(200);
    const counted = await lake.duckdb(
      'crash/events',
      'SELECT batch, count(*) AS n, count(DISTINCT id) AS ids FROM t GROUP BY batch',
    );
    const found = new Map(counted.map((row) => [Number(row['batch']), row]));
    for (const batch of acknowledged) {
      expect(found.get(batch), `batch ${batch}`).toBeDefined();
    }
    for (const [batch, row] of found) {
      expect(row, `batch ${batch}`).toMatchObject({
        n: BigInt(rowsPerBatch),
        ids: BigInt(rowsPerBatch),
      });
      expect(acknowledged.has(batch) || unknown.has(batch), `batch ${batch}`).toBe(true);
    }
    const address = await lake.existing('crash/events');
    const history = await lake.engines.python('pyiceberg-history', address);
    expect(history['snapshots']).toEqual(expect.arrayContaining([...snapshots]));
    expect(snapshots.size).toBeGreaterThan(rounds);
    const report = await lake.engines.validate(address);
    expect(report.findings).toEqual([]);
  });

  it('answers a repeat with the same key after the kill, and keeps the rows once', async () => {
    const table = 'crash/keys';
    const rows = [{ id: 1n }, { id: 2n }];
    const first = await lake.post(table, rows, { key: 'once' });
    await lake.runtime.kill();
    await lake.runtime.start();
    const second = await lake.post(table, rows, { key: 'once' });
    expect(second.status, second.text).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await lake.duckdb(table, 'SELECT count(*) AS n FROM t')).toEqual([{ n: 2n }]);
    await lake.validateTouched();
  });
});

/** Every other batch waits for its commit, so that kills also fall into flushes and commits. */
async function send(lake: Lake, batch: number): Promise<IngestResponseBody> {
  const rows = Array.from({ length: rowsPerBatch }, (_, row) => ({
    id: batch * rowsPerBatch + row,
    batch,
    text: `row ${row} of batch ${batch}`,
  }));
  const wait = batch % 2 === 0 ? '?wait=committed' : '';
  const answer = await lake.request('POST', `/ingest/crash/events${wait}`, {
    headers: { 'content-type': 'application/json', 'idempotency-key': `batch-${batch}` },
    body: JSON.stringify(rows),
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body as IngestResponseBody;
}

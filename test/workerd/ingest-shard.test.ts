import { zstdDecompressSync } from 'node:zlib';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { parquetReadObjects } from 'hyparquet';
import { expect, it } from 'vitest';
import { uriToKey } from '../../src/iceberg/location-provider.ts';
import { fromOutcome } from '../../src/table/protocol.ts';
import { liveDataFiles } from '../support/read-table.ts';
import { lake, WorkerdTable } from '../support/workerd-table.ts';

const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes) };

/** All rows of the table, read by another Parquet reader. */
async function readRows(table: WorkerdTable): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (const file of await liveDataFiles(lake, await table.metadata())) {
    const bytes = await lake.get(uriToKey(lake.baseUri, file.filePath));
    if (bytes === null) throw new Error(`Missing ${file.filePath}`);
    expect(BigInt(bytes.byteLength)).toBe(file.fileSizeInBytes);
    const read = await parquetReadObjects({ file: bytes.slice().buffer, compressors });
    expect(BigInt(read.length)).toBe(file.recordCount);
    rows.push(...read);
  }
  return rows;
}

it('takes rows, flushes them by the alarm, and tells the snapshot', async () => {
  const table = new WorkerdTable('alarm');
  const header = table.header();
  const slice = await table.slice([
    { id: 1, s: 'żółw 🦊' },
    { id: 9_007_199_254_740_991, s: null },
  ]);
  const receipt = fromOutcome(await table.shard.acceptBatch(header, [slice]));
  expect(receipt).toMatchObject({ state: 'durable', rowsReceived: 2, rowsAccepted: 2 });
  await runInDurableObject(table.shardStub, async (_shard, { storage }) => {
    expect(await storage.getAlarm()).toBeGreaterThan(0);
    // Five seconds from now by itself; here at once.
    storage.sql.exec('UPDATE batches SET accepted_at_ms = accepted_at_ms - 60000');
  });
  expect(await runDurableObjectAlarm(table.shardStub)).toBe(true);
  const committed = fromOutcome(await table.shard.getBatch(header.batchId));
  const metadata = await table.metadata();
  expect(committed).toMatchObject({ state: 'committed', snapshotId: metadata.currentSnapshotId });
  expect(await readRows(table)).toEqual([
    { id: 1n, s: 'żółw 🦊' },
    { id: 9_007_199_254_740_991n, s: null },
  ]);
  const [snapshot] = metadata.snapshots;
  expect(snapshot?.summary.properties.get('total-records')).toBe('2');
});

it('keeps sealed batches over an eviction and drops none (C118)', async () => {
  const table = new WorkerdTable('evicted');
  const header = table.header('key', 'd'.repeat(64));
  fromOutcome(await table.shard.acceptBatch(header, [await table.slice([{ id: 1 }])]));
  const open = table.header();
  fromOutcome(await table.shard.beginBatch(open));
  fromOutcome(await table.shard.appendSlice(open.batchId, await table.slice([{ id: 2 }])));
  await evictDurableObject(table.shardStub);
  await evictDurableObject(table.committerStub);
  expect(fromOutcome(await table.shard.pending())).toMatchObject({ rowsPending: 1 });
  // The same key and bytes after the eviction: the first answer again.
  const repeated = table.header('key', 'd'.repeat(64));
  const again = fromOutcome(
    await table.shard.acceptBatch(repeated, [await table.slice([{ id: 1 }])]),
  );
  expect(again.batchId).toBe(header.batchId);
  expect(fromOutcome(await table.shard.flush(table.identifier))).toMatchObject({ rows: 1 });
  expect(await readRows(table)).toEqual([{ id: 1n }]);
  fromOutcome(await table.shard.sealBatch(open.batchId, null));
  fromOutcome(await table.shard.flush(table.identifier));
  expect(await readRows(table)).toHaveLength(2);
});

it('re-arms an alarm that is missing, with the next request (C118)', async () => {
  const table = new WorkerdTable('rearmed');
  fromOutcome(await table.shard.acceptBatch(table.header(), [await table.slice([{ id: 1 }])]));
  await runInDurableObject(table.shardStub, async (_shard, { storage }) => {
    await storage.deleteAlarm();
  });
  fromOutcome(await table.shard.pending());
  await runInDurableObject(table.shardStub, async (_shard, { storage }) => {
    expect(await storage.getAlarm()).not.toBeNull();
  });
});

it('keeps an Arrow stream beyond the 2 MB of a value in chunks', async () => {
  const table = new WorkerdTable('chunked');
  const rows = Array.from({ length: 60 }, (_, id) => ({ id, text: String(id).repeat(50_000) }));
  const slice = await table.slice(rows);
  expect(slice.ipc?.byteLength).toBeGreaterThan(4_000_000);
  fromOutcome(await table.shard.acceptBatch(table.header(), [slice]));
  await runInDurableObject(table.shardStub, (_shard, { storage }) => {
    const [largest] = storage.sql.exec('SELECT MAX(LENGTH(bytes)) AS n FROM slices').toArray();
    expect(largest?.['n']).toBeLessThanOrEqual(1_900_000);
  });
  fromOutcome(await table.shard.flush(table.identifier));
  expect(await readRows(table)).toEqual(rows.map((row) => ({ ...row, id: BigInt(row.id) })));
});

it('commits before it answers those who wait, many at a time in one snapshot', async () => {
  const table = new WorkerdTable('waiting');
  await table.slice([{ id: 0 }]);
  const receipts = await Promise.all(
    Array.from({ length: 8 }, async (_, id) => {
      const header = table.header();
      fromOutcome(await table.shard.acceptBatch(header, [await table.slice([{ id }])]));
      return fromOutcome(await table.shard.waitCommitted(header.batchId, 20_000));
    }),
  );
  const { snapshots } = await table.metadata();
  const known = new Set(snapshots.map((snapshot) => snapshot.snapshotId));
  for (const { state, snapshotId } of receipts) {
    expect(state).toBe('committed');
    expect(snapshotId !== null && known.has(snapshotId)).toBe(true);
  }
  expect(snapshots.length).toBeLessThanOrEqual(4);
  expect(await readRows(table)).toHaveLength(8);
});

it('encodes slices of an earlier schema under the newest one', async () => {
  const table = new WorkerdTable('evolved');
  fromOutcome(await table.shard.acceptBatch(table.header(), [await table.slice([{ a: 1 }])]));
  fromOutcome(
    await table.shard.acceptBatch(table.header(), [await table.slice([{ a: 2, b: 'x' }])]),
  );
  expect(fromOutcome(await table.shard.flush(table.identifier))).toMatchObject({ files: 1 });
  expect(await readRows(table)).toEqual([
    { a: 1n, b: null },
    { a: 2n, b: 'x' },
  ]);
});

it('keeps rejected rows and lists them', async () => {
  const table = new WorkerdTable('quarantined');
  await table.slice([{ n: 1 }]);
  const header = table.header();
  const slice = await table.slice([{ n: 'x' }, { n: 2 }]);
  const receipt = fromOutcome(await table.shard.acceptBatch(header, [slice]));
  expect(receipt).toMatchObject({ rowsReceived: 2, rowsAccepted: 1, rowsQuarantined: 1 });
  const page = fromOutcome(await table.shard.listQuarantine(0, 10));
  expect(page.rows).toMatchObject([{ row: 0, column: 'n', batchId: header.batchId }]);
  expect(page.next).toBeNull();
});

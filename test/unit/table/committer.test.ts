import { describe, expect, it } from 'vitest';
import { isIcebergError } from '../../../src/iceberg/errors.ts';
import { COMMIT_ID_KEY } from '../../../src/iceberg/spec/snapshot-summary.ts';
import { ancestorsOf } from '../../../src/iceberg/spec/table-metadata-rules.ts';
import { CommitterHarness } from '../../support/committer-harness.ts';
import { storeUnavailable } from '../../support/faulty-object-store.ts';
import { answering, Faults, type FaultTiming } from '../../support/faults.ts';
import { liveDataFiles } from '../../support/read-table.ts';
import { IDENTIFIER } from '../../support/shard-harness.ts';
import { ORDERS_SCHEMA } from '../../support/tables.ts';

const column = (name: string): { type: 'struct'; fields: { name: string; type: string }[] } => ({
  type: 'struct',
  fields: [{ name, type: 'long' }],
});

/** What a reader finds must be the submitted files, each once, in one line of snapshots. */
async function checkTable(harness: CommitterHarness, flushIds: readonly string[]): Promise<void> {
  const { metadata } = await harness.load();
  const paths = (await liveDataFiles(harness.objects, metadata)).map((file) => file.filePath);
  const expected = flushIds.map((id) => `s3://lake/sales.db/orders/data/${id}-0.parquet`);
  expect(paths.toSorted()).toEqual(expected.toSorted());
  const line = ancestorsOf(metadata, metadata.currentSnapshotId);
  expect(line).toHaveLength(metadata.snapshots.length);
  const commitIds = line.map((snapshot) => snapshot.summary.properties.get(COMMIT_ID_KEY));
  expect(new Set(commitIds).size).toBe(commitIds.length);
  for (const snapshot of line) {
    expect(
      await harness.objects.head(snapshot.manifestList.slice('s3://lake/'.length)),
    ).not.toBeNull();
  }
}

describe('schema', () => {
  it('creates the table with the first columns and adds later ones', async () => {
    const { committer } = new CommitterHarness();
    expect(await committer.tableState(IDENTIFIER)).toBeNull();
    const created = await committer.ensureSchema(IDENTIFIER, ORDERS_SCHEMA);
    expect(created.schema.fields.map(({ id, name }) => [id, name])).toEqual([
      [1, 'id'],
      [2, 'note'],
    ]);
    const evolved = await committer.ensureSchema(IDENTIFIER, column('amount'));
    expect(evolved.schema.fields.map(({ id, name }) => [id, name])).toEqual([
      [1, 'id'],
      [2, 'note'],
      [3, 'amount'],
    ]);
    expect(evolved.tableUuid).toBe(created.tableUuid);
    expect(await committer.tableState(IDENTIFIER)).toEqual(evolved);
  });

  it('gives concurrent callers one id a column, also while the table is being created', async () => {
    const { committer } = new CommitterHarness();
    const states = await Promise.all(
      ['a', 'b', 'a', 'b', 'a'].map((name) => committer.ensureSchema(IDENTIFIER, column(name))),
    );
    const last = await committer.tableState(IDENTIFIER);
    const idOf = new Map(last?.schema.fields.map(({ name, id }) => [name, id]));
    expect(new Set(idOf.values())).toEqual(new Set([1, 2]));
    for (const { schema } of states) {
      for (const { name, id } of schema.fields) expect(id).toBe(idOf.get(name));
    }
  });

  it('does not commit when nothing is missing', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    const before = await harness.load();
    await harness.committer.ensureSchema(IDENTIFIER, ORDERS_SCHEMA);
    expect((await harness.load()).metadataLocation).toBe(before.metadataLocation);
  });

  it('builds on what a foreign writer committed meanwhile', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    await harness.catalog().commitTable({
      identifier: IDENTIFIER,
      requirements: [],
      updates: [{ action: 'set-properties', updates: new Map([['owner', 'ann']]) }],
    });
    await harness.committer.ensureSchema(IDENTIFIER, column('amount'));
    const { metadata } = await harness.load();
    expect(metadata.properties.get('owner')).toBe('ann');
    expect(metadata.schemas).toHaveLength(2);
  });
});

describe('submit', () => {
  it('puts the files into a snapshot that carries the commit id', async () => {
    const harness = new CommitterHarness();
    const tableUuid = await harness.createTable();
    const { snapshotId } = await harness.committer.submit(await harness.request('f1', tableUuid));
    const { metadata } = await harness.load();
    expect(metadata.currentSnapshotId).toBe(snapshotId);
    await checkTable(harness, ['f1']);
  });

  it('answers the first result for a repeated flush id, after a restart too (C089)', async () => {
    const harness = new CommitterHarness();
    const tableUuid = await harness.createTable();
    const request = await harness.request('f1', tableUuid);
    const [first, second] = await Promise.all([
      harness.committer.submit(request),
      harness.committer.submit(request),
    ]);
    const third = await harness.restart().submit(request);
    expect([second, third]).toEqual([first, first]);
    await checkTable(harness, ['f1']);
    expect((await harness.load()).metadata.snapshots).toHaveLength(1);
  });

  it('groups what waits into few snapshots', async () => {
    const harness = new CommitterHarness();
    const tableUuid = await harness.createTable();
    const ids = Array.from({ length: 20 }, (_, index) => `f${index}`);
    const requests = await Promise.all(ids.map((id) => harness.request(id, tableUuid)));
    const results = await Promise.all(requests.map((one) => harness.committer.submit(one)));
    expect(new Set(results.map(({ snapshotId }) => snapshotId)).size).toBeLessThanOrEqual(3);
    await checkTable(harness, ids);
  });

  it('bounds the files of a snapshot', async () => {
    const harness = new CommitterHarness({ filesPerCommitMax: 5 });
    const tableUuid = await harness.createTable();
    const requests = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => harness.request(id, tableUuid, 3)),
    );
    await Promise.all(requests.map((one) => harness.committer.submit(one)));
    const { metadata } = await harness.load();
    expect(metadata.snapshots).toHaveLength(4);
    expect(await liveDataFiles(harness.objects, metadata)).toHaveLength(12);
  });

  it('rebuilds on the snapshot of a foreign writer: two writers, 50 commits each (C083)', async () => {
    const ours = new CommitterHarness();
    const theirs = new CommitterHarness({}, ours.objects);
    const tableUuid = await ours.createTable();
    const ids: string[] = [];
    const write = async (writer: CommitterHarness, name: string): Promise<void> => {
      for (let round = 0; round < 50; round += 1) {
        ids.push(`${name}-${round}`);
        const request = await writer.request(`${name}-${round}`, tableUuid);
        for (;;) {
          const outcome = await writer.committer.submit(request).catch((error: unknown) => error);
          // Out of retries, nothing committed: a shard submits the same flush again.
          if (isIcebergError(outcome, 'conflict')) continue;
          expect(outcome).toHaveProperty('snapshotId');
          break;
        }
      }
    };
    await Promise.all([write(ours, 'ours'), write(theirs, 'theirs')]);
    await checkTable(ours, ids);
    expect((await ours.load()).metadata.snapshots).toHaveLength(100);
  });

  it('refuses files of a table that was dropped and made again (C088)', async () => {
    const harness = new CommitterHarness();
    const old = await harness.createTable();
    const request = await harness.request('f1', old);
    await harness.committer.drop(IDENTIFIER);
    const recreated = await harness.createTable();
    await expect(harness.committer.submit(request)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'table.replaced',
    });
    await harness.committer.submit(await harness.request('f2', recreated));
    await checkTable(harness, ['f2']);
  });

  it('forgets results after their time', async () => {
    const harness = new CommitterHarness();
    const tableUuid = await harness.createTable();
    await harness.committer.submit(await harness.request('f1', tableUuid));
    await harness.runAlarms(8 * 24 * 3_600_000);
    const rows = harness.database.exec('SELECT * FROM submissions');
    expect(rows).toEqual([]);
  });
});

describe('drop', () => {
  it('clears the shards before and after, and leaves no object', async () => {
    const harness = new CommitterHarness();
    const tableUuid = await harness.createTable();
    await harness.committer.submit(await harness.request('f1', tableUuid));
    await harness.committer.drop(IDENTIFIER);
    await harness.committer.drop(IDENTIFIER);
    expect(harness.clears).toHaveLength(4);
    const keys: string[] = [];
    for await (const { key } of harness.objects.list('')) keys.push(key);
    expect(keys).toEqual([]);
    expect(await harness.committer.tableState(IDENTIFIER)).toBeNull();
  });

  it('is finished by the alarm when it broke off', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    harness.onClear = () => Promise.reject(new Error('The shard does not answer'));
    await expect(harness.committer.drop(IDENTIFIER)).rejects.toThrow();
    harness.restart();
    harness.onClear = () => Promise.resolve();
    await harness.runAlarms();
    await expect(harness.load()).rejects.toMatchObject({ code: 'table.not-found' });
  });

  it('is finished before anybody is shown the table again', async () => {
    const harness = new CommitterHarness();
    const dropped = await harness.createTable();
    harness.onClear = () => Promise.reject(new Error('The shard does not answer'));
    await expect(harness.committer.drop(IDENTIFIER)).rejects.toThrow();
    await expect(harness.committer.tableState(IDENTIFIER)).rejects.toThrow();
    harness.onClear = () => Promise.resolve();
    expect(await harness.committer.tableState(IDENTIFIER)).toBeNull();
    expect(await harness.createTable()).not.toBe(dropped);
  });

  it('is refused, with nothing cleared, where gc.enabled=false', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    await harness.catalog().commitTable({
      identifier: IDENTIFIER,
      requirements: [],
      updates: [{ action: 'set-properties', updates: new Map([['gc.enabled', 'false']]) }],
    });
    harness.restart();
    await expect(harness.committer.drop(IDENTIFIER)).rejects.toMatchObject({
      code: 'table.gc-disabled',
    });
    expect(harness.clears).toEqual([]);
  });
});

/**
 * Fails the n-th outside call for every n: calls to the store and transactions of the journal, before
 * or after their effect, with the object surviving or dying (C084).
 */
describe('faults by position', () => {
  async function run(
    at: number | null,
    timing: FaultTiming,
    isCrash: boolean,
  ): Promise<{ harness: CommitterHarness; calls: number }> {
    const harness = new CommitterHarness();
    let onFault = (): void => undefined;
    const faults = new Faults(at, timing, () => onFault(), storeUnavailable);
    harness.inject(faults);
    if (isCrash) onFault = (): void => harness.kill();
    const untilAnswered = answering(() => isCrash && harness.restart());
    const tableUuid = await untilAnswered(() => harness.createTable());
    await untilAnswered(() => harness.committer.ensureSchema(IDENTIFIER, column('amount')));
    for (const id of ['f1', 'f2']) {
      const request = await harness.request(id, tableUuid);
      const { snapshotId } = await untilAnswered(() => harness.committer.submit(request));
      const { metadata } = await harness.load();
      expect(metadata.snapshots.map((snapshot) => snapshot.snapshotId)).toContain(snapshotId);
    }
    // Submitted by a shard that dies at once: nobody asks again, the alarm looks after it.
    const request = await harness.request('f3', tableUuid);
    await harness.committer.submit(request).catch(() => (isCrash ? harness.restart() : undefined));
    await harness.runAlarms();
    // A shard always submits again what it has no answer for.
    await untilAnswered(() => harness.committer.submit(request));
    return { harness, calls: faults.calls };
  }

  it('counts its calls', async () => {
    const { harness, calls } = await run(null, 'before', false);
    await checkTable(harness, ['f1', 'f2', 'f3']);
    expect(calls).toBeGreaterThan(30);
    expect(calls).toBeLessThan(150);
  });

  describe.each([
    ['survives', false],
    ['dies', true],
  ])('the object %s', (_name, isCrash) => {
    it.each(['before', 'after'] as const)(
      'commits every flush exactly once when call n fails %s its effect',
      async (timing) => {
        const { calls } = await run(null, 'before', false);
        for (let at = 1; at <= calls; at += 1) {
          const { harness } = await run(at, timing, isCrash);
          await checkTable(harness, ['f1', 'f2', 'f3']);
          const { metadata } = await harness.load();
          expect(metadata.schemas.at(-1)?.fields.map(({ id }) => id)).toEqual([1, 2, 3]);
        }
      },
    );
  });
});

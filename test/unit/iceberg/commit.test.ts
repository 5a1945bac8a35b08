import { beforeEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../../src/iceberg/commit.ts';
import { commit, findCommit } from '../../../src/iceberg/commit.ts';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import { prepareAppend } from '../../../src/iceberg/operations/append.ts';
import { evolveSchema } from '../../../src/iceberg/operations/evolve-schema.ts';
import { MemoryObjectStore } from '../../../src/object-store/memory.ts';
import { SkippingClock } from '../../support/manual-clock.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { makeDataFile, makeTable, NOW_MS, ScriptedCatalog, struct, TABLE } from './fixtures.ts';

let clock: SkippingClock;
let store: MemoryObjectStore;
let random: SeededRandom;
let catalog: ScriptedCatalog;
let append: Operation;

beforeEach(async () => {
  clock = new SkippingClock(NOW_MS + 1000);
  store = new MemoryObjectStore('s3://lake', clock);
  random = new SeededRandom(11);
  catalog = new ScriptedCatalog(
    makeTable({ properties: new Map([['commit.retry.num-retries', '3']]) }),
    clock,
  );
  const prepared = await prepareAppend({ store, clock, random }, catalog.table.metadata, {
    dataFiles: [makeDataFile()],
    commitId: 'c1',
  });
  append = ({ metadata }) => prepared.stage(metadata);
});

function run(operation: Operation = append, commitId: string | null = 'c1') {
  return commit({ catalog, clock, random }, TABLE, operation, { commitId });
}

describe('commit', () => {
  it('retries conflicts on refreshed metadata and tells what became garbage', async () => {
    const other = makeTable({ properties: new Map([['a', 'b']]) });
    catalog.script.push({ kind: 'conflict', metadata: other });
    const result = await run();
    expect(result).toMatchObject({ status: 'committed', attempts: 2 });
    expect(catalog.table.metadata.properties.get('a')).toBe('b');
    if (result.status !== 'committed') return;
    expect(result.orphaned).toHaveLength(1);
    expect(result.orphaned[0]).toContain('-1-');
  });

  it('gives up on conflicts after the retries the table allows', async () => {
    for (let i = 0; i < 4; i += 1) catalog.script.push({ kind: 'conflict' });
    expect(await run()).toMatchObject({ status: 'conflict', attempts: 4 });
    expect(catalog.table.metadata.snapshots).toEqual([]);
  });

  it('finds a commit that landed although its answer was lost, and adds the rows once', async () => {
    catalog.script.push({ kind: 'lost', landed: true });
    const result = await run();
    expect(result).toMatchObject({ status: 'committed', attempts: 1, orphaned: [] });
    expect(catalog.table.metadata.snapshots).toHaveLength(1);
  });

  it('tries again when a lost commit is not in the table', async () => {
    catalog.script.push({ kind: 'lost', landed: false });
    expect(await run()).toMatchObject({ status: 'committed', attempts: 2 });
    expect(catalog.table.metadata.snapshots).toHaveLength(1);
  });

  it('never calls the list of a landed attempt garbage', async () => {
    // The first attempt is lost, not yet visible, and lands while the second is on its way.
    catalog.script.push({ kind: 'lost', landed: false }, { kind: 'conflict' });
    let staged = 0;
    const result = await run(async (table) => {
      const change = await append(table);
      staged += 1;
      if (staged === 2 && catalog.requests[0] !== undefined) {
        const script = catalog.script.splice(0);
        await catalog.commitTable(catalog.requests[0]);
        catalog.script.push(...script);
      }
      return change;
    });
    expect(result.status).toBe('committed');
    if (result.status !== 'committed') return;
    const list = catalog.table.metadata.snapshots[0]?.manifestList;
    expect(list).toContain('-1-');
    expect(result.orphaned).not.toContain(list);
    expect(catalog.table.metadata.snapshots).toHaveLength(1);
  });

  it('says unknown, not conflict, when it must give up after a lost answer', async () => {
    catalog.script.push({ kind: 'lost', landed: false });
    for (let i = 0; i < 3; i += 1) catalog.script.push({ kind: 'conflict' });
    const result = await run();
    expect(result.status).toBe('unknown');
    if (result.status === 'unknown') expect(result.snapshotIds).toHaveLength(1);
  });

  it('says unknown when the table cannot be loaded to look', async () => {
    catalog.script.push({ kind: 'lost', landed: true });
    const load = catalog.loadTable.bind(catalog);
    let calls = 0;
    catalog.loadTable = () => {
      calls += 1;
      return calls === 1
        ? load()
        : Promise.reject(new IcebergError('unavailable', 'store.down', 'down'));
    };
    expect((await run()).status).toBe('unknown');
    // The first load, then one look and three more by default.
    expect(calls).toBe(5);
  });

  it('treats an unforeseen error of the catalog as an unknown outcome', async () => {
    const apply = catalog.commitTable.bind(catalog);
    catalog.commitTable = async (request) => {
      await apply(request);
      throw new Error('socket closed');
    };
    expect((await run()).status).toBe('committed');
    expect(catalog.table.metadata.snapshots).toHaveLength(1);
  });

  it('passes on a refusal', async () => {
    catalog.commitTable = () =>
      Promise.reject(new IcebergError('forbidden', 'catalog.forbidden', 'no'));
    await expect(run()).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('does nothing when the commit id is in the table already', async () => {
    const first = await run();
    const again = await run();
    expect(again).toMatchObject({
      status: 'committed',
      snapshotId: first.status === 'committed' ? first.snapshotId : null,
    });
    expect(catalog.requests).toHaveLength(1);
    expect(findCommit(catalog.table.metadata, 'c1')?.sequenceNumber).toBe(1n);
    expect(findCommit(catalog.table.metadata, 'c2')).toBeNull();
  });

  it('evolves a schema once, also when the answer is lost', async () => {
    catalog.script.push({ kind: 'lost', landed: true });
    const evolve: Operation = ({ metadata }) => {
      const change = evolveSchema(metadata, struct(['extra', 'double']));
      return Promise.resolve(change && { ...change, snapshotId: null, written: [] });
    };
    expect((await run(evolve, null)).status).toBe('committed');
    expect((await run(evolve, null)).status).toBe('unchanged');
    expect(catalog.table.metadata.schemas).toHaveLength(2);
    expect(catalog.table.metadata.currentSchemaId).toBe(1);
  });
});

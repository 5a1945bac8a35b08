import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { fromOutcome } from '../../src/table/protocol.ts';
import { liveDataFiles } from '../support/read-table.ts';
import { makeDataFile } from '../support/tables.ts';
import { lake, WorkerdTable } from '../support/workerd-table.ts';

const column = (name: string): { type: 'struct'; fields: { name: string; type: string }[] } => ({
  type: 'struct',
  fields: [{ name, type: 'long' }],
});

it('gives two callers that need the same new column one id (C031)', async () => {
  const table = new WorkerdTable('agree');
  const states = await Promise.all(
    ['a', 'a', 'b', 'a'].map((name) =>
      table.committer.ensureSchema(table.identifier, column(name), null),
    ),
  );
  const ids = new Map<string, Set<number>>();
  for (const outcome of states) {
    for (const { name, id } of fromOutcome(outcome).schema.fields) {
      ids.set(name, (ids.get(name) ?? new Set()).add(id));
    }
  }
  expect([...(ids.get('a') ?? [])]).toHaveLength(1);
  expect((await table.metadata()).schemas.at(-1)?.fields).toHaveLength(2);
});

it('lands 20 concurrent submissions in few snapshots, each file once', async () => {
  const table = new WorkerdTable('grouped');
  const { tableUuid } = fromOutcome(
    await table.committer.ensureSchema(table.identifier, column('a'), null),
  );
  const submit = (index: number): ReturnType<typeof table.committer.submit> =>
    table.committer.submit({
      identifier: table.identifier,
      flushId: `flush-${index}`,
      tableUuid,
      dataFiles: [makeDataFile(`s3://floe-lake/workerd.db/grouped/data/${index}.parquet`)],
      batchCount: 1,
    });
  const first = await Promise.all(Array.from({ length: 20 }, (_, index) => submit(index)));
  await evictDurableObject(table.committerStub);
  const second = await Promise.all(Array.from({ length: 20 }, (_, index) => submit(index)));
  expect(second.map(fromOutcome)).toEqual(first.map(fromOutcome));
  const metadata = await table.metadata();
  expect(metadata.snapshots.length).toBeLessThanOrEqual(6);
  const paths = (await liveDataFiles(lake, metadata)).map((file) => file.filePath);
  expect(paths).toHaveLength(20);
  expect(new Set(paths).size).toBe(20);
});

it('finishes by the alarm what was in the journal when the object died', async () => {
  const table = new WorkerdTable('resumed');
  const { tableUuid } = fromOutcome(
    await table.committer.ensureSchema(table.identifier, column('a'), null),
  );
  const request = {
    identifier: table.identifier,
    flushId: 'flush-1',
    tableUuid,
    dataFiles: [makeDataFile('s3://floe-lake/workerd.db/resumed/data/1.parquet')],
    batchCount: 1,
  };
  const first = fromOutcome(await table.committer.submit(request));
  // As if the object had died after the commit landed and before it noted so.
  await runInDurableObject(table.committerStub, (_committer, { storage }) => {
    const [row] = storage.sql.exec('SELECT commit_id FROM submissions').toArray();
    storage.sql.exec('INSERT INTO intents VALUES (?, ?)', row?.['commit_id'], tableUuid);
    storage.sql.exec('UPDATE submissions SET snapshot_id = NULL, finished_at_ms = NULL');
  });
  await evictDurableObject(table.committerStub);
  expect(await runDurableObjectAlarm(table.committerStub)).toBe(true);
  expect(fromOutcome(await table.committer.submit(request))).toEqual(first);
  expect((await table.metadata()).snapshots).toHaveLength(1);
});

it('drops the table with its objects and what its shard holds', async () => {
  const table = new WorkerdTable('dropped');
  fromOutcome(await table.shard.acceptBatch(table.header(), [await table.slice([{ id: 1 }])]));
  fromOutcome(await table.shard.flush(table.identifier));
  fromOutcome(await table.shard.acceptBatch(table.header(), [await table.slice([{ id: 2 }])]));
  fromOutcome(await table.committer.dropTable(table.identifier));
  expect(fromOutcome(await table.committer.loadTable(table.identifier))).toBeNull();
  expect(fromOutcome(await table.shard.pending())).toMatchObject({ rowsPending: 0 });
  const keys: string[] = [];
  for await (const { key } of lake.list('workerd.db/dropped/')) keys.push(key);
  expect(keys).toEqual([]);
});

it('answers nothing for a table that does not exist', async () => {
  const table = new WorkerdTable('missing');
  expect(fromOutcome(await table.committer.tableState(table.identifier))).toBeNull();
  expect(fromOutcome(await table.committer.loadTable(table.identifier))).toBeNull();
  expect(fromOutcome(await table.committer.writeTarget(table.identifier))).toBeNull();
});

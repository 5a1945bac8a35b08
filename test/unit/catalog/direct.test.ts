import { describe, expect, it } from 'vitest';
import { DirectCatalog } from '../../../src/catalog/direct.ts';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import type {
  CommitOutcome,
  LoadedTable,
  ObjectStore,
  PutOptions,
  PutOutcome,
} from '../../../src/iceberg/ports.ts';
import { parseTableMetadata } from '../../../src/iceberg/spec/table-metadata-json.ts';
import { MemoryObjectStore } from '../../../src/object-store/memory.ts';
import { describeCatalog } from '../../conformance/catalog.suite.ts';
import { FaultyObjectStore, storeUnavailable } from '../../support/faulty-object-store.ts';
import { Faults, type FaultTiming } from '../../support/faults.ts';
import { ManualClock, settle, SkippingClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { makeTable } from '../../support/tables.ts';

const IDENTIFIER = { namespace: ['sales'], name: 'orders' };
const METADATA = 'sales.db/orders/metadata/';
const HINT = `${METADATA}version-hint.text`;

function setUp(): {
  clock: SkippingClock;
  objects: MemoryObjectStore;
  catalogOn: (store: ObjectStore) => DirectCatalog;
  catalog: DirectCatalog;
  create: (properties?: Record<string, string>) => Promise<LoadedTable>;
  commit: (catalog: DirectCatalog, key: string) => Promise<CommitOutcome>;
} {
  const clock = new SkippingClock();
  const objects = new MemoryObjectStore('s3://lake', clock);
  const catalogOn = (store: ObjectStore): DirectCatalog =>
    new DirectCatalog({ store, clock, logger: new RecordingLogger() });
  const catalog = catalogOn(objects);
  return {
    clock,
    objects,
    catalogOn,
    catalog,
    create: (properties = {}) =>
      catalog.createTable(
        IDENTIFIER,
        makeTable(new SeededRandom(3), catalog.newTableLocation(IDENTIFIER), properties),
      ),
    commit: (on, key) => {
      clock.jump(2000);
      return on.commitTable({
        identifier: IDENTIFIER,
        requirements: [],
        updates: [{ action: 'set-properties', updates: new Map([[key, 'yes']]) }],
      });
    },
  };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array | null): string => new TextDecoder().decode(bytes ?? undefined);

async function keys(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key.slice(prefix.length));
  return found;
}

const shared = new MemoryObjectStore('s3://lake', { nowMs: () => 1_700_000_000_000 });
describeCatalog(
  'direct',
  () =>
    new DirectCatalog({
      store: shared,
      clock: new SkippingClock(),
      logger: new RecordingLogger(),
    }),
);

describe('layout', () => {
  it('keeps versions and the hint where readers without a catalog look', async () => {
    const { catalog, objects, create, commit } = setUp();
    await create();
    await commit(catalog, 'a');
    expect(await keys(objects, METADATA)).toEqual([
      'v1.metadata.json',
      'v2.metadata.json',
      'version-hint.text',
    ]);
    expect(decode(await objects.get(HINT))).toBe('2');
    const table = await catalog.loadTable(IDENTIFIER);
    expect(table.metadataLocation).toBe(`s3://lake/${METADATA}v2.metadata.json`);
    expect(table.metadata.location).toBe('s3://lake/sales.db/orders');
  });

  it('writes and reads compressed metadata when the table asks for it', async () => {
    const { catalog, catalogOn, objects, create, commit } = setUp();
    await create({ 'write.metadata.compression-codec': 'gzip' });
    await commit(catalog, 'a');
    expect(await keys(objects, `${METADATA}v`)).toEqual([
      '1.gz.metadata.json',
      '2.gz.metadata.json',
      'ersion-hint.text',
    ]);
    const table = await catalogOn(objects).loadTable(IDENTIFIER);
    expect(table.metadata.properties.get('a')).toBe('yes');
  });

  it('reports damaged metadata as corrupt', async () => {
    const { catalogOn, objects, create } = setUp();
    await create();
    await objects.put(`${METADATA}v2.metadata.json`, encode('{"format-version": 2'));
    await expect(catalogOn(objects).loadTable(IDENTIFIER)).rejects.toMatchObject({
      kind: 'corrupt',
    });
  });
});

describe('the version hint is never trusted (C087)', () => {
  it.each([
    ['is stale', '1'],
    ['is ahead', '99'],
    ['is garbage', 'v3; DROP'],
    ['is empty', ''],
    ['is missing', null],
  ])('when it %s', async (_name, hint) => {
    const { catalog, catalogOn, objects, create, commit } = setUp();
    await create();
    await commit(catalog, 'a');
    await commit(catalog, 'b');
    if (hint === null) await objects.delete([HINT]);
    else await objects.put(HINT, encode(hint));
    const fresh = catalogOn(objects);
    const table = await fresh.loadTable(IDENTIFIER);
    expect(table.metadataLocation).toContain('v3.metadata.json');
    const outcome = await commit(fresh, 'c');
    if (outcome.status !== 'committed') throw new Error(`Unexpected ${outcome.status}`);
    expect(outcome.table.metadataLocation).toContain('v4.metadata.json');
    expect([...outcome.table.metadata.properties.keys()]).toEqual(
      expect.arrayContaining(['a', 'b', 'c']),
    );
  });

  it('is written at most once a second, and then with the last number', async () => {
    const clock = new ManualClock();
    const objects = new MemoryObjectStore('s3://lake', clock);
    const catalog = new DirectCatalog({ store: objects, clock, logger: new RecordingLogger() });
    await catalog.createTable(
      IDENTIFIER,
      makeTable(new SeededRandom(3), catalog.newTableLocation(IDENTIFIER)),
    );
    for (const key of ['a', 'b', 'c']) {
      await catalog.commitTable({
        identifier: IDENTIFIER,
        requirements: [],
        updates: [{ action: 'set-properties', updates: new Map([[key, 'yes']]) }],
      });
    }
    expect(decode(await objects.get(HINT))).toBe('1');
    await clock.advance(1000);
    await settle();
    expect(decode(await objects.get(HINT))).toBe('4');
  });

  it('may fail without failing the commit', async () => {
    const { objects, catalogOn, create, commit } = setUp();
    await create();
    const catalog = catalogOn(
      storeWithPut(objects, async (key, bytes, options) => {
        if (key === HINT) throw storeUnavailable('hint');
        return await objects.put(key, bytes, options);
      }),
    );
    expect((await commit(catalog, 'a')).status).toBe('committed');
    expect((await catalogOn(objects).loadTable(IDENTIFIER)).metadataLocation).toContain('v2.');
  });
});

describe('the outcome of a put (C086)', () => {
  const V2 = `${METADATA}v2.metadata.json`;

  it('repeats a put that was refused for the moment', async () => {
    const { objects, catalogOn, create, commit } = setUp();
    await create();
    let refusals = 2;
    const catalog = catalogOn(
      storeWithPut(objects, async (key, bytes, options) => {
        if (key === V2 && refusals > 0) {
          refusals -= 1;
          throw storeUnavailable('conditional request conflict');
        }
        return await objects.put(key, bytes, options);
      }),
    );
    expect((await commit(catalog, 'a')).status).toBe('committed');
  });

  it('recognises its own bytes after a put whose answer was lost', async () => {
    const { objects, catalogOn, create, commit } = setUp();
    await create();
    let isLost = true;
    const catalog = catalogOn(
      storeWithPut(objects, async (key, bytes, options) => {
        const outcome = await objects.put(key, bytes, options);
        if (key === V2 && isLost) {
          isLost = false;
          throw storeUnavailable('answer lost');
        }
        return outcome;
      }),
    );
    const outcome = await commit(catalog, 'a');
    expect(outcome.status).toBe('committed');
    expect(await keys(objects, `${METADATA}v`)).toEqual([
      '1.metadata.json',
      '2.metadata.json',
      'ersion-hint.text',
    ]);
  });

  it('is a conflict when the bytes are those of another writer', async () => {
    const { objects, catalogOn, catalog: other, create, commit } = setUp();
    await create();
    let isLost = true;
    const catalog = catalogOn(
      storeWithPut(objects, async (key, bytes, options) => {
        if (key === V2 && isLost) {
          isLost = false;
          await commit(other, 'other');
          throw storeUnavailable('answer lost');
        }
        return await objects.put(key, bytes, options);
      }),
    );
    expect((await commit(catalog, 'mine')).status).toBe('conflict');
    const { metadata } = await catalogOn(objects).loadTable(IDENTIFIER);
    expect(metadata.properties.get('other')).toBe('yes');
    expect(metadata.properties.get('mine')).toBeUndefined();
  });

  it('is unknown when the store does not come back', async () => {
    const { objects, catalogOn, create, commit } = setUp();
    await create();
    const catalog = catalogOn(
      storeWithPut(objects, async (key, bytes, options) => {
        await objects.put(key, bytes, options);
        throw storeUnavailable('answer lost');
      }),
    );
    expect((await commit(catalog, 'a')).status).toBe('unknown');
    const { metadata } = await catalog.loadTable(IDENTIFIER);
    expect(metadata.properties.get('a')).toBe('yes');
  });

  it('is an error, and no unknown outcome, when the first put was refused for good', async () => {
    const { objects, catalogOn, create, commit } = setUp();
    await create();
    const catalog = catalogOn(
      storeWithPut(objects, () =>
        Promise.reject(new IcebergError('forbidden', 'store.put-failed', 'Access denied')),
      ),
    );
    await expect(commit(catalog, 'a')).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('the metadata log (C082)', () => {
  it('stays bounded, and what leaves it is deleted only when the table asks for that', async () => {
    for (const isDeleted of [true, false]) {
      const { objects, catalog, catalogOn, create, commit } = setUp();
      await create({
        'write.metadata.previous-versions-max': '5',
        'write.metadata.delete-after-commit.enabled': String(isDeleted),
      });
      for (let index = 0; index < 30; index += 1) await commit(catalog, `p${index}`);
      const { metadata } = await catalogOn(objects).loadTable(IDENTIFIER);
      expect(metadata.metadataLog).toHaveLength(5);
      const files = (await keys(objects, `${METADATA}v`)).filter((key) => key.endsWith('.json'));
      expect(files).toHaveLength(isDeleted ? 6 : 31);
      for (const { metadataFile } of metadata.metadataLog) {
        expect(await objects.head(metadataFile.slice('s3://lake/'.length))).not.toBeNull();
      }
    }
  });

  it('loses nothing when a commit loses the race', async () => {
    const { objects, catalogOn, catalog: other, create, commit } = setUp();
    await create({
      'write.metadata.previous-versions-max': '2',
      'write.metadata.delete-after-commit.enabled': 'true',
    });
    for (const key of ['a', 'b', 'c']) await commit(other, key);
    const before = await keys(objects, METADATA);
    const loser = catalogOn(
      storeWithPut(objects, () => Promise.resolve({ status: 'condition-failed' })),
    );
    expect((await commit(loser, 'd')).status).toBe('conflict');
    expect(await keys(objects, METADATA)).toEqual(before);
  });

  it('keeps time ascending although the clock was set back (C079)', async () => {
    const { catalog, clock, create, commit } = setUp();
    await create();
    await commit(catalog, 'a');
    clock.jump(-3_600_000);
    await commit(catalog, 'b');
    const { metadata } = await catalog.loadTable(IDENTIFIER);
    const times = [
      ...metadata.metadataLog.map((entry) => entry.timestampMs),
      metadata.lastUpdatedMs,
    ];
    expect(times).toEqual(times.toSorted((left, right) => left - right));
  });
});

describe('dropping', () => {
  it('leaves nothing behind with purge, and only data without', async () => {
    for (const purge of [true, false]) {
      const { objects, catalog, create, commit } = setUp();
      await create();
      await commit(catalog, 'a');
      await objects.put('sales.db/orders/data/x.parquet', encode('x'));
      await objects.put('sales.db/orders_archive/metadata/v1.metadata.json', encode('x'));
      await catalog.dropTable(IDENTIFIER, { purge });
      expect(await keys(objects, 'sales.db/orders/')).toEqual(purge ? [] : ['data/x.parquet']);
      expect(await keys(objects, 'sales.db/orders_archive/')).toHaveLength(1);
    }
  });

  it('refuses to purge where gc.enabled=false forbids it', async () => {
    const { catalog, create } = setUp();
    await create({ 'gc.enabled': 'false' });
    await expect(catalog.dropTable(IDENTIFIER, { purge: true })).rejects.toMatchObject({
      code: 'table.gc-disabled',
    });
    expect((await catalog.loadTable(IDENTIFIER)).metadata).toBeDefined();
  });

  it.each(['before', 'after'] as const)(
    'shows the whole table or none, and can be repeated, when call n fails %s its effect',
    async (timing: FaultTiming) => {
      for (let at = 1; at <= 30; at += 1) {
        const { objects, catalog, catalogOn, create, commit } = setUp();
        await create();
        await commit(catalog, 'a');
        await commit(catalog, 'b');
        await objects.put('sales.db/orders/data/x.parquet', encode('x'));
        const faults = new Faults(at, timing, () => undefined, storeUnavailable);
        const failing = catalogOn(new FaultyObjectStore(objects, faults));
        await failing.dropTable(IDENTIFIER, { purge: true }).catch(() => undefined);
        const seen = await catalogOn(objects)
          .loadTable(IDENTIFIER)
          .then(({ metadata }) => metadata.properties.get('b'))
          .catch((error: unknown) => error);
        if (seen !== 'yes') expect(seen).toMatchObject({ code: 'table.not-found' });
        await catalogOn(objects).dropTable(IDENTIFIER, { purge: true });
        expect(await keys(objects, 'sales.db/')).toEqual([]);
      }
    },
  );
});

it('serves no stale table after another process dropped and made it again', async () => {
  const { objects, catalog, catalogOn, create } = setUp();
  const first = await create();
  const other = catalogOn(objects);
  await other.dropTable(IDENTIFIER, { purge: true });
  await other.createTable(
    IDENTIFIER,
    makeTable(new SeededRandom(99), other.newTableLocation(IDENTIFIER)),
  );
  const { metadata } = await catalog.loadTable(IDENTIFIER);
  expect(metadata.tableUuid).not.toBe(first.metadata.tableUuid);
});

it('writes metadata that parses back to what was committed, ids exact', async () => {
  const { objects, create } = setUp();
  const created = await create();
  const text = decode(await objects.get(`${METADATA}v1.metadata.json`));
  expect(parseTableMetadata(text)).toEqual(created.metadata);
});

function storeWithPut(
  store: ObjectStore,
  put: (key: string, bytes: Uint8Array, options?: PutOptions) => Promise<PutOutcome>,
): ObjectStore {
  return {
    baseUri: store.baseUri,
    get: (key) => store.get(key),
    getRange: (key, offset, length) => store.getRange(key, offset, length),
    head: (key) => store.head(key),
    put,
    delete: (deleted) => store.delete(deleted),
    list: (prefix) => store.list(prefix),
    listPrefixes: (prefix) => store.listPrefixes(prefix),
  };
}

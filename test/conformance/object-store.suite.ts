/** What every object store must do, whatever it stands on. One short file per store runs it. */

import { describe, expect, it } from 'vitest';
import type { ObjectStat, ObjectStore } from '../../src/iceberg/ports.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : new TextDecoder().decode(bytes);

export interface ObjectStoreSuiteOptions {
  /** How many objects the paging test makes; more than a page of the store. */
  readonly pagingObjects: number;
}

export function describeObjectStore(
  name: string,
  makeStore: () => ObjectStore,
  options: ObjectStoreSuiteOptions,
): void {
  /** A folder per test: the storage may be shared. */
  let folder = 0;
  const setUp = (): { store: ObjectStore; key: (rest: string) => string } => {
    folder += 1;
    const prefix = `conformance-${folder}/`;
    return { store: makeStore(), key: (rest) => `${prefix}${rest}` };
  };

  describe(`object store: ${name}`, () => {
    it('gives back what was put, whole and by range', async () => {
      const { store, key } = setUp();
      await store.put(key('a'), bytesOf('hello world'));
      expect(textOf(await store.get(key('a')))).toBe('hello world');
      expect(textOf(await store.getRange(key('a'), 6, 5))).toBe('world');
      expect(textOf(await store.getRange(key('a'), 6, 100))).toBe('world');
    });

    it('answers null for what is not there', async () => {
      const { store, key } = setUp();
      expect(await store.get(key('none'))).toBeNull();
      expect(await store.getRange(key('none'), 0, 1)).toBeNull();
      expect(await store.head(key('none'))).toBeNull();
    });

    it('keeps an empty object apart from no object', async () => {
      const { store, key } = setUp();
      await store.put(key('empty'), new Uint8Array(0));
      expect((await store.get(key('empty')))?.byteLength).toBe(0);
      expect((await store.head(key('empty')))?.size).toBe(0);
    });

    it('is not changed by a later write to the buffer that was put', async () => {
      const { store, key } = setUp();
      const bytes = bytesOf('before');
      await store.put(key('a'), bytes);
      bytes.fill(0);
      expect(textOf(await store.get(key('a')))).toBe('before');
    });

    it('tells size, time and a bare etag (C111)', async () => {
      const { store, key } = setUp();
      const outcome = await store.put(key('a'), bytesOf('hello'));
      const stat = await store.head(key('a'));
      expect(stat?.size).toBe(5);
      expect(stat?.key).toBe(key('a'));
      expect(stat?.lastModifiedMs).toBeGreaterThanOrEqual(0);
      expect(outcome).toEqual({ status: 'stored', etag: stat?.etag });
      expect(stat?.etag).not.toMatch(/^W\/|"/);
    });

    it('overwrites without a condition', async () => {
      const { store, key } = setUp();
      await store.put(key('a'), bytesOf('one'));
      await store.put(key('a'), bytesOf('two'));
      expect(textOf(await store.get(key('a')))).toBe('two');
    });

    it('creates only what is absent, and leaves the first content alone (C109)', async () => {
      const { store, key } = setUp();
      const first = await store.put(key('a'), bytesOf('first'), { condition: 'absent' });
      const second = await store.put(key('a'), bytesOf('second'), { condition: 'absent' });
      expect(first.status).toBe('stored');
      expect(second).toEqual({ status: 'condition-failed' });
      expect(textOf(await store.get(key('a')))).toBe('first');
    });

    it('lets exactly one of many concurrent creators win (C110)', async () => {
      const { store, key } = setUp();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          store.put(key('race'), bytesOf(`writer ${index}`), { condition: 'absent' }),
        ),
      );
      const winners = outcomes.flatMap((outcome, index) =>
        outcome.status === 'stored' ? [index] : [],
      );
      expect(winners).toHaveLength(1);
      expect(textOf(await store.get(key('race')))).toBe(`writer ${winners[0]}`);
    });

    it('swaps a known version once, and not a second time (C111)', async () => {
      const { store, key } = setUp();
      const created = await store.put(key('a'), bytesOf('one'));
      if (created.status !== 'stored') throw new Error('The first put must store');
      const condition = { etag: created.etag };
      expect((await store.put(key('a'), bytesOf('two'), { condition })).status).toBe('stored');
      expect((await store.put(key('a'), bytesOf('three'), { condition })).status).toBe(
        'condition-failed',
      );
      expect(textOf(await store.get(key('a')))).toBe('two');
    });

    it('does not swap what does not exist', async () => {
      const { store, key } = setUp();
      const outcome = await store.put(key('none'), bytesOf('x'), { condition: { etag: 'abc' } });
      expect(outcome.status).toBe('condition-failed');
      expect(await store.get(key('none'))).toBeNull();
    });

    it('lists by prefix, in key order, beyond a page (C114)', async () => {
      const { store, key } = setUp();
      const names = Array.from({ length: options.pagingObjects }, (_, index) =>
        key(`many/${String(index).padStart(6, '0')}`),
      );
      await inParallel(names, (name) => store.put(name, bytesOf('x')));
      await store.put(key('many-other'), bytesOf('x'));
      const listed = await collect(store.list(key('many/')));
      expect(listed.map((stat) => stat.key)).toEqual(names);
      expect(listed[0]?.size).toBe(1);
    });

    it('deletes any number of keys, with odd characters, and what is not there (C116)', async () => {
      const { store, key } = setUp();
      const names = Array.from({ length: options.pagingObjects }, (_, index) =>
        key(`gone/a&b<c> ${index} ü`),
      );
      await inParallel(names, (name) => store.put(name, bytesOf('x')));
      await store.delete([...names, key('gone/never-existed')]);
      await store.delete([]);
      expect(await collect(store.list(key('gone/')))).toEqual([]);
    });

    it('lists the next segments below a prefix, each once', async () => {
      const { store, key } = setUp();
      for (const rest of ['a.db/t1/x', 'a.db/t1/y', 'a.db/t2/x', 'b.db/t/x', 'file']) {
        await store.put(key(rest), bytesOf('x'));
      }
      expect(await store.listPrefixes(key(''))).toEqual(['a.db', 'b.db']);
      expect(await store.listPrefixes(key('a.db/'))).toEqual(['t1', 't2']);
      expect(await store.listPrefixes(key('a.db/t1/'))).toEqual([]);
    });
  });
}

async function collect(listing: AsyncIterable<ObjectStat>): Promise<ObjectStat[]> {
  const stats: ObjectStat[] = [];
  for await (const stat of listing) stats.push(stat);
  return stats;
}

async function inParallel<T>(
  items: readonly T[],
  action: (item: T) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += 50) {
    await Promise.all(items.slice(start, start + 50).map(action));
  }
}

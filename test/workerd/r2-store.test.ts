import { env } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { DirectCatalog } from '../../src/catalog/direct.ts';
import { R2ObjectStore } from '../../src/object-store/r2.ts';
import type { Env } from '../../src/worker/config.ts';
import { workerClock } from '../../src/worker/platform.ts';
import { describeCatalog } from '../conformance/catalog.suite.ts';
import { describeObjectStore } from '../conformance/object-store.suite.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const { LAKE } = env as unknown as Env;
const store = new R2ObjectStore(LAKE, 'floe-lake');

describeObjectStore('R2', () => store, { pagingObjects: 1100 });

describeCatalog(
  'direct on R2',
  () => new DirectCatalog({ store, clock: workerClock, logger: new RecordingLogger() }),
);

it('stores bytes with the length they have, as a data file says it (C113)', async () => {
  const buffer = new Uint8Array(100).fill(7);
  await store.put('length/view', buffer.subarray(10, 20));
  expect((await store.head('length/view'))?.size).toBe(10);
});

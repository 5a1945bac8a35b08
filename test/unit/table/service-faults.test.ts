/**
 * The shard, the committer and the direct catalog together: the n-th call anywhere fails, for every
 * n, before or after its effect, and both objects live on or die. Every acknowledged row is in the
 * table exactly once in the end, and `received = committed + pending` at all times.
 */

import { describe, expect, it } from 'vitest';
import { storeUnavailable } from '../../support/faulty-object-store.ts';
import { answering, Faults, type FaultTiming } from '../../support/faults.ts';
import { ServiceHarness } from '../../support/service-harness.ts';
import { IDENTIFIER } from '../../support/shard-harness.ts';
import { ORDERS_SCHEMA } from '../../support/tables.ts';

async function run(at: number | null, timing: FaultTiming, isCrash: boolean): Promise<number> {
  let onFault = (): void => undefined;
  const faults = new Faults(at, timing, () => onFault(), storeUnavailable);
  const harness = new ServiceHarness(faults);
  if (isCrash) onFault = (): void => harness.kill();
  const untilAnswered = answering(() => isCrash && harness.restart());
  const { tableUuid } = await untilAnswered(() =>
    harness.committer.ensureSchema(IDENTIFIER, ORDERS_SCHEMA),
  );
  const acknowledged: number[] = [];
  const accept = async (key: string, rows: readonly number[]): Promise<void> => {
    let attempt = 0;
    await untilAnswered(() => {
      attempt += 1;
      return harness.shard.accept(harness.header(`${key}-${attempt}`, key), [
        harness.slice(tableUuid, rows),
      ]);
    });
    acknowledged.push(...rows);
  };
  await accept('a', [1, 2]);
  await accept('b', [3]);
  await untilAnswered(() => harness.shard.flush(IDENTIFIER));
  expect(await harness.tableRows()).toEqual([1, 2, 3]);
  await accept('c', [4]);
  await harness.shard.flush(IDENTIFIER).catch(() => (isCrash ? harness.restart() : undefined));
  await accept('d', [5]);
  const { rowsPending } = await harness.shard.status();
  const visible = (await harness.tableRows()).length;
  // A commit the shard has not been told of yet counts as pending, too: never less than the truth.
  expect(visible + rowsPending).toBeGreaterThanOrEqual(acknowledged.length);
  await harness.runAlarms();
  expect(await harness.tableRows()).toEqual(acknowledged);
  expect(await harness.shard.status()).toMatchObject({ rowsPending: 0, bytesPending: 0 });
  // No file is left that the table does not use.
  expect(await harness.dataKeys()).toEqual(await harness.liveKeys());
  return faults.calls;
}

it('commits everything when nothing fails', async () => {
  expect(await run(null, 'before', false)).toBeGreaterThan(60);
});

describe.each([
  ['both objects survive', false],
  ['both objects die', true],
])('%s', (_name, isCrash) => {
  it.each(['before', 'after'] as const)(
    'every acknowledged row is committed exactly once when call n fails %s its effect',
    { timeout: 60_000 },
    async (timing) => {
      const calls = await run(null, 'before', false);
      for (let at = 1; at <= calls; at += 1) {
        await run(at, timing, isCrash).catch((error: unknown) => {
          throw new Error(`With the fault at call ${at}`, { cause: error });
        });
      }
    },
  );
});

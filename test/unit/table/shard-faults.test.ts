/**
 * Fails the n-th outside call of a run, for every n: a call to the store or the committer, or a
 * transaction of the object's own storage. Each failure comes before or after the call took effect,
 * and the object survives it or dies of it. Whatever happens: acknowledged rows are committed exactly
 * once, unsealed rows never, and receipts tell the truth.
 */

import { describe, expect, it } from 'vitest';
import type { BatchReceipt } from '../../../src/table/protocol.ts';
import { answering, Faults, type FaultTiming } from '../../support/faults.ts';
import { IDENTIFIER, ShardHarness } from '../../support/shard-harness.ts';

interface Run {
  readonly harness: ShardHarness;
  readonly faults: Faults;
  readonly receipts: BatchReceipt[];
}

/** What clients do, each call repeated with its key until it is answered. */
async function run(at: number | null, timing: FaultTiming, isCrash: boolean): Promise<Run> {
  let onFault = (): void => undefined;
  const faults = new Faults(at, timing, () => onFault());
  const harness = new ShardHarness({ faults, settings: { fileBytesMax: 8, flushBytes: 60 } });
  if (isCrash) onFault = (): void => harness.kill();

  const digest = 'd'.repeat(64);
  const untilAnswered = answering(() => isCrash && harness.restart());
  const receipts: BatchReceipt[] = [];
  const accept = async (batch: string, rows: readonly number[]): Promise<void> => {
    let attempt = 0;
    receipts.push(
      await untilAnswered(async () => {
        attempt += 1;
        return await harness.shard.accept(harness.header(`${batch}-${attempt}`, batch, digest), [
          harness.slice(rows),
        ]);
      }),
    );
  };

  await accept('a', [1, 2]);
  await accept('b', [3]);
  // A body that is received in parts; its client starts over with a new batch and the same key.
  let attempt = 0;
  receipts.push(
    await untilAnswered(async () => {
      attempt += 1;
      const header = harness.header(`streamed-${attempt}`, `streamed-${attempt}`);
      await harness.shard.begin(header);
      await harness.shard.append(header.batchId, harness.slice([1000 + attempt * 10]));
      await harness.shard.append(header.batchId, harness.slice([1001 + attempt * 10]));
      return await harness.shard.seal(header.batchId, digest);
    }),
  );
  await untilAnswered(async () => await harness.shard.flush(IDENTIFIER));
  // Received in part and never sealed.
  await harness.shard.begin(harness.header('unsealed')).catch(() => harness.restart());
  await harness.shard
    .append(harness.header('unsealed').batchId, harness.slice([-1]))
    .catch(() => (isCrash ? harness.restart() : undefined));
  await accept('c', [4, 5]);
  await harness.runAlarms();
  return { harness, faults, receipts };
}

async function check({ harness, receipts }: Run): Promise<void> {
  const rows = (await harness.committedRows()).map(Number).toSorted((a, b) => a - b);
  expect(rows.filter((row) => row < 1000)).toEqual([1, 2, 3, 4, 5]);
  // A streamed attempt that was sealed but not answered counts, too: it is there whole or not at all.
  const streamed = rows.filter((row) => row >= 1000);
  for (const row of streamed) {
    expect(
      streamed.filter((other) => Math.floor(other / 10) === Math.floor(row / 10)),
    ).toHaveLength(2);
  }
  for (const receipt of receipts) {
    const now = await harness.shard.receipt(receipt.batchId);
    expect(now).toMatchObject({ state: 'committed' });
    expect(now?.snapshotId).not.toBeNull();
  }
  expect(await harness.shard.status()).toMatchObject({
    rowsPending: 0,
    batchesPending: 0,
    bytesPending: 0,
  });
  // Nothing half-written is left behind, and nothing committed is missing.
  expect((await harness.objectKeys()).toSorted()).toEqual(harness.committedKeys().toSorted());
}

const total = (await run(null, 'before', false)).faults.calls;

describe.each([
  ['the object survives', false],
  ['the object dies', true],
])('%s', (_name, isCrash) => {
  describe.each(['before', 'after'] as const)('a fault %s the effect', (timing) => {
    it.each(Array.from({ length: total }, (_, index) => index + 1))('of call %i', async (at) => {
      const result = await run(at, timing, isCrash);
      await check(result);
    });
  });
});

it('commits everything when nothing fails', async () => {
  await check(await run(null, 'before', false));
});

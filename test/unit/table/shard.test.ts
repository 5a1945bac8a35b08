import { describe, expect, it } from 'vitest';
import type { RejectedRow } from '../../../src/columnar/kernel-port.ts';
import { ManualClock, settle } from '../../support/manual-clock.ts';
import { IDENTIFIER, ShardHarness } from '../../support/shard-harness.ts';

const REJECTED: RejectedRow = {
  row: 1,
  column: 'n',
  code: 'value.type-mismatch',
  message: 'Expected a long',
  raw: '{"n":"x"}',
};

const digest = (letter: string): string => letter.repeat(64);

describe('acceptance', () => {
  it('answers durable, and flushes by age through the alarm', async () => {
    const harness = new ShardHarness();
    const receipt = await harness.shard.accept(harness.header('a'), [harness.slice([1, 2])]);
    expect(receipt).toMatchObject({ state: 'durable', rowsAccepted: 2, snapshotId: null });
    expect(harness.alarm.atMs).toBe(harness.clock.nowMs() + harness.settings.flushAgeMs);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([1, 2]);
    const after = await harness.shard.receipt(receipt.batchId);
    expect(after).toMatchObject({ state: 'committed', snapshotId: 9_007_199_254_740_993n });
    expect(await harness.shard.status()).toMatchObject({ rowsPending: 0, bytesPending: 0 });
  });

  it('rings at once when the bytes for a flush are together', async () => {
    const harness = new ShardHarness({ settings: { flushBytes: 10 } });
    await harness.shard.accept(harness.header('a'), [harness.slice([11_111_111])]);
    expect(harness.alarm.atMs).toBe(harness.clock.nowMs());
  });

  it('keeps a batch invisible until it is sealed', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    const header = harness.header('open');
    await shard.begin(header);
    await shard.append(header.batchId, harness.slice([1], { rejected: [REJECTED] }));
    expect(await shard.receipt(header.batchId)).toBeNull();
    expect(shard.listQuarantine(0, 10)).toMatchObject({ rows: [], total: 0 });
    expect(await shard.flush(IDENTIFIER)).toEqual({ rows: 0, files: 0, snapshotId: null });
    await shard.append(header.batchId, harness.slice([2]));
    await shard.seal(header.batchId, null);
    expect(shard.listQuarantine(0, 10).rows).toMatchObject([
      { ...REJECTED, batchId: header.batchId },
    ]);
    expect(await shard.flush(IDENTIFIER)).toMatchObject({ rows: 2, files: 1 });
    expect(await harness.committedRows()).toEqual([1, 2]);
  });

  it('drops an aborted batch, and one whose lease is over', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    await shard.begin(harness.header('a'));
    await shard.append(harness.header('a').batchId, harness.slice([1]));
    await shard.abort(harness.header('a').batchId);
    await shard.begin(harness.header('b', 'key-b'));
    await harness.runAlarms(harness.settings.batchLeaseMs + 60_000);
    for (const batch of ['a', 'b']) {
      await expect(
        shard.append(harness.header(batch).batchId, harness.slice([2])),
      ).rejects.toMatchObject({ kind: 'not-found', code: 'batch.not-open' });
    }
    expect(await shard.begin(harness.header('c', 'key-b'))).toEqual({ status: 'new' });
  });

  it('calls a batch without accepted rows committed: no snapshot will ever name it (C014)', async () => {
    const harness = new ShardHarness();
    const empty = await harness.shard.accept(harness.header('empty'), []);
    expect(empty).toMatchObject({ state: 'committed', snapshotId: null, rowsReceived: 0 });
    await harness.runAlarms();
    expect(harness.committer.submissions).toEqual([]);
  });

  it('stores a slice beyond the limit of a value in chunks and reads it back whole', async () => {
    const harness = new ShardHarness();
    const long = 'x'.repeat(5_000_000);
    await harness.shard.accept(harness.header('long'), [harness.slice([long])]);
    await harness.shard.flush(IDENTIFIER);
    expect(await harness.committedRows()).toEqual([long]);
  });

  it('cuts a flush into files of bounded size', async () => {
    const harness = new ShardHarness({ settings: { fileBytesMax: 8 } });
    await harness.shard.accept(harness.header('a'), [
      harness.slice([1_111_111]),
      harness.slice([2_222_222]),
    ]);
    expect(await harness.shard.flush(IDENTIFIER)).toMatchObject({ rows: 2, files: 2 });
  });
});

describe('the alarm', () => {
  it('is set for a batch that comes in while the handler is about to take the alarm away (C117)', async () => {
    const harness = new ShardHarness();
    await harness.shard.accept(harness.header('a'), [harness.slice([1])]);
    await harness.shard.flush(IDENTIFIER);
    const ringing = harness.shard.onAlarm();
    const accepting = harness.shard.accept(harness.header('b'), [harness.slice([2])]);
    await Promise.all([ringing, accepting]);
    expect(harness.alarm.atMs).toBeLessThanOrEqual(
      harness.clock.nowMs() + harness.settings.flushAgeMs,
    );
  });

  it('rings again soon after an outage, without any request, and never gives up (C118)', async () => {
    const harness = new ShardHarness();
    const slice = harness.slice([1]);
    harness.committer.tableUuid = null;
    await harness.shard.accept(harness.header('a'), [slice]);
    await harness.runAlarms(30 * 60_000);
    harness.committer.tableUuid = slice.tableUuid;
    await harness.runAlarms(harness.settings.retryDelayMsMax);
    expect(await harness.committedRows()).toEqual([1]);
  });

  it('is set again by any request when it is missing (C118)', async () => {
    const harness = new ShardHarness();
    await harness.shard.accept(harness.header('a'), [harness.slice([1])]);
    harness.alarm.atMs = null;
    await harness.shard.status();
    expect(harness.alarm.atMs).not.toBeNull();
  });
});

describe('a batch that cannot be encoded', () => {
  it('is set aside, durable and counted, while all others are committed', async () => {
    const harness = new ShardHarness();
    harness.kernel.poison = 13;
    for (const row of [10, 11, 12, 13, 14, 15, 16]) {
      await harness.shard.accept(harness.header(`b${row}`), [harness.slice([row])]);
    }
    await harness.runAlarms(10 * 60_000);
    expect(new Set(await harness.committedRows())).toEqual(new Set([10, 11, 12, 14, 15, 16]));
    expect(await harness.shard.status()).toMatchObject({ rowsPending: 1, batchesPending: 1 });
    expect(await harness.shard.receipt(harness.header('b13').batchId)).toMatchObject({
      state: 'durable',
    });
    const entries = harness.logger.entries.filter(({ event }) => event === 'flush.batch-parked');
    expect(entries).toMatchObject([{ level: 'error', fields: { rows: 1 } }]);
    // A later version of the kernel can do it.
    harness.kernel.poison = undefined;
    await harness.runAlarms(harness.settings.parkMs);
    expect(await harness.committedRows()).toContain(13);
    expect(await harness.shard.status()).toMatchObject({ rowsPending: 0, bytesPending: 0 });
  });
});

describe('bounds', () => {
  it('answers overloaded with a time to wait when the buffer is full, and takes rows again later', async () => {
    const harness = new ShardHarness({ settings: { pendingBytesMax: 30 } });
    const { shard } = harness;
    await shard.accept(harness.header('a'), [harness.slice([1_111_111_111])]);
    const refused = shard.accept(harness.header('b'), [harness.slice(['x'.repeat(40)])]);
    await expect(refused).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'shard.buffer-full',
      context: { retryAfterSeconds: 2 },
    });
    expect(await shard.receipt(harness.header('b').batchId)).toBeNull();
    await shard.flush(IDENTIFIER);
    await shard.accept(harness.header('c'), [harness.slice([3])]);
    await shard.flush(IDENTIFIER);
    expect(await harness.committedRows()).toEqual([1_111_111_111, 3]);
  });

  it('bounds waiting and open batches', async () => {
    const harness = new ShardHarness({ settings: { pendingBatchesMax: 1, openBatchesMax: 1 } });
    await harness.shard.begin(harness.header('open'));
    await expect(harness.shard.begin(harness.header('open-2'))).rejects.toMatchObject({
      code: 'shard.too-many-open-batches',
    });
    await harness.shard.append(harness.header('open').batchId, harness.slice([1]));
    await harness.shard.seal(harness.header('open').batchId, null);
    await expect(harness.shard.begin(harness.header('open-3'))).rejects.toMatchObject({
      code: 'shard.too-many-batches',
    });
  });

  it('refuses a batch whole when its rejected rows have no room in the quarantine', async () => {
    const harness = new ShardHarness({ settings: { quarantineRowsMax: 1 } });
    const slice = harness.slice([1], { rejected: [REJECTED] });
    await harness.shard.accept(harness.header('a'), [slice]);
    await expect(harness.shard.accept(harness.header('b'), [slice])).rejects.toMatchObject({
      code: 'quarantine.full',
    });
    await harness.shard.flush(IDENTIFIER);
    expect(await harness.committedRows()).toEqual([1]);
    expect(harness.shard.listQuarantine(0, 10).total).toBe(1);
  });

  it('pages through the quarantine', async () => {
    const harness = new ShardHarness();
    const rejected = Array.from({ length: 5 }, (_, row) => ({ ...REJECTED, row }));
    await harness.shard.accept(harness.header('a'), [harness.slice([], { rejected })]);
    const first = harness.shard.listQuarantine(0, 2);
    expect(first.rows.map(({ row }) => row)).toEqual([0, 1]);
    const second = harness.shard.listQuarantine(first.next ?? -1, 2);
    const third = harness.shard.listQuarantine(second.next ?? -1, 2);
    expect(third.rows.map(({ row }) => row)).toEqual([4]);
    expect([first.total, third.next]).toEqual([5, null]);
  });

  it('forgets receipts after their time, and with them the keys', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    await shard.accept(harness.header('a', 'key', digest('a')), [harness.slice([1])]);
    await harness.runAlarms(8 * 24 * 3_600_000);
    expect(await shard.receipt(harness.header('a').batchId)).toBeNull();
    await shard.accept(harness.header('b', 'key', digest('a')), [harness.slice([2])]);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([1, 2]);
  });
});

describe('idempotency keys (C089)', () => {
  it('answers the first receipt for the same key and bytes, in one call or streamed', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    const first = await shard.accept(harness.header('a', 'key', digest('a')), [harness.slice([1])]);
    expect(
      await shard.accept(harness.header('b', 'key', digest('a')), [harness.slice([1])]),
    ).toEqual(first);
    expect(await shard.begin(harness.header('c', 'key', digest('a')))).toEqual({
      status: 'repeated',
      receipt: first,
    });
    expect(await shard.begin(harness.header('d', 'key'))).toEqual({ status: 'new' });
    await shard.append(harness.header('d').batchId, harness.slice([1]));
    expect(await shard.seal(harness.header('d').batchId, digest('a'))).toEqual(first);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([1]);
  });

  it('refuses the same key with other bytes, and keeps nothing of them', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    await shard.accept(harness.header('a', 'key', digest('a')), [harness.slice([1])]);
    const other = shard.accept(harness.header('b', 'key', digest('b')), [harness.slice([2])]);
    await expect(other).rejects.toMatchObject({ kind: 'invalid', code: 'idempotency.key-reused' });
    await shard.begin(harness.header('c', 'key'));
    await shard.append(harness.header('c').batchId, harness.slice([3]));
    await expect(shard.seal(harness.header('c').batchId, digest('c'))).rejects.toMatchObject({
      code: 'idempotency.key-reused',
    });
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([1]);
  });

  it('tells that a request with the key is still being received', async () => {
    const harness = new ShardHarness();
    await harness.shard.begin(harness.header('a', 'key'));
    await expect(harness.shard.begin(harness.header('b', 'key'))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'idempotency.in-progress',
    });
    await harness.shard.abort(harness.header('a').batchId);
    expect(await harness.shard.begin(harness.header('c', 'key'))).toEqual({ status: 'new' });
  });

  it('keeps two keys with equal rows as two batches', async () => {
    const harness = new ShardHarness();
    await harness.shard.accept(harness.header('a', 'one', digest('a')), [harness.slice([1])]);
    await harness.shard.accept(harness.header('b', 'two', digest('a')), [harness.slice([1])]);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([1, 1]);
  });
});

describe('waiting for the commit', () => {
  it('lets many waiters share one flush', async () => {
    const clock = new ManualClock();
    const harness = new ShardHarness({ clock });
    const waits = [];
    for (const batch of ['a', 'b', 'c']) {
      const { batchId } = await harness.shard.accept(harness.header(batch), [
        harness.slice([batch]),
      ]);
      waits.push(harness.shard.waitCommitted(batchId, 10_000));
    }
    await settle();
    await clock.advance(harness.settings.flushLingerMs);
    const receipts = await Promise.all(waits);
    expect(receipts.map(({ state }) => state)).toEqual(['committed', 'committed', 'committed']);
    expect(harness.committer.submissions).toHaveLength(1);
  });

  it('answers the durable receipt when the time is over, and the rows still arrive', async () => {
    const harness = new ShardHarness();
    harness.committer.tableUuid = null;
    const { batchId } = await harness.shard.accept(harness.header('a'), [
      harness.slice([1], { tableUuid: '11111111-1111-4111-8111-111111111111' }),
    ]);
    expect(await harness.shard.waitCommitted(batchId, 1000)).toMatchObject({ state: 'durable' });
    harness.committer.tableUuid = '11111111-1111-4111-8111-111111111111';
    await harness.runAlarms();
    expect(await harness.shard.waitCommitted(batchId, 1000)).toMatchObject({ state: 'committed' });
    expect(await harness.committedRows()).toEqual([1]);
  });
});

describe('a table dropped and made again (C088)', () => {
  it('never puts rows accepted for the old table into the new one, and says so', async () => {
    const harness = new ShardHarness();
    const { shard } = harness;
    const old = await shard.accept(harness.header('old', 'key', digest('a')), [harness.slice([1])]);
    harness.committer.tableUuid = '22222222-2222-4222-8222-222222222222';
    await shard.accept(harness.header('new'), [harness.slice([2])]);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([2]);
    await expect(shard.receipt(old.batchId)).rejects.toMatchObject({
      kind: 'not-found',
      code: 'batch.discarded',
    });
    expect(await shard.status()).toMatchObject({ rowsPending: 0, rowsDiscarded: 1 });
    await shard.accept(harness.header('again', 'key', digest('a')), [harness.slice([3])]);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([2, 3]);
  });

  it('waits for a missing table before it counts as dropped', async () => {
    const harness = new ShardHarness();
    const slice = harness.slice([1]);
    harness.committer.tableUuid = null;
    const { batchId } = await harness.shard.accept(harness.header('a'), [slice]);
    await harness.runAlarms(30 * 60_000);
    expect(await harness.shard.receipt(batchId)).toMatchObject({ state: 'durable' });
    await harness.runAlarms(45 * 60_000);
    await expect(harness.shard.receipt(batchId)).rejects.toMatchObject({ code: 'batch.discarded' });
  });

  it('forgets everything on clear, and deletes what an interrupted flush wrote', async () => {
    const harness = new ShardHarness();
    await harness.shard.accept(harness.header('a', 'key', digest('a')), [harness.slice([1])]);
    const flushing = harness.shard.flush(IDENTIFIER);
    await Promise.resolve();
    await harness.shard.clear();
    await flushing;
    expect(await harness.shard.receipt(harness.header('a').batchId)).toBeNull();
    await harness.runAlarms();
    const orphans = (await harness.objectKeys()).filter(
      (key) => !harness.committedKeys().includes(key),
    );
    expect(orphans).toEqual([]);
    expect(await harness.shard.status()).toMatchObject({ rowsPending: 0, batchesPending: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import type { ReplayedRows } from '../../../src/table/protocol.ts';
import { storeUnavailable } from '../../support/faulty-object-store.ts';
import { Faults, type FaultTiming } from '../../support/faults.ts';
import { IDENTIFIER, ShardHarness } from '../../support/shard-harness.ts';

const REASON = { column: 'n', code: 'value.type-mismatch', message: 'expected long' };

/** Three rows of one batch in the quarantine, with the ids 1, 2 and 3. */
async function withQuarantine(harness: ShardHarness): Promise<ShardHarness> {
  const rejected = [0, 1, 2].map((row) => ({ row, ...REASON, raw: `{"n":"${row}"}` }));
  await harness.shard.accept(harness.header('first'), [
    harness.slice([], { rejected, rowsReceived: 3 }),
  ]);
  return harness;
}

/** Rows 1 and 3 are accepted now, row 2 is refused for another reason. */
function replayed(harness: ShardHarness): ReplayedRows {
  return {
    slices: [harness.slice([10, 30])],
    landed: [1, 3],
    refused: [{ id: 2, column: 'm', code: 'value.required', message: 'missing' }],
  };
}

describe('replay', () => {
  it('moves what landed into a batch, and gives the rest its new reason', async () => {
    const harness = await withQuarantine(new ShardHarness());
    const { shard } = harness;
    const result = await shard.replay(harness.header('again'), replayed(harness));
    expect(result).toMatchObject({
      rowsLanded: 2,
      rowsLeft: 1,
      receipt: { rowsReceived: 2, rowsAccepted: 2, rowsQuarantined: 0, state: 'durable' },
    });
    expect(shard.listQuarantine(0, 10).rows).toMatchObject([
      { id: 2, row: 1, column: 'm', code: 'value.required', raw: '{"n":"1"}' },
    ]);
    await harness.runAlarms();
    expect(await harness.committedRows()).toEqual([10, 30]);
  });

  it('makes no batch when nothing landed', async () => {
    const harness = await withQuarantine(new ShardHarness());
    const refused = [1, 2, 3].map((id) => ({ id, ...REASON }));
    const rows = { slices: [], landed: [], refused };
    expect(await harness.shard.replay(harness.header('again'), rows)).toEqual({
      receipt: null,
      rowsLanded: 0,
      rowsLeft: 3,
    });
  });

  it('does nothing at all when one of the rows is gone', async () => {
    const harness = await withQuarantine(new ShardHarness());
    const { shard } = harness;
    expect(shard.deleteQuarantined(3, 3)).toBe(1);
    await expect(shard.replay(harness.header('again'), replayed(harness))).rejects.toMatchObject({
      kind: 'conflict',
      code: 'quarantine.changed',
    });
    expect(shard.listQuarantine(0, 10).rows).toMatchObject([
      { id: 1, ...REASON },
      { id: 2, ...REASON },
    ]);
    await shard.flush(IDENTIFIER);
    expect(await harness.committedRows()).toEqual([]);
  });

  it('makes room in a full quarantine, and so does a deletion', async () => {
    const harness = await withQuarantine(new ShardHarness({ settings: { quarantineRowsMax: 3 } }));
    const more = harness.slice([], { rejected: [{ row: 0, ...REASON, raw: '{}' }] });
    const send = (batch: string) => harness.shard.accept(harness.header(batch), [more]);
    await expect(send('full')).rejects.toMatchObject({ code: 'quarantine.full' });
    await harness.shard.replay(harness.header('again'), replayed(harness));
    await send('b');
    await send('c');
    await expect(send('d')).rejects.toMatchObject({ code: 'quarantine.full' });
    expect(harness.shard.deleteQuarantined(1, 100)).toBe(3);
    await send('e');
  });

  it.each<[FaultTiming, string]>([
    ['before', 'survives'],
    ['after', 'survives'],
    ['before', 'dies'],
    ['after', 'dies'],
  ])('lands rows once when call n fails %s its effect and the object %s', async (timing, fate) => {
    for (let at = 1; at < 100; at += 1) {
      let onFault = (): void => undefined;
      const faults = new Faults(at, timing, () => onFault(), storeUnavailable);
      const harness = new ShardHarness({ faults });
      if (fate === 'dies') onFault = (): void => harness.kill();
      const retry = async (action: () => Promise<unknown>): Promise<void> => {
        try {
          await action();
        } catch {
          if (fate === 'dies') harness.restart();
          // A client that has no answer looks what is left. That, or the cron trigger, arms the alarm.
          await harness.shard.status();
          if (harness.shard.listQuarantine(0, 10).total === 3) await action();
        }
      };
      await withQuarantine(harness).catch(async () => {
        if (fate === 'dies') harness.restart();
        if (harness.shard.listQuarantine(0, 10).total === 0) await withQuarantine(harness);
      });
      await retry(() => harness.shard.replay(harness.header('again'), replayed(harness)));
      await harness.runAlarms();
      expect(await harness.committedRows()).toEqual([10, 30]);
      expect(harness.shard.listQuarantine(0, 10).rows.map(({ id }) => id)).toEqual([2]);
      if (faults.calls < at) return;
    }
    throw new Error('The calls never end');
  });
});

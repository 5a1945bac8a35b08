import { describe, expect, it } from 'vitest';
import { IDENTIFIER, ShardHarness } from '../../support/shard-harness.ts';

const IDS = Array.from({ length: 3000 }, (_, id) => id);

function partitionedHarness(): ShardHarness {
  const harness = new ShardHarness();
  const field = { sourceId: 1, fieldId: 1000, name: 'id', transform: 'identity' };
  harness.committer.spec = { specId: 1, fields: [field] };
  return harness;
}

describe('a flush of a partitioned table', () => {
  it('writes one file a partition, whatever batch the rows came in', async () => {
    const harness = partitionedHarness();
    await harness.shard.accept(harness.header('a'), [harness.slice([1, 2]), harness.slice([2])]);
    await harness.shard.accept(harness.header('b'), [harness.slice([2, 3])]);
    expect(await harness.shard.flush(IDENTIFIER)).toMatchObject({ rows: 5, files: 3 });
    const files = [...harness.committer.committed.values()].flatMap((one) => one.files);
    expect(
      files.map(({ specId, partition, recordCount }) => [specId, partition, recordCount]),
    ).toEqual([
      [1, [1], 1n],
      [1, [2], 3n],
      [1, [3], 1n],
    ]);
    for (const { filePath, partition } of files) {
      expect(filePath).toContain(`/data/id=${String(partition[0])}/`);
    }
  });

  it('takes fewer batches when they show more files than one invocation may store', async () => {
    const harness = partitionedHarness();
    for (const [batch, first] of [
      ['a', 0],
      ['b', 3000],
      ['c', 6000],
    ] as const) {
      const rows = IDS.map((id) => first + id);
      await harness.shard.accept(harness.header(batch), [harness.slice(rows)]);
    }
    await harness.runAlarms();
    expect(await harness.committedRows()).toHaveLength(9000);
    expect(harness.committer.committed.size).toBe(3);
    expect(await harness.objectKeys()).toHaveLength(9000);
  });
});

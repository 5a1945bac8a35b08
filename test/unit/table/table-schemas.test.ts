import { describe, expect, it } from 'vitest';
import { isIcebergError } from '../../../src/iceberg/errors.ts';
import { JsonNode } from '../../../src/iceberg/json.ts';
import type { TableDeclaration } from '../../../src/iceberg/metadata/table-declaration.ts';
import { parseTableDeclaration } from '../../../src/iceberg/metadata/table-declaration.ts';
import { parseTableMetadata } from '../../../src/iceberg/spec/table-metadata-json.ts';
import type { TableDocument } from '../../../src/table/protocol.ts';
import { CommitterHarness } from '../../support/committer-harness.ts';
import { storeUnavailable } from '../../support/faulty-object-store.ts';
import { Faults, type FaultTiming } from '../../support/faults.ts';
import { IDENTIFIER } from '../../support/shard-harness.ts';

function declarationOf(column: string): TableDeclaration {
  const fields = [{ id: 1, name: column, required: true, type: 'decimal(9,2)' }];
  return parseTableDeclaration(new JsonNode({ schema: { type: 'struct', fields } }));
}

describe('creation of a declared table', () => {
  it('waits for a drop that was begun, and makes another table then', async () => {
    const harness = new CommitterHarness();
    const dropped = await harness.createTable();
    let creation: Promise<TableDocument> | null = null;
    harness.onClear = () => {
      creation ??= harness.committer.createTable(IDENTIFIER, declarationOf('a'));
      return Promise.resolve();
    };
    await harness.committer.drop(IDENTIFIER);
    const document = await (creation as Promise<TableDocument> | null);
    const { metadata } = await harness.load();
    expect(metadata.tableUuid).toBe(parseTableMetadata(document?.metadataJson ?? '').tableUuid);
    expect(metadata.tableUuid).not.toBe(dropped);
  });

  it('sees a table that a foreign writer has just made', async () => {
    const harness = new CommitterHarness();
    const other = new CommitterHarness({}, harness.objects);
    await other.committer.createTable(IDENTIFIER, declarationOf('theirs'));
    await expect(
      harness.committer.createTable(IDENTIFIER, declarationOf('ours')),
    ).rejects.toMatchObject({ kind: 'already-exists', code: 'table.already-exists' });
    expect((await harness.load()).metadata.schemas[0]?.fields[0]?.name).toBe('theirs');
  });

  it.each<FaultTiming>(['before', 'after'])(
    'makes one table, and never calls its own a stranger, when call n fails %s its effect',
    async (timing) => {
      for (let at = 1; at < 100; at += 1) {
        const harness = new CommitterHarness();
        const faults = new Faults(at, timing, () => undefined, storeUnavailable);
        harness.inject(faults);
        const create = (): Promise<unknown> =>
          harness.committer.createTable(IDENTIFIER, declarationOf('a'));
        const failure: unknown = await create().then(
          () => null,
          (error: unknown) => error,
        );
        if (failure !== null) {
          expect(isIcebergError(failure, 'unavailable')).toBe(true);
          await create();
        }
        const { metadata } = await harness.load();
        expect(metadata.schemas[0]?.fields).toMatchObject([{ id: 1, name: 'a', required: true }]);
        if (faults.calls < at) return;
      }
      throw new Error('The calls never end');
    },
  );
});

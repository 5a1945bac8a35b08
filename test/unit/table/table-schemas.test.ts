import { describe, expect, it } from 'vitest';
import { isIcebergError } from '../../../src/iceberg/errors.ts';
import { JsonNode } from '../../../src/iceberg/json.ts';
import type { TableDeclaration } from '../../../src/iceberg/metadata/table-declaration.ts';
import { parseTableDeclaration } from '../../../src/iceberg/metadata/table-declaration.ts';
import type { ColumnChange } from '../../../src/iceberg/operations/column-change.ts';
import { parseTableMetadata } from '../../../src/iceberg/spec/table-metadata-json.ts';
import type { SchemaUpdateResult, TableDocument } from '../../../src/table/protocol.ts';
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

describe('changes of a schema', () => {
  const add: ColumnChange = { action: 'add', path: ['amount'], type: 'decimal(9,2)' };
  const rename: ColumnChange = { action: 'rename', path: ['note'], name: 'remark' };
  const update = (
    harness: CommitterHarness,
    changes: readonly ColumnChange[],
    isDryRun = false,
  ): Promise<SchemaUpdateResult> =>
    harness.committer.updateSchema(IDENTIFIER, { changes, isDryRun });

  it('build on what a foreign writer committed meanwhile', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    const other = new CommitterHarness({}, harness.objects);
    await update(other, [rename]);
    const { schema } = await update(harness, [add]);
    expect(schema.fields.map(({ id, name }) => [id, name])).toEqual([
      [1, 'id'],
      [2, 'remark'],
      [3, 'amount'],
    ]);
  });

  it('commit nothing in a dry run, nor when one of them cannot be', async () => {
    const harness = new CommitterHarness();
    await harness.createTable();
    const { metadataLocation } = await harness.load();
    expect(await update(harness, [add, rename], true)).toMatchObject({ isCommitted: false });
    await expect(update(harness, [add, { action: 'drop', path: ['no'] }])).rejects.toMatchObject({
      code: 'schema.unknown-column',
    });
    expect((await harness.load()).metadataLocation).toBe(metadataLocation);
  });

  it.each<FaultTiming>(['before', 'after'])(
    'are made once when call n fails %s its effect',
    async (timing) => {
      for (let at = 1; at < 100; at += 1) {
        const harness = new CommitterHarness();
        await harness.createTable();
        const faults = new Faults(at, timing, () => undefined, storeUnavailable);
        harness.inject(faults);
        const { isCommitted, difference } = await update(harness, [add, rename]);
        expect(isCommitted).toBe(true);
        expect(difference.map(({ change }) => change)).toEqual(['rename', 'add']);
        const { metadata } = await harness.load();
        expect(metadata.schemas).toHaveLength(2);
        expect(metadata.schemas.at(-1)?.fields.map(({ name }) => name)).toEqual([
          'id',
          'remark',
          'amount',
        ]);
        if (faults.calls < at) return;
      }
      throw new Error('The calls never end');
    },
  );
});

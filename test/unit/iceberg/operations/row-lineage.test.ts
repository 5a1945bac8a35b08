import { makeTable } from '../fixtures.ts';
import { AppendRig, file } from './append-rig.ts';
import { upgradeFormatVersion } from '../../../../src/iceberg/operations/upgrade-format-version.ts';
import { describe, expect, it } from 'vitest';
import { assignRowIds } from '../../../../src/iceberg/operations/row-lineage.ts';
import type { ManifestContent, ManifestFile } from '../../../../src/iceberg/spec/manifest-file.ts';

let rig: AppendRig;

function manifest(
  addedRowsCount: bigint,
  existingRowsCount: bigint,
  firstRowId: bigint | null = null,
  content: ManifestContent = 'data',
): ManifestFile {
  return {
    manifestPath: 's3://b/t/metadata/m.avro',
    manifestLength: 1n,
    partitionSpecId: 0,
    content,
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 1n,
    addedFilesCount: 1,
    existingFilesCount: 1,
    deletedFilesCount: 0,
    addedRowsCount,
    existingRowsCount,
    deletedRowsCount: 0n,
    partitions: [],
    keyMetadata: null,
    firstRowId,
  };
}

describe('row ids', () => {
  it('are given as in the example of the specification', () => {
    const list = [
      manifest(75n, 0n, 925n),
      manifest(100n, 25n),
      manifest(0n, 100n),
      manifest(125n, 25n),
    ];
    const { manifests, addedRows } = assignRowIds(list, 1000n);
    expect(manifests.map((one) => one.firstRowId)).toEqual([925n, 1000n, 1125n, 1225n]);
    expect(addedRows).toBe(375n);
  });

  it('are not given to manifests of deletes, nor before version 3', () => {
    const list = [manifest(5n, 0n, null, 'deletes'), manifest(5n, 0n)];
    expect(assignRowIds(list, 7n)).toMatchObject({
      manifests: [{ firstRowId: null }, { firstRowId: 7n }],
      addedRows: 5n,
    });
    expect(assignRowIds(list, null)).toEqual({ manifests: list, addedRows: null });
  });
});

describe('append to a table of version 3', () => {
  it('gives every row an id, in the order of the manifests', async () => {
    rig = new AppendRig(makeTable({ formatVersion: 3, nextRowId: 0n }));
    await rig.append('c1', file('a'), file('b', { recordCount: 4n }));
    await rig.append('c2', file('c'));
    const { metadata } = rig;
    expect(metadata.nextRowId).toBe(10n);
    expect(metadata.snapshots.map((one) => [one.firstRowId, one.addedRows])).toEqual([
      [0n, 7n],
      [7n, 3n],
    ]);
    const [newer, older] = await rig.manifests();
    expect([newer?.firstRowId, older?.firstRowId]).toEqual([7n, 0n]);
    const entries = await rig.entriesOf(older);
    expect(entries.map((entry) => entry.dataFile.firstRowId)).toEqual([0n, 3n]);
  });

  it('begins anew at the row ids of the table after each conflict', async () => {
    rig = new AppendRig(makeTable({ formatVersion: 3, nextRowId: 0n }));
    await rig.append('c1', file('a'));
    const overtaken = { ...rig.metadata, nextRowId: 100n };
    rig.catalog.script.push({ kind: 'conflict', metadata: overtaken });
    await rig.append('c2', file('b', { firstRowId: 5n }));
    const { metadata } = rig;
    expect(rig.snapshot).toMatchObject({ firstRowId: 100n, addedRows: 3n });
    expect(metadata.nextRowId).toBe(103n);
    const [newest] = await rig.manifests();
    const entries = await rig.entriesOf(newest);
    expect(entries.map((entry) => entry.dataFile.firstRowId)).toEqual([100n]);
  });

  it('gives ids to the rows of before an upgrade, once', async () => {
    rig = new AppendRig(makeTable());
    await rig.append('c1', file('a'));
    const change = upgradeFormatVersion(rig.metadata, 3);
    await rig.change(change);
    await rig.append('c2', file('b'));
    await rig.append('c3', file('c'));
    const { metadata } = rig;
    expect(metadata.snapshots.map((one) => [one.firstRowId, one.addedRows])).toEqual([
      [null, null],
      [0n, 6n],
      [6n, 3n],
    ]);
    expect((await rig.manifests()).map((manifest) => manifest.firstRowId)).toEqual([6n, 0n, 3n]);
  });

  it('keeps row ids when manifests are merged', async () => {
    const properties = new Map([['commit.manifest.min-count-to-merge', '3']]);
    rig = new AppendRig(makeTable({ formatVersion: 3, nextRowId: 0n, properties }));
    for (const name of ['a', 'b', 'c', 'd']) await rig.append(name, file(name));
    const ids = new Map<string, bigint | null>();
    for (const manifest of await rig.manifests()) {
      for (const { dataFile } of await rig.entriesOf(manifest)) {
        ids.set(
          dataFile.filePath.slice(-'a.parquet'.length, -'.parquet'.length),
          dataFile.firstRowId,
        );
      }
    }
    expect(Object.fromEntries(ids)).toEqual({ a: 0n, b: 3n, c: 6n, d: 9n });
  });
});

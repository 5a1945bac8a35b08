import { beforeEach, describe, expect, it } from 'vitest';
import { prepareAppend } from '../../../../src/iceberg/operations/append.ts';
import { currentSnapshot } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import { LOCATION, makeTable, NOW_MS, struct, TABLE_UUID } from '../fixtures.ts';
import { AppendRig, file } from './append-rig.ts';

let rig: AppendRig;

describe('append', () => {
  beforeEach(() => {
    rig = new AppendRig(makeTable());
  });

  it('adds a snapshot whose files and numbers read back', async () => {
    await rig.append('c1', file('a'), file('b', { recordCount: 4n }));
    const { metadata } = rig;
    const snapshot = currentSnapshot(metadata);
    expect(snapshot?.sequenceNumber).toBe(1n);
    expect(metadata.lastSequenceNumber).toBe(1n);
    expect(metadata.snapshotLog.at(-1)?.snapshotId).toBe(snapshot?.snapshotId);
    expect(Object.fromEntries(snapshot?.summary.properties ?? [])).toEqual({
      'added-data-files': '2',
      'added-records': '7',
      'added-files-size': '2468',
      'changed-partition-count': '1',
      'total-data-files': '2',
      'total-delete-files': '0',
      'total-records': '7',
      'total-files-size': '2468',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'engine-name': 'floe',
      'floe.commit-id': 'c1',
    });
    const [manifest, ...others] = await rig.manifests();
    expect(others).toEqual([]);
    expect(manifest).toMatchObject({
      addedFilesCount: 2,
      existingFilesCount: 0,
      deletedFilesCount: 0,
      addedRowsCount: 7n,
      sequenceNumber: 1n,
      minSequenceNumber: 1n,
      partitions: [],
    });
    const entries = await rig.entriesOf(manifest);
    expect(entries.map((entry) => entry.dataFile)).toEqual([
      file('a'),
      file('b', { recordCount: 4n }),
    ]);
    expect(entries.every((entry) => entry.snapshotId === snapshot?.snapshotId)).toBe(true);
  });

  it('C072: writes manifests once and only the list again after conflicts', async () => {
    rig.catalog.script.push({ kind: 'conflict' }, { kind: 'conflict' });
    await rig.append('c1', file('a'));
    const keys: string[] = [];
    for await (const { key } of rig.store.list('')) keys.push(key);
    expect(keys.filter((key) => key.endsWith('-m0.avro'))).toHaveLength(1);
    expect(keys.filter((key) => key.includes('/snap-'))).toHaveLength(3);
    expect(rig.snapshot?.manifestList).toContain('-3-');
  });

  it('C073: keeps an empty and an absent partition list as they were read', async () => {
    await rig.append('c1', file('a'));
    await rig.append('c2', file('b'));
    await rig.append('c3', file('c'));
    expect((await rig.manifests()).map((manifest) => manifest.partitions)).toEqual([[], [], []]);
  });

  it('C076: leaves out a total whose parent lacks it', async () => {
    await rig.append('c1', file('a'));
    const { metadata } = rig;
    const snapshots = metadata.snapshots.map((snapshot) => ({
      ...snapshot,
      summary: { operation: 'append' as const, properties: new Map([['total-records', '3']]) },
    }));
    rig.catalog.replace({ ...metadata, snapshots });
    await rig.append('c2', file('b'));
    const summary = rig.snapshot?.summary.properties;
    expect(summary?.get('total-records')).toBe('6');
    expect(summary?.has('total-data-files')).toBe(false);
  });

  it('C079: is never dated before the last writer, whose clock was ahead', async () => {
    rig.catalog.replace(makeTable({ lastUpdatedMs: NOW_MS + 600_000 }));
    await rig.append('c1', file('a'));
    await rig.append('c2', file('b'));
    const { metadata } = rig;
    const times = metadata.snapshotLog.map((entry) => entry.timestampMs);
    expect(times).toEqual([NOW_MS + 600_001, expect.any(Number)]);
    expect(times[1]).toBeGreaterThan(NOW_MS + 600_001);
    expect(metadata.lastUpdatedMs).toBeGreaterThanOrEqual(times[1] ?? 0);
  });

  it('C078: requires that main does not exist for the first snapshot of a table', async () => {
    await rig.append('c1', file('a'));
    expect(rig.catalog.requests[0]?.requirements).toContainEqual({
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      snapshotId: null,
    });
  });

  it('refuses no files and the same file twice', async () => {
    await expect(rig.append('c1')).rejects.toMatchObject({ code: 'append.no-files' });
    await expect(rig.append('c1', file('a'), file('a'))).rejects.toMatchObject({
      code: 'append.duplicate-file',
    });
  });

  it('does not add the files to another table that took the name', async () => {
    const prepared = await prepareAppend(rig, rig.metadata, {
      dataFiles: [file('a')],
      commitId: 'c1',
    });
    const other = makeTable({ tableUuid: '00000000-0000-4000-8000-000000000000' });
    await expect(prepared.stage(other)).rejects.toMatchObject({ code: 'table.replaced' });
  });
});

describe('merging manifests', () => {
  const properties = new Map([['commit.manifest.min-count-to-merge', '3']]);

  it('C071: carries entries with the ids and numbers they were added with', async () => {
    rig = new AppendRig(makeTable({ properties }));
    for (const name of ['a', 'b', 'c', 'd']) await rig.append(name, file(name));
    const { metadata } = rig;
    const list = await rig.manifests();
    expect(list.map((manifest) => manifest.addedFilesCount)).toEqual([1, 0]);
    const merged = list[1];
    expect(merged).toMatchObject({
      existingFilesCount: 3,
      existingRowsCount: 9n,
      sequenceNumber: 4n,
      minSequenceNumber: 1n,
    });
    const entries = await rig.entriesOf(merged);
    expect(entries.map(({ status, sequenceNumber }) => [status, sequenceNumber])).toEqual([
      ['existing', 3n],
      ['existing', 2n],
      ['existing', 1n],
    ]);
    expect(entries.map((entry) => entry.snapshotId)).toEqual(
      metadata.snapshots
        .slice(0, 3)
        .map((snapshot) => snapshot.snapshotId)
        .toReversed(),
    );
    // C074: statistics survive byte by byte.
    expect(entries.map((entry) => entry.dataFile)).toEqual([file('c'), file('b'), file('a')]);
  });

  it('keeps the list short over many commits and loses no file', async () => {
    rig = new AppendRig(makeTable({ properties }));
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
    for (const name of names) await rig.append(name, file(name));
    const list = await rig.manifests();
    expect(list.length).toBeLessThanOrEqual(4);
    const paths = new Set<string>();
    for (const manifest of list) {
      for (const entry of await rig.entriesOf(manifest)) paths.add(entry.dataFile.filePath);
    }
    expect(paths.size).toBe(20);
    const total = rig.snapshot?.summary.properties;
    expect(total?.get('total-data-files')).toBe('20');
    expect(total?.get('total-records')).toBe('60');
  });

  it('merges once for all attempts of a commit', async () => {
    rig = new AppendRig(makeTable({ properties }));
    for (const name of ['a', 'b', 'c']) await rig.append(name, file(name));
    rig.catalog.script.push({ kind: 'conflict' }, { kind: 'conflict' });
    await rig.append('d', file('d'));
    const merged: string[] = [];
    for await (const { key } of rig.store.list('')) if (key.endsWith('-m1.avro')) merged.push(key);
    expect(merged).toHaveLength(1);
  });
});

describe('merging manifests of a wide table', () => {
  it('stops at full manifests, which do not make later commits merge again', async () => {
    const columns = Array.from({ length: 400 }, (_, i) => [`c${i}`, 'long'] as [string, string]);
    const wide = newTableMetadata({
      tableUuid: TABLE_UUID,
      location: LOCATION,
      schema: struct(...columns),
      properties: new Map([['commit.manifest.min-count-to-merge', '3']]),
      nowMs: NOW_MS,
    });
    rig = new AppendRig(wide);
    const files = (commitId: string) =>
      Array.from({ length: 40 }, (_, i) => file(`${commitId}-${i}`));
    for (let i = 0; i < 6; i += 1) await rig.append(`c${i}`, ...files(`c${i}`));
    // Two of 40 files do not fit into 64 entries: nothing was merged.
    expect((await rig.manifests()).map((manifest) => manifest.addedFilesCount)).toEqual([
      40, 40, 40, 40, 40, 40,
    ]);
  });
});

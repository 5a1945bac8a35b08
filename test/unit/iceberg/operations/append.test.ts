import { beforeEach, describe, expect, it } from 'vitest';
import { commit } from '../../../../src/iceberg/commit.ts';
import { uriToKey } from '../../../../src/iceberg/location-provider.ts';
import { readManifestList } from '../../../../src/iceberg/manifest/manifest-list.ts';
import { readManifest } from '../../../../src/iceberg/manifest/manifest-reader.ts';
import { prepareAppend } from '../../../../src/iceberg/operations/append.ts';
import type { DataFile } from '../../../../src/iceberg/spec/data-file.ts';
import type { ManifestEntry } from '../../../../src/iceberg/spec/manifest-entry.ts';
import type { ManifestFile } from '../../../../src/iceberg/spec/manifest-file.ts';
import { currentSnapshot } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { MemoryObjectStore } from '../../../../src/object-store/memory.ts';
import { SkippingClock } from '../../../support/manual-clock.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import {
  LOCATION,
  makeDataFile,
  makeTable,
  NOW_MS,
  ScriptedCatalog,
  struct,
  TABLE,
  TABLE_UUID,
} from '../fixtures.ts';

let clock: SkippingClock;
let store: MemoryObjectStore;
let random: SeededRandom;
let catalog: ScriptedCatalog;

function useTable(metadata: TableMetadata): void {
  clock = new SkippingClock(NOW_MS + 1000);
  store = new MemoryObjectStore('s3://lake', clock);
  random = new SeededRandom(7);
  catalog = new ScriptedCatalog(metadata, clock);
}

async function append(commitId: string, ...dataFiles: DataFile[]): Promise<void> {
  const prepared = await prepareAppend({ store, clock, random }, catalog.table.metadata, {
    dataFiles,
    commitId,
  });
  const operation = ({ metadata }: { metadata: TableMetadata }) => prepared.stage(metadata);
  const result = await commit({ catalog, clock, random }, TABLE, operation, { commitId });
  expect(result.status).toBe('committed');
}

function file(name: string, changes: Partial<DataFile> = {}): DataFile {
  return makeDataFile({ filePath: `${LOCATION}/data/${name}.parquet`, ...changes });
}

async function manifests(): Promise<ManifestFile[]> {
  const snapshot = currentSnapshot(catalog.table.metadata);
  if (snapshot === null) return [];
  const bytes = await store.get(uriToKey('s3://lake', snapshot.manifestList));
  return readManifestList(bytes ?? new Uint8Array());
}

async function entriesOf(manifest: ManifestFile): Promise<ManifestEntry[]> {
  const bytes = await store.get(uriToKey('s3://lake', manifest.manifestPath));
  const entries: ManifestEntry[] = [];
  for await (const entry of readManifest(bytes ?? new Uint8Array(), manifest)) entries.push(entry);
  return entries;
}

describe('append', () => {
  beforeEach(() => useTable(makeTable()));

  it('adds a snapshot whose files and numbers read back', async () => {
    await append('c1', file('a'), file('b', { recordCount: 4n }));
    const { metadata } = catalog.table;
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
    const [manifest, ...others] = await manifests();
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
    const entries = manifest === undefined ? [] : await entriesOf(manifest);
    expect(entries.map((entry) => entry.dataFile)).toEqual([
      file('a'),
      file('b', { recordCount: 4n }),
    ]);
    expect(entries.every((entry) => entry.snapshotId === snapshot?.snapshotId)).toBe(true);
  });

  it('C072: writes manifests once and only the list again after conflicts', async () => {
    catalog.script.push({ kind: 'conflict' }, { kind: 'conflict' });
    await append('c1', file('a'));
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    expect(keys.filter((key) => key.endsWith('-m0.avro'))).toHaveLength(1);
    expect(keys.filter((key) => key.includes('/snap-'))).toHaveLength(3);
    expect(currentSnapshot(catalog.table.metadata)?.manifestList).toContain('-3-');
  });

  it('C073: keeps an empty and an absent partition list as they were read', async () => {
    await append('c1', file('a'));
    await append('c2', file('b'));
    await append('c3', file('c'));
    expect((await manifests()).map((manifest) => manifest.partitions)).toEqual([[], [], []]);
  });

  it('C076: leaves out a total whose parent lacks it', async () => {
    await append('c1', file('a'));
    const { metadata } = catalog.table;
    const snapshots = metadata.snapshots.map((snapshot) => ({
      ...snapshot,
      summary: { operation: 'append' as const, properties: new Map([['total-records', '3']]) },
    }));
    catalog.replace({ ...metadata, snapshots });
    await append('c2', file('b'));
    const summary = currentSnapshot(catalog.table.metadata)?.summary.properties;
    expect(summary?.get('total-records')).toBe('6');
    expect(summary?.has('total-data-files')).toBe(false);
  });

  it('C079: is never dated before the last writer, whose clock was ahead', async () => {
    catalog.replace(makeTable({ lastUpdatedMs: NOW_MS + 600_000 }));
    await append('c1', file('a'));
    await append('c2', file('b'));
    const { metadata } = catalog.table;
    const times = metadata.snapshotLog.map((entry) => entry.timestampMs);
    expect(times).toEqual([NOW_MS + 600_001, expect.any(Number)]);
    expect(times[1]).toBeGreaterThan(NOW_MS + 600_001);
    expect(metadata.lastUpdatedMs).toBeGreaterThanOrEqual(times[1] ?? 0);
  });

  it('C078: requires that main does not exist for the first snapshot of a table', async () => {
    await append('c1', file('a'));
    expect(catalog.requests[0]?.requirements).toContainEqual({
      type: 'assert-ref-snapshot-id',
      ref: 'main',
      snapshotId: null,
    });
  });

  it('refuses no files and the same file twice', async () => {
    await expect(append('c1')).rejects.toMatchObject({ code: 'append.no-files' });
    await expect(append('c1', file('a'), file('a'))).rejects.toMatchObject({
      code: 'append.duplicate-file',
    });
  });

  it('does not add the files to another table that took the name', async () => {
    const prepared = await prepareAppend({ store, clock, random }, catalog.table.metadata, {
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
    useTable(makeTable({ properties }));
    for (const name of ['a', 'b', 'c', 'd']) await append(name, file(name));
    const { metadata } = catalog.table;
    const list = await manifests();
    expect(list.map((manifest) => manifest.addedFilesCount)).toEqual([1, 0]);
    const merged = list[1];
    expect(merged).toMatchObject({
      existingFilesCount: 3,
      existingRowsCount: 9n,
      sequenceNumber: 4n,
      minSequenceNumber: 1n,
    });
    const entries = merged === undefined ? [] : await entriesOf(merged);
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
    useTable(makeTable({ properties }));
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
    for (const name of names) await append(name, file(name));
    const list = await manifests();
    expect(list.length).toBeLessThanOrEqual(4);
    const paths = new Set<string>();
    for (const manifest of list) {
      for (const entry of await entriesOf(manifest)) paths.add(entry.dataFile.filePath);
    }
    expect(paths.size).toBe(20);
    const total = currentSnapshot(catalog.table.metadata)?.summary.properties;
    expect(total?.get('total-data-files')).toBe('20');
    expect(total?.get('total-records')).toBe('60');
  });

  it('merges once for all attempts of a commit', async () => {
    useTable(makeTable({ properties }));
    for (const name of ['a', 'b', 'c']) await append(name, file(name));
    catalog.script.push({ kind: 'conflict' }, { kind: 'conflict' });
    await append('d', file('d'));
    const merged: string[] = [];
    for await (const { key } of store.list('')) if (key.endsWith('-m1.avro')) merged.push(key);
    expect(merged).toHaveLength(1);
  });
});

describe('append to a table of version 3', () => {
  it('gives every row an id, in the order of the manifests', async () => {
    useTable(makeTable({ formatVersion: 3, nextRowId: 0n }));
    await append('c1', file('a'), file('b', { recordCount: 4n }));
    await append('c2', file('c'));
    const { metadata } = catalog.table;
    expect(metadata.nextRowId).toBe(10n);
    expect(metadata.snapshots.map((one) => [one.firstRowId, one.addedRows])).toEqual([
      [0n, 7n],
      [7n, 3n],
    ]);
    const [newer, older] = await manifests();
    expect([newer?.firstRowId, older?.firstRowId]).toEqual([7n, 0n]);
    const entries = older === undefined ? [] : await entriesOf(older);
    expect(entries.map((entry) => entry.dataFile.firstRowId)).toEqual([0n, 3n]);
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
    useTable(wide);
    const files = (commitId: string) =>
      Array.from({ length: 40 }, (_, i) => file(`${commitId}-${i}`));
    for (let i = 0; i < 6; i += 1) await append(`c${i}`, ...files(`c${i}`));
    // Two of 40 files do not fit into 64 entries: nothing was merged.
    expect((await manifests()).map((manifest) => manifest.addedFilesCount)).toEqual([
      40, 40, 40, 40, 40, 40,
    ]);
  });
});

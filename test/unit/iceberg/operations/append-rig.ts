/** A table in memory that files can be appended to, and what its manifests then say. */

import { expect } from 'vitest';
import { commit } from '../../../../src/iceberg/commit.ts';
import { uriToKey } from '../../../../src/iceberg/location-provider.ts';
import { readManifestList } from '../../../../src/iceberg/manifest/manifest-list.ts';
import { readManifest } from '../../../../src/iceberg/manifest/manifest-reader.ts';
import { prepareAppend } from '../../../../src/iceberg/operations/append.ts';
import type { DataFile } from '../../../../src/iceberg/spec/data-file.ts';
import type { ManifestEntry } from '../../../../src/iceberg/spec/manifest-entry.ts';
import type { ManifestFile } from '../../../../src/iceberg/spec/manifest-file.ts';
import type { Snapshot } from '../../../../src/iceberg/spec/snapshot.ts';
import type { TableRequirement } from '../../../../src/iceberg/spec/table-requirement.ts';
import type { TableUpdate } from '../../../../src/iceberg/spec/table-update.ts';
import { currentSnapshot } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { MemoryObjectStore } from '../../../../src/object-store/memory.ts';
import { SkippingClock } from '../../../support/manual-clock.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { LOCATION, makeDataFile, NOW_MS, ScriptedCatalog, TABLE } from '../fixtures.ts';

export class AppendRig {
  readonly clock = new SkippingClock(NOW_MS + 1000);
  readonly store = new MemoryObjectStore('s3://lake', this.clock);
  readonly random = new SeededRandom(7);
  readonly catalog: ScriptedCatalog;

  constructor(metadata: TableMetadata) {
    this.catalog = new ScriptedCatalog(metadata, this.clock);
  }

  get metadata(): TableMetadata {
    return this.catalog.table.metadata;
  }

  get snapshot(): Snapshot | null {
    return currentSnapshot(this.metadata);
  }

  async append(commitId: string, ...dataFiles: DataFile[]): Promise<void> {
    const prepared = await prepareAppend(this, this.metadata, { dataFiles, commitId });
    const operation = ({ metadata }: { metadata: TableMetadata }) => prepared.stage(metadata);
    const result = await commit(this, TABLE, operation, { commitId });
    expect(result.status).toBe('committed');
  }

  /** Commits a change of metadata alone. */
  async change(
    change: { updates: readonly TableUpdate[]; requirements: readonly TableRequirement[] } | null,
  ): Promise<void> {
    const operation = () => Promise.resolve(change && { ...change, snapshotId: null, written: [] });
    const result = await commit(this, TABLE, operation, { commitId: null });
    expect(result.status).toBe('committed');
  }

  async manifests(): Promise<ManifestFile[]> {
    if (this.snapshot === null) return [];
    const bytes = await this.store.get(uriToKey('s3://lake', this.snapshot.manifestList));
    return readManifestList(bytes ?? new Uint8Array());
  }

  async entriesOf(manifest: ManifestFile | undefined): Promise<ManifestEntry[]> {
    if (manifest === undefined) return [];
    const bytes = await this.store.get(uriToKey('s3://lake', manifest.manifestPath));
    const entries: ManifestEntry[] = [];
    for await (const entry of readManifest(bytes ?? new Uint8Array(), manifest)) {
      entries.push(entry);
    }
    return entries;
  }
}

export function file(name: string, changes: Partial<DataFile> = {}): DataFile {
  return makeDataFile({ filePath: `${LOCATION}/data/${name}.parquet`, ...changes });
}

/**
 * Adds data files to a table. Two phases: `prepareAppend` writes the manifests of the new files
 * once; `stage` writes the manifest list of one attempt. A conflict costs only another list,
 * because added entries inherit their snapshot id and sequence number from it.
 */

import { IcebergError } from '../errors.ts';
import type { LocationProvider } from '../location-provider.ts';
import { createLocationProvider, uriToKey } from '../location-provider.ts';
import { readManifestList, writeManifestList } from '../manifest/manifest-list.ts';
import type { WrittenManifest } from '../manifest/manifest-writer.ts';
import { writeManifest } from '../manifest/manifest-writer.ts';
import type { Clock, ObjectStore, RandomSource } from '../ports.ts';
import type { DataFile } from '../spec/data-file.ts';
import type { ManifestEntry } from '../spec/manifest-entry.ts';
import type { ManifestFile } from '../spec/manifest-file.ts';
import type { SummaryDelta } from '../spec/snapshot-summary.ts';
import { COMMIT_ID_KEY, summarize } from '../spec/snapshot-summary.ts';
import type { Snapshot } from '../spec/snapshot.ts';
import { MAIN_BRANCH } from '../spec/table-metadata-json.ts';
import { currentSnapshot } from '../spec/table-metadata-rules.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { manifestCodec, newSyncMarker } from './manifest-files.ts';
import { manifestOptions, readObject, writableVersion } from './manifest-files.ts';
import { ManifestMerger } from './merge-manifests.ts';
import { assignRowIds } from './row-lineage.ts';
import type { StagedChange } from './staged-change.ts';

export interface AppendContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: RandomSource;
}

export interface AppendOptions {
  /** Files that are in the store already; at least one, each URI once. */
  readonly dataFiles: readonly DataFile[];
  /** Kept in the summary as `floe.commit-id`: how the commit is found after an unknown outcome. */
  readonly commitId: string;
  /** More summary entries, e.g. the ids of batches. */
  readonly summary?: ReadonlyMap<string, string>;
}

interface PreparedManifest {
  readonly uri: string;
  readonly written: WrittenManifest;
}

/**
 * Writes the manifests for the files. Nothing refers to them until a staged change is committed.
 * @throws invalid `append.no-files`, `append.duplicate-file`, `append.content`,
 * `partition-spec.unknown`; unsupported for tables that cannot be written
 */
export async function prepareAppend(
  context: AppendContext,
  metadata: TableMetadata,
  options: AppendOptions,
): Promise<PreparedAppend> {
  checkFiles(options.dataFiles);
  const formatVersion = writableVersion(metadata);
  const { store, random } = context;
  const commitUuid = random.uuid();
  const locations = createLocationProvider(metadata);
  const manifests: PreparedManifest[] = [];
  for (const [specId, files] of filesBySpec(options.dataFiles)) {
    const written = await writeManifest(
      manifestOptions(metadata, specId, formatVersion, random),
      files.map(addedEntry),
    );
    const uri = locations.manifest(commitUuid, manifests.length);
    await store.put(uriToKey(store.baseUri, uri), written.bytes);
    manifests.push({ uri, written });
  }
  return new PreparedAppend(context, options, {
    tableUuid: metadata.tableUuid,
    formatVersion,
    commitUuid,
    locations,
    manifests,
  });
}

interface Prepared {
  readonly tableUuid: string;
  readonly formatVersion: 2 | 3;
  readonly commitUuid: string;
  readonly locations: LocationProvider;
  readonly manifests: readonly PreparedManifest[];
}

/** An append whose manifests are written; `stage` makes a change of it as often as needed. */
export class PreparedAppend {
  readonly #context: AppendContext;
  readonly #options: AppendOptions;
  readonly #prepared: Prepared;
  readonly #merger: ManifestMerger;
  #snapshotId: bigint;
  #attempt = 0;

  constructor(context: AppendContext, options: AppendOptions, prepared: Prepared) {
    this.#context = context;
    this.#options = options;
    this.#prepared = prepared;
    this.#snapshotId = context.random.int63();
    this.#merger = new ManifestMerger({
      store: context.store,
      random: context.random,
      locations: prepared.locations,
      commitUuid: prepared.commitUuid,
      firstIndex: prepared.manifests.length,
    });
  }

  /** URIs of the manifests written by `prepareAppend`. */
  get written(): readonly string[] {
    return this.#prepared.manifests.map((manifest) => manifest.uri);
  }

  /**
   * The change that adds the files on top of `metadata`. It must not be called once an earlier
   * attempt landed: the files would be in the table twice.
   * @throws not-found `table.replaced` when another table took the name; conflict
   * `table.format-version` when the table was upgraded meanwhile: prepare again
   */
  async stage(metadata: TableMetadata): Promise<StagedChange> {
    this.#checkSameTable(metadata);
    const { store, clock, random } = this.#context;
    const { formatVersion, locations, commitUuid } = this.#prepared;
    this.#attempt += 1;
    while (metadata.snapshots.some((known) => known.snapshotId === this.#snapshotId)) {
      this.#snapshotId = random.int63();
    }
    const snapshotId = this.#snapshotId;
    const parent = currentSnapshot(metadata);
    const sequenceNumber = metadata.lastSequenceNumber + 1n;
    const carried = await this.#carriedManifests(metadata, parent, sequenceNumber);
    const added = this.#prepared.manifests.map((manifest) =>
      addedManifest(manifest, snapshotId, sequenceNumber),
    );
    const firstRowId = formatVersion === 3 ? (metadata.nextRowId ?? 0n) : null;
    const { manifests, addedRows } = assignRowIds([...added, ...carried.manifests], firstRowId);
    const manifestList = locations.manifestList(snapshotId, this.#attempt, commitUuid);
    const bytes = await writeManifestList(
      {
        snapshotId,
        parentSnapshotId: parent?.snapshotId ?? null,
        sequenceNumber,
        firstRowId,
        formatVersion,
        codec: manifestCodec(metadata),
        syncMarker: newSyncMarker(random),
      },
      manifests,
    );
    await store.put(uriToKey(store.baseUri, manifestList), bytes);
    const delta: SummaryDelta = { addedFiles: this.#options.dataFiles, removedFiles: [] };
    const snapshot: Snapshot = {
      snapshotId,
      parentSnapshotId: parent?.snapshotId ?? null,
      sequenceNumber,
      // Logs must ascend although this clock may be behind the last writer's.
      timestampMs: Math.max(Math.floor(clock.nowMs()), metadata.lastUpdatedMs + 1),
      manifestList,
      summary: summarize('append', parent, delta, this.#extraSummary()),
      schemaId: metadata.currentSchemaId,
      firstRowId,
      addedRows,
    };
    return {
      updates: [
        { action: 'add-snapshot', snapshot },
        {
          action: 'set-snapshot-ref',
          refName: MAIN_BRANCH,
          ref: { ...metadata.refs.get(MAIN_BRANCH), snapshotId, type: 'branch' },
        },
      ],
      requirements: [
        { type: 'assert-table-uuid', uuid: metadata.tableUuid },
        {
          type: 'assert-ref-snapshot-id',
          ref: MAIN_BRANCH,
          snapshotId: metadata.currentSnapshotId,
        },
      ],
      snapshotId,
      written: [manifestList, ...carried.written],
    };
  }

  #checkSameTable(metadata: TableMetadata): void {
    if (metadata.tableUuid !== this.#prepared.tableUuid) {
      throw new IcebergError(
        'not-found',
        'table.replaced',
        'The table was dropped and another one has its name',
      );
    }
    if (metadata.formatVersion !== this.#prepared.formatVersion) {
      throw new IcebergError(
        'conflict',
        'table.format-version',
        'The format version of the table changed while files were being added',
      );
    }
  }

  async #carriedManifests(
    metadata: TableMetadata,
    parent: Snapshot | null,
    sequenceNumber: bigint,
  ): Promise<{ manifests: ManifestFile[]; written: string[] }> {
    if (parent === null) return { manifests: [], written: [] };
    const list = await readManifestList(await readObject(this.#context.store, parent.manifestList));
    return this.#merger.merge(metadata, list.filter(hasLiveFiles), {
      snapshotId: this.#snapshotId,
      sequenceNumber,
    });
  }

  #extraSummary(): Map<string, string> {
    return new Map([
      ['engine-name', 'floe'],
      [COMMIT_ID_KEY, this.#options.commitId],
      ...(this.#options.summary ?? new Map<string, string>()),
    ]);
  }
}

/** A manifest that only tells of deletions belongs to the snapshot that made them, not to later ones. */
function hasLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0;
}

function addedManifest(
  { uri, written }: PreparedManifest,
  snapshotId: bigint,
  sequenceNumber: bigint,
): ManifestFile {
  return {
    manifestPath: uri,
    manifestLength: BigInt(written.bytes.length),
    partitionSpecId: written.partitionSpecId,
    content: written.content,
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFilesCount: written.addedFilesCount,
    existingFilesCount: written.existingFilesCount,
    deletedFilesCount: written.deletedFilesCount,
    addedRowsCount: written.addedRowsCount,
    existingRowsCount: written.existingRowsCount,
    deletedRowsCount: written.deletedRowsCount,
    partitions: written.partitions,
    keyMetadata: null,
    firstRowId: null,
  };
}

function addedEntry(dataFile: DataFile): ManifestEntry {
  return {
    status: 'added',
    snapshotId: null,
    sequenceNumber: null,
    fileSequenceNumber: null,
    // Rows get their ids from the list a commit writes: one kept from elsewhere would count twice.
    dataFile: { ...dataFile, firstRowId: null },
  };
}

function filesBySpec(files: readonly DataFile[]): Map<number, DataFile[]> {
  const bySpec = new Map<number, DataFile[]>();
  for (const file of files) {
    const group = bySpec.get(file.specId);
    if (group === undefined) bySpec.set(file.specId, [file]);
    else group.push(file);
  }
  return bySpec;
}

function checkFiles(files: readonly DataFile[]): void {
  if (files.length === 0) {
    throw new IcebergError('invalid', 'append.no-files', 'There are no files to add');
  }
  const seen = new Set<string>();
  for (const file of files) {
    if (file.content !== 'data') {
      throw new IcebergError('invalid', 'append.content', 'Only data files can be appended');
    }
    if (seen.has(file.filePath)) {
      throw new IcebergError('invalid', 'append.duplicate-file', `"${file.filePath}" comes twice`);
    }
    seen.add(file.filePath);
  }
}

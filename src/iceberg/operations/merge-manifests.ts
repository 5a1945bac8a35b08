/**
 * Keeps manifest lists short: many small data manifests become few. Carried entries keep the
 * snapshot and sequence numbers they were added with, so that deletes go on applying to them.
 */

import type { LocationProvider } from '../location-provider.ts';
import { uriToKey } from '../location-provider.ts';
import { readManifest } from '../manifest/manifest-reader.ts';
import type { WrittenManifest } from '../manifest/manifest-writer.ts';
import { writeManifest } from '../manifest/manifest-writer.ts';
import type { ObjectStore, RandomSource } from '../ports.ts';
import { schemaFieldIds } from '../spec/data-types.ts';
import type { ManifestEntry } from '../spec/manifest-entry.ts';
import type { ManifestFile } from '../spec/manifest-file.ts';
import { currentSchema } from '../spec/table-metadata-rules.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { tableProperty, TABLE_PROPERTIES } from '../table-properties.ts';
import { manifestOptions, readObject, writableVersion } from './manifest-files.ts';

/**
 * Statistics held in memory while merging, counted as entries times columns: about 1 KB each, so
 * some 15 MB. The byte target alone would allow twenty times as much, which no isolate has room for.
 */
const MERGED_STATISTICS_MAX = 16_000;
/** For tables of very many or very few columns. */
const MERGED_ENTRIES_MIN = 64;
const MERGED_ENTRIES_MAX = 2_000;

export interface MergeContext {
  readonly store: ObjectStore;
  readonly random: RandomSource;
  readonly locations: LocationProvider;
  readonly commitUuid: string;
  /** Index of the first manifest name that is still free in this commit. */
  readonly firstIndex: number;
}

interface MergedManifest {
  readonly uri: string;
  readonly written: WrittenManifest;
}

/** Merges for the attempts of one commit; what an earlier attempt merged is used again. */
export class ManifestMerger {
  readonly #context: MergeContext;
  readonly #merged = new Map<string, MergedManifest>();

  constructor(context: MergeContext) {
    this.#context = context;
  }

  /**
   * The manifests to list instead of `manifests`: the same ones unless at least
   * `commit.manifest.min-count-to-merge` of them can be merged. `written` are the URIs of the new ones.
   */
  async merge(
    metadata: TableMetadata,
    manifests: readonly ManifestFile[],
    snapshot: { readonly snapshotId: bigint; readonly sequenceNumber: bigint },
  ): Promise<{ manifests: ManifestFile[]; written: string[] }> {
    const { properties } = metadata;
    const bins = packBins(metadata, manifests);
    // Full manifests do not count: else a large table would merge at every commit.
    const mergeableCount = bins
      .filter((bin) => bin.length > 1)
      .reduce((count, bin) => count + bin.length, 0);
    const isDue =
      tableProperty(properties, TABLE_PROPERTIES.manifestMergeEnabled) &&
      mergeableCount >= tableProperty(properties, TABLE_PROPERTIES.manifestMinCountToMerge);
    if (!isDue) return { manifests: [...manifests], written: [] };
    const result: ManifestFile[] = [];
    const written: string[] = [];
    for (const bin of bins) {
      const [only] = bin;
      if (bin.length === 1 && only !== undefined) {
        result.push(only);
        continue;
      }
      const { uri, written: manifest } = await this.#mergeBin(metadata, bin);
      written.push(uri);
      result.push({
        manifestPath: uri,
        manifestLength: BigInt(manifest.bytes.length),
        partitionSpecId: manifest.partitionSpecId,
        content: 'data',
        sequenceNumber: snapshot.sequenceNumber,
        minSequenceNumber: manifest.minSequenceNumber ?? snapshot.sequenceNumber,
        addedSnapshotId: snapshot.snapshotId,
        addedFilesCount: manifest.addedFilesCount,
        existingFilesCount: manifest.existingFilesCount,
        deletedFilesCount: manifest.deletedFilesCount,
        addedRowsCount: manifest.addedRowsCount,
        existingRowsCount: manifest.existingRowsCount,
        deletedRowsCount: manifest.deletedRowsCount,
        partitions: manifest.partitions,
        keyMetadata: null,
        firstRowId: null,
      });
    }
    return { manifests: result, written };
  }

  async #mergeBin(metadata: TableMetadata, bin: readonly ManifestFile[]): Promise<MergedManifest> {
    const cacheKey = bin.map((manifest) => manifest.manifestPath).join('\n');
    const known = this.#merged.get(cacheKey);
    if (known !== undefined) return known;
    const { store, random, locations, commitUuid, firstIndex } = this.#context;
    const entries: ManifestEntry[] = [];
    for (const manifest of bin) {
      const bytes = await readObject(store, manifest.manifestPath);
      for await (const entry of readManifest(bytes, manifest)) {
        // What an earlier snapshot deleted is told by that snapshot's own manifests.
        if (entry.status !== 'deleted') entries.push({ ...entry, status: 'existing' });
      }
    }
    const specId = bin[0]?.partitionSpecId ?? metadata.defaultSpecId;
    const options = manifestOptions(metadata, specId, writableVersion(metadata), random);
    const written = await writeManifest(options, entries);
    const uri = locations.manifest(commitUuid, firstIndex + this.#merged.size);
    await store.put(uriToKey(store.baseUri, uri), written.bytes);
    const merged = { uri, written };
    this.#merged.set(cacheKey, merged);
    return merged;
  }
}

/** Groups in list order; a manifest that is large, of deletes or encrypted is alone in its own. */
function packBins(metadata: TableMetadata, manifests: readonly ManifestFile[]): ManifestFile[][] {
  const bytesMax = tableProperty(metadata.properties, TABLE_PROPERTIES.manifestTargetBytes);
  const entriesMax = mergedEntriesMax(metadata);
  const knownSpecs = new Set(metadata.partitionSpecs.map((spec) => spec.specId));
  const bins: ManifestFile[][] = [];
  const open = new Map<number, { bin: ManifestFile[]; bytes: number; entries: number }>();
  for (const manifest of manifests) {
    const bytes = Number(manifest.manifestLength);
    const { addedFilesCount, existingFilesCount, partitionSpecId } = manifest;
    const isMergeable =
      manifest.content === 'data' &&
      manifest.keyMetadata === null &&
      bytes < bytesMax &&
      addedFilesCount !== null &&
      existingFilesCount !== null &&
      knownSpecs.has(partitionSpecId);
    if (!isMergeable) {
      bins.push([manifest]);
      continue;
    }
    const entries = addedFilesCount + existingFilesCount;
    const current = open.get(partitionSpecId);
    const fits =
      current !== undefined &&
      current.bytes + bytes <= bytesMax &&
      current.entries + entries <= entriesMax;
    if (fits) {
      current.bin.push(manifest);
      current.bytes += bytes;
      current.entries += entries;
    } else {
      const bin = [manifest];
      bins.push(bin);
      open.set(partitionSpecId, { bin, bytes, entries });
    }
  }
  return bins;
}

function mergedEntriesMax(metadata: TableMetadata): number {
  const columns = Math.max(1, schemaFieldIds(currentSchema(metadata)).length);
  const entries = Math.floor(MERGED_STATISTICS_MAX / columns);
  return Math.min(MERGED_ENTRIES_MAX, Math.max(MERGED_ENTRIES_MIN, entries));
}

import { readManifestList } from '../../src/iceberg/manifest/manifest-list.ts';
import { readManifest } from '../../src/iceberg/manifest/manifest-reader.ts';
import { readObject } from '../../src/iceberg/operations/manifest-files.ts';
import type { ObjectStore } from '../../src/iceberg/ports.ts';
import type { DataFile } from '../../src/iceberg/spec/data-file.ts';
import { currentSnapshot } from '../../src/iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../../src/iceberg/spec/table-metadata.ts';

/** The data files of the current snapshot, as a reader finds them. */
export async function liveDataFiles(
  store: ObjectStore,
  metadata: TableMetadata,
): Promise<DataFile[]> {
  const snapshot = currentSnapshot(metadata);
  if (snapshot === null) return [];
  const files: DataFile[] = [];
  for (const manifest of await readManifestList(await readObject(store, snapshot.manifestList))) {
    const bytes = await readObject(store, manifest.manifestPath);
    for await (const entry of readManifest(bytes, manifest)) {
      if (entry.status !== 'deleted') files.push(entry.dataFile);
    }
  }
  return files;
}

/** What operations share when they write manifests: settings of the table, reading by URI. */

import type { AvroCodec } from '../avro/object-container-file.ts';
import { IcebergError } from '../errors.ts';
import { uriToKey } from '../location-provider.ts';
import type { ManifestOptions } from '../manifest/manifest-writer.ts';
import type { ObjectStore, RandomSource } from '../ports.ts';
import { uuidToBytes } from '../spec/single-value.ts';
import { currentSchema } from '../spec/table-metadata-rules.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { checkNotEncrypted, tableProperty, TABLE_PROPERTIES } from '../table-properties.ts';

/** @throws unsupported for tables that cannot be written: version 1, encrypted */
export function writableVersion(metadata: TableMetadata): 2 | 3 {
  checkNotEncrypted(metadata.properties);
  if (metadata.formatVersion === 1) {
    throw new IcebergError(
      'unsupported',
      'table.format-version-1',
      'Tables of format version 1 are read only; upgrade the table to version 2',
    );
  }
  return metadata.formatVersion;
}

export function manifestCodec(metadata: TableMetadata): AvroCodec {
  const codec = tableProperty(metadata.properties, TABLE_PROPERTIES.manifestCodec);
  return codec === 'gzip' ? 'deflate' : 'null';
}

/** Options for a data manifest of that spec. @throws invalid `partition-spec.unknown` */
export function manifestOptions(
  metadata: TableMetadata,
  specId: number,
  formatVersion: 2 | 3,
  random: RandomSource,
): ManifestOptions {
  const spec = metadata.partitionSpecs.find((one) => one.specId === specId);
  if (spec === undefined) {
    throw new IcebergError(
      'invalid',
      'partition-spec.unknown',
      `The table has no partition spec ${specId}`,
    );
  }
  const schema = currentSchema(metadata);
  return {
    content: 'data',
    schema,
    schemas: [schema, ...metadata.schemas.toReversed()],
    spec,
    formatVersion,
    codec: manifestCodec(metadata),
    syncMarker: newSyncMarker(random),
  };
}

export function newSyncMarker(random: RandomSource): Uint8Array {
  return uuidToBytes(random.uuid());
}

/** @throws corrupt `object.missing` when a file that metadata refers to is not there */
export async function readObject(store: ObjectStore, uri: string): Promise<Uint8Array> {
  const bytes = await store.get(uriToKey(store.baseUri, uri));
  if (bytes !== null) return bytes;
  throw new IcebergError('corrupt', 'object.missing', `"${uri}" is referred to but missing`, {
    context: { uri },
  });
}

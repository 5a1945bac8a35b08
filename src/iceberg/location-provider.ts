/**
 * The only place that builds object keys and URIs. Keys are opaque: they are joined and cut as
 * strings, never through a URL parser, which would escape or collapse what a store keeps verbatim.
 */

import { IcebergError } from './errors.ts';
import type { TableIdentifier } from './ports.ts';
import { murmur3 } from './spec/murmur3.ts';
import { tableProperty, TABLE_PROPERTIES } from './table-properties.ts';

/** Where a table's files go. All results are full URIs. */
export interface LocationProvider {
  /**
   * A data file; `fileId` is unique (a UUID), `index` counts the files of one flush from 0.
   * `partition` is what `partitionPath` gives; empty or left out for an unpartitioned table.
   */
  dataFile(fileId: string, index: number, partition?: string): string;
  /** Manifest `index` (from 0) of a commit. */
  manifest(commitUuid: string, index: number): string;
  /** `attempt` counts from 1: a retry writes a list of its own. */
  manifestList(snapshotId: bigint, attempt: number, commitUuid: string): string;
}

export interface TableLocation {
  readonly location: string;
  readonly properties: ReadonlyMap<string, string>;
}

/** Honours `write.data.path`, `write.metadata.path` and `write.object-storage.*`. */
export function createLocationProvider(table: TableLocation): LocationProvider {
  const data = folderOf(table, 'write.data.path', 'data');
  const metadata = folderOf(table, 'write.metadata.path', 'metadata');
  const isHashed = tableProperty(table.properties, TABLE_PROPERTIES.objectStorageEnabled);
  const hasPartitions =
    !isHashed || tableProperty(table.properties, TABLE_PROPERTIES.objectStoragePartitionedPaths);
  return {
    dataFile: (fileId, index, partition = '') => {
      const name = `${String(index).padStart(5, '0')}-0-${fileId}.parquet`;
      const path = partition === '' || !hasPartitions ? name : `${partition}/${name}`;
      if (!isHashed) return `${data}/${path}`;
      return `${data}/${hashFolders(path)}${hasPartitions ? '/' : '-'}${path}`;
    },
    manifest: (commitUuid, index) => `${metadata}/${commitUuid}-m${index}.avro`,
    manifestList: (snapshotId, attempt, commitUuid) =>
      `${metadata}/snap-${snapshotId}-${attempt}-${commitUuid}.avro`,
  };
}

/** `{base}/{namespace}.db/{table}`: where the direct catalog keeps a table. */
export function directTableLocation(baseUri: string, identifier: TableIdentifier): string {
  return `${stripTrailingSlashes(baseUri)}/${directTableKey(identifier)}`;
}

/** Key of a table's folder, without a slash at the end. */
export function directTableKey(identifier: TableIdentifier): string {
  return `${directNamespaceKey(identifier.namespace)}/${identifier.name}`;
}

/** Key of a namespace's folder, without a slash at the end. */
export function directNamespaceKey(namespace: readonly string[]): string {
  return `${namespace.join('.')}.db`;
}

/** The namespace kept in a folder of that name; null when the folder is not one of ours. */
export function namespaceOfFolder(folderName: string): string[] | null {
  return folderName.endsWith('.db') && folderName.length > 3
    ? folderName.slice(0, -'.db'.length).split('.')
    : null;
}

/** Metadata file of version `version` (from 1) under a table's folder or location. */
export function versionedMetadataFile(tableFolder: string, version: number): string {
  return `${tableFolder}/metadata/v${version}.metadata.json`;
}

/** The same compressed. Spec: "File System Tables" names the suffix. */
export function gzippedMetadataFile(tableFolder: string, version: number): string {
  return `${tableFolder}/metadata/v${version}.gz.metadata.json`;
}

/** The version of a metadata file's name; null for any other file. */
export function metadataFileVersion(nameOrUri: string): number | null {
  const match = /(?:^|\/)v(\d{1,9})(?:\.gz)?\.metadata\.json(?:\.gz)?$/.exec(nameOrUri);
  return match === null ? null : Number(match[1]);
}

/** Holds the number of a recent version; readers probe past it. */
export function versionHintFile(tableFolder: string): string {
  return `${tableFolder}/metadata/version-hint.text`;
}

export function keyToUri(baseUri: string, key: string): string {
  return `${stripTrailingSlashes(baseUri)}/${key}`;
}

/**
 * The key of a URI inside a store; what follows the base is taken verbatim. `s3a` and `s3n` are
 * Hadoop's names for `s3`.
 * @throws invalid `location.outside-store`
 */
export function uriToKey(baseUri: string, uri: string): string {
  const base = `${canonicalScheme(stripTrailingSlashes(baseUri))}/`;
  const canonical = canonicalScheme(uri);
  if (canonical.startsWith(base) && canonical.length > base.length) {
    return canonical.slice(base.length);
  }
  throw new IcebergError(
    'invalid',
    'location.outside-store',
    `"${uri}" is not inside the store ${baseUri}`,
    { context: { uri, baseUri } },
  );
}

/** A bare `scheme://bucket` keeps its two slashes. */
export function stripTrailingSlashes(location: string): string {
  let end = location.length;
  while (location[end - 1] === '/' && location[end - 2] !== ':' && !location.endsWith('://', end)) {
    end -= 1;
  }
  return location.slice(0, end);
}

/**
 * 20 bits of the path's hash, `0101/0110/1001/10110010`: stores that limit requests a key prefix then
 * see many prefixes instead of one.
 */
export function hashFolders(path: string): string {
  const bits = (murmur3(new TextEncoder().encode(path)) & 0xf_ffff).toString(2).padStart(20, '0');
  return `${bits.slice(0, 4)}/${bits.slice(4, 8)}/${bits.slice(8, 12)}/${bits.slice(12)}`;
}

function canonicalScheme(uri: string): string {
  return uri.replace(/^s3[an]:\/\//, 's3://');
}

function folderOf(table: TableLocation, property: string, name: string): string {
  const configured = table.properties.get(property);
  return configured === undefined || configured === ''
    ? `${stripTrailingSlashes(table.location)}/${name}`
    : stripTrailingSlashes(configured);
}

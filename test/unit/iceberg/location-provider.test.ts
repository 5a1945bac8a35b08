import { describe, expect, it } from 'vitest';
import {
  createLocationProvider,
  directTableLocation,
  hashFolders,
  keyToUri,
  metadataFileVersion,
  stripTrailingSlashes,
  uriToKey,
  versionedMetadataFile,
} from '../../../src/iceberg/location-provider.ts';
import { newTableMetadata } from '../../../src/iceberg/metadata/new-table.ts';
import { struct, TABLE } from './fixtures.ts';

describe('C080: locations', () => {
  it('lose trailing slashes before anything is joined to them', () => {
    expect(stripTrailingSlashes('s3://b/wh/t/')).toBe('s3://b/wh/t');
    expect(stripTrailingSlashes('s3://b//')).toBe('s3://b');
    expect(stripTrailingSlashes('s3://')).toBe('s3://');
    const metadata = newTableMetadata({
      tableUuid: 'u',
      location: 's3://b/wh/t//',
      schema: struct(['a', 'long']),
      nowMs: 0,
    });
    expect(metadata.location).toBe('s3://b/wh/t');
    expect(createLocationProvider(metadata).manifest('c', 0)).toBe(
      's3://b/wh/t/metadata/c-m0.avro',
    );
  });

  it('keep double slashes and foreign characters inside recorded paths verbatim', () => {
    expect(uriToKey('s3://b', 's3://b//x/t/a%20b c?d.parquet')).toBe('/x/t/a%20b c?d.parquet');
    expect(keyToUri('s3://b', '/x/t')).toBe('s3://b//x/t');
  });
});

describe('locations', () => {
  it('take s3a and s3n for s3', () => {
    expect(uriToKey('s3://b/wh', 's3a://b/wh/k')).toBe('k');
  });

  it('outside the store are refused, also where only the bucket begins alike', () => {
    expect(() => uriToKey('s3://lake', 's3://lake2/k')).toThrow(/not inside the store/);
    expect(() => uriToKey('s3://lake', 's3://lake/')).toThrow(/not inside the store/);
  });

  it('of the direct catalog', () => {
    const location = directTableLocation('s3://lake', TABLE);
    expect(versionedMetadataFile(location, 3)).toBe(
      's3://lake/sales.db/orders/metadata/v3.metadata.json',
    );
  });

  it('C081: names of metadata files tell their version, compressed or not', () => {
    expect(metadataFileVersion('s3://b/t/metadata/v12.metadata.json')).toBe(12);
    expect(metadataFileVersion('v12.gz.metadata.json')).toBe(12);
    expect(metadataFileVersion('v12.metadata.json.gz')).toBe(12);
    expect(metadataFileVersion('00001-uuid.metadata.json')).toBeNull();
  });

  it('honour the paths set as properties', () => {
    const properties = new Map([['write.data.path', 's3://other/data/']]);
    const locations = createLocationProvider({ location: 's3://b/t', properties });
    expect(locations.dataFile('id', 2)).toBe('s3://other/data/00002-0-id.parquet');
    expect(locations.manifestList(9007199254740993n, 1, 'c')).toBe(
      's3://b/t/metadata/snap-9007199254740993-1-c.avro',
    );
  });

  it('begin with a hash of the path where the table asks for it, as the Java library does', () => {
    expect(hashFolders('a')).toBe('0101/0110/1001/10110010');
    const hashed = (changes: [string, string][] = []) =>
      createLocationProvider({
        location: 's3://b/t',
        properties: new Map([['write.object-storage.enabled', 'true'], ...changes]),
      });
    const name = '00000-0-id.parquet';
    expect(hashed().dataFile('id', 0, 'p=1')).toBe(
      `s3://b/t/data/${hashFolders(`p=1/${name}`)}/p=1/${name}`,
    );
    expect(hashed().dataFile('id', 0)).toBe(`s3://b/t/data/${hashFolders(name)}/${name}`);
    const flat = hashed([['write.object-storage.partitioned-paths', 'false']]);
    expect(flat.dataFile('id', 0, 'p=1')).toBe(`s3://b/t/data/${hashFolders(name)}-${name}`);
  });
});

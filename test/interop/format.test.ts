/** Cases of manifests and metadata that show from outside, on tables made over HTTP. */

import { expect, it } from 'vitest';
import { parseExactJson, type ExactJson } from './rig/exact-json.ts';
import { describeWithEngines, rig, useLake } from './rig/lake.ts';

interface Metadata {
  'current-snapshot-id': bigint;
  'last-updated-ms': bigint;
  location: string;
  refs: { main: { 'snapshot-id': bigint } };
  snapshots: {
    'snapshot-id': bigint;
    'parent-snapshot-id'?: bigint;
    'manifest-list': string;
    'timestamp-ms': bigint;
    summary: Record<string, string>;
  }[];
  'snapshot-log': { 'timestamp-ms': bigint; 'snapshot-id': bigint }[];
  'metadata-log': { 'metadata-file': string }[];
}

type AvroRecord = Record<string, ExactJson>;

describeWithEngines('the files of a table', () => {
  const lake = useLake();

  const metadataOf = async (table: string): Promise<Metadata> => {
    const loaded = parseExactJson(await lake.metadataText(table)) as AvroRecord;
    return loaded['metadata'] as unknown as Metadata;
  };
  const avro = async (table: string, uri: string): Promise<AvroRecord> =>
    lake.engines.python('avro', { ...(await lake.existing(table)), uri });
  /** The current manifest list's rows, in the list's order. */
  const manifestRows = async (table: string): Promise<AvroRecord[]> => {
    const metadata = await metadataOf(table);
    const current = metadata.snapshots.find(
      (snapshot) => snapshot['snapshot-id'] === metadata['current-snapshot-id'],
    );
    const list = await avro(table, current?.['manifest-list'] ?? '');
    return list['records'] as AvroRecord[];
  };
  const manifestPath = (row: AvroRecord | undefined): string => {
    const path = row?.['manifest_path'];
    if (typeof path !== 'string') throw new Error('a manifest list has no manifest_path');
    return path;
  };
  const append = async (table: string, times: number): Promise<void> => {
    for (let id = 0; id < times; id += 1) await lake.append(table, { id: BigInt(id), s: `${id}` });
  };

  it('C066, C067: give Avro records the names and ids that strict readers resolve by', async () => {
    // The validator checks every id and name after this test; Java and Spark resolve by them here.
    await append('files/c066', 2);
    const [row] = await manifestRows('files/c066');
    const manifest = await avro('files/c066', manifestPath(row));
    const schema = manifest['schema'] as { name: string; fields: { type: { name?: string } }[] };
    expect(schema.name).toBe('manifest_entry');
    expect(schema.fields.map((field) => field.type.name)).toContain('r2');
    expect(await lake.rows('files/c066', 'id')).toHaveLength(2);
  });

  it('C068: have every header key of a manifest', async () => {
    await append('files/c068', 1);
    const [row] = await manifestRows('files/c068');
    const { metadata } = (await avro('files/c068', manifestPath(row))) as {
      metadata: Record<string, string>;
    };
    expect(metadata).toMatchObject({
      'schema-id': '0',
      'partition-spec': '[]',
      'partition-spec-id': '0',
      'format-version': '2',
      content: 'data',
    });
    expect(JSON.parse(metadata['schema'] ?? '')).toMatchObject({ type: 'struct', 'schema-id': 0 });
  });

  it('C073: write an empty partition record and an empty list of summaries each time', async () => {
    await append('files/c073', 3);
    const rows = await manifestRows('files/c073');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row['partitions']).toEqual([]);
      const manifest = await avro('files/c073', manifestPath(row));
      for (const entry of manifest['records'] as { data_file: AvroRecord }[]) {
        expect(entry.data_file['partition']).toEqual({});
      }
    }
  });

  it('C075, C077: keep 63-bit ids exact in Avro, JSON and every reference', async () => {
    await append('files/c077', 12);
    const metadata = await metadataOf('files/c077');
    const ids = metadata.snapshots.map((snapshot) => snapshot['snapshot-id']);
    // Of twelve random 63-bit ids, some are beyond what a double holds.
    expect(ids.some((id) => BigInt(Number(id)) !== id)).toBe(true);
    expect(metadata.refs.main['snapshot-id']).toBe(metadata['current-snapshot-id']);
    const history = await lake.engines.python(
      'pyiceberg-history',
      await lake.existing('files/c077'),
    );
    expect(history['snapshots']).toEqual(ids.map(String));
    expect(history['parents']).toEqual(['None', ...ids.slice(0, -1).map(String)]);
    const added = (await manifestRows('files/c077')).map((row) => row['added_snapshot_id']);
    for (const id of added) expect(ids).toContain(id);
    const listed = await lake.request('GET', '/tables/files/c077/snapshots');
    for (const id of ids) expect(listed.text).toContain(`"${id}"`);
  });

  it('C076: carry summary totals that a count over the manifests gives too', async () => {
    await append('files/c076', 3);
    const { snapshots } = await metadataOf('files/c076');
    expect(snapshots.map((snapshot) => snapshot.summary['total-records'])).toEqual(['1', '2', '3']);
    expect(snapshots.map((snapshot) => snapshot.summary['operation'])).toEqual(
      Array.from({ length: 3 }, () => 'append'),
    );
  });

  it('C079: keep every log in the order of time', async () => {
    await append('files/c079', 4);
    const metadata = await metadataOf('files/c079');
    const times = metadata['snapshot-log'].map((entry) => entry['timestamp-ms']);
    expect(times).toEqual(times.toSorted((a, b) => Number(a - b)));
    expect(metadata['last-updated-ms']).toBeGreaterThanOrEqual(times.at(-1) ?? 0n);
    if (rig.java.available) {
      expect(await lake.engines.java(await lake.existing('files/c079'))).toHaveLength(4);
    }
  });

  it('C080: have no empty part in any path', async () => {
    await append('files/c080', 1);
    const metadata = await metadataOf('files/c080');
    const [row] = await manifestRows('files/c080');
    const manifest = await avro('files/c080', manifestPath(row));
    const entries = manifest['records'] as { data_file: { file_path: string } }[];
    const paths = [
      metadata.location,
      (await lake.existing('files/c080')).metadata,
      ...metadata.snapshots.map((snapshot) => snapshot['manifest-list']),
      ...metadata['metadata-log'].map((entry) => entry['metadata-file']),
      manifestPath(row),
      ...entries.map((entry) => entry.data_file.file_path),
    ];
    for (const path of paths) {
      expect(path).toMatch(/^s3:\/\/[^/]+(\/[^/]+)+$/);
      expect(path.startsWith(metadata.location)).toBe(true);
    }
  });

  it('show time travel: every snapshot reads what was there then', async () => {
    await append('files/travel', 3);
    if (!rig.spark.available) return;
    const { snapshots } = await metadataOf('files/travel');
    const address = await lake.existing('files/travel');
    for (const [index, snapshot] of snapshots.entries()) {
      const query = `SELECT count(*) AS n FROM {table} VERSION AS OF ${snapshot['snapshot-id']}`;
      expect(await lake.engines.spark(address, query)).toEqual([{ n: BigInt(index + 1) }]);
    }
  });
});

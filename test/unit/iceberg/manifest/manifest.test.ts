import { describe, expect, it } from 'vitest';
import { AvroRecord } from '../../../../src/iceberg/avro/avro-value.ts';
import {
  readContainer,
  writeContainer,
} from '../../../../src/iceberg/avro/object-container-file.ts';
import type { JsonObject } from '../../../../src/iceberg/json.ts';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import {
  readManifestList,
  writeManifestList,
} from '../../../../src/iceberg/manifest/manifest-list.ts';
import { readManifest } from '../../../../src/iceberg/manifest/manifest-reader.ts';
import type { ManifestOptions } from '../../../../src/iceberg/manifest/manifest-writer.ts';
import { writeManifest } from '../../../../src/iceberg/manifest/manifest-writer.ts';
import type { PartitionValue } from '../../../../src/iceberg/spec/data-file.ts';
import { parsePrimitiveType } from '../../../../src/iceberg/spec/data-types.ts';
import type { ManifestEntry } from '../../../../src/iceberg/spec/manifest-entry.ts';
import type { ManifestFile } from '../../../../src/iceberg/spec/manifest-file.ts';
import type { Schema } from '../../../../src/iceberg/spec/schema.ts';
import { BIG_ID, makeDataFile } from '../fixtures.ts';

const SYNC = new Uint8Array(16).fill(3);

/** One column a partition field, of every type that can be one. */
const COLUMNS: readonly [string, string, PartitionValue][] = [
  ['a key', 'boolean', true],
  ['9lives', 'int', -7],
  ['x.y', 'long', -(2n ** 63n)],
  ['😎', 'float', 1.5],
  ['d', 'double', -0.25],
  ['dt', 'date', 19_000],
  ['t', 'time', 86_399_999_999n],
  ['ts', 'timestamp', -1n],
  ['tz', 'timestamptz', 2n ** 60n],
  ['s', 'string', 'nä😎me'],
  ['u', 'uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
  ['bin', 'binary', Uint8Array.of(0, 255)],
  ['fx', 'fixed[3]', Uint8Array.of(1, 2, 3)],
  ['dec', 'decimal(9,2)', -12_345n],
  ['dec2', 'decimal(38,4)', -(10n ** 37n)],
  ['dec3', 'decimal(9,2)', 1n],
];

const SCHEMA: Schema = {
  schemaId: 4,
  fields: COLUMNS.map(([name, type], i) => ({
    id: i + 1,
    name,
    required: false,
    type: parsePrimitiveType(type),
  })),
  identifierFieldIds: [],
};

const UNPARTITIONED: ManifestOptions = {
  content: 'data',
  schema: SCHEMA,
  schemas: [SCHEMA],
  spec: { specId: 0, fields: [] },
  formatVersion: 2,
  codec: 'deflate',
  syncMarker: SYNC,
};

const PARTITIONED: ManifestOptions = {
  ...UNPARTITIONED,
  spec: {
    specId: 3,
    fields: COLUMNS.map(([name], i) => ({
      sourceId: i + 1,
      fieldId: 1000 + i,
      name,
      transform: 'identity',
    })),
  },
};

const INHERITED = {
  addedSnapshotId: BIG_ID,
  sequenceNumber: 5n,
  partitionSpecId: 0,
  firstRowId: null,
};

function added(changes: Partial<ManifestEntry['dataFile']> = {}): ManifestEntry {
  return {
    status: 'added',
    snapshotId: null,
    sequenceNumber: null,
    fileSequenceNumber: null,
    dataFile: makeDataFile(changes),
  };
}

async function read(bytes: Uint8Array, inherited = INHERITED): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = [];
  for await (const entry of readManifest(bytes, inherited)) entries.push(entry);
  return entries;
}

function avroSchema(bytes: Uint8Array): JsonNode {
  return new JsonNode(parseJson(readContainer(bytes).metadata.get('avro.schema') ?? ''));
}

/** Every object of the schema with its path. */
function* walk(node: JsonNode): Generator<JsonNode> {
  if (Array.isArray(node.value)) {
    for (const item of node.items()) yield* walk(item);
  } else if (typeof node.value === 'object' && node.value !== null) {
    yield node;
    for (const [, child] of node.entries()) yield* walk(child);
  }
}

function text(node: JsonNode, key: string): string | null {
  const value = node.optional(key)?.value;
  return typeof value === 'string' ? value : null;
}

describe.each([2, 3] as const)('the Avro schema of version %i', (formatVersion) => {
  async function schemas(): Promise<JsonNode[]> {
    const manifest = await writeManifest({ ...PARTITIONED, formatVersion }, []);
    const list = await writeManifestList(
      {
        snapshotId: 1n,
        parentSnapshotId: null,
        sequenceNumber: 1n,
        firstRowId: null,
        formatVersion,
        codec: 'null',
        syncMarker: SYNC,
      },
      [],
    );
    return [avroSchema(manifest.bytes), avroSchema(list)];
  }

  it('C066: has an id on every field, element, key and value', async () => {
    for (const schema of await schemas()) {
      for (const node of walk(schema)) {
        if (text(node, 'type') === 'record') {
          for (const field of node.member('fields').items()) {
            expect(field.optional('field-id'), field.path).not.toBeNull();
          }
        }
        if (text(node, 'type') === 'array' && text(node, 'logicalType') !== 'map') {
          expect(node.optional('element-id'), node.path).not.toBeNull();
        }
      }
    }
  });

  it('C067: names its records as the Java library does', async () => {
    const [manifest, list] = await schemas();
    const names = (node: JsonNode | undefined): (string | null)[] =>
      node === undefined
        ? []
        : [...walk(node)]
            .filter((one) => text(one, 'type') === 'record')
            .map((one) => text(one, 'name'));
    expect(names(manifest)).toEqual([
      'manifest_entry',
      'r2',
      'r102',
      'k117_v118',
      'k119_v120',
      'k121_v122',
      'k138_v139',
      'k126_v127',
      'k129_v130',
    ]);
    expect(names(list)).toEqual(['manifest_file', 'r508']);
  });
});

describe('a manifest', () => {
  it('C068: has every header key, and the partition spec as a list of fields', async () => {
    const { bytes } = await writeManifest(PARTITIONED, []);
    const { metadata } = readContainer(bytes);
    expect([...metadata.keys()].toSorted()).toEqual([
      'avro.codec',
      'avro.schema',
      'content',
      'format-version',
      'partition-spec',
      'partition-spec-id',
      'schema',
      'schema-id',
    ]);
    expect(metadata.get('schema-id')).toBe('4');
    expect(metadata.get('partition-spec-id')).toBe('3');
    expect(metadata.get('format-version')).toBe('2');
    expect(metadata.get('content')).toBe('data');
    const fields = new JsonNode(parseJson(metadata.get('partition-spec') ?? '')).items();
    expect(fields[1]?.value).toEqual({
      'source-id': 2,
      'field-id': 1001,
      name: '9lives',
      transform: 'identity',
    });
  });

  it('C038: keeps foreign partition names beside the sanitised ones', async () => {
    const { bytes } = await writeManifest(PARTITIONED, []);
    const partition = [...walk(avroSchema(bytes))].find((node) => text(node, 'name') === 'r102');
    const names = (partition?.member('fields').items() ?? []).map((field) => [
      text(field, 'name'),
      text(field, 'iceberg-field-name'),
    ]);
    expect(names.slice(0, 5)).toEqual([
      ['a_x20key', 'a key'],
      ['_9lives', '9lives'],
      ['x_x2Ey', 'x.y'],
      ['_xD83D_xDE0E', '😎'],
      ['d', null],
    ]);
  });

  it('keeps partition values of every type, and nulls', async () => {
    const values = COLUMNS.map(([, , value]) => value);
    const nulls = COLUMNS.map(() => null);
    const written = await writeManifest(PARTITIONED, [
      added({ specId: 3, partition: values }),
      added({ specId: 3, partition: nulls, filePath: 's3://lake/b.parquet' }),
    ]);
    const entries = await read(written.bytes, { ...INHERITED, partitionSpecId: 3 });
    expect(entries.map((entry) => entry.dataFile.partition)).toEqual([values, nulls]);
    expect(written.partitions[1]).toEqual({
      containsNull: true,
      containsNan: false,
      lowerBound: Uint8Array.of(0xf9, 0xff, 0xff, 0xff),
      upperBound: Uint8Array.of(0xf9, 0xff, 0xff, 0xff),
    });
  });

  it('C073: of an unpartitioned table has an empty, required partition record', async () => {
    const written = await writeManifest(UNPARTITIONED, [added()]);
    const field = [...walk(avroSchema(written.bytes))].find(
      (node) => text(node, 'name') === 'partition',
    );
    expect(field?.member('type').value).toEqual({ type: 'record', name: 'r102', fields: [] });
    expect(written.partitions).toEqual([]);
  });

  it('C072: leaves the ids of added files open and fills them in when read', async () => {
    const { bytes } = await writeManifest(UNPARTITIONED, [added()]);
    for await (const record of readContainer(bytes).records) {
      expect(record instanceof AvroRecord && record.get(1, '')).toBeNull();
      expect(record instanceof AvroRecord && record.get(3, '')).toBeNull();
    }
    expect(await read(bytes)).toEqual([
      { ...added(), snapshotId: BIG_ID, sequenceNumber: 5n, fileSequenceNumber: 5n },
    ]);
  });

  it('C069, C070, C071: counts each status and keeps the numbers of carried files', async () => {
    const carried = { snapshotId: 11n, sequenceNumber: 1n, fileSequenceNumber: 2n };
    const entries: ManifestEntry[] = [
      { ...added({ recordCount: 10n }), ...carried, status: 'existing' },
      { ...added({ recordCount: 4n }), ...carried, status: 'deleted', snapshotId: 12n },
      added({ recordCount: 3n }),
    ];
    const written = await writeManifest(UNPARTITIONED, entries);
    expect(written).toMatchObject({
      addedFilesCount: 1,
      existingFilesCount: 1,
      deletedFilesCount: 1,
      addedRowsCount: 3n,
      existingRowsCount: 10n,
      deletedRowsCount: 4n,
      minSequenceNumber: 1n,
    });
    const [existing, deleted] = await read(written.bytes);
    expect(existing).toMatchObject(carried);
    expect(deleted).toMatchObject({ ...carried, snapshotId: 12n, status: 'deleted' });
  });

  it('C071: refuses a carried file without its numbers', async () => {
    await expect(
      writeManifest(UNPARTITIONED, [{ ...added(), status: 'existing' }]),
    ).rejects.toMatchObject({ code: 'manifest.inherited-ids' });
  });

  it('C074: keeps statistics by field id, byte by byte', async () => {
    const first = await writeManifest(UNPARTITIONED, [added()]);
    const [entry] = await read(first.bytes);
    if (entry === undefined) throw new Error('no entry');
    const second = await writeManifest(UNPARTITIONED, [{ ...entry, status: 'existing' }]);
    expect((await read(second.bytes))[0]?.dataFile).toEqual(makeDataFile());
  });

  it('C075: keeps counts and sizes beyond 2^53', async () => {
    const changes = {
      recordCount: 2n ** 62n,
      fileSizeInBytes: 2n ** 63n - 1n,
      valueCounts: new Map([[1, 2n ** 53n + 1n]]),
    };
    const { bytes } = await writeManifest(UNPARTITIONED, [added(changes)]);
    expect((await read(bytes))[0]?.dataFile).toMatchObject(changes);
  });

  it('of deletes keeps equality ids and references, and holds no data file', async () => {
    const deletes = {
      content: 'equality-deletes',
      equalityIds: [1, 2],
      referencedDataFile: 's3://lake/x',
    } as const;
    const options: ManifestOptions = { ...UNPARTITIONED, content: 'deletes' };
    const { bytes } = await writeManifest(options, [added(deletes)]);
    expect((await read(bytes))[0]?.dataFile).toMatchObject(deletes);
    await expect(writeManifest(options, [added()])).rejects.toMatchObject({
      code: 'manifest.content',
    });
  });

  it('of version 1, without sequence numbers or content, reads as number 0', async () => {
    const dataFile: JsonObject = {
      type: 'record',
      name: 'r2',
      fields: [
        { name: 'file_path', type: 'string', 'field-id': 100 },
        { name: 'file_format', type: 'string', 'field-id': 101 },
        { name: 'partition', type: { type: 'record', name: 'r102', fields: [] }, 'field-id': 102 },
        { name: 'record_count', type: 'long', 'field-id': 103 },
        { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
        { name: 'block_size_in_bytes', type: 'long', 'field-id': 105 },
      ],
    };
    const schema: JsonObject = {
      type: 'record',
      name: 'manifest_entry',
      fields: [
        { name: 'status', type: 'int', 'field-id': 0 },
        { name: 'snapshot_id', type: 'long', 'field-id': 1 },
        { name: 'data_file', type: dataFile, 'field-id': 2 },
      ],
    };
    const file = new AvroRecord()
      .set(100, '', 's3://lake/v1.parquet')
      .set(101, '', 'parquet')
      .set(102, '', new AvroRecord())
      .set(103, '', 9n)
      .set(104, '', 99n)
      .set(105, '', 67_108_864n);
    const record = new AvroRecord().set(0, '', 0).set(1, '', 77n).set(2, '', file);
    const metadata = new Map([['partition-spec', '[]']]);
    const bytes = await writeContainer({ schema, metadata, codec: 'null', syncMarker: SYNC }, [
      record,
    ]);
    const [entry] = await read(bytes, { ...INHERITED, sequenceNumber: 0n });
    expect(entry).toMatchObject({
      status: 'existing',
      snapshotId: 77n,
      sequenceNumber: 0n,
      fileSequenceNumber: 0n,
      dataFile: { content: 'data', recordCount: 9n, filePath: 's3://lake/v1.parquet' },
    });
  });
});

describe('a manifest list', () => {
  const manifest: ManifestFile = {
    manifestPath: 's3://lake/m.avro',
    manifestLength: 2n ** 53n + 1n,
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 2n ** 62n,
    minSequenceNumber: 1n,
    addedSnapshotId: BIG_ID,
    addedFilesCount: 1,
    existingFilesCount: 2,
    deletedFilesCount: 3,
    addedRowsCount: 4n,
    existingRowsCount: 5n,
    deletedRowsCount: 6n,
    partitions: [],
    keyMetadata: null,
    firstRowId: null,
  };

  it('C073: keeps null and empty partitions apart, and every number exact', async () => {
    const manifests = [
      manifest,
      { ...manifest, partitions: null, content: 'deletes' as const },
      {
        ...manifest,
        partitions: [
          { containsNull: true, containsNan: null, lowerBound: null, upperBound: null },
          {
            containsNull: false,
            containsNan: false,
            lowerBound: Uint8Array.of(1),
            upperBound: new Uint8Array(0),
          },
        ],
      },
    ];
    const bytes = await writeManifestList(
      {
        snapshotId: BIG_ID,
        parentSnapshotId: null,
        sequenceNumber: 3n,
        firstRowId: null,
        formatVersion: 2,
        codec: 'deflate',
        syncMarker: SYNC,
      },
      manifests,
    );
    expect(await readManifestList(bytes)).toEqual(manifests);
    const { metadata } = readContainer(bytes);
    expect(metadata.get('snapshot-id')).toBe(String(BIG_ID));
    expect(metadata.get('parent-snapshot-id')).toBe('null');
    expect(metadata.get('sequence-number')).toBe('3');
  });
});

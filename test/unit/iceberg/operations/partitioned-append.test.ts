import { describe, expect, it } from 'vitest';
import { updateSchema } from '../../../../src/iceberg/operations/update-schema.ts';
import type { DataFile } from '../../../../src/iceberg/spec/data-file.ts';
import type { PartitionSpec } from '../../../../src/iceberg/spec/partition-spec.ts';
import { bytesToHex } from '../../../../src/iceberg/spec/single-value.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import { LOCATION, NOW_MS, struct, TABLE_UUID } from '../fixtures.ts';
import { AppendRig, file } from './append-rig.ts';

let rig: AppendRig;

describe('append to a partitioned table', () => {
  const SPEC: PartitionSpec = {
    specId: 0,
    fields: [
      { sourceId: 1, fieldId: 1000, name: 'region', transform: 'identity' },
      { sourceId: 2, fieldId: 1001, name: 'ts_day', transform: 'day' },
      { sourceId: 2, fieldId: 1002, name: 'ts_hour', transform: 'hour' },
      { sourceId: 3, fieldId: 1003, name: 'id_bucket', transform: 'bucket[16]' },
      { sourceId: 4, fieldId: 1004, name: 'f', transform: 'identity' },
    ],
  };

  function partitioned(changes: Partial<TableMetadata> = {}): TableMetadata {
    const metadata = newTableMetadata({
      tableUuid: TABLE_UUID,
      location: LOCATION,
      schema: struct(['region', 'string'], ['ts', 'timestamptz'], ['id', 'int'], ['f', 'double']),
      nowMs: NOW_MS,
    });
    return { ...metadata, partitionSpecs: [SPEC], lastPartitionId: 1004, ...changes };
  }

  function inPartition(name: string, ...partition: DataFile['partition']): DataFile {
    return file(name, { partition });
  }

  async function summaries(): Promise<string[][]> {
    return (await rig.manifests()).map((manifest) =>
      (manifest.partitions ?? []).map(({ containsNull, containsNan, lowerBound, upperBound }) =>
        [
          containsNull ? 'null' : '',
          containsNan === true ? 'nan' : '',
          lowerBound === null ? '-' : bytesToHex(lowerBound),
          upperBound === null ? '-' : bytesToHex(upperBound),
        ].join(' '),
      ),
    );
  }

  it('C063: bounds each field in the encoding of its result', async () => {
    rig = new AppendRig(partitioned());
    await rig.append(
      'c1',
      inPartition('a', 'eu', 22343, 536236, 3, 1.5),
      inPartition('b', 'us', -1, -24, 10, -2),
      inPartition('c', 'ap', 0, 0, 0, 0),
    );
    expect(await summaries()).toEqual([
      [
        '  6170 7573',
        '  ffffffff 47570000',
        '  e8ffffff ac2e0800',
        '  00000000 0a000000',
        '  00000000000000c0 000000000000f83f',
      ],
    ]);
  });

  it('C050, C051: bounds leave out nulls and NaN, and are absent where nothing else is there', async () => {
    rig = new AppendRig(partitioned());
    await rig.append(
      'c1',
      inPartition('a', null, null, null, null, NaN),
      inPartition('b', '', null, null, null, NaN),
    );
    expect(await summaries()).toEqual([
      ['null   ', 'null  - -', 'null  - -', 'null  - -', ' nan - -'],
    ]);
    await rig.append('c2', inPartition('c', 'x', 1, 1, 1, -0), inPartition('d', 'x', 1, 1, 1, 0));
    expect((await summaries())[0]?.[4]).toBe('  0000000000000080 0000000000000000');
  });

  it('C050: counts distinct partitions, null, empty text and "null" apart', async () => {
    rig = new AppendRig(partitioned());
    const rest = [1, 1, 1, 1] as const;
    await rig.append(
      'c1',
      inPartition('a', null, ...rest),
      inPartition('b', '', ...rest),
      inPartition('c', 'null', ...rest),
      inPartition('d', 'null', ...rest),
    );
    const summary = rig.snapshot?.summary.properties;
    expect(summary?.get('changed-partition-count')).toBe('3');
    const [manifest] = await rig.manifests();
    const entries = await rig.entriesOf(manifest);
    expect(entries.map((entry) => entry.dataFile.partition[0])).toEqual([null, '', 'null', 'null']);
  });

  it('C053: never mixes specs in a manifest, also when they are merged', async () => {
    const properties = new Map([['commit.manifest.min-count-to-merge', '2']]);
    const later: PartitionSpec = { specId: 1, fields: SPEC.fields.slice(3, 4) };
    rig = new AppendRig(
      partitioned({ partitionSpecs: [SPEC, later], defaultSpecId: 1, properties }),
    );
    for (const name of ['a', 'b', 'c']) {
      await rig.append(
        name,
        inPartition(`${name}0`, 'eu', 1, 1, 1, 1),
        file(`${name}1`, { specId: 1, partition: [4] }),
      );
    }
    const list = await rig.manifests();
    expect(list.map((manifest) => manifest.partitionSpecId).join()).toBe('0,1,0,1');
    for (const manifest of list) {
      const width = manifest.partitionSpecId === 0 ? 5 : 1;
      for (const { dataFile } of await rig.entriesOf(manifest)) {
        expect(dataFile.partition).toHaveLength(width);
      }
    }
    const summary = rig.snapshot?.summary.properties;
    expect(summary?.get('changed-partition-count')).toBe('2');
  });

  it('C024: merges manifests of before and after a source was promoted', async () => {
    const properties = new Map([['commit.manifest.min-count-to-merge', '2']]);
    const spec: PartitionSpec = {
      specId: 0,
      fields: [{ sourceId: 3, fieldId: 1000, name: 'id', transform: 'identity' }],
    };
    rig = new AppendRig(partitioned({ partitionSpecs: [spec], properties }));
    await rig.append('c1', inPartition('a', 70000));
    const { change } = updateSchema(rig.metadata, [
      { action: 'widen', path: ['id'], type: 'long' },
    ]);
    await rig.change(change);
    await rig.append('c2', inPartition('b', 9007199254740993n));
    await rig.append('c3', inPartition('c', 1n));
    const [, merged] = await rig.manifests();
    expect(merged?.existingFilesCount).toBe(2);
    expect((await summaries())[1]).toEqual(['  7011010000000000 0100000000002000']);
    const entries = await rig.entriesOf(merged);
    expect(entries.map((entry) => entry.dataFile.partition)).toEqual([
      [9007199254740993n],
      [70000n],
    ]);
  });

  it('C055: writes null for the void fields of a table that was of version 1', async () => {
    const spec: PartitionSpec = {
      specId: 0,
      fields: [
        { sourceId: 1, fieldId: 1000, name: 'region', transform: 'void' },
        { sourceId: 99, fieldId: 1001, name: 'gone', transform: 'void' },
        { sourceId: 2, fieldId: 1002, name: 'ts_day', transform: 'day' },
      ],
    };
    rig = new AppendRig(partitioned({ partitionSpecs: [spec] }));
    await rig.append('c1', inPartition('a', null, null, 3));
    expect(await summaries()).toEqual([['null  - -', 'null  - -', '  03000000 03000000']]);
  });
});

import { describe, expect, it } from 'vitest';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../../../../src/iceberg/metadata/check-requirements.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import {
  parseSortColumn,
  replaceSortOrder,
} from '../../../../src/iceberg/operations/replace-sort-order.ts';
import type {
  LayoutChange,
  PartitionChange,
} from '../../../../src/iceberg/operations/update-partition-spec.ts';
import {
  parsePartitionChange,
  updatePartitionSpec,
} from '../../../../src/iceberg/operations/update-partition-spec.ts';
import { upgradeFormatVersion } from '../../../../src/iceberg/operations/upgrade-format-version.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { struct } from '../fixtures.ts';

/** id 1, ts 2, a 3, ts_day 4, o 5 (zip 7), l 6 (element 8). */
function table(changes: Partial<TableMetadata> = {}): TableMetadata {
  const metadata = newTableMetadata({
    tableUuid: 'u',
    location: 's3://b/t',
    schema: struct(
      ['id', 'long'],
      ['ts', 'timestamptz'],
      ['a', 'string'],
      ['ts_day', 'string'],
      ['o', struct(['zip', 'string'])],
      ['l', { type: 'list', element: 'long' }],
    ),
    nowMs: 1,
  });
  return { ...metadata, ...changes };
}

function commit(metadata: TableMetadata, change: LayoutChange | null): TableMetadata {
  if (change === null) return metadata;
  expect(checkRequirements(metadata, change.requirements)).toBeNull();
  return applyUpdates(metadata, change.updates, { nowMs: 2, previousMetadataLocation: null });
}

function partition(metadata: TableMetadata, ...changes: PartitionChange[]): TableMetadata {
  return commit(metadata, updatePartitionSpec(metadata, changes).change);
}

function fields(metadata: TableMetadata): string[] {
  const spec = metadata.partitionSpecs.find((one) => one.specId === metadata.defaultSpecId);
  return (spec?.fields ?? []).map(
    ({ name, fieldId, transform, sourceId }) => `${fieldId} ${name}=${transform}(${sourceId})`,
  );
}

function refusal(code: string) {
  return expect.objectContaining({ kind: 'invalid', code });
}

const DAY: PartitionChange = { action: 'add', path: ['ts'], transform: 'day', name: 'd' };
const BUCKET: PartitionChange = { action: 'add', path: ['id'], transform: 'bucket[4]' };

describe('changing the partition spec', () => {
  it('C054: gives a field of the same source and transform its id again, others a new one', () => {
    const day = partition(table(), DAY);
    expect(fields(day)).toEqual(['1000 d=day(2)']);
    const none = partition(day, { action: 'remove', name: 'd' });
    expect(fields(none)).toEqual([]);
    expect(none.defaultSpecId).toBe(0);
    const bucket = partition(none, BUCKET);
    expect(fields(bucket)).toEqual(['1001 id_bucket_4=bucket[4](1)']);
    const both = partition(bucket, { action: 'add', path: ['ts'], transform: 'day' });
    expect(fields(both)).toEqual(['1001 id_bucket_4=bucket[4](1)', '1000 d=day(2)']);
    expect(both.lastPartitionId).toBe(1001);
    expect(table().lastPartitionId).toBe(999);
  });

  it('goes back to an earlier spec under its id', () => {
    const day = partition(table(), DAY);
    const bucket = partition(day, BUCKET);
    const back = partition(bucket, { action: 'remove', name: 'ID_bucket_4' });
    expect(back.defaultSpecId).toBe(day.defaultSpecId);
    expect(back.partitionSpecs).toHaveLength(3);
  });

  it('names fields as the Java library does', () => {
    const changes: PartitionChange[] = [
      { action: 'add', path: ['a'], transform: 'identity' },
      { action: 'add', path: ['o', 'zip'], transform: 'truncate[3]' },
      { action: 'add', path: ['ts'], transform: 'month' },
    ];
    expect(fields(partition(table(), ...changes))).toEqual([
      '1000 a=identity(3)',
      '1001 o.zip_trunc_3=truncate[3](7)',
      '1002 ts_month=month(2)',
    ]);
  });

  it('C040: chooses another name where a column has it, and refuses one that was asked for', () => {
    const unnamed: PartitionChange = { action: 'add', path: ['ts'], transform: 'day' };
    expect(fields(partition(table(), unnamed))).toEqual(['1000 ts_day_2=day(2)']);
    expect(() => partition(table(), { ...DAY, name: 'TS_DAY' })).toThrow(
      refusal('partition-spec.name-clash'),
    );
  });

  it('renames a field under its id', () => {
    const day = partition(table(), DAY);
    const renamed = partition(day, { action: 'rename', name: 'd', newName: 'when' });
    expect(fields(renamed)).toEqual(['1000 when=day(2)']);
    expect(renamed.defaultSpecId).not.toBe(day.defaultSpecId);
  });

  it('is nothing to commit when the spec stays the same', () => {
    const day = partition(table(), DAY);
    const again: PartitionChange = { action: 'add', path: ['ts'], transform: 'day' };
    const { change, spec } = updatePartitionSpec(day, [{ action: 'remove', name: 'd' }, again]);
    expect(change).toBeNull();
    expect(spec.specId).toBe(day.defaultSpecId);
  });

  it('C055: voids a field of a version 1 table, and lets go of its name', () => {
    const metadata = { ...table(), formatVersion: 1 } as const;
    const changed = updatePartitionSpec(
      {
        ...metadata,
        partitionSpecs: [
          {
            specId: 0,
            fields: [{ sourceId: 3, fieldId: 1000, name: 'a', transform: 'identity' }],
          },
        ],
        lastPartitionId: 1000,
      },
      [
        { action: 'remove', name: 'a' },
        { action: 'add', path: ['a'], transform: 'identity' },
      ],
    );
    expect(changed.spec.fields).toEqual([
      { sourceId: 3, fieldId: 1000, name: 'a_1000', transform: 'void' },
      { sourceId: 3, fieldId: 1001, name: 'a', transform: 'identity' },
    ]);
  });

  it.each([
    ['partition-spec.unknown-field', { action: 'remove', name: 'x' }],
    ['schema.unknown-column', { action: 'add', path: ['x'], transform: 'day' }],
    [
      'partition-spec.unknown-source',
      { action: 'add', path: ['l', 'element'], transform: 'identity' },
    ],
    ['partition-spec.unknown-source', { action: 'add', path: ['o'], transform: 'identity' }],
    ['partition-spec.unknown-transform', { action: 'add', path: ['id'], transform: 'bucket[0]' }],
    ['partition-spec.source-type', { action: 'add', path: ['id'], transform: 'hour' }],
  ] satisfies [string, PartitionChange][])('is refused with %s: %j', (code, change) => {
    expect(() => partition(table(), change)).toThrow(refusal(code));
  });

  it('refuses a second unit of time of one column, and the same field twice', () => {
    const hour: PartitionChange = { action: 'add', path: ['ts'], transform: 'hour' };
    expect(() => partition(table(), DAY, hour)).toThrow(refusal('partition-spec.redundant'));
    const replaced = partition(table(), DAY, hour, { action: 'remove', name: 'd' });
    expect(fields(replaced)).toEqual(['1001 ts_hour=hour(2)']);
    expect(() => partition(table(), BUCKET, BUCKET)).toThrow(
      refusal('partition-spec.duplicate-field'),
    );
  });

  it('is read from a request', () => {
    const parse = (text: string) =>
      parsePartitionChange(new JsonNode(parseJson(text), '$', 'invalid'));
    expect(parse('{"action":"add","path":["ts"],"transform":"Bucket[ 4 ]"}')).toEqual({
      action: 'add',
      path: ['ts'],
      transform: 'bucket[4]',
    });
    expect(parse('{"action":"rename","name":"a","new-name":"b"}')).toEqual({
      action: 'rename',
      name: 'a',
      newName: 'b',
    });
    expect(() => parse('{"action":"shuffle"}')).toThrow(refusal('partition-spec.unknown-action'));
  });
});

describe('replacing the sort order', () => {
  it('gives real orders ids from 1 on, and finds an earlier one again', () => {
    const sorted = commit(
      table(),
      replaceSortOrder(table(), [
        { path: ['ts'], direction: 'desc' },
        { path: ['id'], transform: 'bucket[4]' },
      ]),
    );
    expect(sorted.sortOrders.at(-1)).toEqual({
      orderId: 1,
      fields: [
        { sourceId: 2, transform: 'identity', direction: 'desc', nullOrder: 'nulls-last' },
        { sourceId: 1, transform: 'bucket[4]', direction: 'asc', nullOrder: 'nulls-first' },
      ],
    });
    expect(sorted.defaultSortOrderId).toBe(1);
    const unsorted = commit(sorted, replaceSortOrder(sorted, []));
    expect([unsorted.defaultSortOrderId, unsorted.sortOrders.length]).toEqual([0, 2]);
    expect(replaceSortOrder(unsorted, [])).toBeNull();
  });

  it('refuses what rows cannot be sorted by', () => {
    const sort = (path: string[], transform = 'identity') =>
      replaceSortOrder(table(), [{ path, transform }]);
    expect(() => sort(['o'])).toThrow(refusal('sort-order.unknown-source'));
    expect(() => sort(['id'], 'void')).toThrow(refusal('sort-order.unknown-transform'));
    expect(() => sort(['id'], 'day')).toThrow(refusal('sort-order.source-type'));
    expect(() => sort(['x'])).toThrow(refusal('schema.unknown-column'));
  });

  it('is read from a request', () => {
    const parse = (text: string) => parseSortColumn(new JsonNode(parseJson(text), '$', 'invalid'));
    expect(parse('{"path":["a"],"direction":"DESC","null-order":"nulls-first"}')).toEqual({
      path: ['a'],
      direction: 'desc',
      nullOrder: 'nulls-first',
    });
    expect(() => parse('{"path":["a"],"direction":"up"}')).toThrow(refusal('sort-order.direction'));
  });
});

describe('upgrading the format version', () => {
  it('goes up only, and begins row ids at 0', () => {
    const upgraded = commit(table(), upgradeFormatVersion(table(), 3));
    expect([upgraded.formatVersion, upgraded.nextRowId]).toEqual([3, 0n]);
    expect(upgradeFormatVersion(upgraded, 3)).toBeNull();
    expect(() => upgradeFormatVersion(upgraded, 2)).toThrow(
      refusal('table.format-version-downgrade'),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { JsonNode, parseJson, serializeJson } from '../../../../src/iceberg/json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../../../../src/iceberg/metadata/check-requirements.ts';
import type { PrimitiveTypeName, Schema } from '../../../../src/iceberg/spec/schema.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import {
  parseTableRequirement,
  serializeTableRequirement,
} from '../../../../src/iceberg/spec/table-requirement-json.ts';
import type { TableRequirement } from '../../../../src/iceberg/spec/table-requirement.ts';
import {
  parseTableUpdate,
  serializeTableUpdate,
} from '../../../../src/iceberg/spec/table-update-json.ts';
import type { TableUpdate } from '../../../../src/iceberg/spec/table-update.ts';
import { BIG_ID, LOCATION, makeSnapshot, makeTable, NOW_MS, TABLE_UUID } from '../fixtures.ts';

const PREVIOUS = `${LOCATION}/metadata/v1.metadata.json`;

function apply(base: TableMetadata, ...updates: TableUpdate[]): TableMetadata {
  return applyUpdates(base, updates, { nowMs: NOW_MS + 10, previousMetadataLocation: PREVIOUS });
}

function added(id: bigint, sequenceNumber: bigint, parent: bigint | null = null): TableUpdate[] {
  const timestampMs = NOW_MS + Number(sequenceNumber);
  const snapshot = makeSnapshot({
    snapshotId: id,
    sequenceNumber,
    parentSnapshotId: parent,
    timestampMs,
  });
  return [
    { action: 'add-snapshot', snapshot },
    { action: 'set-snapshot-ref', refName: 'main', ref: { snapshotId: id, type: 'branch' } },
  ];
}

describe('applyUpdates', () => {
  it('changes nothing without updates', () => {
    const base = makeTable();
    expect(apply(base)).toBe(base);
  });

  it('logs a new snapshot at its own time and the file it came from', () => {
    const metadata = apply(makeTable(), ...added(BIG_ID, 1n));
    expect(metadata.currentSnapshotId).toBe(BIG_ID);
    expect(metadata.lastSequenceNumber).toBe(1n);
    expect(metadata.snapshotLog).toEqual([{ timestampMs: NOW_MS + 1, snapshotId: BIG_ID }]);
    expect(metadata.metadataLog).toEqual([{ timestampMs: NOW_MS, metadataFile: PREVIOUS }]);
    expect(metadata.lastUpdatedMs).toBe(NOW_MS + 10);
  });

  it('logs only the snapshot that ends up current of several in one commit', () => {
    const metadata = apply(makeTable(), ...added(1n, 1n), ...added(2n, 2n, 1n));
    expect(metadata.snapshotLog.map((entry) => entry.snapshotId)).toEqual([2n]);
  });

  it('logs a return to an older snapshot at the time of the commit', () => {
    const two = apply(apply(makeTable(), ...added(1n, 1n)), ...added(2n, 2n, 1n));
    const back = apply(two, {
      action: 'set-snapshot-ref',
      refName: 'main',
      ref: { snapshotId: 1n, type: 'branch' },
    });
    expect(back.currentSnapshotId).toBe(1n);
    expect(back.snapshotLog.at(-1)).toEqual({
      timestampMs: back.lastUpdatedMs,
      snapshotId: 1n,
    });
  });

  it('C079: never goes back in time when this clock is behind', () => {
    const metadata = apply(makeTable({ lastUpdatedMs: NOW_MS + 30_000 }), ...added(1n, 1n));
    expect(metadata.lastUpdatedMs).toBe(NOW_MS + 30_001);
  });

  it('C082: keeps at most write.metadata.previous-versions-max entries of the metadata log', () => {
    let metadata = makeTable({
      properties: new Map([['write.metadata.previous-versions-max', '5']]),
    });
    for (let i = 0; i < 250; i += 1) {
      metadata = applyUpdates(
        metadata,
        [{ action: 'set-properties', updates: new Map([['n', String(i)]]) }],
        { nowMs: NOW_MS + i, previousMetadataLocation: `v${i}` },
      );
    }
    expect(metadata.metadataLog.map((entry) => entry.metadataFile)).toEqual([
      'v245',
      'v246',
      'v247',
      'v248',
      'v249',
    ]);
  });

  it('expires a snapshot with its log entries and all before, refs and statistics', () => {
    const three = apply(
      apply(apply(makeTable(), ...added(1n, 1n)), ...added(2n, 2n, 1n)),
      ...added(3n, 3n, 2n),
      { action: 'set-snapshot-ref', refName: 'old', ref: { snapshotId: 2n, type: 'tag' } },
    );
    const withStatistics = { ...three, statistics: [{ 'snapshot-id': 2 }, { 'snapshot-id': 3 }] };
    const expired = apply(withStatistics, { action: 'remove-snapshots', snapshotIds: [2n] });
    expect(expired.snapshots.map((snapshot) => snapshot.snapshotId)).toEqual([1n, 3n]);
    expect(expired.snapshotLog.map((entry) => entry.snapshotId)).toEqual([3n]);
    expect([...expired.refs.keys()]).toEqual(['main']);
    expect(expired.statistics).toEqual([{ 'snapshot-id': 3 }]);
  });

  it('refuses a snapshot id twice, and a sequence number that was given before', () => {
    const one = apply(makeTable(), ...added(1n, 1n));
    expect(() => apply(one, ...added(1n, 2n, 1n))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'update.duplicate-snapshot-id' }),
    );
    expect(() => apply(one, ...added(2n, 1n, 1n))).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'update.sequence-number' }),
    );
  });

  it('uses an equal schema, spec or order again instead of adding another', () => {
    const base = makeTable();
    const schema = base.schemas[0];
    if (schema === undefined) throw new Error('no schema');
    const same = apply(
      base,
      { action: 'add-schema', schema: { ...schema, schemaId: 9 }, lastColumnId: 2 },
      { action: 'set-current-schema', schemaId: -1 },
      { action: 'add-spec', spec: { specId: 9, fields: [] } },
      { action: 'set-default-spec', specId: -1 },
      { action: 'add-sort-order', sortOrder: { orderId: 9, fields: [] } },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    );
    expect(same.schemas).toHaveLength(1);
    expect(same.partitionSpecs).toHaveLength(1);
    expect(same.sortOrders).toHaveLength(1);
    expect([same.currentSchemaId, same.defaultSpecId, same.defaultSortOrderId]).toEqual([0, 0, 0]);
  });

  it('C029: refuses a last column id that goes back', () => {
    const base = makeTable({ lastColumnId: 7 });
    const schema = base.schemas[0];
    if (schema === undefined) throw new Error('no schema');
    expect(() => apply(base, { action: 'add-schema', schema, lastColumnId: 2 })).toThrow(
      expect.objectContaining({ code: 'update.last-column-id' }),
    );
  });

  it('refuses types and defaults of version 3 in older tables, at any depth', () => {
    const schema = (type: PrimitiveTypeName, initialDefault?: number): Schema => {
      const field = { id: 5, name: 'x', required: false, type: { type } };
      const fields = [initialDefault === undefined ? field : { ...field, initialDefault }];
      const element = { type: 'struct', fields } as const;
      const list = { type: 'list', elementId: 4, element, elementRequired: false } as const;
      return {
        schemaId: 1,
        fields: [{ id: 3, name: 'l', required: false, type: list }],
        identifierFieldIds: [],
      };
    };
    const add = (metadata: TableMetadata, added: Schema) => () =>
      applyUpdates(metadata, [{ action: 'add-schema', schema: added, lastColumnId: 5 }], {
        nowMs: NOW_MS,
        previousMetadataLocation: null,
      });
    const newer = makeTable({ formatVersion: 3, nextRowId: 0n });
    expect(add(makeTable(), schema('timestamp_ns'))).toThrow(/l\.element\.x .* format version 3/);
    expect(add(makeTable(), schema('int', 1))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'schema.default-needs-version-3' }),
    );
    expect(add(newer, schema('timestamp_ns'))).not.toThrow();
    expect(add(newer, schema('int', 1))).not.toThrow();
  });

  it('advances the row ids of version 3 and refuses a snapshot that overlaps', () => {
    const base = makeTable({ formatVersion: 3, nextRowId: 100n });
    const snapshot = makeSnapshot({ firstRowId: 100n, addedRows: 25n });
    const metadata = apply(base, { action: 'add-snapshot', snapshot });
    expect(metadata.nextRowId).toBe(125n);
    const stale = { ...snapshot, snapshotId: 5n, sequenceNumber: 2n };
    expect(() => apply(metadata, { action: 'add-snapshot', snapshot: stale })).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'update.first-row-id' }),
    );
  });

  it('refuses reserved properties and takes format-version for an upgrade', () => {
    expect(() =>
      apply(makeTable(), { action: 'set-properties', updates: new Map([['uuid', 'x']]) }),
    ).toThrow(expect.objectContaining({ code: 'update.reserved-property' }));
    const upgraded = apply(makeTable(), {
      action: 'set-properties',
      updates: new Map([['format-version', '3']]),
    });
    expect(upgraded.formatVersion).toBe(3);
    expect(upgraded.nextRowId).toBe(0n);
    expect(upgraded.properties.has('format-version')).toBe(false);
  });
});

describe('updates in JSON', () => {
  const schema = makeTable().schemas[0];
  const updates: TableUpdate[] = [
    { action: 'assign-uuid', uuid: TABLE_UUID },
    { action: 'upgrade-format-version', formatVersion: 3 },
    ...(schema === undefined ? [] : [{ action: 'add-schema' as const, schema, lastColumnId: 2 }]),
    { action: 'set-current-schema', schemaId: -1 },
    {
      action: 'add-spec',
      spec: {
        specId: 1,
        fields: [{ sourceId: 1, fieldId: 1000, name: 'b', transform: 'bucket[4]' }],
      },
    },
    { action: 'set-default-spec', specId: -1 },
    {
      action: 'add-sort-order',
      sortOrder: {
        orderId: 1,
        fields: [
          { transform: 'identity', sourceId: 1, direction: 'desc', nullOrder: 'nulls-last' },
        ],
      },
    },
    { action: 'set-default-sort-order', sortOrderId: -1 },
    {
      action: 'add-snapshot',
      snapshot: makeSnapshot({ sequenceNumber: 9_007_199_254_740_993n, parentSnapshotId: 3n }),
    },
    {
      action: 'set-snapshot-ref',
      refName: 'main',
      ref: { snapshotId: BIG_ID, type: 'branch', maxRefAgeMs: 2n ** 63n - 1n },
    },
    { action: 'remove-snapshots', snapshotIds: [BIG_ID, 3n] },
    { action: 'remove-snapshot-ref', refName: 'x' },
    { action: 'set-location', location: LOCATION },
    { action: 'set-properties', updates: new Map([['a', 'b']]) },
    { action: 'remove-properties', removals: ['a'] },
  ];

  it.each(updates)('$action survives the round', (update) => {
    const text = serializeJson(serializeTableUpdate(update));
    expect(parseTableUpdate(new JsonNode(parseJson(text), '$', 'invalid'))).toEqual(update);
  });

  it('refuses what it does not know, and says of the protocol what it lacks', () => {
    const parse = (action: string): TableUpdate =>
      parseTableUpdate(new JsonNode({ action }, '$', 'invalid'));
    expect(() => parse('set-moon')).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'update.unknown' }),
    );
    expect(() => parse('set-statistics')).toThrow(expect.objectContaining({ kind: 'unsupported' }));
  });
});

describe('requirements', () => {
  const base = apply(makeTable(), ...added(BIG_ID, 1n));
  const holding: TableRequirement[] = [
    { type: 'assert-table-uuid', uuid: TABLE_UUID.toUpperCase() },
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: BIG_ID },
    { type: 'assert-ref-snapshot-id', ref: 'none', snapshotId: null },
    { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 2 },
    { type: 'assert-current-schema-id', currentSchemaId: 0 },
    { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 999 },
    { type: 'assert-default-spec-id', defaultSpecId: 0 },
    { type: 'assert-default-sort-order-id', defaultSortOrderId: 0 },
  ];
  const failing: TableRequirement[] = [
    { type: 'assert-create' },
    { type: 'assert-table-uuid', uuid: 'other' },
    // One digit that a double would lose.
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: BIG_ID + 1n },
    { type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: null },
    { type: 'assert-last-assigned-field-id', lastAssignedFieldId: 3 },
    { type: 'assert-current-schema-id', currentSchemaId: 1 },
    { type: 'assert-last-assigned-partition-id', lastAssignedPartitionId: 1000 },
    { type: 'assert-default-spec-id', defaultSpecId: 1 },
    { type: 'assert-default-sort-order-id', defaultSortOrderId: 1 },
  ];

  it.each(holding)('$type holds', (requirement) => {
    expect(checkRequirements(base, [requirement])).toBeNull();
    expect(checkRequirements(null, [requirement])).toMatch(/does not exist/);
  });

  it.each(failing)('$type fails with a message', (requirement) => {
    expect(checkRequirements(base, [...holding, requirement])).toMatch(/^Requirement failed: /);
  });

  it('of creation hold only where there is no table', () => {
    expect(checkRequirements(null, [{ type: 'assert-create' }])).toBeNull();
  });

  it.each([...holding, ...failing])('$type survives the round through JSON', (requirement) => {
    const text = serializeJson(serializeTableRequirement(requirement));
    expect(parseTableRequirement(new JsonNode(parseJson(text)))).toEqual(requirement);
  });
});

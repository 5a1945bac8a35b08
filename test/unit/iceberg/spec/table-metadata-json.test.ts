import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIcebergError } from '../../../../src/iceberg/errors.ts';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import {
  parseTableMetadata,
  serializeTableMetadata,
} from '../../../../src/iceberg/spec/table-metadata-json.ts';

const GOLDEN = join(import.meta.dirname, '../../../golden/metadata');

function read(name: string): string {
  return readFileSync(join(GOLDEN, name), 'utf8');
}

function names(folder: string): string[] {
  return readdirSync(join(GOLDEN, folder)).filter((name) => name.endsWith('.json'));
}

/** Code of the error for each file; a file without an entry here fails the test. */
const CODES: Readonly<Record<string, string>> = {
  'current-schema-missing': 'metadata.current-schema-missing',
  'current-snapshot-missing': 'metadata.current-snapshot-missing',
  'decimal-precision-39': 'type.out-of-range',
  'default-sort-order-missing': 'metadata.default-sort-order-missing',
  'default-spec-missing': 'metadata.default-spec-missing',
  'duplicate-field-id': 'schema.duplicate-id',
  'duplicate-field-name': 'schema.duplicate-name',
  'duplicate-schema-id': 'metadata.duplicate-schema-id',
  'duplicate-snapshot-id': 'metadata.duplicate-snapshot-id',
  'duplicate-spec-id': 'metadata.duplicate-spec-id',
  'format-version-4': 'metadata.format-version',
  'format-version-missing': 'json.missing-key',
  'identifier-field-missing': 'schema.identifier-missing',
  'last-column-id-too-low': 'metadata.last-column-id',
  'last-partition-id-too-low': 'metadata.last-partition-id',
  'last-updated-before-log': 'metadata.last-updated-ms',
  'location-empty': 'metadata.location-empty',
  'main-is-a-tag': 'metadata.main-not-branch',
  'main-not-current': 'metadata.main-not-current',
  'manifest-list-missing': 'json.missing-key',
  'metadata-log-unsorted': 'metadata.metadata-log-unsorted',
  'not-an-object': 'json.unexpected-type',
  'operation-unknown': 'snapshot.operation',
  'partition-specs-missing': 'metadata.partition-specs-missing',
  'property-not-text': 'json.unexpected-type',
  'ref-snapshot-missing': 'metadata.ref-snapshot-missing',
  'reserved-field-id': 'schema.reserved-id',
  'schemas-missing': 'metadata.schemas-missing',
  'sequence-number-above-last': 'metadata.last-sequence-number',
  'snapshot-id-as-float': 'json.unexpected-type',
  'snapshot-id-as-text': 'json.unexpected-type',
  'snapshot-log-unsorted': 'metadata.snapshot-log-unsorted',
  'sort-direction-unknown': 'sort-order.direction',
  'sort-orders-missing': 'metadata.sort-orders-missing',
  'table-uuid-missing': 'metadata.table-uuid-missing',
  truncated: 'json.malformed',
  'unknown-type': 'type.unknown',
  'v3-next-row-id-missing': 'json.missing-key',
};

describe('table metadata', () => {
  it.each(names('valid/'))('%s is read and keeps its meaning when written again', (name) => {
    const metadata = parseTableMetadata(read(`valid/${name}`));
    // Version 1 is not written; the upgrade is what a write needs.
    const writable =
      metadata.formatVersion === 1 ? { ...metadata, formatVersion: 2 as const } : metadata;
    const again = parseTableMetadata(serializeTableMetadata(writable));
    expect(again).toEqual(writable);
  });

  it.each(['v2-full.json', 'v2-empty.json', 'v2-unknown-member.json', 'v3-full.json'])(
    '%s is written as it was, member by member',
    (name) => {
      const text = read(`valid/${name}`);
      const written = serializeTableMetadata(parseTableMetadata(text));
      expect(parseJson(written)).toEqual(parseJson(text));
    },
  );

  it.each(names('invalid/'))('%s is refused for what it is named after', (name) => {
    let thrown: unknown = null;
    try {
      parseTableMetadata(read(`invalid/${name}`));
    } catch (error) {
      thrown = error;
    }
    expect(isIcebergError(thrown) && thrown.code).toBe(CODES[name.replace(/\.json$/, '')]);
    const kind = name === 'format-version-4.json' ? 'unsupported' : 'corrupt';
    expect(isIcebergError(thrown) && thrown.kind).toBe(kind);
  });

  it('C077: keeps ids beyond 2^53 digit by digit, in refs, parents and logs', () => {
    const metadata = parseTableMetadata(read('valid/v2-full.json'));
    expect(metadata.currentSnapshotId).toBe(7393143700390627738n);
    expect(metadata.snapshots[1]?.parentSnapshotId).toBe(3084219558005623831n);
    expect(metadata.refs.get('main')?.maxSnapshotAgeMs).toBe(9223372036854775807n);
    expect(serializeTableMetadata(metadata)).toContain('"current-snapshot-id":7393143700390627738');
  });

  it.each([
    'v2-empty',
    'v2-empty-null-snapshot',
    'v2-empty-absent-snapshot',
    'v2-empty-without-refs',
  ])('C078: %s has no snapshot, and no main to require', (name) => {
    const metadata = parseTableMetadata(read(`valid/${name}.json`));
    expect(metadata.currentSnapshotId).toBeNull();
    expect(metadata.refs.has('main')).toBe(false);
  });

  it('C078: metadata without refs has a main at its current snapshot', () => {
    const metadata = parseTableMetadata(read('valid/v2-without-refs.json'));
    expect(metadata.refs.get('main')).toEqual({ snapshotId: 7393143700390627738n, type: 'branch' });
  });

  it('reads version 1 with what it lacks filled in, and writes it after the upgrade', () => {
    const metadata = parseTableMetadata(read('valid/v1-minimal.json'));
    expect(metadata).toMatchObject({
      formatVersion: 1,
      lastSequenceNumber: 0n,
      lastPartitionId: 1000,
      currentSchemaId: 0,
    });
    expect(() => serializeTableMetadata(metadata)).toThrow(/upgrade/);
    const upgraded = applyUpdates(
      metadata,
      [{ action: 'upgrade-format-version', formatVersion: 2 }],
      {
        nowMs: metadata.lastUpdatedMs,
        previousMetadataLocation: null,
      },
    );
    const node = new JsonNode(parseJson(serializeTableMetadata(upgraded)));
    expect(node.member('format-version').int()).toBe(2);
    expect(node.member('schemas').items()).toHaveLength(1);
  });

  it('tolerates a minute of disorder in the logs, as writers with other clocks make it', () => {
    const text = read('valid/v2-full.json').replace(
      '"timestamp-ms": 1780000001000,\n   "snapshot-id"',
      '"timestamp-ms": 1780000061999,\n   "snapshot-id"',
    );
    expect(parseTableMetadata(text).snapshotLog[0]?.timestampMs).toBe(1780000061999);
  });
});

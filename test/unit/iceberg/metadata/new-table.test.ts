import { describe, expect, it } from 'vitest';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import { schemaFieldIds } from '../../../../src/iceberg/spec/data-types.ts';
import { parseSchema } from '../../../../src/iceberg/spec/schema-json.ts';
import { currentSchema } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import { struct } from '../fixtures.ts';

const base = { tableUuid: 'u', location: 's3://b/t', nowMs: 5 };

describe('newTableMetadata', () => {
  it('numbers all top-level columns first, then what is nested in them', () => {
    const metadata = newTableMetadata({
      ...base,
      schema: struct(
        ['a', 'long'],
        ['b', struct(['x', 'long'])],
        ['l', { type: 'list', element: 'long' }],
        ['z', 'long'],
      ),
    });
    const fields = currentSchema(metadata).fields;
    expect(fields.map((field) => field.id)).toEqual([1, 2, 3, 4]);
    expect(schemaFieldIds(currentSchema(metadata))).toEqual([1, 2, 5, 3, 6, 4]);
    expect(metadata.lastColumnId).toBe(6);
  });

  it('C028: gives fresh ids to a schema that comes with ids of its own', () => {
    const text =
      '{"type":"struct","identifier-field-ids":[10],"fields":[' +
      '{"id":10,"name":"a","required":true,"type":"long","doc":"key"},' +
      '{"id":20,"name":"b","required":false,"type":{"type":"struct","fields":[' +
      '{"id":30,"name":"x","required":false,"type":"int"}]}},' +
      '{"id":60,"name":"z","required":false,"type":"decimal(9, 2)"}]}';
    const metadata = newTableMetadata({
      ...base,
      schema: parseSchema(new JsonNode(parseJson(text))),
    });
    const schema = currentSchema(metadata);
    expect(schemaFieldIds(schema)).toEqual([1, 2, 4, 3]);
    expect(schema.identifierFieldIds).toEqual([1]);
    expect(schema.fields[0]).toMatchObject({ required: true, doc: 'key' });
  });

  it('keeps the codec in the properties and begins unpartitioned and without a snapshot', () => {
    const metadata = newTableMetadata({ ...base, schema: struct(['a', 'long']) });
    expect([...metadata.properties]).toEqual([['write.parquet.compression-codec', 'zstd']]);
    expect(metadata.lastPartitionId).toBe(999);
    expect(metadata.currentSnapshotId).toBeNull();
  });

  it('refuses a table without a column that has a type', () => {
    expect(() => newTableMetadata({ ...base, schema: struct(['a', struct()]) })).toThrow(
      expect.objectContaining({ code: 'schema.no-columns' }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import { schemaFieldIds } from '../../../../src/iceberg/spec/data-types.ts';
import { parseTableDeclaration } from '../../../../src/iceberg/metadata/table-declaration.ts';
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

/** As `PUT /tables/{ns}/{t}` gets it: ids of the request's own. */
function declare(changes: object = {}) {
  const body = {
    schema: {
      type: 'struct',
      'schema-id': 7,
      'identifier-field-ids': [30],
      fields: [
        { id: 30, name: 'id', required: true, type: 'long' },
        { id: 10, name: 'ts', required: false, type: 'timestamptz' },
        {
          id: 20,
          name: 'o',
          required: false,
          type: {
            type: 'struct',
            fields: [{ id: 40, name: 'zip', required: false, type: 'string' }],
          },
        },
        { id: 50, name: 'ts_year', required: false, type: 'int' },
      ],
    },
    'partition-spec': {
      'spec-id': 4,
      fields: [
        { 'source-id': 10, 'field-id': 2000, name: 'ts_day', transform: 'day' },
        { 'source-id': 40, name: 'zip', transform: 'truncate[3]' },
      ],
    },
    'write-order': {
      'order-id': 9,
      fields: [
        { 'source-id': 10, transform: 'identity', direction: 'desc', 'null-order': 'nulls-last' },
      ],
    },
    properties: { 'format-version': '3', owner: 'a' },
    ...changes,
  };
  const declaration = parseTableDeclaration(
    new JsonNode(parseJson(JSON.stringify(body)), '$', 'invalid'),
  );
  return newTableMetadata({ ...base, ...declaration, location: base.location });
}

function partitioned(...fields: [number, string, string][]): object {
  return {
    'partition-spec': {
      fields: fields.map(([source, name, transform]) => ({
        'source-id': source,
        name,
        transform,
      })),
    },
  };
}

function declareColumn(column: object, version = '2') {
  return declare({
    schema: { type: 'struct', fields: [{ id: 1, name: 'c', required: false, ...column }] },
    'partition-spec': null,
    'write-order': null,
    properties: { 'format-version': version },
  });
}

function refusal(code: string) {
  return expect.objectContaining({ kind: 'invalid', code });
}

describe('a declared table', () => {
  it('C028: has fresh ids in the schema and in all that refers to it', () => {
    const metadata = declare();
    expect(schemaFieldIds(currentSchema(metadata))).toEqual([1, 2, 3, 5, 4]);
    expect(currentSchema(metadata).identifierFieldIds).toEqual([1]);
    expect(metadata.partitionSpecs).toEqual([
      {
        specId: 0,
        fields: [
          { sourceId: 2, fieldId: 1000, name: 'ts_day', transform: 'day' },
          { sourceId: 5, fieldId: 1001, name: 'zip', transform: 'truncate[3]' },
        ],
      },
    ]);
    expect(metadata.lastPartitionId).toBe(1001);
    expect(metadata.sortOrders).toEqual([
      {
        orderId: 1,
        fields: [
          { sourceId: 2, transform: 'identity', direction: 'desc', nullOrder: 'nulls-last' },
        ],
      },
    ]);
    expect(metadata.defaultSortOrderId).toBe(1);
  });

  it('has the version its properties ask for, which are kept without it', () => {
    const metadata = declare();
    expect([metadata.formatVersion, metadata.nextRowId]).toEqual([3, 0n]);
    expect([...metadata.properties.keys()]).toEqual(['write.parquet.compression-codec', 'owner']);
    expect(declare({ properties: {} }).formatVersion).toBe(2);
    expect(() => declare({ properties: { 'format-version': '1' } })).toThrow(
      refusal('property.invalid'),
    );
  });

  it('C040: has no partition field that is named like another column', () => {
    expect(() => declare(partitioned([10, 'ts_year', 'year']))).toThrow(
      refusal('partition-spec.name-clash'),
    );
    expect(() => declare(partitioned([40, 'O.Zip', 'bucket[2]']))).toThrow(
      refusal('partition-spec.name-clash'),
    );
    expect(declare(partitioned([10, 'ts', 'identity'])).lastPartitionId).toBe(1000);
  });

  it.each([
    ['unknown-source', partitioned([99, 'x', 'day'])],
    ['unknown-source', partitioned([20, 'x', 'identity'])],
    ['unknown-transform', partitioned([10, 'x', 'zorder'])],
    ['source-type', partitioned([30, 'x', 'day'])],
    ['duplicate-name', partitioned([10, 'x', 'day'], [30, 'X', 'bucket[4]'])],
    ['duplicate-field', partitioned([30, 'x', 'bucket[4]'], [30, 'y', 'bucket[4]'])],
    ['redundant', partitioned([10, 'x', 'day'], [10, 'y', 'hour'])],
    ['empty-name', partitioned([10, '', 'day'])],
  ])('is refused with partition-spec.%s', (code, changes) => {
    expect(() => declare(changes)).toThrow(refusal(`partition-spec.${code}`));
  });

  it.each([
    ['schema.duplicate-name', { name: 'c', type: { type: 'struct', fields: twice('X', 'x') } }],
    ['schema.reserved-name', { name: '_file', type: 'string' }],
    ['schema.empty-struct', { type: { type: 'struct', fields: [] } }],
    ['schema.default-needs-version-3', { type: 'int', 'initial-default': 1 }],
    ['type.needs-version-3', { type: 'timestamp_ns' }],
    ['type.needs-version-3', { type: 'variant' }],
  ])('is refused with %s', (code, column) => {
    expect(() => declareColumn(column)).toThrow(refusal(code));
  });

  it('of version 3 may have its types and defaults, if they are of the type', () => {
    expect(() => declareColumn({ type: 'variant' }, '3')).not.toThrow();
    expect(() => declareColumn({ type: 'date', 'write-default': '2020-02-29' }, '3')).not.toThrow();
    for (const column of [
      { type: 'date', 'write-default': '2021-02-29' },
      { type: 'variant', 'initial-default': 1 },
    ]) {
      expect(() => declareColumn(column, '3')).toThrow(refusal('schema.default'));
    }
    expect(() => declareColumn({ type: 'unknown', required: true }, '3')).toThrow(
      refusal('type.unknown-required'),
    );
  });

  it('is refused when it is nested too deeply', () => {
    let type: unknown = 'long';
    for (let id = 100; id < 140; id += 1) {
      type = { type: 'list', 'element-id': id, element: type, 'element-required': false };
    }
    expect(() => declareColumn({ type })).toThrow(refusal('schema.too-deep'));
  });

  it('has identifier fields that identify: required, no floats, outside of lists', () => {
    const of = (type: unknown, required: boolean) => () =>
      declare({
        schema: {
          type: 'struct',
          'identifier-field-ids': [1],
          fields: [{ id: 1, name: 'c', required, type }],
        },
        'partition-spec': null,
        'write-order': null,
      });
    expect(of('long', true)).not.toThrow();
    expect(of('long', false)).toThrow(refusal('schema.identifier-field'));
    expect(of('double', true)).toThrow(refusal('schema.identifier-field'));
  });

  it('is refused with properties that are reserved, out of range or ask for encryption', () => {
    const of = (properties: object) => () => declare({ properties });
    expect(of({ 'current-schema': '1' })).toThrow(refusal('property.reserved'));
    expect(of({ 'write.parquet.compression-codec': 'lzo' })).toThrow(refusal('property.invalid'));
    expect(of({ 'schema-policy': 'whatever' })).toThrow(refusal('property.invalid'));
    expect(of({ 'schema-policy': 'widen' })).not.toThrow();
    expect(of({ 'encryption.key-id': 'k' })).toThrow(
      expect.objectContaining({ kind: 'unsupported', code: 'table.encrypted' }),
    );
  });
});

function twice(...names: string[]): object[] {
  return names.map((name, i) => ({ id: i + 2, name, required: false, type: 'long' }));
}

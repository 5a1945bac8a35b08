import { describe, expect, it } from 'vitest';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';
import { UNSORTED_ORDER } from '../../../src/iceberg/spec/sort-order.ts';
import { parquetOptions, ROW_GROUP_BYTES_MAX } from '../../../src/table/parquet-options.ts';

const SCHEMA: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [
    { id: 1, name: 'id', required: false, type: { type: 'long' } },
    {
      id: 2,
      name: 'place',
      required: false,
      type: {
        type: 'struct',
        fields: [{ id: 3, name: 'city', required: false, type: { type: 'string' } }],
      },
    },
  ],
};

const optionsOf = (properties: Record<string, string>, sortOrder = UNSORTED_ORDER) =>
  parquetOptions({ schema: SCHEMA, sortOrder, properties: new Map(Object.entries(properties)) });

describe('Parquet settings of a table', () => {
  it('are those of the specification, within what an isolate can hold', () => {
    expect(optionsOf({})).toMatchObject({
      codec: 'zstd',
      compressionLevel: null,
      rowGroupBytes: ROW_GROUP_BYTES_MAX,
      pageBytes: 1_048_576,
      pageRowsMax: 20_000,
      dictionaryBytes: 2_097_152,
    });
    expect(optionsOf({}).sort).toBeUndefined();
    expect(optionsOf({}).columns?.get(3)).toEqual({ metrics: { kind: 'truncate', length: 16 } });
  });

  it('reach single columns by their full names', () => {
    const { columns } = optionsOf({
      'write.parquet.bloom-filter-enabled.column.place.city': 'true',
      'write.parquet.bloom-filter-fpp.column.place.city': '0.05',
      'write.parquet.bloom-filter-enabled.column.id': 'yes',
      'write.parquet.dict-encoding-enabled.column.id': 'false',
      'write.parquet.stats-enabled.column.id': 'False',
      'write.metadata.metrics.column.id': 'counts',
    });
    expect(columns?.get(3)).toMatchObject({ bloomFilter: { fpp: 0.05, bytesMax: 1_048_576 } });
    expect(columns?.get(1)).toEqual({
      dictionary: false,
      statistics: false,
      metrics: { kind: 'counts' },
    });
  });

  it('ask for the sort order, whose columns always have bounds', () => {
    const order = {
      orderId: 1,
      fields: [
        {
          sourceId: 1,
          transform: 'identity',
          direction: 'asc',
          nullOrder: 'nulls-first',
        },
      ],
    } as const;
    const { sort, columns } = optionsOf({ 'write.metadata.metrics.default': 'none' }, order);
    expect(sort?.order).toBe(order);
    expect(columns?.get(1)?.metrics).toEqual({ kind: 'truncate', length: 16 });
    expect(columns?.get(3)?.metrics).toEqual({ kind: 'none' });
  });

  it('keep a level that the codec does not have from stopping every flush', () => {
    const properties = {
      'write.parquet.compression-codec': 'gzip',
      'write.parquet.compression-level': '19',
    };
    expect(optionsOf(properties).compressionLevel).toBe(9);
  });
});

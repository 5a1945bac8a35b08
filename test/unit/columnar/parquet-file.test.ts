import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import { field, ndjson, schema, write } from './kernel-fixture.ts';

describe('a Parquet file of the kernel', () => {
  it('is read back by hyparquet', async () => {
    const target = schema(field(1, 'id', 'long'), field(2, 'name', 'string'));
    const { bytes, file } = write(
      ndjson({ id: 1, name: 'żółw 🦊' }, { id: 2 }, { name: null, id: 3 }),
      target,
      { codec: 'snappy' },
    );
    expect(file.recordCount).toBe(3n);
    expect(file.fileSizeInBytes).toBe(BigInt(bytes.length));
    const rows = await parquetReadObjects({ file: bytes.buffer });
    expect(rows).toEqual([
      { id: 1n, name: 'żółw 🦊' },
      { id: 2n, name: null },
      { id: 3n, name: null },
    ]);
  });

  it('carries a field id on every column and the schema it was written under', () => {
    const target = schema(
      field(1, 's', { type: 'struct', fields: [field(3, 'x', 'int', true)] }),
      field(2, 'l', {
        type: 'list',
        elementId: 4,
        element: { type: 'string' },
        elementRequired: false,
      }),
      field(5, 'm', {
        type: 'map',
        keyId: 6,
        key: { type: 'string' },
        valueId: 7,
        value: { type: 'long' },
        valueRequired: false,
      }),
      field(8, 'u', 'uuid'),
      field(9, 'd', 'decimal(20,2)'),
      field(10, 't', 'timestamptz'),
    );
    const { bytes } = write(ndjson({ l: ['a', null], m: { k: 1 }, d: '1.50' }), target);
    const metadata = parquetMetadata(bytes.buffer);
    const ids = metadata.schema.map((node) => [node.name, node.field_id]);
    expect(ids).toEqual([
      ['table', undefined],
      ['s', 1],
      ['x', 3],
      ['l', 2],
      ['list', undefined],
      ['element', 4],
      ['m', 5],
      ['key_value', undefined],
      ['key', 6],
      ['value', 7],
      ['u', 8],
      ['d', 9],
      ['t', 10],
    ]);
    const node = (name: string) => metadata.schema.find((candidate) => candidate.name === name);
    expect(node('u')).toMatchObject({
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 16,
      logical_type: { type: 'UUID' },
    });
    expect(node('d')).toMatchObject({
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 9,
      scale: 2,
      precision: 20,
    });
    expect(node('t')?.logical_type).toMatchObject({
      type: 'TIMESTAMP',
      isAdjustedToUTC: true,
      unit: 'MICROS',
    });
    expect(node('x')?.repetition_type).toBe('REQUIRED');
    expect(metadata.key_value_metadata?.map(({ key }) => key)).toEqual(['iceberg.schema']);
  });
});

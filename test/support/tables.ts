import { newTableMetadata } from '../../src/iceberg/metadata/new-table.ts';
import type { RandomSource } from '../../src/iceberg/ports.ts';
import type { DataFile } from '../../src/iceberg/spec/data-file.ts';
import type { InferredStruct } from '../../src/iceberg/spec/inferred-type.ts';
import type { TableMetadata } from '../../src/iceberg/spec/table-metadata.ts';
import { fakeMetrics } from './fake-kernel.ts';

export const ORDERS_SCHEMA: InferredStruct = {
  type: 'struct',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: 'string' },
  ],
};

export function makeTable(
  random: RandomSource,
  location: string,
  properties: Readonly<Record<string, string>> = {},
  nowMs = 1_700_000_000_000,
): TableMetadata {
  return newTableMetadata({
    tableUuid: random.uuid(),
    location,
    schema: ORDERS_SCHEMA,
    properties: new Map(Object.entries(properties)),
    nowMs,
  });
}

export function makeDataFile(filePath: string, rows = 1): DataFile {
  return {
    ...fakeMetrics(rows, 100),
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    specId: 0,
    partition: [],
    keyMetadata: null,
    equalityIds: null,
    sortOrderId: null,
    firstRowId: null,
    referencedDataFile: null,
    contentOffset: null,
    contentSizeInBytes: null,
  };
}

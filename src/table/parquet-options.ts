/** How a table's data files are written, from its properties, within what an isolate can hold. */

import type { ColumnOptions, ParquetOptions } from '../columnar/kernel-port.ts';
import { metricsModes, primitiveColumns } from '../iceberg/metrics-config.ts';
import { TABLE_PROPERTIES, tableProperty } from '../iceberg/table-properties.ts';
import type { WriteTarget } from './protocol.ts';

const MIB = 1024 * 1024;
/** The open row group is held in memory, encoded; a table may ask for less, never for more. */
export const ROW_GROUP_BYTES_MAX = 16 * MIB;
const PAGE_BYTES_MAX = 4 * MIB;
/** A column's filter is held in memory until its row group is closed. */
const BLOOM_FILTER_BYTES_MAX = MIB;
/** Rows that are sorted at once, twice in memory. A file with more of them is not in order. */
const SORT_BUFFER_BYTES_MAX = 16 * MIB;
/** A file of a sorted table is closed here, one more stream of rows before it would be too many. */
export const SORTED_FILE_BYTES_MAX = 10 * MIB;
const GZIP_LEVEL_MAX = 9;

type Layout = Pick<WriteTarget, 'schema' | 'properties' | 'sortOrder'>;

/** @throws invalid `property.invalid` */
export function parquetOptions(table: Layout): ParquetOptions {
  const { properties, sortOrder } = table;
  const codec = tableProperty(properties, TABLE_PROPERTIES.parquetCodec);
  const level = tableProperty(properties, TABLE_PROPERTIES.parquetLevel);
  return {
    codec,
    compressionLevel: codec === 'gzip' && level !== null ? Math.min(level, GZIP_LEVEL_MAX) : level,
    rowGroupBytes: Math.min(
      tableProperty(properties, TABLE_PROPERTIES.rowGroupBytes),
      ROW_GROUP_BYTES_MAX,
    ),
    pageBytes: Math.min(tableProperty(properties, TABLE_PROPERTIES.pageBytes), PAGE_BYTES_MAX),
    pageRowsMax: tableProperty(properties, TABLE_PROPERTIES.pageRows),
    dictionaryBytes: Math.min(
      tableProperty(properties, TABLE_PROPERTIES.dictionaryBytes),
      PAGE_BYTES_MAX,
    ),
    columns: columnOptions(table),
    ...(sortOrder.fields.length > 0 && {
      sort: { order: sortOrder, bufferBytesMax: SORT_BUFFER_BYTES_MAX },
    }),
  };
}

/** By field id. A switch is off only for the text `false`, on only for `true`, as in Java. */
function columnOptions({ schema, properties, sortOrder }: Layout): Map<number, ColumnOptions> {
  const modes = metricsModes(schema, properties, sortOrder);
  const bytesMax = Math.min(
    tableProperty(properties, TABLE_PROPERTIES.bloomFilterBytesMax),
    BLOOM_FILTER_BYTES_MAX,
  );
  const setting = (name: string, column: string): string | undefined =>
    properties.get(`write.parquet.${name}.column.${column}`)?.trim().toLowerCase();
  const options = new Map<number, ColumnOptions>();
  for (const { fieldId, name } of primitiveColumns(schema.fields)) {
    const metrics = modes.get(fieldId);
    options.set(fieldId, {
      ...(metrics !== undefined && { metrics }),
      ...(setting('dict-encoding-enabled', name) === 'false' && { dictionary: false }),
      ...(setting('stats-enabled', name) === 'false' && { statistics: false }),
      ...(setting('bloom-filter-enabled', name) === 'true' && {
        bloomFilter: { fpp: falsePositives(setting('bloom-filter-fpp', name)), bytesMax },
      }),
    });
  }
  return options;
}

/** A probability; 0.01 when nothing sensible is set. */
function falsePositives(text: string | undefined): number {
  const fpp = Number(text ?? Number.NaN);
  return fpp > 0 && fpp < 1 ? fpp : 0.01;
}

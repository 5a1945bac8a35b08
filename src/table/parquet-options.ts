/** Parquet settings of a table's data files, from its properties, within what an isolate can hold. */

import type { ParquetOptions } from '../columnar/kernel-port.ts';
import { TABLE_PROPERTIES, tableProperty } from '../iceberg/table-properties.ts';

/** The open row group is held in memory, encoded; a table may ask for less, never for more. */
export const ROW_GROUP_BYTES_MAX = 16 * 1024 * 1024;
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** @throws invalid `property.invalid` */
export function parquetOptions(properties: ReadonlyMap<string, string>): ParquetOptions {
  return {
    codec: tableProperty(properties, TABLE_PROPERTIES.parquetCodec),
    compressionLevel: tableProperty(properties, TABLE_PROPERTIES.parquetLevel),
    rowGroupBytes: Math.min(
      tableProperty(properties, TABLE_PROPERTIES.rowGroupBytes),
      ROW_GROUP_BYTES_MAX,
    ),
    pageBytes: Math.min(tableProperty(properties, TABLE_PROPERTIES.pageBytes), PAGE_BYTES_MAX),
    dictionaryBytes: Math.min(
      tableProperty(properties, TABLE_PROPERTIES.dictionaryBytes),
      PAGE_BYTES_MAX,
    ),
  };
}

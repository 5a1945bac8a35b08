/** `ParquetOptions` as the kernel reads them. */

import { serializeSortOrder } from '../iceberg/spec/sort-order-json.ts';
import type { ParquetOptions } from './kernel-port.ts';

/** The caller adds what else an encoder needs, and makes text of it. */
export function optionsJson(options: ParquetOptions): Record<string, unknown> {
  const { sort, columns, ...plain } = options;
  return {
    ...plain,
    ...(sort !== undefined && { sort: { ...sort, order: serializeSortOrder(sort.order) } }),
    ...(columns !== undefined && { columns: [...columns] }),
  };
}

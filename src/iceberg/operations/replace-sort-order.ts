/** The order rows of new files are written in. Pure. Spec: "Sorting". */

import type { JsonNode } from '../json.ts';
import { checkSortOrder } from '../metadata/layout-rules.ts';
import type { ColumnPath } from '../metadata/schema-editor.ts';
import { findColumn } from '../metadata/schema-editor.ts';
import { parseTransformText } from '../spec/partition-spec-json.ts';
import { sameOrdering } from '../spec/sort-order-json.ts';
import type { SortField, SortOrder } from '../spec/sort-order.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { currentSchema, defaultSortOrder } from '../spec/table-metadata-rules.ts';
import type { LayoutChange } from './update-partition-spec.ts';

export interface SortColumn {
  readonly path: ColumnPath;
  /** Canonical text; `identity` when left out. */
  readonly transform?: string;
  /** `asc` when left out. */
  readonly direction?: SortField['direction'];
  /** Nulls go first in ascending and last in descending order when left out, as in the Java library. */
  readonly nullOrder?: SortField['nullOrder'];
}

/**
 * The change that makes this the table's order; no columns: unsorted. Null when it is so already.
 * @throws invalid `sort-order.*` as `checkSortOrder`; `schema.unknown-column`
 */
export function replaceSortOrder(
  metadata: TableMetadata,
  columns: readonly SortColumn[],
): LayoutChange | null {
  const schema = currentSchema(metadata);
  const fields = columns.map(
    ({ path, transform = 'identity', direction = 'asc', nullOrder }): SortField => ({
      transform,
      sourceId: findColumn(schema.fields, path).id,
      direction,
      nullOrder: nullOrder ?? (direction === 'asc' ? 'nulls-first' : 'nulls-last'),
    }),
  );
  const { defaultSortOrderId } = metadata;
  const sortOrder: SortOrder = { orderId: defaultSortOrderId, fields };
  checkSortOrder(sortOrder, schema);
  if (sameOrdering(defaultSortOrder(metadata), sortOrder)) return null;
  return {
    updates: [
      { action: 'add-sort-order', sortOrder },
      { action: 'set-default-sort-order', sortOrderId: -1 },
    ],
    requirements: [
      { type: 'assert-table-uuid', uuid: metadata.tableUuid },
      { type: 'assert-current-schema-id', currentSchemaId: metadata.currentSchemaId },
      { type: 'assert-default-sort-order-id', defaultSortOrderId },
    ],
  };
}

/** `{"path":["ts"],"direction":"desc","null-order":"nulls-last"}`; all but the path may be left out. */
export function parseSortColumn(node: JsonNode): SortColumn {
  const transform = node.optional('transform');
  const direction = node.optional('direction');
  const nullOrder = node.optional('null-order');
  return {
    path: node
      .member('path')
      .items()
      .map((part) => part.string()),
    ...(transform === null ? {} : { transform: parseTransformText(transform) }),
    ...(direction === null ? {} : { direction: oneOf(direction, ['asc', 'desc']) }),
    ...(nullOrder === null ? {} : { nullOrder: oneOf(nullOrder, ['nulls-first', 'nulls-last']) }),
  };
}

function oneOf<T extends string>(node: JsonNode, values: readonly T[]): T {
  const text = node.string().toLowerCase();
  const value = values.find((one) => one === text);
  if (value !== undefined) return value;
  throw node.fail('sort-order.direction', `"${text}" is neither ${values.join(' nor ')}`);
}

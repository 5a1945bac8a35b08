/** What a table's partition specs and sort order need of its columns. */

import { IcebergError } from '../errors.ts';
import { fieldIdsOf } from '../spec/data-types.ts';
import type { PartitionField } from '../spec/partition-spec.ts';
import type { NestedField, PrimitiveType, Schema } from '../spec/schema.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { parseTransform } from '../spec/transform.ts';
import { clashesWithColumn } from './layout-rules.ts';

type Layout = Pick<
  TableMetadata,
  'partitionSpecs' | 'defaultSpecId' | 'sortOrders' | 'defaultSortOrderId' | 'currentSnapshotId'
>;

/**
 * Whether the column, or one nested in it, can be dropped.
 * @throws invalid `schema.partition-source`, `schema.sort-source`
 */
export function checkDroppable(layout: Layout, field: NestedField): void {
  const ids = new Set([field.id, ...fieldIdsOf(field.type)]);
  for (const spec of layout.partitionSpecs) {
    // Files of an older spec may be live as long as there are any; their tuples need the source.
    const isInUse = spec.specId === layout.defaultSpecId || layout.currentSnapshotId !== null;
    const user = spec.fields.find((one) => ids.has(one.sourceId) && one.transform !== 'void');
    if (isInUse && user !== undefined) {
      throw new IcebergError(
        'invalid',
        'schema.partition-source',
        `Column "${field.name}" cannot be dropped: partition field "${user.name}" of spec ` +
          `${spec.specId} is computed from it`,
      );
    }
  }
  const order = layout.sortOrders.find((one) => one.orderId === layout.defaultSortOrderId);
  if (order?.fields.some((one) => ids.has(one.sourceId)) === true) {
    throw new IcebergError(
      'invalid',
      'schema.sort-source',
      `Column "${field.name}" cannot be dropped: the table's sort order uses it`,
    );
  }
}

/**
 * The partition field that would give rows other values once its source is promoted, or null.
 * Hashes of int and long, and of decimals of any precision, are defined to be equal; a date and its
 * midnight are not.
 */
export function partitionFieldHurtByPromotion(
  layout: Pick<Layout, 'partitionSpecs'>,
  fieldId: number,
  from: PrimitiveType,
): PartitionField | null {
  if (from.type !== 'date') return null;
  const fields = layout.partitionSpecs.flatMap((spec) => spec.fields);
  return (
    fields.find((field) => {
      const kind = parseTransform(field.transform)?.kind;
      return field.sourceId === fieldId && (kind === 'identity' || kind === 'bucket');
    }) ?? null
  );
}

/**
 * Readers refuse a table where a partition field is named like a column that is not its source.
 * @throws invalid `schema.partition-name` when `after` has such a column and `before` has not
 */
export function checkPartitionNames(
  layout: Pick<Layout, 'partitionSpecs'>,
  before: Schema,
  after: Schema,
): void {
  for (const field of layout.partitionSpecs.flatMap((spec) => spec.fields)) {
    if (!clashesWithColumn(field, after) || clashesWithColumn(field, before)) continue;
    throw new IcebergError(
      'invalid',
      'schema.partition-name',
      `A column cannot be named "${field.name}": that is the name of a partition field of the table`,
      { context: { column: field.name } },
    );
  }
}

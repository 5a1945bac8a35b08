/** Sort orders in their JSON form. Spec: appendix C, "Sort Orders". */

import type { JsonNode, JsonObject } from '../json.ts';
import { parseTransformText } from './partition-spec-json.ts';
import type { SortField, SortOrder } from './sort-order.ts';

export function parseSortOrder(node: JsonNode): SortOrder {
  return {
    orderId: node.member('order-id').int(),
    fields: node.member('fields').items().map(parseSortField),
  };
}

export function serializeSortOrder(order: SortOrder): JsonObject {
  return {
    'order-id': order.orderId,
    fields: order.fields.map((field) => ({
      transform: field.transform,
      'source-id': field.sourceId,
      direction: field.direction,
      'null-order': field.nullOrder,
    })),
  };
}

/** Equal order of rows, whatever the ids. */
export function sameOrdering(left: SortOrder, right: SortOrder): boolean {
  return (
    left.fields.length === right.fields.length &&
    left.fields.every((field, i) => {
      const other = right.fields[i];
      return (
        other !== undefined &&
        field.sourceId === other.sourceId &&
        field.transform === other.transform &&
        field.direction === other.direction &&
        field.nullOrder === other.nullOrder
      );
    })
  );
}

function parseSortField(node: JsonNode): SortField {
  const direction = node.member('direction').string().toLowerCase();
  const nullOrder = node.member('null-order').string().toLowerCase();
  if (direction !== 'asc' && direction !== 'desc') {
    throw node.fail('sort-order.direction', `direction "${direction}" is neither asc nor desc`);
  }
  if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last') {
    throw node.fail('sort-order.null-order', `unknown null order "${nullOrder}"`);
  }
  return {
    transform: parseTransformText(node.member('transform')),
    sourceId: node.member('source-id').int(),
    direction,
    nullOrder,
  };
}

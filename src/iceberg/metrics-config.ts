/**
 * Which statistics a table wants of each column in its manifests: `write.metadata.metrics.*`. What is
 * not wanted is not written, so that wide tables keep small manifests.
 * Source: Iceberg configuration page, "Write properties"; the Java library's `MetricsConfig`.
 */

import { findStructField, isPrimitive } from './spec/data-types.ts';
import type { NestedField, Schema } from './spec/schema.ts';
import type { SortOrder } from './spec/sort-order.ts';
import { tableProperty, TABLE_PROPERTIES } from './table-properties.ts';

export type MetricsMode =
  | { readonly kind: 'none' }
  /** Value, null and NaN counts, no bounds. */
  | { readonly kind: 'counts' }
  /** Counts, and bounds of text and bytes cut to that many code points or bytes. */
  | { readonly kind: 'truncate'; readonly length: number }
  /** Counts and whole bounds. */
  | { readonly kind: 'full' };

const DEFAULT_KEY = 'write.metadata.metrics.default';
const COLUMN_KEY_PREFIX = 'write.metadata.metrics.column.';
const DEFAULT_MODE: MetricsMode = { kind: 'truncate', length: 16 };
const NO_METRICS: MetricsMode = { kind: 'none' };

/**
 * The mode of every primitive column by field id. Columns inside lists and maps have none, because a
 * file's counts say nothing of its rows there. Without an explicit default only the first
 * `max-inferred-column-defaults` columns get the usual one. A column of the sort order has bounds
 * whatever is set: readers skip files by them. A mode that cannot be read is ignored, as in Java.
 */
export function metricsModes(
  schema: Schema,
  properties: ReadonlyMap<string, string>,
  sortOrder: SortOrder,
): ReadonlyMap<number, MetricsMode> {
  const explicit = parseMode(properties.get(DEFAULT_KEY));
  const inferredMax = tableProperty(properties, TABLE_PROPERTIES.metricsInferredColumnsMax);
  const sorted = new Set(
    sortOrder.fields.flatMap(({ sourceId }) => findStructField(schema.fields, sourceId)?.id ?? []),
  );
  const modes = new Map<number, MetricsMode>();
  for (const { fieldId, name } of primitiveColumns(schema.fields)) {
    const inferred = explicit ?? (modes.size < inferredMax ? DEFAULT_MODE : NO_METRICS);
    const mode = parseMode(properties.get(COLUMN_KEY_PREFIX + name)) ?? inferred;
    const lacksBounds = mode.kind === 'none' || mode.kind === 'counts';
    modes.set(fieldId, lacksBounds && sorted.has(fieldId) ? DEFAULT_MODE : mode);
  }
  return modes;
}

/** `none`, `counts`, `truncate(16)`, `full`, in any case; null for anything else. */
function parseMode(text: string | undefined): MetricsMode | null {
  const folded = text?.trim().toLowerCase();
  if (folded === 'none' || folded === 'counts' || folded === 'full') return { kind: folded };
  const length = Number(/^truncate\((\d{1,9})\)$/.exec(folded ?? '')?.[1] ?? 0);
  return length > 0 ? { kind: 'truncate', length } : null;
}

/** Leaves of structs with their full names, in the order of the schema. */
export function* primitiveColumns(
  fields: readonly NestedField[],
  prefix = '',
): Generator<{ fieldId: number; name: string }> {
  for (const { id, name, type } of fields) {
    if (type.type === 'struct') yield* primitiveColumns(type.fields, `${prefix}${name}.`);
    else if (isPrimitive(type)) yield { fieldId: id, name: prefix + name };
  }
}

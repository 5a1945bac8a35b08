/** Bounds of the partition values of a manifest. Spec: "Manifest Lists", `field_summary`. */

import type { PartitionValue } from '../spec/data-file.ts';
import type { PartitionFieldSummary } from '../spec/manifest-file.ts';
import { compareValues, promotedValue, toBinary } from '../spec/single-value.ts';
import type { PartitionColumn } from '../spec/transform.ts';

/** One summary a column; an empty list for an unpartitioned table, never null. */
export function summarizePartitions(
  columns: readonly PartitionColumn[],
  partitions: readonly (readonly PartitionValue[])[],
): PartitionFieldSummary[] {
  return columns.map((column, i) =>
    summarize(
      column,
      partitions.map((partition) => promotedValue(column.resultType, partition[i] ?? null)),
    ),
  );
}

function summarize(
  { resultType }: PartitionColumn,
  values: readonly PartitionValue[],
): PartitionFieldSummary {
  let lower: PartitionValue = null;
  let upper: PartitionValue = null;
  let containsNan = false;
  for (const value of values) {
    if (value === null) continue;
    if (Number.isNaN(value)) {
      containsNan = true;
      continue;
    }
    if (lower === null || compareValues(value, lower) < 0) lower = value;
    if (upper === null || compareValues(value, upper) > 0) upper = value;
  }
  return {
    containsNull: values.includes(null),
    containsNan,
    lowerBound: lower === null ? null : toBinary(resultType, lower),
    upperBound: upper === null ? null : toBinary(resultType, upper),
  };
}

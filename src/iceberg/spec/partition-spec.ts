/** Partition specs. Spec: "Partitioning", "Partition Specs" (appendix C). */

export interface PartitionField {
  readonly sourceId: number;
  /** From 1000 on; unique over all specs of a table. */
  readonly fieldId: number;
  readonly name: string;
  /** Canonical text: `identity`, `bucket[16]`, `truncate[4]`, `year`, `month`, `day`, `hour`, `void`. */
  readonly transform: string;
}

export interface PartitionSpec {
  readonly specId: number;
  readonly fields: readonly PartitionField[];
}

export const UNPARTITIONED_SPEC: PartitionSpec = { specId: 0, fields: [] };

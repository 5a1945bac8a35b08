/** Sort orders. Spec: "Sorting", "Sort Orders" (appendix C). */

export interface SortField {
  readonly transform: string;
  readonly sourceId: number;
  readonly direction: 'asc' | 'desc';
  readonly nullOrder: 'nulls-first' | 'nulls-last';
}

export interface SortOrder {
  readonly orderId: number;
  readonly fields: readonly SortField[];
}

export const UNSORTED_ORDER: SortOrder = { orderId: 0, fields: [] };

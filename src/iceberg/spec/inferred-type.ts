/**
 * Types without field ids, as found in the input or asked for by a caller. Ids are assigned when a
 * table is created or its schema evolves, never before.
 */

/** An Iceberg type without field ids. */
export type InferredType =
  /** A primitive as the spec writes it: `long`, `double`, `decimal(10,2)`, `timestamptz`, … */
  | string
  | InferredStruct
  | { readonly type: 'list'; readonly element: InferredType }
  | { readonly type: 'map'; readonly key: InferredType; readonly value: InferredType };

export interface InferredField {
  readonly name: string;
  readonly type: InferredType;
}

export interface InferredStruct {
  readonly type: 'struct';
  readonly fields: readonly InferredField[];
}

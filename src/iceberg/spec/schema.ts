/**
 * Iceberg schemas and types as values. Wire keys (`element-id`, …) exist only in the parse and
 * serialise functions. Spec: "Schemas and Data Types", "Appendix C: JSON serialization".
 */

import type { JsonValue } from '../json.ts';

export type PrimitiveTypeName =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'binary'
  | 'unknown'
  | 'variant';

export type PrimitiveType =
  | { readonly type: PrimitiveTypeName }
  | { readonly type: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly type: 'fixed'; readonly length: number };

export interface StructType {
  readonly type: 'struct';
  readonly fields: readonly NestedField[];
}

export interface ListType {
  readonly type: 'list';
  readonly elementId: number;
  readonly element: Type;
  readonly elementRequired: boolean;
}

export interface MapType {
  readonly type: 'map';
  readonly keyId: number;
  readonly key: Type;
  readonly valueId: number;
  readonly value: Type;
  readonly valueRequired: boolean;
}

export type Type = PrimitiveType | StructType | ListType | MapType;

export interface NestedField {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: Type;
  readonly doc?: string;
  /** JSON single-value form (v3): what rows of older files read. */
  readonly initialDefault?: JsonValue;
  /** JSON single-value form (v3): what a writer stores when no value is given. */
  readonly writeDefault?: JsonValue;
}

export interface Schema {
  readonly schemaId: number;
  readonly fields: readonly NestedField[];
  readonly identifierFieldIds: readonly number[];
}

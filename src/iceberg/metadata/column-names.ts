/**
 * Names of columns. Two names equal under lower case are one column, at every depth, because Hive,
 * Glue, Trino and Spark cannot read a table with both. A name with a dot is a name, never a path.
 */

import { IcebergError } from '../errors.ts';

/** Columns that readers add to every table. Spec: "Reserved Field IDs". */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  '_file',
  '_pos',
  '_deleted',
  '_spec_id',
  '_partition',
  '_change_type',
  '_change_ordinal',
  '_commit_snapshot_id',
  '_row_id',
  '_last_updated_sequence_number',
]);

export function foldedName(name: string): string {
  return name.toLowerCase();
}

/**
 * The index of the field of that name, or -1. The exact name goes first: a table made by another
 * writer may have both `id` and `ID`.
 */
export function indexOfName(fields: readonly { readonly name: string }[], name: string): number {
  const exact = fields.findIndex((field) => field.name === name);
  if (exact !== -1) return exact;
  const folded = foldedName(name);
  return fields.findIndex((field) => foldedName(field.name) === folded);
}

/** @throws invalid `schema.reserved-name` */
export function checkTopLevelName(name: string): void {
  if (!RESERVED_NAMES.has(foldedName(name))) return;
  throw new IcebergError(
    'invalid',
    'schema.reserved-name',
    `"${name}" is the name of an Iceberg metadata column; rename it`,
    { context: { column: name } },
  );
}

/** `a."b.c".element`: a part that is not a plain word is quoted, so that no two paths read alike. */
export function pathText(path: readonly string[]): string {
  return path
    .map((part) => (/^[^\s".]+$/.test(part) ? part : `"${part.replaceAll('"', '""')}"`))
    .join('.');
}

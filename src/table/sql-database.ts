/**
 * The little of SQLite that the two state machines need: synchronous statements and transactions,
 * as a SQLite-backed Durable Object has them. Tests run the same code on another SQLite.
 *
 * Bounds of the platform that the callers keep: a value of at most 2 MB, 100 bound parameters.
 */

import { IcebergError } from '../iceberg/errors.ts';

export type SqlValue = string | number | null | ArrayBuffer | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlDatabase {
  /** Runs one statement and gives back all its rows. */
  exec(statement: string, ...bindings: readonly SqlValue[]): SqlRow[];
  /** All of `action` or, when it throws, nothing. `action` must not wait for anything. */
  transaction<T>(action: () => T): T;
}

export function textOf(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : unexpected(column, value);
}

export function textOrNullOf(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : textOf(row, column);
}

export function numberOf(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : unexpected(column, value);
}

export function numberOrNullOf(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : numberOf(row, column);
}

export function bytesOf(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : unexpected(column, value);
}

/** The first row's `n`, as `SELECT COUNT(*) AS n` and `SELECT TOTAL(x) AS n` answer. */
export function countOf(rows: readonly SqlRow[]): number {
  const [row] = rows;
  return row === undefined ? 0 : numberOf(row, 'n');
}

function unexpected(column: string, value: unknown): never {
  throw new IcebergError(
    'internal',
    'journal.unexpected-value',
    `The stored column ${column} holds a ${typeof value}`,
  );
}

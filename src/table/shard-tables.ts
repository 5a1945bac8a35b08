/**
 * The SQLite tables of an `IngestShard`. Made at every start; a later change of shape adds
 * statements here and never edits one that has been released.
 */

import type { SqlDatabase } from './sql-database.ts';

const STATEMENTS: readonly string[] = [
  // State: open -> sealed (-> parked -> sealed) -> committed | discarded. Finished rows stay as
  // receipts. `lease_until_ms` is when an open batch is dropped or a parked one is sealed again.
  `CREATE TABLE IF NOT EXISTS batches (
    batch_no INTEGER PRIMARY KEY AUTOINCREMENT,
    batch_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    flush_id TEXT,
    idempotency_key TEXT,
    body_digest TEXT,
    rows_received INTEGER NOT NULL,
    rows_accepted INTEGER NOT NULL,
    rows_quarantined INTEGER NOT NULL,
    slices INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    errors TEXT NOT NULL,
    lease_until_ms INTEGER NOT NULL,
    accepted_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    snapshot_id TEXT
  )`,
  `CREATE INDEX IF NOT EXISTS batches_unfinished ON batches (state, batch_no)
    WHERE state IN ('open', 'sealed', 'parked')`,
  `CREATE INDEX IF NOT EXISTS batches_finished ON batches (finished_at_ms)
    WHERE finished_at_ms IS NOT NULL`,
  // A value may not exceed 2 MB: an Arrow stream is cut into chunks.
  `CREATE TABLE IF NOT EXISTS slices (
    batch_no INTEGER NOT NULL,
    slice INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    table_uuid TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (batch_no, slice, chunk)
  )`,
  `CREATE TABLE IF NOT EXISTS idempotency_keys (
    idempotency_key TEXT PRIMARY KEY,
    batch_no INTEGER NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS quarantine (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    batch_no INTEGER NOT NULL,
    batch_id TEXT NOT NULL,
    row INTEGER NOT NULL,
    column_path TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    is_visible INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    raw TEXT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS quarantine_batch ON quarantine (batch_no)`,
  // State: planned -> encoded; the row is deleted when the flush is over. At most one row.
  `CREATE TABLE IF NOT EXISTS flushes (
    flush_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    table_uuid TEXT NOT NULL,
    batches INTEGER NOT NULL,
    rows INTEGER NOT NULL
  )`,
  // A key is written here before its object is: nothing is ever put that is not remembered.
  `CREATE TABLE IF NOT EXISTS flush_files (
    flush_id TEXT NOT NULL,
    object_key TEXT NOT NULL,
    data_file TEXT,
    PRIMARY KEY (flush_id, object_key)
  )`,
  // Objects that no snapshot refers to, and none ever will.
  `CREATE TABLE IF NOT EXISTS obsolete_files (object_key TEXT PRIMARY KEY)`,
  `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
];

export function createShardTables(database: SqlDatabase): void {
  for (const statement of STATEMENTS) database.exec(statement);
}

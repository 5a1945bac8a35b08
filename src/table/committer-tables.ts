/** The SQLite tables of a `TableCommitter`. Made at every start, as in `shard-tables.ts`. */

import type { SqlDatabase } from './sql-database.ts';

const STATEMENTS: readonly string[] = [
  // Waiting (no commit id) -> in the open intent -> finished (snapshot id).
  `CREATE TABLE IF NOT EXISTS submissions (
    submission_no INTEGER PRIMARY KEY AUTOINCREMENT,
    flush_id TEXT NOT NULL UNIQUE,
    table_uuid TEXT NOT NULL,
    files INTEGER NOT NULL,
    batches INTEGER NOT NULL,
    commit_id TEXT,
    snapshot_id TEXT,
    finished_at_ms INTEGER
  )`,
  `CREATE INDEX IF NOT EXISTS submissions_unfinished ON submissions (submission_no)
    WHERE snapshot_id IS NULL`,
  `CREATE INDEX IF NOT EXISTS submissions_of_commit ON submissions (commit_id)`,
  `CREATE INDEX IF NOT EXISTS submissions_finished ON submissions (finished_at_ms)
    WHERE finished_at_ms IS NOT NULL`,
  `CREATE TABLE IF NOT EXISTS submission_files (
    submission_no INTEGER NOT NULL,
    data_file TEXT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS submission_files_of ON submission_files (submission_no)`,
  // The commit that is under way; at most one row. It was written before the catalog was touched.
  `CREATE TABLE IF NOT EXISTS intents (commit_id TEXT PRIMARY KEY, table_uuid TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
];

export function createCommitterTables(database: SqlDatabase): void {
  for (const statement of STATEMENTS) database.exec(statement);
}

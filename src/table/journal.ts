/**
 * The journal of a `TableCommitter`: what was submitted, which commit it went into, and what became
 * of it. Every method is one transaction. A commit intent is written before the catalog is touched
 * and its members never change, so that after any restart the same commit is found or made again.
 */

import type { DataFile } from '../iceberg/spec/data-file.ts';
import { parseDataFile, serializeDataFile } from './data-file-record.ts';
import type { SubmitRequest } from './protocol.ts';
import type { SqlDatabase, SqlRow } from './sql-database.ts';
import { numberOf, numberOrNullOf, textOf, textOrNullOf } from './sql-database.ts';

export interface JournalSettings {
  /** One snapshot takes at most this many files; a larger submission goes alone. */
  readonly filesPerCommitMax: number;
  /** Results are kept this long … */
  readonly resultRetentionMs: number;
  /** … and at most this many of them. */
  readonly resultsMax: number;
}

export const DEFAULT_JOURNAL_SETTINGS: JournalSettings = {
  filesPerCommitMax: 2000,
  resultRetentionMs: 7 * 24 * 60 * 60 * 1000,
  resultsMax: 1_000_000,
};

/** A commit under way. */
export interface CommitIntent {
  /** Kept in the snapshot's summary. */
  readonly commitId: string;
  readonly tableUuid: string;
  readonly dataFiles: readonly DataFile[];
  readonly flushCount: number;
  readonly batchCount: number;
}

/** Null while it waits. */
export interface Submission {
  readonly snapshotId: bigint | null;
}

export class Journal {
  readonly #database: SqlDatabase;
  readonly #settings: JournalSettings;

  constructor(database: SqlDatabase, settings: JournalSettings) {
    this.#database = database;
    this.#settings = settings;
  }

  find(flushId: string): Submission | null {
    const [row] = this.#database.exec(
      'SELECT snapshot_id FROM submissions WHERE flush_id = ?',
      flushId,
    );
    if (row === undefined) return null;
    const snapshotId = textOrNullOf(row, 'snapshot_id');
    return { snapshotId: snapshotId === null ? null : BigInt(snapshotId) };
  }

  /** Once a flush id; a repeat changes nothing. */
  record(request: SubmitRequest): void {
    this.#database.transaction(() => {
      if (this.find(request.flushId) !== null) return;
      const [inserted] = this.#database.exec(
        `INSERT INTO submissions (flush_id, table_uuid, files, batches) VALUES (?, ?, ?, ?)
          RETURNING submission_no`,
        request.flushId,
        request.tableUuid,
        request.dataFiles.length,
        request.batchCount,
      );
      if (inserted === undefined) return;
      for (const file of request.dataFiles) {
        this.#database.exec(
          'INSERT INTO submission_files (submission_no, data_file) VALUES (?, ?)',
          numberOf(inserted, 'submission_no'),
          serializeDataFile(file),
        );
      }
    });
  }

  /** The commit under way, else a new one of everything that waits; null when nothing does. */
  intent(newCommitId: string): CommitIntent | null {
    return this.#database.transaction(() => {
      const [open] = this.#database.exec('SELECT commit_id, table_uuid FROM intents');
      if (open !== undefined)
        return this.#read(textOf(open, 'commit_id'), textOf(open, 'table_uuid'));
      const waiting = this.#database.exec(
        `SELECT submission_no, table_uuid, files FROM submissions
          WHERE snapshot_id IS NULL ORDER BY submission_no LIMIT ?`,
        this.#settings.filesPerCommitMax,
      );
      const [first] = waiting;
      if (first === undefined) return null;
      const tableUuid = textOf(first, 'table_uuid');
      let files = 0;
      const members: SqlRow[] = [];
      for (const submission of waiting) {
        if (textOf(submission, 'table_uuid') !== tableUuid) continue;
        files += numberOf(submission, 'files');
        if (members.length > 0 && files > this.#settings.filesPerCommitMax) break;
        members.push(submission);
      }
      this.#database.exec('INSERT INTO intents VALUES (?, ?)', newCommitId, tableUuid);
      for (const member of members) {
        this.#database.exec(
          'UPDATE submissions SET commit_id = ? WHERE submission_no = ?',
          newCommitId,
          numberOf(member, 'submission_no'),
        );
      }
      return this.#read(newCommitId, tableUuid);
    });
  }

  committed(commitId: string, snapshotId: bigint, nowMs: number): void {
    this.#database.transaction(() => {
      this.#dropFiles(commitId);
      this.#database.exec(
        'UPDATE submissions SET snapshot_id = ?, finished_at_ms = ? WHERE commit_id = ?',
        snapshotId.toString(),
        nowMs,
        commitId,
      );
      this.#database.exec('DELETE FROM intents WHERE commit_id = ?', commitId);
    });
  }

  /** The commit can never be made. Its members are forgotten: a repeat is judged anew. */
  reject(commitId: string): void {
    this.#database.transaction(() => {
      this.#dropFiles(commitId);
      this.#database.exec('DELETE FROM submissions WHERE commit_id = ?', commitId);
      this.#database.exec('DELETE FROM intents WHERE commit_id = ?', commitId);
    });
  }

  hasUnfinished(): boolean {
    const rows = this.#database.exec(
      'SELECT submission_no FROM submissions WHERE snapshot_id IS NULL LIMIT 1',
    );
    return rows.length > 0;
  }

  sweep(nowMs: number): void {
    this.#database.exec(
      `DELETE FROM submissions WHERE finished_at_ms IS NOT NULL AND (finished_at_ms <= ?
        OR submission_no <= (SELECT MAX(submission_no) FROM submissions) - ?)`,
      nowMs - this.#settings.resultRetentionMs,
      this.#settings.resultsMax,
    );
  }

  /** When `sweep` has something to do; null when nothing is kept. */
  nextSweepMs(): number | null {
    const [row] = this.#database.exec(
      'SELECT MIN(finished_at_ms) AS oldest FROM submissions WHERE finished_at_ms IS NOT NULL',
    );
    const oldest = row === undefined ? null : numberOrNullOf(row, 'oldest');
    return oldest === null ? null : oldest + this.#settings.resultRetentionMs;
  }

  clear(): void {
    this.#database.transaction(() => {
      for (const table of ['submissions', 'submission_files', 'intents']) {
        this.#database.exec(`DELETE FROM ${table}`);
      }
    });
  }

  #read(commitId: string, tableUuid: string): CommitIntent {
    const [sums] = this.#database.exec(
      'SELECT COUNT(*) AS flushes, TOTAL(batches) AS batches FROM submissions WHERE commit_id = ?',
      commitId,
    );
    const dataFiles = this.#database
      .exec(
        `SELECT data_file FROM submission_files WHERE submission_no IN
          (SELECT submission_no FROM submissions WHERE commit_id = ?) ORDER BY rowid`,
        commitId,
      )
      .map((row) => parseDataFile(textOf(row, 'data_file')));
    return {
      commitId,
      tableUuid,
      dataFiles,
      flushCount: sums === undefined ? 0 : numberOf(sums, 'flushes'),
      batchCount: sums === undefined ? 0 : numberOf(sums, 'batches'),
    };
  }

  #dropFiles(commitId: string): void {
    this.#database.exec(
      `DELETE FROM submission_files WHERE submission_no IN
        (SELECT submission_no FROM submissions WHERE commit_id = ?)`,
      commitId,
    );
  }
}

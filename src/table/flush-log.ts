/**
 * The flush of an `IngestShard`, step by step, in SQLite. At most one flush is open.
 *
 * planned:  batches belong to the flush; keys of its files are written here before the objects are.
 * encoded:  every file is stored and its `DataFile` record is here; nothing will be encoded again.
 * (gone):   committed, or given up; its batches say which.
 *
 * Every method is one transaction; `flusher.ts` does the work in between.
 */

import { IcebergError } from '../iceberg/errors.ts';
import type { DataFile } from '../iceberg/spec/data-file.ts';
import { parseDataFile, serializeDataFile } from './data-file-record.ts';
import { Facts } from './facts.ts';
import type { BatchId } from './protocol.ts';
import type { ShardSettings } from './shard-settings.ts';
import type { SqlDatabase, SqlRow } from './sql-database.ts';
import { bytesOf, countOf, numberOf, numberOrNullOf, textOf } from './sql-database.ts';

export interface OpenFlush {
  readonly flushId: string;
  readonly state: 'planned' | 'encoded';
  readonly tableUuid: string;
  readonly batchCount: number;
  readonly rowCount: number;
}

/** Where one Arrow stream is kept. */
export interface SliceRef {
  readonly batchNo: number;
  readonly slice: number;
}

/** What a finished flush did to batches. */
export interface FinishedBatches {
  readonly batchIds: readonly BatchId[];
  readonly rowCount: number;
}

export class FlushLog {
  readonly #database: SqlDatabase;
  readonly #settings: ShardSettings;
  readonly #facts: Facts;

  constructor(database: SqlDatabase, settings: ShardSettings) {
    this.#database = database;
    this.#settings = settings;
    this.#facts = new Facts(database);
  }

  open(): OpenFlush | null {
    const [row] = this.#database.exec('SELECT * FROM flushes');
    if (row === undefined) return null;
    return {
      flushId: textOf(row, 'flush_id'),
      state: textOf(row, 'state') === 'encoded' ? 'encoded' : 'planned',
      tableUuid: textOf(row, 'table_uuid'),
      batchCount: numberOf(row, 'batches'),
      rowCount: numberOf(row, 'rows'),
    };
  }

  /**
   * Gathers the oldest sealed batches, up to the bounds of the settings, into a new flush; null when
   * none is waiting. A batch is never split.
   */
  plan(flushId: string, tableUuid: string): OpenFlush | null {
    return this.#database.transaction(() => {
      const batchesMax = this.#facts.number('flush-batches-max') ?? this.#settings.flushBatchesMax;
      const waiting = this.#database.exec(
        `SELECT batch_no, bytes, rows_accepted FROM batches
          WHERE state = 'sealed' ORDER BY batch_no LIMIT ?`,
        batchesMax,
      );
      let bytes = 0;
      let rows = 0;
      let taken = 0;
      let lastNo = 0;
      for (const batch of waiting) {
        bytes += numberOf(batch, 'bytes');
        if (taken > 0 && bytes > this.#settings.flushBytesMax) break;
        rows += numberOf(batch, 'rows_accepted');
        lastNo = numberOf(batch, 'batch_no');
        taken += 1;
      }
      if (taken === 0) return null;
      this.#database.exec(
        `UPDATE batches SET flush_id = ? WHERE state = 'sealed' AND batch_no <= ?`,
        flushId,
        lastNo,
      );
      this.#database.exec(
        `INSERT INTO flushes (flush_id, state, table_uuid, batches, rows)
          VALUES (?, 'planned', ?, ?, ?)`,
        flushId,
        tableUuid,
        taken,
        rows,
      );
      return { flushId, state: 'planned', tableUuid, batchCount: taken, rowCount: rows };
    });
  }

  /** The Arrow streams of the flush in the order in which their batches were accepted. */
  slices(flushId: string): SliceRef[] {
    return this.#database
      .exec(
        `SELECT s.batch_no AS batch_no, s.slice AS slice FROM slices s
          JOIN batches b ON b.batch_no = s.batch_no
          WHERE b.flush_id = ? AND b.state = 'sealed' AND s.chunk = 0
          ORDER BY s.batch_no, s.slice`,
        flushId,
      )
      .map((row) => ({ batchNo: numberOf(row, 'batch_no'), slice: numberOf(row, 'slice') }));
  }

  /** One Arrow stream, its chunks joined. */
  readSlice(ref: SliceRef): Uint8Array {
    const chunks = this.#database
      .exec(
        'SELECT bytes FROM slices WHERE batch_no = ? AND slice = ? ORDER BY chunk',
        ref.batchNo,
        ref.slice,
      )
      .map((row) => bytesOf(row, 'bytes'));
    const [only] = chunks;
    if (only === undefined) {
      throw new IcebergError('not-found', 'flush.cancelled', 'The batches of the flush are gone');
    }
    return chunks.length === 1 ? only : joined(chunks);
  }

  /** Remembers a key about to be written. @throws not-found `flush.cancelled` */
  addFile(flushId: string, key: string): void {
    this.#database.transaction(() => {
      this.#requireOpen(flushId);
      this.#database.exec(
        'INSERT INTO flush_files (flush_id, object_key) VALUES (?, ?)',
        flushId,
        key,
      );
    });
  }

  /** Every file is stored. @throws not-found `flush.cancelled` */
  encoded(flushId: string, files: ReadonlyMap<string, DataFile>): void {
    this.#database.transaction(() => {
      this.#requireOpen(flushId);
      for (const [key, file] of files) {
        this.#database.exec(
          'UPDATE flush_files SET data_file = ? WHERE flush_id = ? AND object_key = ?',
          serializeDataFile(file),
          flushId,
          key,
        );
      }
      this.#database.exec(`UPDATE flushes SET state = 'encoded' WHERE flush_id = ?`, flushId);
      this.#facts.set('flush-batches-max', null);
    });
  }

  dataFiles(flushId: string): DataFile[] {
    return this.#database
      .exec(
        'SELECT data_file FROM flush_files WHERE flush_id = ? AND data_file IS NOT NULL ORDER BY rowid',
        flushId,
      )
      .map((row) => parseDataFile(textOf(row, 'data_file')));
  }

  /** The files written so far will not be used: a planned flush is encoded under new names. */
  forgetFiles(flushId: string): void {
    this.#database.transaction(() => this.#abandonFiles(flushId));
  }

  /** The flush is in a snapshot: its batches are committed and their Arrow streams dropped. */
  committed(flushId: string, snapshotId: bigint, nowMs: number): FinishedBatches {
    return this.#database.transaction(() => {
      const batches = this.#batchesOf(flushId);
      this.#dropSlices(flushId);
      this.#database.exec(
        `UPDATE batches SET state = 'committed', snapshot_id = ?, finished_at_ms = ?
          WHERE flush_id = ? AND state = 'sealed'`,
        snapshotId.toString(),
        nowMs,
        flushId,
      );
      this.#close(flushId);
      return finishedOf(batches);
    });
  }

  /** Nothing of the flush was submitted: its batches wait again. */
  release(flushId: string): void {
    this.#database.transaction(() => this.#release(flushId));
  }

  /** The flush cannot be encoded: the next one takes half as many, to get at the batch that is why. */
  narrow(flush: OpenFlush): void {
    this.#database.transaction(() => {
      this.#release(flush.flushId);
      this.#facts.set('flush-batches-max', Math.max(1, Math.floor(flush.batchCount / 2)));
    });
  }

  /** The flush of one batch cannot be encoded: the batch is set aside, durable, for a while. */
  park(flushId: string, untilMs: number): FinishedBatches {
    return this.#database.transaction(() => {
      const batches = this.#batchesOf(flushId);
      this.#abandonFiles(flushId);
      this.#database.exec(
        `UPDATE batches SET state = 'parked', flush_id = NULL, lease_until_ms = ?
          WHERE flush_id = ? AND state = 'sealed'`,
        untilMs,
        flushId,
      );
      this.#close(flushId);
      this.#facts.set('flush-batches-max', null);
      return finishedOf(batches);
    });
  }

  /** The flush was refused for good: its table is gone, and its batches with it. */
  discard(flushId: string, nowMs: number): FinishedBatches {
    return this.#database.transaction(() => {
      const batches = this.#batchesOf(flushId);
      this.#abandonFiles(flushId);
      this.#discardBatches(batches, nowMs);
      this.#close(flushId);
      return finishedOf(batches);
    });
  }

  /**
   * Discards waiting batches that hold rows of another table than `tableUuid`: one that was dropped
   * since (null: all of them). Rows accepted for a table never turn up in its successor.
   */
  discardStale(tableUuid: string | null, nowMs: number): FinishedBatches {
    return this.#database.transaction(() => {
      const batches = this.#database.exec(
        `SELECT batch_no, batch_id, rows_accepted FROM batches
          WHERE state IN ('sealed', 'parked') AND flush_id IS NULL AND (? IS NULL OR batch_no IN
            (SELECT batch_no FROM slices WHERE chunk = 0 AND table_uuid <> ?))`,
        tableUuid,
        tableUuid ?? '',
      );
      this.#discardBatches(batches, nowMs);
      return finishedOf(batches);
    });
  }

  obsoleteKeys(limit: number): string[] {
    return this.#database
      .exec('SELECT object_key FROM obsolete_files LIMIT ?', limit)
      .map((row) => textOf(row, 'object_key'));
  }

  obsoleteDeleted(keys: readonly string[]): void {
    this.#database.transaction(() => {
      for (const key of keys) {
        this.#database.exec('DELETE FROM obsolete_files WHERE object_key = ?', key);
      }
    });
  }

  /** The number of the newest sealed batch; 0 when none waits. */
  newestSealed(): number {
    return countOf(
      this.#database.exec(
        `SELECT COALESCE(MAX(batch_no), 0) AS n FROM batches WHERE state = 'sealed'`,
      ),
    );
  }

  hasSealedUpTo(batchNo: number): boolean {
    const rows = this.#database.exec(
      `SELECT batch_no FROM batches WHERE state = 'sealed' AND batch_no <= ? LIMIT 1`,
      batchNo,
    );
    return rows.length > 0;
  }

  oldestSealedMs(): number | null {
    const [row] = this.#database.exec(
      `SELECT MIN(accepted_at_ms) AS oldest FROM batches WHERE state = 'sealed'`,
    );
    return row === undefined ? null : numberOrNullOf(row, 'oldest');
  }

  #release(flushId: string): void {
    this.#abandonFiles(flushId);
    this.#database.exec(
      `UPDATE batches SET flush_id = NULL WHERE flush_id = ? AND state = 'sealed'`,
      flushId,
    );
    this.#close(flushId);
  }

  #requireOpen(flushId: string): void {
    if (this.open()?.flushId !== flushId) {
      throw new IcebergError('not-found', 'flush.cancelled', 'The flush was cancelled meanwhile');
    }
  }

  #batchesOf(flushId: string): SqlRow[] {
    return this.#database.exec(
      `SELECT batch_no, batch_id, rows_accepted FROM batches
        WHERE flush_id = ? AND state = 'sealed'`,
      flushId,
    );
  }

  #discardBatches(batches: readonly SqlRow[], nowMs: number): void {
    let rows = 0;
    for (const batch of batches) {
      const batchNo = numberOf(batch, 'batch_no');
      rows += numberOf(batch, 'rows_accepted');
      this.#database.exec('DELETE FROM slices WHERE batch_no = ?', batchNo);
      // The key is free again: what is sent anew may go into the new table.
      this.#database.exec('DELETE FROM idempotency_keys WHERE batch_no = ?', batchNo);
      this.#database.exec(
        `UPDATE batches SET state = 'discarded', finished_at_ms = ? WHERE batch_no = ?`,
        nowMs,
        batchNo,
      );
    }
    if (rows > 0) {
      this.#facts.set('rows-discarded', (this.#facts.number('rows-discarded') ?? 0) + rows);
    }
  }

  #dropSlices(flushId: string): void {
    this.#database.exec(
      `DELETE FROM slices WHERE batch_no IN
        (SELECT batch_no FROM batches WHERE flush_id = ? AND state = 'sealed')`,
      flushId,
    );
  }

  #abandonFiles(flushId: string): void {
    this.#database.exec(
      `INSERT OR IGNORE INTO obsolete_files (object_key)
        SELECT object_key FROM flush_files WHERE flush_id = ?`,
      flushId,
    );
    this.#database.exec('DELETE FROM flush_files WHERE flush_id = ?', flushId);
  }

  #close(flushId: string): void {
    this.#database.exec('DELETE FROM flush_files WHERE flush_id = ?', flushId);
    this.#database.exec('DELETE FROM flushes WHERE flush_id = ?', flushId);
  }
}

function finishedOf(batches: readonly SqlRow[]): FinishedBatches {
  return {
    batchIds: batches.map((batch) => textOf(batch, 'batch_id')),
    rowCount: batches.reduce((sum, batch) => sum + numberOf(batch, 'rows_accepted'), 0),
  };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

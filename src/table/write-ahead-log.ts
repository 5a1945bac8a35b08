/**
 * The write-ahead log of an `IngestShard`: batches, their Arrow slices and their receipts in SQLite.
 * A batch is invisible until sealed. Every method is one transaction and synchronous, so the object's
 * output gate holds an answer back until the rows behind it are durable.
 *
 * Which batches are flushed, and when, is decided in `flush-log.ts` and `shard.ts`.
 */

import { IcebergError } from '../iceberg/errors.ts';
import type {
  BatchHeader,
  BatchId,
  BatchReceipt,
  BatchSlice,
  BeginOutcome,
  ReplayedRows,
  ReplayResult,
  ShardStatus,
} from './protocol.ts';
import { errorsWith, RECEIPT_COLUMNS, receiptOf, refusalOf } from './batch-rows.ts';
import { Facts } from './facts.ts';
import { QuarantineLog } from './quarantine-log.ts';
import type { ShardSettings } from './shard-settings.ts';
import type { SqlDatabase, SqlRow } from './sql-database.ts';
import { countOf, numberOf, numberOrNullOf, textOf, textOrNullOf } from './sql-database.ts';

/** The platform refuses values beyond 2 MB; local runs would take them. */
const CHUNK_BYTES_MAX = 1_900_000;

export class WriteAheadLog {
  readonly quarantine: QuarantineLog;
  readonly #database: SqlDatabase;
  readonly #settings: ShardSettings;
  readonly #facts: Facts;
  /** Arrow bytes of open and sealed batches: a cache of a sum, so that no request scans the log. */
  #bytes = 0;
  #sealedBytes = 0;
  #openBatches = 0;
  #sealedBatches = 0;

  constructor(database: SqlDatabase, settings: ShardSettings) {
    this.#database = database;
    this.#settings = settings;
    this.#facts = new Facts(database);
    this.quarantine = new QuarantineLog(database, settings);
    this.recount();
  }

  /** Arrow bytes that wait for a flush. */
  get sealedBytes(): number {
    return this.#sealedBytes;
  }

  /** @throws overloaded, conflict `idempotency.in-progress`, invalid `idempotency.key-reused` */
  begin(header: BatchHeader, nowMs: number): BeginOutcome {
    return this.#transaction(() => this.#begin(header, nowMs));
  }

  /** @throws not-found `batch.not-open`, overloaded */
  append(batchId: BatchId, slice: BatchSlice, nowMs: number): void {
    this.#transaction(() => this.#append(this.#openBatch(batchId), slice, nowMs));
  }

  /**
   * Makes the batch durable. When its idempotency key turns out to be taken by the same bytes, the
   * batch is dropped and the first receipt answered.
   * @throws not-found `batch.not-open`, invalid `idempotency.key-reused`
   */
  seal(batchId: BatchId, bodyDigest: string | null, nowMs: number): BatchReceipt {
    const outcome = this.#transaction(() => {
      const batch = this.#openBatch(batchId);
      const earlier = this.#ownerOfKey(textOrNullOf(batch, 'idempotency_key'));
      if (earlier === null || numberOf(earlier, 'batch_no') === numberOf(batch, 'batch_no')) {
        return { receipt: this.#seal(batch, bodyDigest, nowMs) };
      }
      this.#drop(batch);
      const isSame = bodyDigest !== null && textOrNullOf(earlier, 'body_digest') === bodyDigest;
      return isSame ? { receipt: receiptOf(earlier) } : { refused: earlier };
    });
    // Thrown outside of the transaction: the refused batch is to stay dropped.
    if (outcome.receipt === undefined) throw refusalOf(outcome.refused);
    return outcome.receipt;
  }

  accept(header: BatchHeader, slices: readonly BatchSlice[], nowMs: number): BatchReceipt {
    return this.#transaction(() => this.#accept(header, slices, nowMs));
  }

  /**
   * Accepts rows of the quarantine and takes them out of it, both or neither.
   * @throws conflict `quarantine.changed`, overloaded
   */
  replay(header: BatchHeader, rows: ReplayedRows, nowMs: number): ReplayResult {
    return this.#transaction(() => {
      this.quarantine.settle(rows);
      const rowsLanded = rows.landed.length;
      const receipt = rowsLanded === 0 ? null : this.#accept(header, rows.slices, nowMs);
      return { receipt, rowsLanded, rowsLeft: this.quarantine.rowCount() };
    });
  }

  /** Repeatable; a sealed batch stays. */
  abort(batchId: BatchId): void {
    this.#transaction(() => {
      const batch = this.#find(batchId);
      if (batch !== null && textOf(batch, 'state') === 'open') this.#drop(batch);
    });
  }

  /** @throws not-found `batch.discarded` */
  receipt(batchId: BatchId): BatchReceipt | null {
    const batch = this.#find(batchId);
    if (batch === null || textOf(batch, 'state') === 'open') return null;
    if (textOf(batch, 'state') === 'discarded') {
      throw new IcebergError(
        'not-found',
        'batch.discarded',
        'The table was dropped before this batch was committed; its rows went with the table',
        { context: { batchId, rows: numberOf(batch, 'rows_accepted') } },
      );
    }
    return receiptOf(batch);
  }

  /** Drops open batches whose lease is over and receipts past their time; seals parked ones again. */
  sweep(nowMs: number): void {
    this.#transaction(() => {
      const expired = this.#database.exec(
        `SELECT ${RECEIPT_COLUMNS} FROM batches WHERE state = 'open' AND lease_until_ms <= ?`,
        nowMs,
      );
      for (const batch of expired) this.#drop(batch);
      const unparked = this.#database.exec(
        `UPDATE batches SET state = 'sealed' WHERE state = 'parked' AND lease_until_ms <= ?
          RETURNING batch_no`,
        nowMs,
      );
      if (unparked.length > 0) this.recount();
      const [newest] = this.#database.exec('SELECT MAX(batch_no) AS newest FROM batches');
      const batchNoMin =
        (newest === undefined ? 0 : (numberOrNullOf(newest, 'newest') ?? 0)) -
        this.#settings.receiptsMax;
      const isOver = 'finished_at_ms IS NOT NULL AND (finished_at_ms <= ? OR batch_no <= ?)';
      const bindings = [nowMs - this.#settings.receiptRetentionMs, batchNoMin];
      this.#database.exec(
        `DELETE FROM idempotency_keys WHERE batch_no IN (SELECT batch_no FROM batches WHERE ${isOver})`,
        ...bindings,
      );
      this.#database.exec(`DELETE FROM batches WHERE ${isOver}`, ...bindings);
    });
  }

  /** When `sweep` has something to do next; null when there is nothing. */
  nextSweepMs(): number | null {
    const [row] = this.#database.exec(
      `SELECT (SELECT MIN(lease_until_ms) FROM batches WHERE state IN ('open', 'parked')) AS lease,
        (SELECT MIN(finished_at_ms) FROM batches WHERE finished_at_ms IS NOT NULL) AS finished`,
    );
    if (row === undefined) return null;
    const lease = numberOrNullOf(row, 'lease');
    const finished = numberOrNullOf(row, 'finished');
    const due = [
      ...(lease === null ? [] : [lease]),
      ...(finished === null ? [] : [finished + this.#settings.receiptRetentionMs]),
    ];
    return due.length === 0 ? null : Math.min(...due);
  }

  status(): ShardStatus {
    const [row] = this.#database.exec(
      `SELECT TOTAL(rows_accepted) AS rows, TOTAL(bytes) AS bytes, COUNT(*) AS batches,
        MIN(accepted_at_ms) AS oldest FROM batches WHERE state IN ('sealed', 'parked')`,
    );
    return {
      rowsPending: row === undefined ? 0 : numberOf(row, 'rows'),
      bytesPending: row === undefined ? 0 : numberOf(row, 'bytes'),
      batchesPending: row === undefined ? 0 : numberOf(row, 'batches'),
      rowsQuarantined: this.quarantine.rowCount(),
      rowsDiscarded: this.#facts.number('rows-discarded') ?? 0,
      oldestPendingMs: row === undefined ? null : numberOrNullOf(row, 'oldest'),
    };
  }

  /** Forgets everything but the objects that are still to be deleted. */
  clear(): void {
    this.#transaction(() => {
      this.#database.exec(
        'INSERT OR IGNORE INTO obsolete_files (object_key) SELECT object_key FROM flush_files',
      );
      for (const table of [
        'batches',
        'slices',
        'idempotency_keys',
        'quarantine',
        'flushes',
        'flush_files',
        'facts',
      ]) {
        this.#database.exec(`DELETE FROM ${table}`);
      }
    });
    this.recount();
  }

  /** Reads the cached sums anew: after a failure, and after somebody else changed the batches. */
  recount(): void {
    // Literals: a bound parameter would keep the planner from the partial index.
    const sumOf = (expression: string, state: 'open' | 'sealed' | 'parked'): number =>
      countOf(
        this.#database.exec(`SELECT ${expression} AS n FROM batches WHERE state = '${state}'`),
      );
    this.#openBatches = sumOf('COUNT(*)', 'open');
    this.#sealedBatches = sumOf('COUNT(*)', 'sealed') + sumOf('COUNT(*)', 'parked');
    this.#sealedBytes = sumOf('TOTAL(bytes)', 'sealed');
    this.#bytes =
      this.#sealedBytes + sumOf('TOTAL(bytes)', 'open') + sumOf('TOTAL(bytes)', 'parked');
    this.quarantine.recount();
  }

  #accept(header: BatchHeader, slices: readonly BatchSlice[], nowMs: number): BatchReceipt {
    const begun = this.#begin(header, nowMs);
    if (begun.status === 'repeated') return begun.receipt;
    for (const slice of slices) this.#append(this.#openBatch(header.batchId), slice, nowMs);
    return this.#seal(this.#openBatch(header.batchId), header.bodyDigest, nowMs);
  }

  #begin(header: BatchHeader, nowMs: number): BeginOutcome {
    const earlier = this.#ownerOfKey(header.idempotencyKey);
    if (earlier !== null) {
      if (textOf(earlier, 'state') !== 'open') {
        const digest = textOrNullOf(earlier, 'body_digest');
        if (header.bodyDigest !== null) {
          if (digest !== header.bodyDigest) throw refusalOf(earlier);
          return { status: 'repeated', receipt: receiptOf(earlier) };
        }
        // A streamed body: whether it is the same one is only known when it is sealed.
      } else if (numberOf(earlier, 'lease_until_ms') > nowMs) throw refusalOf(earlier);
      else this.#drop(earlier);
    }
    this.#checkRoom();
    this.#database.exec(
      `INSERT INTO batches (batch_id, state, idempotency_key, body_digest, rows_received,
        rows_accepted, rows_quarantined, slices, bytes, errors, lease_until_ms, accepted_at_ms)
        VALUES (?, 'open', ?, ?, 0, 0, 0, 0, 0, '[]', ?, ?)`,
      header.batchId,
      header.idempotencyKey,
      header.bodyDigest,
      nowMs + this.#settings.batchLeaseMs,
      nowMs,
    );
    this.#openBatches += 1;
    if (header.idempotencyKey !== null) {
      this.#database.exec(
        `INSERT OR IGNORE INTO idempotency_keys (idempotency_key, batch_no)
          SELECT idempotency_key, batch_no FROM batches WHERE batch_id = ?`,
        header.batchId,
      );
    }
    return { status: 'new' };
  }

  #append(batch: SqlRow, slice: BatchSlice, nowMs: number): void {
    const batchNo = numberOf(batch, 'batch_no');
    const sliceNo = numberOf(batch, 'slices');
    const bytes = slice.ipc?.byteLength ?? 0;
    if (this.#bytes + bytes > this.#settings.pendingBytesMax) {
      throw overloaded('shard.buffer-full', 'The buffer of this table is full', {
        bytesPending: this.#bytes,
        bytesMax: this.#settings.pendingBytesMax,
      });
    }
    this.quarantine.append(batchNo, textOf(batch, 'batch_id'), slice.rejected, nowMs);
    if (slice.ipc !== null) {
      for (let start = 0, chunk = 0; start < bytes; start += CHUNK_BYTES_MAX, chunk += 1) {
        this.#database.exec(
          'INSERT INTO slices (batch_no, slice, chunk, table_uuid, bytes) VALUES (?, ?, ?, ?, ?)',
          batchNo,
          sliceNo,
          chunk,
          slice.tableUuid,
          slice.ipc.slice(start, start + CHUNK_BYTES_MAX),
        );
      }
    }
    this.#database.exec(
      `UPDATE batches SET rows_received = rows_received + ?, rows_accepted = rows_accepted + ?,
        rows_quarantined = rows_quarantined + ?, slices = slices + ?, bytes = bytes + ?,
        errors = ?, lease_until_ms = ? WHERE batch_no = ?`,
      slice.rowsReceived,
      slice.rowsAccepted,
      slice.rejected.length,
      slice.ipc === null ? 0 : 1,
      bytes,
      errorsWith(textOf(batch, 'errors'), slice.rejected, this.#settings.errorsPerReceiptMax),
      nowMs + this.#settings.batchLeaseMs,
      batchNo,
    );
    this.#bytes += bytes;
  }

  #seal(batch: SqlRow, bodyDigest: string | null, nowMs: number): BatchReceipt {
    const batchNo = numberOf(batch, 'batch_no');
    // Nothing to commit means committed: no snapshot will ever name this batch.
    const isEmpty = numberOf(batch, 'slices') === 0;
    this.#database.exec(
      `UPDATE batches SET state = ?, body_digest = COALESCE(?, body_digest), accepted_at_ms = ?,
        finished_at_ms = ? WHERE batch_no = ?`,
      isEmpty ? 'committed' : 'sealed',
      bodyDigest,
      nowMs,
      isEmpty ? nowMs : null,
      batchNo,
    );
    const key = textOrNullOf(batch, 'idempotency_key');
    if (key !== null) {
      this.#database.exec('INSERT OR REPLACE INTO idempotency_keys VALUES (?, ?)', key, batchNo);
    }
    this.quarantine.reveal(batchNo);
    this.#openBatches -= 1;
    if (!isEmpty) {
      this.#sealedBatches += 1;
      this.#sealedBytes += numberOf(batch, 'bytes');
    }
    const sealed = this.#find(textOf(batch, 'batch_id'));
    if (sealed === null) throw new IcebergError('internal', 'batch.lost', 'A sealed batch is gone');
    return receiptOf(sealed);
  }

  #drop(batch: SqlRow): void {
    const batchNo = numberOf(batch, 'batch_no');
    for (const table of ['slices', 'idempotency_keys', 'batches']) {
      this.#database.exec(`DELETE FROM ${table} WHERE batch_no = ?`, batchNo);
    }
    this.quarantine.drop(batchNo);
    this.recount();
  }

  #checkRoom(): void {
    const { openBatchesMax, pendingBatchesMax, pendingBytesMax } = this.#settings;
    if (this.#openBatches >= openBatchesMax) {
      throw overloaded('shard.too-many-open-batches', 'Too many requests are being received', {
        openBatchesMax,
      });
    }
    if (this.#sealedBatches >= pendingBatchesMax) {
      throw overloaded('shard.too-many-batches', 'Too many batches wait for a commit', {
        batchesMax: pendingBatchesMax,
      });
    }
    if (this.#bytes >= pendingBytesMax) {
      throw overloaded('shard.buffer-full', 'The buffer of this table is full', {
        bytesPending: this.#bytes,
        bytesMax: pendingBytesMax,
      });
    }
  }

  #ownerOfKey(key: string | null): SqlRow | null {
    if (key === null) return null;
    const [row] = this.#database.exec(
      `SELECT ${RECEIPT_COLUMNS} FROM batches WHERE batch_no =
        (SELECT batch_no FROM idempotency_keys WHERE idempotency_key = ?)`,
      key,
    );
    return row ?? null;
  }

  #find(batchId: BatchId): SqlRow | null {
    const [row] = this.#database.exec(
      `SELECT ${RECEIPT_COLUMNS} FROM batches WHERE batch_id = ?`,
      batchId,
    );
    return row ?? null;
  }

  #openBatch(batchId: BatchId): SqlRow {
    const batch = this.#find(batchId);
    if (batch !== null && textOf(batch, 'state') === 'open') return batch;
    throw new IcebergError(
      'not-found',
      'batch.not-open',
      'The batch is not being received: it was sealed, aborted, or took too long',
      { context: { batchId } },
    );
  }

  #transaction<T>(action: () => T): T {
    try {
      return this.#database.transaction(action);
    } catch (error) {
      // The rows were rolled back; the cached sums were not.
      this.recount();
      throw error;
    }
  }
}

function overloaded(code: string, message: string, context: Record<string, number>): IcebergError {
  return new IcebergError('overloaded', code, message, {
    context: { ...context, retryAfterSeconds: 2 },
  });
}

/**
 * Rows that were not accepted, kept durably with the reason. Those of a batch that is still being
 * received are stored but not shown. The log is bounded: a batch whose rejected rows have no room is
 * refused whole, because dropping them would lose data that the answer counted as kept.
 */

import type { RejectedRow } from '../columnar/kernel-port.ts';
import { IcebergError } from '../iceberg/errors.ts';
import type { BatchId, QuarantinedRow, QuarantinePage, ReplayedRows } from './protocol.ts';
import type { ShardSettings } from './shard-settings.ts';
import type { SqlDatabase, SqlRow } from './sql-database.ts';
import { countOf, numberOf, textOf } from './sql-database.ts';

/** Far below the 2 MB of a value; the decoder cuts earlier. */
const TEXT_CHARACTERS_MAX = 64 * 1024;
/** A page stays well below the 32 MiB of a call. */
const PAGE_ROWS_MAX = 1000;
const PAGE_CHARACTERS_MAX = 4 * 1024 * 1024;

export class QuarantineLog {
  readonly #database: SqlDatabase;
  readonly #settings: Pick<ShardSettings, 'quarantineRowsMax' | 'quarantineBytesMax'>;
  #rows = 0;
  #characters = 0;

  constructor(
    database: SqlDatabase,
    settings: Pick<ShardSettings, 'quarantineRowsMax' | 'quarantineBytesMax'>,
  ) {
    this.#database = database;
    this.#settings = settings;
    this.recount();
  }

  /** @throws overloaded `quarantine.full`; part of a caller's transaction */
  append(batchNo: number, batchId: BatchId, rejected: readonly RejectedRow[], atMs: number): void {
    for (const { row, column, code, message, raw } of rejected) {
      const keptRaw = raw.slice(0, TEXT_CHARACTERS_MAX);
      this.#rows += 1;
      this.#characters += keptRaw.length;
      const { quarantineRowsMax, quarantineBytesMax } = this.#settings;
      if (this.#rows > quarantineRowsMax || this.#characters > quarantineBytesMax) {
        throw new IcebergError(
          'overloaded',
          'quarantine.full',
          'The quarantine of this table is full: correct the rows, or send them with on-error=reject',
          { context: { rowsMax: quarantineRowsMax, retryAfterSeconds: 60 } },
        );
      }
      this.#database.exec(
        `INSERT INTO quarantine (batch_no, batch_id, row, column_path, code, message, at_ms,
          is_visible, characters, raw) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
        batchNo,
        batchId,
        row,
        column.slice(0, TEXT_CHARACTERS_MAX),
        code,
        message.slice(0, TEXT_CHARACTERS_MAX),
        atMs,
        keptRaw.length,
        keptRaw,
      );
    }
  }

  /** The batch was sealed: its rows may be listed. */
  reveal(batchNo: number): void {
    this.#database.exec('UPDATE quarantine SET is_visible = 1 WHERE batch_no = ?', batchNo);
  }

  drop(batchNo: number): void {
    this.#database.exec('DELETE FROM quarantine WHERE batch_no = ?', batchNo);
  }

  /**
   * Takes the landed rows out and gives the others their new reason; part of a caller's transaction.
   * @throws conflict `quarantine.changed` when one of them is not there any more
   */
  settle({ landed, refused }: ReplayedRows): void {
    const expectOne = (rows: readonly SqlRow[]): void => {
      if (rows.length === 1) return;
      throw new IcebergError(
        'conflict',
        'quarantine.changed',
        'Another replay, or a deletion, was faster: nothing of this one was done',
      );
    };
    for (const id of landed) {
      expectOne(
        this.#database.exec(
          'DELETE FROM quarantine WHERE id = ? AND is_visible = 1 RETURNING id',
          id,
        ),
      );
    }
    for (const { id, column, code, message } of refused) {
      expectOne(
        this.#database.exec(
          `UPDATE quarantine SET column_path = ?, code = ?, message = ?
            WHERE id = ? AND is_visible = 1 RETURNING id`,
          column.slice(0, TEXT_CHARACTERS_MAX),
          code,
          message.slice(0, TEXT_CHARACTERS_MAX),
          id,
        ),
      );
    }
    this.recount();
  }

  /** Deletes the visible rows with ids from `first` to `last`; answers how many. */
  delete(first: number, last: number): number {
    const deleted = this.#database.exec(
      'DELETE FROM quarantine WHERE id >= ? AND id <= ? AND is_visible = 1 RETURNING id',
      first,
      last,
    );
    this.recount();
    return deleted.length;
  }

  /** Rows with an id above `after`, oldest first. */
  list(after: number, limit: number): QuarantinePage {
    const rows = this.#database.exec(
      `SELECT id, batch_id, row, column_path, code, message, raw, at_ms FROM quarantine
        WHERE id > ? AND is_visible = 1 ORDER BY id LIMIT ?`,
      after,
      Math.min(Math.max(limit, 1), PAGE_ROWS_MAX) + 1,
    );
    const page: QuarantinedRow[] = [];
    let characters = 0;
    for (const row of rows.slice(0, Math.min(Math.max(limit, 1), PAGE_ROWS_MAX))) {
      characters += textOf(row, 'raw').length;
      // At least one row a page, or a reader would never get past a long one.
      if (characters > PAGE_CHARACTERS_MAX && page.length > 0) break;
      page.push(quarantinedRowOf(row));
    }
    const last = page.at(-1);
    return {
      rows: page,
      total: this.rowCount(),
      next: last !== undefined && page.length < rows.length ? last.id : null,
    };
  }

  rowCount(): number {
    return countOf(
      this.#database.exec('SELECT COUNT(*) AS n FROM quarantine WHERE is_visible = 1'),
    );
  }

  /** Reads the cached sums anew, after a rollback. */
  recount(): void {
    this.#rows = countOf(this.#database.exec('SELECT COUNT(*) AS n FROM quarantine'));
    this.#characters = countOf(
      this.#database.exec('SELECT TOTAL(characters) AS n FROM quarantine'),
    );
  }
}

function quarantinedRowOf(row: SqlRow): QuarantinedRow {
  return {
    id: numberOf(row, 'id'),
    batchId: textOf(row, 'batch_id'),
    row: numberOf(row, 'row'),
    column: textOf(row, 'column_path'),
    code: textOf(row, 'code'),
    message: textOf(row, 'message'),
    raw: textOf(row, 'raw'),
    atMs: numberOf(row, 'at_ms'),
  };
}

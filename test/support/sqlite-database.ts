import { DatabaseSync } from 'node:sqlite';
import type { SqlDatabase, SqlRow, SqlValue } from '../../src/table/sql-database.ts';

/** The storage of an object in tests: SQLite in memory. It outlives the object that uses it. */
export class SqliteDatabase implements SqlDatabase {
  readonly #database = new DatabaseSync(':memory:');

  exec(statement: string, ...bindings: readonly SqlValue[]): SqlRow[] {
    const values = bindings.map((value) =>
      value instanceof ArrayBuffer ? new Uint8Array(value) : value,
    );
    for (const value of values) {
      if (value instanceof Uint8Array && value.byteLength > 2_000_000) {
        throw new Error('string or blob too big: SQLITE_TOOBIG');
      }
    }
    return this.#database.prepare(statement).all(...values) as SqlRow[];
  }

  transaction<T>(action: () => T): T {
    // Nested calls join the outer one.
    if (this.#database.isTransaction) return action();
    this.#database.exec('BEGIN');
    try {
      const value = action();
      this.#database.exec('COMMIT');
      return value;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** One object's hold on the storage. After `kill` the object is dead: nothing it does has an effect. */
export class MortalDatabase implements SqlDatabase {
  readonly #database: SqlDatabase;
  readonly #onTransaction: () => void;
  #isDead = false;

  constructor(database: SqlDatabase, onTransaction: () => void = () => undefined) {
    this.#database = database;
    this.#onTransaction = onTransaction;
  }

  kill(): void {
    this.#isDead = true;
  }

  exec(statement: string, ...bindings: readonly SqlValue[]): SqlRow[] {
    this.#requireAlive();
    return this.#database.exec(statement, ...bindings);
  }

  transaction<T>(action: () => T): T {
    this.#requireAlive();
    this.#onTransaction();
    this.#requireAlive();
    return this.#database.transaction(action);
  }

  #requireAlive(): void {
    if (this.#isDead) throw new Error('The object is dead');
  }
}

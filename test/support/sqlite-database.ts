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

/** Runs a transaction, or lets it fail before or after it was made. */
type Around = <T>(action: () => T) => T;

/** One object's hold on the storage. After `kill` the object is dead: nothing it does has an effect. */
export class MortalDatabase implements SqlDatabase {
  readonly #database: SqlDatabase;
  readonly #around: Around;
  #isDead = false;

  constructor(database: SqlDatabase, around: Around = (action) => action()) {
    this.#database = database;
    this.#around = around;
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
    return this.#around(() => {
      this.#requireAlive();
      return this.#database.transaction(action);
    });
  }

  #requireAlive(): void {
    if (this.#isDead) throw new Error('The object is dead');
  }
}

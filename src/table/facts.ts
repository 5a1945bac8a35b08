/** Single named values of a Durable Object, in its `facts` table. */

import type { TableIdentifier } from '../iceberg/ports.ts';
import type { SqlDatabase } from './sql-database.ts';
import { textOf } from './sql-database.ts';

export class Facts {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  text(name: string): string | null {
    const [row] = this.#database.exec('SELECT value FROM facts WHERE name = ?', name);
    return row === undefined ? null : textOf(row, 'value');
  }

  number(name: string): number | null {
    const text = this.text(name);
    return text === null ? null : Number(text);
  }

  /** Null removes the fact. */
  set(name: string, value: string | number | null): void {
    if (value === null) this.#database.exec('DELETE FROM facts WHERE name = ?', name);
    else {
      this.#database.exec(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        String(value),
      );
    }
  }

  /** Which table the object is for: an alarm has no argument to tell it. */
  rememberTable({ namespace, name }: TableIdentifier): void {
    const text = JSON.stringify({ namespace, name });
    if (this.text('identifier') !== text) this.set('identifier', text);
  }

  table(): TableIdentifier | null {
    const text = this.text('identifier');
    return text === null ? null : (JSON.parse(text) as TableIdentifier);
  }
}

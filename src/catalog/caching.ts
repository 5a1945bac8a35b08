/**
 * A catalog that remembers the tables it saw last. For one object that makes all of a table's
 * changes: its own commits keep the memory right, and a foreign commit shows as a conflict, after
 * which the table is read anew. Reads may be late by `maxAgeMs`; commits never build on it blindly.
 */

import type {
  Catalog,
  Clock,
  CommitOutcome,
  CommitRequest,
  LoadedTable,
  TableIdentifier,
} from '../iceberg/ports.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';

export class CachingCatalog implements Catalog {
  readonly #catalog: Catalog;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #maxAgeMs: number;
  readonly #tables = new Map<string, { readonly table: LoadedTable; readonly atMs: number }>();

  constructor(catalog: Catalog, clock: Pick<Clock, 'nowMs'>, maxAgeMs: number) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  async loadTable(identifier: TableIdentifier): Promise<LoadedTable> {
    const known = this.#tables.get(keyOf(identifier));
    if (known !== undefined && this.#clock.nowMs() - known.atMs < this.#maxAgeMs) {
      return known.table;
    }
    this.forget(identifier);
    return this.#remember(identifier, await this.#catalog.loadTable(identifier));
  }

  async createTable(identifier: TableIdentifier, metadata: TableMetadata): Promise<LoadedTable> {
    this.forget(identifier);
    return this.#remember(identifier, await this.#catalog.createTable(identifier, metadata));
  }

  async commitTable(request: CommitRequest): Promise<CommitOutcome> {
    // Forgotten first: whatever it throws, the next load is a real one.
    this.forget(request.identifier);
    const outcome = await this.#catalog.commitTable(request);
    if (outcome.status === 'committed') this.#remember(request.identifier, outcome.table);
    return outcome;
  }

  async dropTable(
    identifier: TableIdentifier,
    options: { readonly purge: boolean },
  ): Promise<void> {
    this.forget(identifier);
    await this.#catalog.dropTable(identifier, options);
  }

  async listNamespaces(): Promise<string[][]> {
    return await this.#catalog.listNamespaces();
  }

  async listTables(namespace: readonly string[]): Promise<TableIdentifier[]> {
    return await this.#catalog.listTables(namespace);
  }

  newTableLocation(identifier: TableIdentifier): string {
    return this.#catalog.newTableLocation(identifier);
  }

  /** The next load asks the catalog. */
  forget(identifier: TableIdentifier): void {
    this.#tables.delete(keyOf(identifier));
  }

  #remember(identifier: TableIdentifier, table: LoadedTable): LoadedTable {
    this.#tables.set(keyOf(identifier), { table, atMs: this.#clock.nowMs() });
    return table;
  }
}

function keyOf(identifier: TableIdentifier): string {
  return JSON.stringify([identifier.namespace, identifier.name]);
}

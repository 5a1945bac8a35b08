/**
 * Makes tables and changes their schemas, for a `Committer` that has the turn: nobody else of this
 * deployment changes the table meanwhile. Foreign writers are met by the commit loop.
 */

import { commit } from '../iceberg/commit.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { stripTrailingSlashes } from '../iceberg/location-provider.ts';
import { newTableMetadata } from '../iceberg/metadata/new-table.ts';
import type { TableDeclaration } from '../iceberg/metadata/table-declaration.ts';
import { evolveSchema } from '../iceberg/operations/evolve-schema.ts';
import type {
  Catalog,
  Clock,
  LoadedTable,
  Logger,
  RandomSource,
  TableIdentifier,
} from '../iceberg/ports.ts';
import type { InferredStruct } from '../iceberg/spec/inferred-type.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';

/** Rounds of "load, else create" against other creators and unanswered requests. */
const CREATE_ATTEMPTS_MAX = 5;

export interface TableSchemasParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

export class TableSchemas {
  readonly #parts: TableSchemasParts;

  constructor(parts: TableSchemasParts) {
    this.#parts = parts;
  }

  /**
   * Creates the table from the columns that arrived, or adds those it lacks.
   * @throws invalid from the schema rules; conflict, unavailable: try again
   */
  async ensure(identifier: TableIdentifier, missing: InferredStruct): Promise<LoadedTable> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#addColumns(identifier, missing);
      } catch (error) {
        if (!isIcebergError(error) || error.code !== 'table.not-found') throw error;
        if (attempt >= CREATE_ATTEMPTS_MAX) throw error;
      }
      const { catalog, random, clock } = this.#parts;
      // Whoever was first: the next round adds what is still missing.
      await this.#createOnce(
        identifier,
        newTableMetadata({
          tableUuid: random.uuid(),
          location: catalog.newTableLocation(identifier),
          schema: missing,
          nowMs: clock.nowMs(),
        }),
      );
    }
  }

  /**
   * Creates a table as it was declared. Field ids are given anew.
   * @throws already-exists `table.already-exists`; unsupported `table.partitioned-not-yet`,
   * `table.stage-create`; invalid `table.location-fixed` and as `newTableMetadata`
   */
  async create(identifier: TableIdentifier, declaration: TableDeclaration): Promise<LoadedTable> {
    const { catalog, random, clock } = this.#parts;
    const location = catalog.newTableLocation(identifier);
    checkDeclaration(declaration, location);
    const metadata = newTableMetadata({
      tableUuid: random.uuid(),
      location,
      schema: declaration.schema,
      sortOrder: declaration.sortOrder,
      properties: declaration.properties,
      nowMs: clock.nowMs(),
    });
    for (let attempt = 1; ; attempt += 1) {
      const existing = await this.#find(identifier);
      // Ours, although the answer to an earlier attempt was lost.
      if (existing?.metadata.tableUuid === metadata.tableUuid) return existing;
      if (existing !== null) throw alreadyExists(identifier);
      const created = await this.#createOnce(identifier, metadata);
      if (created !== null) return created;
      if (attempt >= CREATE_ATTEMPTS_MAX) {
        throw new IcebergError(
          'unavailable',
          'table.create-unknown',
          'The catalog did not say whether the table was created: look whether it is there',
        );
      }
    }
  }

  async #find(identifier: TableIdentifier): Promise<LoadedTable | null> {
    try {
      return await this.#parts.catalog.loadTable(identifier);
    } catch (error) {
      if (isIcebergError(error, 'not-found') && error.code === 'table.not-found') return null;
      throw error;
    }
  }

  async #addColumns(identifier: TableIdentifier, missing: InferredStruct): Promise<LoadedTable> {
    const result = await commit(
      this.#parts,
      identifier,
      (table) => {
        const change = evolveSchema(table.metadata, missing);
        return Promise.resolve(
          change === null ? null : { ...change, snapshotId: null, written: [] },
        );
      },
      { commitId: null },
    );
    switch (result.status) {
      case 'committed':
      case 'unchanged':
        return result.table;
      case 'conflict':
        throw new IcebergError('conflict', 'schema.conflict', result.message);
      case 'unknown':
        throw new IcebergError(
          'unavailable',
          'schema.unknown',
          'The catalog did not say whether the columns were added: try again',
          { cause: result.cause },
        );
    }
  }

  /** Null when somebody else was first, or when it is not known whether we were. */
  async #createOnce(
    identifier: TableIdentifier,
    metadata: TableMetadata,
  ): Promise<LoadedTable | null> {
    const { catalog, logger } = this.#parts;
    try {
      const table = await catalog.createTable(identifier, metadata);
      logger.info('table.created', {
        namespace: identifier.namespace.join('.'),
        table: identifier.name,
        tableUuid: metadata.tableUuid,
      });
      return table;
    } catch (error) {
      const isDecidedByLoad =
        isIcebergError(error, 'already-exists') ||
        (isIcebergError(error) && error.code === 'catalog.create-unknown');
      if (!isDecidedByLoad) throw error;
      return null;
    }
  }
}

/** What the format allows and this writer does not do (yet) is refused, never left out in silence. */
function checkDeclaration(declaration: TableDeclaration, location: string): void {
  if ((declaration.partitionSpec?.fields.length ?? 0) > 0) {
    throw new IcebergError(
      'unsupported',
      'table.partitioned-not-yet',
      'Partitions cannot be written yet: leave "partition-spec" out',
    );
  }
  if (declaration.stageCreate) {
    throw new IcebergError(
      'unsupported',
      'table.stage-create',
      'A table is created at once here: leave "stage-create" out',
    );
  }
  const requested = declaration.location;
  if (requested === null || stripTrailingSlashes(requested) === location) return;
  throw new IcebergError(
    'invalid',
    'table.location-fixed',
    `The table lives at ${location}: leave "location" out`,
    { context: { location } },
  );
}

function alreadyExists(identifier: TableIdentifier): IcebergError {
  const label = [...identifier.namespace, identifier.name].join('.');
  return new IcebergError('already-exists', 'table.already-exists', `Table ${label} exists`, {
    context: { table: label },
  });
}

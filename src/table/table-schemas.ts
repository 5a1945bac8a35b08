/**
 * Makes tables and changes their schemas, for a `Committer` that has the turn: nobody else of this
 * deployment changes the table meanwhile. Foreign writers are met by the commit loop.
 */

import { commit } from '../iceberg/commit.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { stripTrailingSlashes } from '../iceberg/location-provider.ts';
import { newTableMetadata } from '../iceberg/metadata/new-table.ts';
import type { SchemaDifference } from '../iceberg/metadata/schema-difference.ts';
import type { TableDeclaration } from '../iceberg/metadata/table-declaration.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { ColumnChange } from '../iceberg/operations/column-change.ts';
import type { SchemaChange } from '../iceberg/operations/evolve-schema.ts';
import { evolveSchema } from '../iceberg/operations/evolve-schema.ts';
import { updateSchema } from '../iceberg/operations/update-schema.ts';
import type {
  Catalog,
  Clock,
  LoadedTable,
  Logger,
  RandomSource,
  TableIdentifier,
} from '../iceberg/ports.ts';
import { sameFields } from '../iceberg/spec/data-types.ts';
import type { InferredStruct } from '../iceberg/spec/inferred-type.ts';
import type { NestedField, Schema, Type } from '../iceberg/spec/schema.ts';
import { currentSchema } from '../iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';
import { rescueNotYet, schemaRulesOf } from './schema-rules.ts';
import type { SchemaUpdateRequest, SchemaUpdateResult } from './protocol.ts';

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
   * Creates the table from the columns that arrived, or fits its schema to them by `policy`; null is
   * the table's own. `strict` creates and changes nothing.
   * @throws not-found `table.not-found` under `strict`; invalid from the schema rules; conflict,
   * unavailable: try again
   */
  async ensure(
    identifier: TableIdentifier,
    arrived: InferredStruct,
    policy: SchemaPolicy | null,
  ): Promise<LoadedTable> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { table } = await this.#commit(identifier, ({ metadata }) => {
          const rules = schemaRulesOf(metadata.properties);
          return evolveSchema(metadata, arrived, { ...rules, policy: policy ?? rules.policy });
        });
        return table;
      } catch (error) {
        if (!isIcebergError(error) || error.code !== 'table.not-found') throw error;
        if (attempt >= CREATE_ATTEMPTS_MAX || policy === 'strict') throw error;
      }
      const { catalog, random, clock } = this.#parts;
      // Whoever was first: the next round adds what is still missing.
      await this.#createOnce(
        identifier,
        newTableMetadata({
          tableUuid: random.uuid(),
          location: catalog.newTableLocation(identifier),
          schema: arrived,
          nowMs: clock.nowMs(),
        }),
      );
    }
  }

  /**
   * Creates a table as it was declared. Field ids are given anew.
   * @throws already-exists `table.already-exists`; unsupported `table.stage-create`, `schema.defaults-not-yet`; invalid `table.location-fixed` and as `newTableMetadata`
   */
  async create(identifier: TableIdentifier, declaration: TableDeclaration): Promise<LoadedTable> {
    const { catalog, random, clock } = this.#parts;
    const location = catalog.newTableLocation(identifier);
    checkDeclaration(declaration, location);
    const metadata = newTableMetadata({
      tableUuid: random.uuid(),
      location,
      schema: declaration.schema,
      partitionSpec: declaration.partitionSpec,
      sortOrder: declaration.sortOrder,
      properties: declaration.properties,
      limits: schemaRulesOf(declaration.properties).limits,
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

  /**
   * Applies the changes of a request, all or none.
   * @throws not-found `table.not-found`; invalid as `updateSchema`; unsupported
   * `schema.defaults-not-yet`; conflict, unavailable: try again
   */
  async update(
    identifier: TableIdentifier,
    { changes, isDryRun }: SchemaUpdateRequest,
  ): Promise<SchemaUpdateResult> {
    if (changes.some(setsDefault)) throw defaultsNotYet();
    if (isDryRun) {
      const { metadata } = await this.#parts.catalog.loadTable(identifier);
      const { limits } = schemaRulesOf(metadata.properties);
      const { schema, difference } = updateSchema(metadata, changes, limits);
      return { schema, difference, isCommitted: false };
    }
    let staged: Schema | null = null;
    let difference: readonly SchemaDifference[] = [];
    const { table, isChanged } = await this.#commit(identifier, ({ metadata }) => {
      // An attempt whose answer was lost has landed: made again, "add" would find its own column.
      if (staged !== null && sameFields(currentSchema(metadata), staged)) return null;
      const { limits } = schemaRulesOf(metadata.properties);
      const update = updateSchema(metadata, changes, limits);
      ({ difference } = update);
      staged = update.change === null ? null : update.schema;
      return update.change;
    });
    return { schema: currentSchema(table.metadata), difference, isCommitted: isChanged };
  }

  async #find(identifier: TableIdentifier): Promise<LoadedTable | null> {
    try {
      return await this.#parts.catalog.loadTable(identifier);
    } catch (error) {
      if (isIcebergError(error, 'not-found') && error.code === 'table.not-found') return null;
      throw error;
    }
  }

  async #commit(
    identifier: TableIdentifier,
    plan: (table: LoadedTable) => SchemaChange | null,
  ): Promise<{ readonly table: LoadedTable; readonly isChanged: boolean }> {
    const result = await commit(
      this.#parts,
      identifier,
      (table) => {
        const change = plan(table);
        return Promise.resolve(
          change === null ? null : { ...change, snapshotId: null, written: [] },
        );
      },
      { commitId: null },
    );
    switch (result.status) {
      case 'committed':
      case 'unchanged':
        return { table: result.table, isChanged: result.status === 'committed' };
      case 'conflict':
        throw new IcebergError('conflict', 'schema.conflict', result.message);
      case 'unknown':
        throw new IcebergError(
          'unavailable',
          'schema.unknown',
          'The catalog did not say whether the schema was changed: try again',
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
  if (declaration.stageCreate) {
    throw new IcebergError(
      'unsupported',
      'table.stage-create',
      'A table is created at once here: leave "stage-create" out',
    );
  }
  if (declaration.properties.get('schema-policy')?.trim().toLowerCase() === 'rescue') {
    throw rescueNotYet();
  }
  if (schemaHasDefault(declaration.schema.fields)) throw defaultsNotYet();
  const requested = declaration.location;
  if (requested === null || stripTrailingSlashes(requested) === location) return;
  throw new IcebergError(
    'invalid',
    'table.location-fixed',
    `The table lives at ${location}: leave "location" out`,
    { context: { location } },
  );
}

function schemaHasDefault(fields: readonly NestedField[]): boolean {
  return fields.some(
    ({ type, initialDefault, writeDefault }) =>
      initialDefault !== undefined || writeDefault !== undefined || typeHasDefault(type),
  );
}

function typeHasDefault(type: Type): boolean {
  switch (type.type) {
    case 'struct':
      return schemaHasDefault(type.fields);
    case 'list':
      return typeHasDefault(type.element);
    case 'map':
      return typeHasDefault(type.key) || typeHasDefault(type.value);
    default:
      return false;
  }
}

function setsDefault(change: ColumnChange): boolean {
  if (change.action === 'set-write-default') return change.value !== null;
  return (
    change.action === 'add' &&
    ((change.initialDefault ?? null) !== null || (change.writeDefault ?? null) !== null)
  );
}

/** A writer must store the default where a row has no value; the kernel would store null. */
function defaultsNotYet(): IcebergError {
  return new IcebergError(
    'unsupported',
    'schema.defaults-not-yet',
    'Default values of columns cannot be written yet: leave "initial-default" and "write-default" out',
  );
}

function alreadyExists(identifier: TableIdentifier): IcebergError {
  const label = [...identifier.namespace, identifier.name].join('.');
  return new IcebergError('already-exists', 'table.already-exists', `Table ${label} exists`, {
    context: { table: label },
  });
}

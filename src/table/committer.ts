/**
 * The state machine of a `TableCommitter`: the only place that changes a table. Creation, schema
 * changes, commits and the drop take turns; what must survive a restart is in its journal.
 */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import type { TableDeclaration } from '../iceberg/metadata/table-declaration.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type {
  Catalog,
  Clock,
  LoadedTable,
  Logger,
  ObjectStore,
  RandomSource,
  TableIdentifier,
} from '../iceberg/ports.ts';
import type { InferredStruct } from '../iceberg/spec/inferred-type.ts';
import { serializeTableMetadata } from '../iceberg/spec/table-metadata-json.ts';
import {
  currentSchema,
  defaultSortOrder,
  defaultSpec,
} from '../iceberg/spec/table-metadata-rules.ts';
import { armNoLaterThan, backoffMs, type Alarm } from './alarm.ts';
import { CommitQueue } from './commit-queue.ts';
import { createCommitterTables } from './committer-tables.ts';
import { Facts } from './facts.ts';
import { DEFAULT_JOURNAL_SETTINGS, Journal, type JournalSettings } from './journal.ts';
import type {
  SchemaUpdateRequest,
  SchemaUpdateResult,
  SubmitRequest,
  SubmitResult,
  TableDocument,
  TableState,
  WriteTarget,
} from './protocol.ts';
import { schemaRulesOf } from './schema-rules.ts';
import type { SqlDatabase } from './sql-database.ts';
import { TableSchemas } from './table-schemas.ts';
import { TurnTaker } from './turn-taker.ts';

/** The object is woken this long after it died in the middle of a commit. */
const GUARD_MS = 30_000;
const RETRY_DELAY_MS_MIN = 1000;
const RETRY_DELAY_MS_MAX = 60_000;

/** A catalog that may answer loads from memory, until told not to. */
export interface RefreshableCatalog extends Catalog {
  /** The next load of the table is a real one. */
  forget(identifier: TableIdentifier): void;
}

export interface CommitterDependencies {
  readonly database: SqlDatabase;
  readonly alarm: Alarm;
  readonly catalog: RefreshableCatalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly journalSettings?: JournalSettings;
  /** Makes every shard of the table forget it. Repeatable. */
  readonly clearShards: (identifier: TableIdentifier) => Promise<void>;
}

export class Committer {
  readonly #parts: CommitterDependencies;
  readonly #facts: Facts;
  readonly #journal: Journal;
  readonly #turns = new TurnTaker();
  readonly #queue: CommitQueue;
  readonly #schemas: TableSchemas;

  constructor(parts: CommitterDependencies) {
    createCommitterTables(parts.database);
    this.#parts = parts;
    this.#facts = new Facts(parts.database);
    this.#journal = new Journal(parts.database, parts.journalSettings ?? DEFAULT_JOURNAL_SETTINGS);
    this.#queue = new CommitQueue({ ...parts, journal: this.#journal, turns: this.#turns });
    this.#schemas = new TableSchemas(parts);
  }

  async tableState(identifier: TableIdentifier): Promise<TableState | null> {
    const table = await this.#find(identifier);
    return table === null ? null : stateOf(table);
  }

  async writeTarget(identifier: TableIdentifier): Promise<WriteTarget | null> {
    const table = await this.#find(identifier);
    if (table === null) return null;
    const { tableUuid, location, properties } = table.metadata;
    return {
      tableUuid,
      schema: currentSchema(table.metadata),
      location,
      properties,
      spec: defaultSpec(table.metadata),
      sortOrder: defaultSortOrder(table.metadata),
    };
  }

  /** The metadata as the catalog has it now. */
  async document(identifier: TableIdentifier): Promise<TableDocument | null> {
    this.#parts.catalog.forget(identifier);
    const table = await this.#find(identifier);
    return table === null ? null : documentOf(table);
  }

  /** @throws as `TableSchemas.ensure` */
  async ensureSchema(
    identifier: TableIdentifier,
    arrived: InferredStruct,
    policy: SchemaPolicy | null = null,
  ): Promise<TableState> {
    return await this.#turns.take(async () => {
      await this.#finishDrop();
      return stateOf(await this.#schemas.ensure(identifier, arrived, policy));
    });
  }

  /** @throws as `TableSchemas.create` */
  async createTable(
    identifier: TableIdentifier,
    declaration: TableDeclaration,
  ): Promise<TableDocument> {
    return await this.#turns.take(async () => {
      await this.#finishDrop();
      this.#parts.catalog.forget(identifier);
      return documentOf(await this.#schemas.create(identifier, declaration));
    });
  }

  /** @throws as `TableSchemas.update` */
  async updateSchema(
    identifier: TableIdentifier,
    request: SchemaUpdateRequest,
  ): Promise<SchemaUpdateResult> {
    return await this.#turns.take(async () => {
      await this.#finishDrop();
      this.#parts.catalog.forget(identifier);
      return await this.#schemas.update(identifier, request);
    });
  }

  async submit(request: SubmitRequest): Promise<SubmitResult> {
    this.#facts.rememberTable(request.identifier);
    try {
      // It is in the journal at once; the alarm that looks after it is set while the commit runs.
      const [result] = await Promise.all([
        this.#queue.submit(request),
        armNoLaterThan(this.#parts.alarm, this.#nowMs() + GUARD_MS),
      ]);
      return result;
    } catch (error) {
      if (isIcebergError(error, 'commit-unknown')) {
        await armNoLaterThan(this.#parts.alarm, this.#nowMs() + RETRY_DELAY_MS_MIN);
      }
      throw error;
    }
  }

  /** @throws invalid `table.gc-disabled`; otherwise repeatable, and finished by the alarm */
  async drop(identifier: TableIdentifier): Promise<void> {
    const table = await this.#find(identifier);
    if (table?.metadata.properties.get('gc.enabled')?.toLowerCase() === 'false') {
      throw new IcebergError(
        'invalid',
        'table.gc-disabled',
        'The table property gc.enabled=false forbids deleting the files of this table',
      );
    }
    this.#facts.rememberTable(identifier);
    this.#facts.set('dropping', 1);
    await armNoLaterThan(this.#parts.alarm, this.#nowMs() + GUARD_MS);
    await this.#turns.take(() => this.#finishDrop());
  }

  /** The alarm rang: finishes what was left open. Never throws. */
  async onAlarm(): Promise<void> {
    const { alarm, random, logger } = this.#parts;
    await alarm.set(this.#nowMs() + GUARD_MS);
    let retryMs: number | null = null;
    try {
      const identifier = this.#facts.table();
      this.#journal.sweep(this.#nowMs());
      if (identifier !== null) {
        await this.#turns.take(() => this.#finishDrop());
        while (this.#journal.hasUnfinished()) await this.#queue.commitWaiting(identifier);
      }
      this.#facts.set('failures', null);
    } catch (error) {
      const failures = (this.#facts.number('failures') ?? 0) + 1;
      this.#facts.set('failures', failures);
      retryMs = backoffMs(failures, RETRY_DELAY_MS_MIN, RETRY_DELAY_MS_MAX, random.fraction());
      logger.warn('committer.alarm-failed', { message: String(error), failures, retryMs });
    }
    await alarm.set(retryMs === null ? this.#dueMs() : this.#nowMs() + retryMs);
  }

  #dueMs(): number | null {
    const isOpen = this.#journal.hasUnfinished() || this.#facts.number('dropping') !== null;
    return isOpen ? this.#nowMs() + GUARD_MS : this.#journal.nextSweepMs();
  }

  /** Runs in its turn. Does nothing unless a drop was begun. */
  async #finishDrop(): Promise<void> {
    const { catalog, clearShards, logger } = this.#parts;
    const identifier = this.#facts.table();
    if (this.#facts.number('dropping') === null || identifier === null) return;
    // Shards first: they stop writing files into what is about to be purged.
    await clearShards(identifier);
    await catalog.dropTable(identifier, { purge: true });
    // Again: what was accepted in between was accepted for the table that is gone now.
    await clearShards(identifier);
    this.#journal.clear();
    this.#facts.set('dropping', null);
    logger.info('table.dropped', {
      namespace: identifier.namespace.join('.'),
      table: identifier.name,
    });
  }

  async #find(identifier: TableIdentifier): Promise<LoadedTable | null> {
    // A drop that broke off: nobody may be shown, or write to, what the alarm is about to purge.
    if (this.#facts.number('dropping') !== null) {
      await this.#turns.take(() => this.#finishDrop());
    }
    try {
      return await this.#parts.catalog.loadTable(identifier);
    } catch (error) {
      if (isIcebergError(error, 'not-found') && error.code === 'table.not-found') return null;
      throw error;
    }
  }

  #nowMs(): number {
    return this.#parts.clock.nowMs();
  }
}

function stateOf(table: LoadedTable): TableState {
  const { metadata } = table;
  return {
    tableUuid: metadata.tableUuid,
    schema: currentSchema(metadata),
    rules: schemaRulesOf(metadata.properties),
  };
}

function documentOf(table: LoadedTable): TableDocument {
  return {
    metadataLocation: table.metadataLocation,
    metadataJson: serializeTableMetadata(table.metadata),
  };
}

/**
 * The one commit loop: load, operate, commit, and by the answer stop, or refresh and try again.
 *
 * An unknown outcome is never guessed at. The table is loaded again and every snapshot this call
 * ever staged, and the commit id, are looked for among the ancestors of main; found means
 * committed. Not found means that another attempt is safe: the lost request and the new attempt
 * require the same state of the table, so at most one of them can land, and each refresh looks
 * again. When the loop has to give up after such an attempt, the answer is `unknown`, not
 * `conflict`. Nothing is deleted here, whatever happens.
 */

import type { ErrorKind } from './errors.ts';
import { isIcebergError } from './errors.ts';
import type { StagedChange } from './operations/staged-change.ts';
import type { Catalog, Clock, CommitOutcome, LoadedTable } from './ports.ts';
import type { RandomSource, TableIdentifier } from './ports.ts';
import { COMMIT_ID_KEY } from './spec/snapshot-summary.ts';
import type { Snapshot } from './spec/snapshot.ts';
import { ancestorsOf } from './spec/table-metadata-rules.ts';
import type { TableMetadata } from './spec/table-metadata.ts';
import type { TableProperty } from './table-properties.ts';
import { tableProperty, TABLE_PROPERTIES } from './table-properties.ts';

export interface CommitPorts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Plans the change on freshly loaded metadata; null when nothing is left to do. */
export type Operation = (table: LoadedTable) => Promise<StagedChange | null>;

export interface CommitOptions {
  /** Id in the summary (`floe.commit-id`) of the snapshot to be added; null when there is none. */
  readonly commitId: string | null;
}

export type CommitResult =
  | {
      readonly status: 'committed';
      readonly table: LoadedTable;
      readonly snapshotId: bigint | null;
      readonly attempts: number;
      /** URIs written by attempts that did not land. */
      readonly orphaned: readonly string[];
    }
  /** The operation had nothing to do. */
  | { readonly status: 'unchanged'; readonly table: LoadedTable }
  | {
      readonly status: 'conflict';
      readonly message: string;
      readonly attempts: number;
      readonly orphaned: readonly string[];
    }
  /** One of these snapshots may still appear. */
  | {
      readonly status: 'unknown';
      readonly cause: unknown;
      readonly attempts: number;
      readonly snapshotIds: readonly bigint[];
    };

/** The snapshot of that commit among the ancestors of main, or null. */
export function findCommit(metadata: TableMetadata, commitId: string): Snapshot | null {
  return (
    ancestorsOf(metadata, metadata.currentSnapshotId).find(
      (snapshot) => snapshot.summary.properties.get(COMMIT_ID_KEY) === commitId,
    ) ?? null
  );
}

/**
 * Commits what `operation` plans. Retries conflicts and unavailable dependencies with jittered
 * backoff within `commit.retry.*` of the table.
 * @throws whatever the catalog or the operation throws, except conflicts, and outages within the
 * bounds; once an outcome is unknown nothing is thrown any more
 */
export async function commit(
  ports: CommitPorts,
  identifier: TableIdentifier,
  operation: Operation,
  options: CommitOptions,
): Promise<CommitResult> {
  return new CommitLoop(ports, identifier, operation, options).run();
}

interface Attempt {
  readonly change: StagedChange;
  readonly isUncertain: boolean;
}

type Step =
  | { readonly done: CommitResult }
  | { readonly retry: 'conflict' | 'outage'; readonly cause: unknown; readonly message: string };

class CommitLoop {
  readonly #ports: CommitPorts;
  readonly #identifier: TableIdentifier;
  readonly #operation: Operation;
  readonly #options: CommitOptions;
  readonly #attempts: Attempt[] = [];
  /** Settings are the table's own; before the first load, the defaults. */
  #properties: ReadonlyMap<string, string> = new Map();

  constructor(
    ports: CommitPorts,
    identifier: TableIdentifier,
    operation: Operation,
    options: CommitOptions,
  ) {
    this.#ports = ports;
    this.#identifier = identifier;
    this.#operation = operation;
    this.#options = options;
  }

  async run(): Promise<CommitResult> {
    const startedMs = this.#ports.clock.nowMs();
    for (let retries = 0; ; retries += 1) {
      let step: Step;
      try {
        step = await this.#step();
      } catch (error) {
        const unknown = this.#unknownResult(error);
        if (unknown !== null) return unknown;
        throw error;
      }
      if ('done' in step) return step.done;
      const elapsedMs = this.#ports.clock.nowMs() - startedMs;
      const isExhausted =
        retries >= this.#setting(TABLE_PROPERTIES.commitRetryCount) ||
        elapsedMs >= this.#setting(TABLE_PROPERTIES.commitTotalTimeoutMs);
      if (isExhausted) return this.#giveUp(step);
      await this.#backOff(
        retries,
        TABLE_PROPERTIES.commitRetryMinWaitMs,
        TABLE_PROPERTIES.commitRetryMaxWaitMs,
      );
    }
  }

  /** One round: load, look whether an earlier round landed, operate, commit. */
  async #step(): Promise<Step> {
    let change: StagedChange | null;
    let table: LoadedTable;
    try {
      table = await this.#load();
      const landed = this.#landed(table);
      if (landed !== null) return { done: landed };
      change = await this.#operation(table);
    } catch (error) {
      if (isIcebergError(error, 'conflict')) {
        return { retry: 'conflict', cause: error, message: error.message };
      }
      if (isIcebergError(error, 'unavailable')) {
        return { retry: 'outage', cause: error, message: error.message };
      }
      throw error;
    }
    if (change === null) return { done: this.#nothingToDo(table) };
    const outcome = await this.#commitOnce(change);
    this.#attempts.push({ change, isUncertain: outcome.status === 'unknown' });
    switch (outcome.status) {
      case 'committed':
        return { done: this.#committed(outcome.table, change.snapshotId, change) };
      case 'conflict':
        return { retry: 'conflict', cause: null, message: outcome.message };
      case 'unknown':
        return this.#resolveUnknown(outcome.cause);
    }
  }

  async #load(): Promise<LoadedTable> {
    const table = await this.#ports.catalog.loadTable(this.#identifier);
    this.#properties = table.metadata.properties;
    return table;
  }

  /** What the catalog throws is classed by its kind; only a known refusal is not uncertain. */
  async #commitOnce(change: StagedChange): Promise<CommitOutcome> {
    const { updates, requirements } = change;
    try {
      return await this.#ports.catalog.commitTable({
        identifier: this.#identifier,
        requirements,
        updates,
      });
    } catch (error) {
      if (isIcebergError(error, 'conflict')) return { status: 'conflict', message: error.message };
      if (isIcebergError(error) && REFUSALS.has(error.kind)) throw error;
      return { status: 'unknown', cause: error };
    }
  }

  async #resolveUnknown(cause: unknown): Promise<Step> {
    const checks = this.#setting(TABLE_PROPERTIES.statusCheckCount);
    for (let check = 0; ; check += 1) {
      try {
        const landed = this.#landed(await this.#load());
        if (landed !== null) return { done: landed };
        return { retry: 'outage', cause, message: 'The outcome of a commit is unknown' };
      } catch (error) {
        if (check >= checks || !isIcebergError(error, 'unavailable')) throw error;
      }
      await this.#backOff(
        check,
        TABLE_PROPERTIES.statusCheckMinWaitMs,
        TABLE_PROPERTIES.statusCheckMaxWaitMs,
      );
    }
  }

  /** The result when an attempt of this call, or of an earlier one with the same id, is in the table. */
  #landed(table: LoadedTable): CommitResult | null {
    const { commitId } = this.#options;
    const staged = new Set(this.#attempts.map((attempt) => attempt.change.snapshotId));
    const { metadata } = table;
    const found = ancestorsOf(metadata, metadata.currentSnapshotId).find(
      (snapshot) =>
        staged.has(snapshot.snapshotId) ||
        (commitId !== null && snapshot.summary.properties.get(COMMIT_ID_KEY) === commitId),
    );
    if (found === undefined) return null;
    // By the list, not the id: attempts may share an id, and another one's list is garbage.
    const attempt = this.#attempts.find((one) => one.change.written.includes(found.manifestList));
    return this.#committed(table, found.snapshotId, attempt?.change ?? null);
  }

  /** After an uncertain change of metadata only, "nothing to do" means that it landed. */
  #nothingToDo(table: LoadedTable): CommitResult {
    return this.#attempts.some((attempt) => attempt.isUncertain)
      ? this.#committed(table, null, null)
      : { status: 'unchanged', table };
  }

  #committed(
    table: LoadedTable,
    snapshotId: bigint | null,
    landed: StagedChange | null,
  ): CommitResult {
    // A merged manifest may be shared by attempts: what the landed one uses is not garbage.
    const used = new Set(landed?.written);
    const orphaned = landed === null ? [] : this.#allWritten().filter((uri) => !used.has(uri));
    const attempts = Math.max(1, this.#attempts.length);
    return { status: 'committed', table, snapshotId, attempts, orphaned };
  }

  #giveUp(step: Extract<Step, { retry: string }>): CommitResult {
    const unknown = this.#unknownResult(step.cause);
    if (unknown !== null) return unknown;
    if (step.retry === 'outage') throw step.cause;
    return {
      status: 'conflict',
      message: step.message,
      attempts: this.#attempts.length,
      orphaned: this.#allWritten(),
    };
  }

  #unknownResult(cause: unknown): CommitResult | null {
    const uncertain = this.#attempts.filter((attempt) => attempt.isUncertain);
    if (uncertain.length === 0) return null;
    return {
      status: 'unknown',
      cause,
      attempts: this.#attempts.length,
      snapshotIds: uncertain.flatMap((attempt) => attempt.change.snapshotId ?? []),
    };
  }

  #allWritten(): string[] {
    return [...new Set(this.#attempts.flatMap((attempt) => attempt.change.written))];
  }

  /** Doubles from `min` up to `max`; the jitter keeps writers that met once from meeting again. */
  async #backOff(
    retries: number,
    min: TableProperty<number>,
    max: TableProperty<number>,
  ): Promise<void> {
    const ceilingMs = Math.min(this.#setting(max), this.#setting(min) * 2 ** Math.min(retries, 30));
    const jitter = 0.5 + 0.5 * this.#ports.random.fraction();
    await this.#ports.clock.sleep(Math.round(ceilingMs * jitter));
  }

  #setting(property: TableProperty<number>): number {
    return tableProperty(this.#properties, property);
  }
}

/** Answers that say for certain that nothing was committed. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'invalid',
  'unauthorized',
  'forbidden',
  'not-found',
  'already-exists',
  'too-large',
  'overloaded',
  'unsupported',
  'corrupt',
]);

/**
 * Gathers submissions into snapshots, one commit at a time. Everything that waits when a commit
 * begins goes into it. A commit whose outcome is not known stays open and is driven again under the
 * same commit id until it is found in the table's history or made: nothing else is committed before.
 */

import type { CommitResult } from '../iceberg/commit.ts';
import { commit } from '../iceberg/commit.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { uriToKey } from '../iceberg/location-provider.ts';
import type { PreparedAppend } from '../iceberg/operations/append.ts';
import { prepareAppend } from '../iceberg/operations/append.ts';
import type { StagedChange } from '../iceberg/operations/staged-change.ts';
import type {
  Catalog,
  Clock,
  LoadedTable,
  Logger,
  ObjectStore,
  RandomSource,
  TableIdentifier,
} from '../iceberg/ports.ts';
import type { CommitIntent, Journal } from './journal.ts';
import type { SubmitRequest, SubmitResult } from './protocol.ts';
import type { TurnTaker } from './turn-taker.ts';

export interface CommitQueueParts {
  readonly journal: Journal;
  readonly turns: TurnTaker;
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

export class CommitQueue {
  readonly #parts: CommitQueueParts;
  /** The commit that waits for its turn and takes in whatever is submitted until it has it. */
  #next: Promise<void> | null = null;
  /** Manifests written for a commit, kept for as long as it is under way. */
  #prepared: { readonly commitId: string; readonly append: PreparedAppend } | null = null;

  constructor(parts: CommitQueueParts) {
    this.#parts = parts;
  }

  /**
   * @throws invalid `table.replaced`: certainly not committed; conflict, unavailable,
   *   commit-unknown and not-found: not known to be committed, submit the same flush id again
   */
  async submit(request: SubmitRequest): Promise<SubmitResult> {
    const { journal } = this.#parts;
    journal.record(request);
    for (;;) {
      const submission = journal.find(request.flushId);
      if (submission === null) throw replaced(request.identifier);
      if (submission.snapshotId !== null) return { snapshotId: submission.snapshotId };
      await this.commitWaiting(request.identifier);
    }
  }

  /** Makes the next commit, or joins it when it is still waiting for its turn. */
  async commitWaiting(identifier: TableIdentifier): Promise<void> {
    this.#next ??= this.#parts.turns.take(async () => {
      // From here on a submission is too late for this commit and waits for the next one.
      this.#next = null;
      await this.#commitOne(identifier);
    });
    await this.#next;
  }

  async #commitOne(identifier: TableIdentifier): Promise<void> {
    const { journal, catalog, clock, random, logger } = this.#parts;
    const intent = journal.intent(random.uuid());
    if (intent === null) return;
    let result: CommitResult;
    try {
      result = await commit(
        { catalog, clock, random },
        identifier,
        (table) => this.#stage(intent, table),
        { commitId: intent.commitId },
      );
    } catch (error) {
      if (!isIcebergError(error) || error.code !== 'table.replaced') throw error;
      logger.warn('commit.table-replaced', {
        commitId: intent.commitId,
        files: intent.dataFiles.length,
      });
      journal.reject(intent.commitId);
      return;
    }
    await this.#conclude(intent, result);
  }

  async #stage(intent: CommitIntent, table: LoadedTable): Promise<StagedChange> {
    const { store, clock, random } = this.#parts;
    if (table.metadata.tableUuid !== intent.tableUuid) throw replaced(null);
    if (this.#prepared?.commitId !== intent.commitId) {
      const append = await prepareAppend({ store, clock, random }, table.metadata, {
        dataFiles: intent.dataFiles,
        commitId: intent.commitId,
        summary: new Map([
          ['floe.flush-count', String(intent.flushCount)],
          ['floe.batch-count', String(intent.batchCount)],
        ]),
      });
      this.#prepared = { commitId: intent.commitId, append };
    }
    try {
      return await this.#prepared.append.stage(table.metadata);
    } catch (error) {
      // A table of another format version needs other manifests.
      if (isIcebergError(error, 'conflict')) this.#prepared = null;
      throw error;
    }
  }

  async #conclude(intent: CommitIntent, result: CommitResult): Promise<void> {
    const { journal, clock, logger } = this.#parts;
    const { commitId } = intent;
    switch (result.status) {
      case 'committed':
        if (result.snapshotId === null) {
          throw new IcebergError('internal', 'commit.no-snapshot', 'A commit made no snapshot');
        }
        journal.committed(commitId, result.snapshotId, clock.nowMs());
        this.#prepared = null;
        logger.info('commit.landed', {
          commitId,
          snapshotId: result.snapshotId,
          attempts: result.attempts,
          flushes: intent.flushCount,
          files: intent.dataFiles.length,
        });
        await this.#deleteOrphaned(result.orphaned);
        return;
      case 'conflict':
        throw new IcebergError('conflict', 'commit.conflict', result.message, {
          context: { commitId, attempts: result.attempts },
        });
      case 'unknown':
        throw new IcebergError(
          'commit-unknown',
          'commit.unknown',
          'The catalog did not say whether the commit landed; it is being looked up',
          { context: { commitId, attempts: result.attempts }, cause: result.cause },
        );
      case 'unchanged':
        throw new IcebergError('internal', 'commit.unchanged', 'An append had nothing to do');
    }
  }

  async #deleteOrphaned(uris: readonly string[]): Promise<void> {
    if (uris.length === 0) return;
    const { store, logger } = this.#parts;
    try {
      await store.delete(uris.map((uri) => uriToKey(store.baseUri, uri)));
    } catch (error) {
      // The commit stands; what is left over is found by the search for orphans.
      logger.debug('commit.orphans-not-deleted', { files: uris.length, message: String(error) });
    }
  }
}

function replaced(identifier: TableIdentifier | null): IcebergError {
  return new IcebergError(
    'invalid',
    'table.replaced',
    'The table was dropped; another one has its name now, and the files do not belong to it',
    identifier === null
      ? {}
      : { context: { namespace: identifier.namespace.join('.'), table: identifier.name } },
  );
}

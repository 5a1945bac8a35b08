/**
 * The state machine of an `IngestShard`: accepts batches into the write-ahead log, decides when to
 * flush, and answers for what became of a batch. Storage, time, the kernel, the store and the
 * committer come in from outside; the Durable Object around it only translates calls.
 *
 * Everything that matters is in the log; what is in memory may vanish at any time.
 */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import type { Clock, Logger, RandomSource, TableIdentifier } from '../iceberg/ports.ts';
import { armNoLaterThan, backoffMs, type Alarm } from './alarm.ts';
import { BatchWaiters } from './batch-waiters.ts';
import { Facts } from './facts.ts';
import type { FlushLog } from './flush-log.ts';
import type { Flusher, FlushStep } from './flusher.ts';
import type {
  BatchHeader,
  BatchId,
  BatchReceipt,
  BatchSlice,
  BeginOutcome,
  FlushResult,
  QuarantinePage,
  ReplayedRows,
  ReplayResult,
  ShardStatus,
} from './protocol.ts';
import { wireErrorOf } from './protocol.ts';
import type { ShardSettings } from './shard-settings.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** Set before risky work: the object is woken this long after it died in the middle. */
const GUARD_MS = 30_000;
/** A waiter looks at the clock this often, so that no timer outlives it for long. */
const WAIT_TICK_MS = 250;

export interface ShardParts {
  readonly database: SqlDatabase;
  readonly log: WriteAheadLog;
  readonly flushLog: FlushLog;
  readonly flusher: Flusher;
  readonly alarm: Alarm;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly settings: ShardSettings;
}

export class Shard {
  readonly #parts: ShardParts;
  readonly #facts: Facts;
  readonly #waiters = new BatchWaiters();
  /** The step that runs now; at most one does. */
  #step: Promise<FlushStep> | null = null;
  /** The lingering start of a flush on demand, shared by everybody who asked meanwhile. */
  #demand: Promise<void> | null = null;

  constructor(parts: ShardParts) {
    this.#parts = parts;
    this.#facts = new Facts(parts.database);
  }

  async accept(header: BatchHeader, slices: readonly BatchSlice[]): Promise<BatchReceipt> {
    const receipt = this.#parts.log.accept(header, slices, this.#nowMs());
    this.#facts.rememberTable(header.identifier);
    await this.#armForDue();
    return receipt;
  }

  async begin(header: BatchHeader): Promise<BeginOutcome> {
    const outcome = this.#parts.log.begin(header, this.#nowMs());
    this.#facts.rememberTable(header.identifier);
    await this.#armForDue();
    return outcome;
  }

  async append(batchId: BatchId, slice: BatchSlice): Promise<void> {
    this.#parts.log.append(batchId, slice, this.#nowMs());
    await this.#armForDue();
  }

  async seal(batchId: BatchId, bodyDigest: string | null): Promise<BatchReceipt> {
    const receipt = this.#parts.log.seal(batchId, bodyDigest, this.#nowMs());
    await this.#armForDue();
    return receipt;
  }

  async abort(batchId: BatchId): Promise<void> {
    this.#parts.log.abort(batchId);
    await this.#armForDue();
  }

  /** @throws not-found `batch.discarded` */
  async receipt(batchId: BatchId): Promise<BatchReceipt | null> {
    await this.#armForDue();
    return this.#parts.log.receipt(batchId);
  }

  /** @throws not-found `batch.not-found`, `batch.discarded` */
  async waitCommitted(batchId: BatchId, timeoutMs: number): Promise<BatchReceipt> {
    const deadlineMs = this.#nowMs() + timeoutMs;
    for (;;) {
      const receipt = this.#parts.log.receipt(batchId);
      if (receipt === null) {
        throw new IcebergError('not-found', 'batch.not-found', 'There is no such batch', {
          context: { batchId },
        });
      }
      const leftMs = deadlineMs - this.#nowMs();
      if (receipt.state === 'committed' || leftMs <= 0) return receipt;
      const finished = this.#waiters.finished(batchId);
      if (!this.#isBackingOff()) void this.#flushOnDemand();
      await Promise.race([finished, this.#parts.clock.sleep(Math.min(leftMs, WAIT_TICK_MS))]);
    }
  }

  /**
   * Commits everything sealed so far. `rows` and `files` count what the flushes did that this call
   * waited for.
   * @throws what made a flush fail; the alarm goes on trying
   */
  async flush(identifier: TableIdentifier): Promise<FlushResult> {
    this.#facts.rememberTable(identifier);
    const newest = this.#parts.flushLog.newestSealed();
    let rows = 0;
    let files = 0;
    let snapshotId: bigint | null = null;
    while (this.#parts.flushLog.hasSealedUpTo(newest)) {
      const step = await this.#runStep();
      if (step.status === 'idle') break;
      if (step.status === 'committed') {
        rows += step.batches.rowCount;
        files += step.files;
        snapshotId = step.snapshotId;
      }
    }
    await this.#armForDue();
    return { rows, files, snapshotId };
  }

  listQuarantine(after: number, limit: number): QuarantinePage {
    return this.#parts.log.quarantine.list(after, limit);
  }

  /** @throws conflict `quarantine.changed`, overloaded */
  async replay(header: BatchHeader, rows: ReplayedRows): Promise<ReplayResult> {
    const result = this.#parts.log.replay(header, rows, this.#nowMs());
    this.#facts.rememberTable(header.identifier);
    await this.#armForDue();
    return result;
  }

  deleteQuarantined(first: number, last: number): number {
    return this.#parts.log.quarantine.delete(first, last);
  }

  async status(): Promise<ShardStatus> {
    await this.#armForDue();
    return this.#parts.log.status();
  }

  /** Forgets the table; objects of a flush that was under way are deleted by the alarm. */
  async clear(): Promise<void> {
    const identifier = this.#facts.table();
    this.#parts.log.clear();
    if (identifier !== null) this.#facts.rememberTable(identifier);
    this.#waiters.finishAll();
    await armNoLaterThan(this.#parts.alarm, this.#nowMs() + GUARD_MS);
  }

  /** The alarm rang. Never throws: a handler that throws is given up after a few times. */
  async onAlarm(): Promise<void> {
    const { alarm, log, flushLog, flusher, logger } = this.#parts;
    try {
      await alarm.set(this.#nowMs() + GUARD_MS);
      log.sweep(this.#nowMs());
      if (this.#isFlushDue()) {
        const identifier = this.#facts.table();
        if (identifier !== null && flushLog.newestSealed() > 0) await this.flush(identifier);
      }
      if (this.#step === null) await flusher.deleteObsolete();
    } catch (error) {
      // Noted with its own retry time where it happened; sealed batches are still in the log.
      logger.warn('shard.alarm-failed', describe(error));
    }
    await this.#setAlarm();
  }

  /** Runs one step, or joins the one that runs. */
  async #runStep(): Promise<FlushStep> {
    this.#step ??= this.#newStep().finally(() => {
      this.#step = null;
    });
    return await this.#step;
  }

  async #newStep(): Promise<FlushStep> {
    const { alarm, flusher, log } = this.#parts;
    const identifier = this.#facts.table();
    if (identifier === null) return { status: 'idle' };
    await armNoLaterThan(alarm, this.#nowMs() + GUARD_MS);
    try {
      const step = await flusher.step(identifier);
      this.#facts.set('flush-failures', null);
      this.#facts.set('flush-retry-at-ms', null);
      this.#facts.set('table-missing-since-ms', null);
      log.recount();
      if (step.status === 'committed' || step.status === 'discarded') {
        this.#waiters.finish(step.batches.batchIds);
      }
      return step;
    } catch (error) {
      return await this.#failed(error);
    }
  }

  /** Notes when to try again. A table that stays away is, after a while, one that was dropped. */
  async #failed(error: unknown): Promise<FlushStep> {
    const { alarm, flusher, log, logger, settings, random } = this.#parts;
    const nowMs = this.#nowMs();
    // The table was dropped under the flush, and `clear` has forgotten what it was about.
    if (isIcebergError(error) && error.code === 'flush.cancelled') return { status: 'idle' };
    if (isIcebergError(error) && error.code === 'table.not-found') {
      const sinceMs = this.#facts.number('table-missing-since-ms') ?? nowMs;
      this.#facts.set('table-missing-since-ms', sinceMs);
      if (nowMs - sinceMs >= settings.missingTableGraceMs) {
        const batches = flusher.discardAll();
        logger.error('shard.table-dropped', { rows: batches.rowCount });
        log.recount();
        this.#waiters.finish(batches.batchIds);
        return { status: 'discarded', batches };
      }
    }
    const failures = (this.#facts.number('flush-failures') ?? 0) + 1;
    const delayMs = backoffMs(
      failures,
      settings.retryDelayMsMin,
      settings.retryDelayMsMax,
      random.fraction(),
    );
    this.#facts.set('flush-failures', failures);
    this.#facts.set('flush-retry-at-ms', nowMs + delayMs);
    logger.warn('shard.flush-failed', { ...describe(error), failures, delayMs });
    await armNoLaterThan(alarm, nowMs + delayMs);
    throw error;
  }

  async #flushOnDemand(): Promise<void> {
    this.#demand ??= this.#lingerAndFlush().finally(() => {
      this.#demand = null;
    });
    await this.#demand;
  }

  async #lingerAndFlush(): Promise<void> {
    await this.#parts.clock.sleep(this.#parts.settings.flushLingerMs);
    const identifier = this.#facts.table();
    if (identifier === null) return;
    try {
      await this.flush(identifier);
    } catch (error) {
      // Those who wait see it as time passing; the alarm tries again at the noted time.
      this.#parts.logger.debug('shard.demand-failed', describe(error));
    }
  }

  #isFlushDue(): boolean {
    const dueMs = this.#flushDueMs();
    return dueMs !== null && dueMs <= this.#nowMs();
  }

  #isBackingOff(): boolean {
    return (this.#facts.number('flush-retry-at-ms') ?? 0) > this.#nowMs();
  }

  #flushDueMs(): number | null {
    const { flushLog, log, settings } = this.#parts;
    const oldestMs = flushLog.oldestSealedMs();
    if (oldestMs === null) return null;
    // A flush that runs sets the alarm itself when it is over, or the guard does if it dies.
    if (this.#step !== null) return this.#nowMs() + GUARD_MS;
    const retryAtMs = this.#facts.number('flush-retry-at-ms');
    if (retryAtMs !== null) return retryAtMs;
    if (flushLog.open() !== null || log.sealedBytes >= settings.flushBytes) return 0;
    return oldestMs + settings.flushAgeMs;
  }

  #dueMs(): number | null {
    const { flushLog, log } = this.#parts;
    const nowMs = this.#nowMs();
    const due = [
      this.#flushDueMs(),
      log.nextSweepMs(),
      flushLog.obsoleteKeys(1).length === 0 ? null : nowMs + GUARD_MS,
    ].filter((atMs) => atMs !== null);
    return due.length === 0 ? null : Math.max(Math.min(...due), nowMs);
  }

  async #setAlarm(): Promise<void> {
    await this.#parts.alarm.set(this.#dueMs());
  }

  /**
   * After a change, before its answer: whoever is told that a batch is durable is told so when an
   * alarm is set that will flush it. Before the change would be too early: the alarm handler, just
   * ending, might find nothing to do and take the alarm away.
   */
  async #armForDue(): Promise<void> {
    const dueMs = this.#dueMs();
    if (dueMs !== null) await armNoLaterThan(this.#parts.alarm, dueMs);
  }

  #nowMs(): number {
    return this.#parts.clock.nowMs();
  }
}

/** For the log. */
function describe(error: unknown): { kind: string; code: string; message: string } {
  const { kind, code, message } = wireErrorOf(error);
  return { kind, code, message };
}

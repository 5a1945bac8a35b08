/**
 * Moves sealed batches into the table: plan, encode, store, submit, close. Each step is in the flush
 * log before the next one begins, so a flush that dies anywhere is taken up where it stood:
 *
 * - planned: nothing was submitted; encode again, under new names, and delete the old objects later;
 * - encoded: submit the same files under the same flush id; the committer knows whether it has them.
 */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { createLocationProvider, uriToKey } from '../iceberg/location-provider.ts';
import type { Clock, Logger, ObjectStore, RandomSource } from '../iceberg/ports.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import type { DataFile, PartitionValue } from '../iceberg/spec/data-file.ts';
import { partitionPath } from '../iceberg/spec/partition-path.ts';
import { partitionColumns } from '../iceberg/spec/transform.ts';
import type { EncodedFile } from '../columnar/kernel-port.ts';
import type { FlushEncoder } from './flush-encoder.ts';
import type { FinishedBatches, FlushLog, OpenFlush } from './flush-log.ts';
import { parquetOptions, SORTED_FILE_BYTES_MAX } from './parquet-options.ts';
import type { FlushTargetRpc, WriteTarget } from './protocol.ts';
import { fromOutcome } from './protocol.ts';
import type { ShardSettings } from './shard-settings.ts';

const OBSOLETE_KEYS_PER_DELETE = 1000;
/** Of a flush of several batches. */
const FILES_PER_FLUSH_MAX = 4000;

export type FlushStep =
  /** No batch was waiting. */
  | { readonly status: 'idle' }
  | {
      readonly status: 'committed';
      readonly batches: FinishedBatches;
      readonly files: number;
      readonly snapshotId: bigint;
    }
  /** The batches belonged to a table that is gone. */
  | { readonly status: 'discarded'; readonly batches: FinishedBatches }
  /** The batch cannot be encoded; it is tried again later. */
  | { readonly status: 'parked'; readonly batches: FinishedBatches };

export interface FlusherParts {
  readonly log: FlushLog;
  readonly encoder: FlushEncoder;
  readonly store: ObjectStore;
  readonly committer: FlushTargetRpc;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly settings: Pick<ShardSettings, 'fileBytesMax' | 'parkMs'>;
}

export class Flusher {
  readonly #parts: FlusherParts;

  constructor(parts: FlusherParts) {
    this.#parts = parts;
  }

  /**
   * Takes up the open flush, or plans one, and brings it to its end. Must not be called again before
   * it answers.
   * @throws not-found `table.not-found`, and whatever the store and the committer throw; the flush
   *   then stays open
   */
  async step(identifier: TableIdentifier): Promise<FlushStep> {
    const { log, clock, random } = this.#parts;
    let flush = log.open();
    if (flush?.state === 'encoded') return await this.#submit(identifier, flush);
    if (flush === null && log.newestSealed() === 0) return { status: 'idle' };

    const target = await this.#target(identifier);
    if (flush !== null && flush.tableUuid !== target.tableUuid) {
      log.release(flush.flushId);
      flush = null;
    }
    if (flush === null) {
      const stale = log.discardStale(target.tableUuid, clock.nowMs());
      if (stale.batchIds.length > 0) return { status: 'discarded', batches: stale };
      flush = log.plan(random.uuid(), target.tableUuid);
      if (flush === null) return { status: 'idle' };
    }
    try {
      await this.#encode(flush, target);
    } catch (error) {
      if (!isIcebergError(error) || error.code !== 'flush.encode-failed') throw error;
      return this.#isolate(flush, error);
    }
    return await this.#submit(identifier, { ...flush, state: 'encoded' });
  }

  /** The table is gone for good: so is everything that waits for it. */
  discardAll(): FinishedBatches {
    const { log, clock } = this.#parts;
    const flush = log.open();
    const flushed = flush === null ? null : log.discard(flush.flushId, clock.nowMs());
    const waiting = log.discardStale(null, clock.nowMs());
    return {
      batchIds: [...(flushed?.batchIds ?? []), ...waiting.batchIds],
      rowCount: (flushed?.rowCount ?? 0) + waiting.rowCount,
    };
  }

  /** Deletes objects that nothing refers to. What cannot be deleted now is tried again later. */
  async deleteObsolete(): Promise<void> {
    const { log, store } = this.#parts;
    const keys = log.obsoleteKeys(OBSOLETE_KEYS_PER_DELETE);
    if (keys.length === 0) return;
    await store.delete(keys);
    log.obsoleteDeleted(keys);
  }

  async #target(identifier: TableIdentifier): Promise<WriteTarget> {
    const target = fromOutcome(await this.#parts.committer.writeTarget(identifier));
    if (target !== null) return target;
    throw new IcebergError('not-found', 'table.not-found', 'The table of these batches is gone', {
      context: { namespace: identifier.namespace.join('.'), table: identifier.name },
    });
  }

  async #encode(flush: OpenFlush, target: WriteTarget): Promise<void> {
    const { log, store, encoder, random, logger, settings } = this.#parts;
    // What an earlier attempt wrote: its names are never used again.
    log.forgetFiles(flush.flushId);
    const slices = log.slices(flush.flushId);
    const locations = createLocationProvider(target);
    const columns = partitionColumns(target.spec, [target.schema]);
    const fileId = random.uuid();
    const files = new Map<string, DataFile>();
    const parquetFiles = encoder.encode(
      slices.length,
      (index) => {
        const slice = slices[index];
        if (slice === undefined) throw cancelled();
        return log.readSlice(slice);
      },
      {
        schema: target.schema,
        spec: target.spec,
        parquet: parquetOptions(target),
        fileBytesMax:
          target.sortOrder.fields.length === 0
            ? settings.fileBytesMax
            : Math.min(settings.fileBytesMax, SORTED_FILE_BYTES_MAX),
      },
    );
    for await (const { bytes, metrics, partition } of encodingFaults(parquetFiles)) {
      // An invocation has a bound on calls to the store; fewer batches show fewer partitions.
      if (files.size === FILES_PER_FLUSH_MAX && flush.batchCount > 1) throw tooManyFiles();
      const uri = locations.dataFile(fileId, files.size, partitionPath(columns, partition));
      const key = uriToKey(store.baseUri, uri);
      log.addFile(flush.flushId, key);
      await store.put(key, bytes, { contentType: 'application/vnd.apache.parquet' });
      files.set(key, dataFileOf(uri, metrics, target, partition));
      logger.debug('flush.file-stored', {
        flushId: flush.flushId,
        key,
        rows: metrics.recordCount,
        bytes: bytes.byteLength,
      });
    }
    log.encoded(flush.flushId, files);
  }

  /** One batch that the kernel cannot encode must not hold up all that come after it. */
  #isolate(flush: OpenFlush, error: IcebergError): FlushStep {
    const { log, clock, logger, settings } = this.#parts;
    if (flush.batchCount > 1) {
      log.narrow(flush);
      throw error;
    }
    const batches = log.park(flush.flushId, clock.nowMs() + settings.parkMs);
    logger.error('flush.batch-parked', {
      batchId: batches.batchIds[0],
      rows: batches.rowCount,
      message: error.message,
    });
    return { status: 'parked', batches };
  }

  async #submit(identifier: TableIdentifier, flush: OpenFlush): Promise<FlushStep> {
    const { log, committer, clock, logger } = this.#parts;
    const dataFiles = log.dataFiles(flush.flushId);
    try {
      const { snapshotId } = fromOutcome(
        await committer.submit({
          identifier,
          flushId: flush.flushId,
          tableUuid: flush.tableUuid,
          dataFiles,
          batchCount: flush.batchCount,
        }),
      );
      const batches = log.committed(flush.flushId, snapshotId, clock.nowMs());
      logger.info('flush.committed', {
        flushId: flush.flushId,
        snapshotId,
        rows: flush.rowCount,
        files: dataFiles.length,
        batches: flush.batchCount,
      });
      return { status: 'committed', batches, files: dataFiles.length, snapshotId };
    } catch (error) {
      if (!isIcebergError(error) || error.code !== 'table.replaced') throw error;
      // The committer says so only when the files are certainly in no snapshot of the new table.
      const batches = log.discard(flush.flushId, clock.nowMs());
      logger.warn('flush.discarded', { flushId: flush.flushId, rows: batches.rowCount });
      return { status: 'discarded', batches };
    }
  }
}

function dataFileOf(
  uri: string,
  { isSorted, ...metrics }: EncodedFile,
  { spec, sortOrder }: WriteTarget,
  partition: readonly PartitionValue[],
): DataFile {
  return {
    ...metrics,
    content: 'data',
    filePath: uri,
    fileFormat: 'PARQUET',
    specId: spec.specId,
    partition,
    keyMetadata: null,
    equalityIds: null,
    // Only what is true: a reader may rely on it.
    sortOrderId: isSorted === true ? sortOrder.orderId : null,
    firstRowId: null,
    referencedDataFile: null,
    contentOffset: null,
    contentSizeInBytes: null,
  };
}

/** Tells the kernel's failures from those of the store and of the moment. */
async function* encodingFaults<T>(files: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* files;
  } catch (cause) {
    const isOfTheMoment =
      isIcebergError(cause) &&
      (cause.kind === 'unavailable' || cause.kind === 'overloaded' || cause.kind === 'not-found');
    if (isOfTheMoment) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new IcebergError('internal', 'flush.encode-failed', `Encoding failed: ${message}`, {
      cause,
    });
  }
}

function tooManyFiles(): IcebergError {
  return new IcebergError(
    'internal',
    'flush.encode-failed',
    `The batches of this flush fall into more than ${FILES_PER_FLUSH_MAX} files`,
  );
}

function cancelled(): IcebergError {
  return new IcebergError('not-found', 'flush.cancelled', 'The flush was cancelled meanwhile');
}

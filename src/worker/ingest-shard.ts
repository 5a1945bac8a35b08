/** The Durable Object around a `Shard`: translates calls, decides nothing. */

import { DurableObject } from 'cloudflare:workers';
import type { TableIdentifier } from '../iceberg/ports.ts';
import { R2ObjectStore } from '../object-store/r2.ts';
import { createShard } from '../table/create-shard.ts';
import { FlushEncoder } from '../table/flush-encoder.ts';
import type {
  BatchHeader,
  BatchId,
  BatchReceipt,
  BatchSlice,
  BeginOutcome,
  FlushResult,
  FlushTargetRpc,
  IngestShardRpc,
  Outcome,
  QuarantinePage,
  ReplayedRows,
  ReplayResult,
  ShardStatus,
} from '../table/protocol.ts';
import { toOutcome } from '../table/protocol.ts';
import { DEFAULT_SHARD_SETTINGS } from '../table/shard-settings.ts';
import type { Shard } from '../table/shard.ts';
import { type Env, readSettings } from './config.ts';
import { alarmOf, sqlDatabase } from './durable-storage.ts';
import { flushKernels } from './flush-kernels.ts';
import { committerOf } from './object-stubs.ts';
import { createLogger, workerClock, workerRandom } from './platform.ts';

export class IngestShard extends DurableObject<Env> implements IngestShardRpc {
  readonly #shard: Shard;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { bucketName, logLevel, flushBytes, flushAgeMs, pendingBytesMax } = readSettings(env);
    this.#shard = createShard({
      database: sqlDatabase(ctx.storage),
      alarm: alarmOf(ctx.storage),
      store: new R2ObjectStore(env.LAKE, bucketName),
      committer: committers(env),
      encoder: new FlushEncoder(flushKernels(workerClock), workerClock),
      clock: workerClock,
      random: workerRandom,
      logger: createLogger(logLevel),
      settings: { ...DEFAULT_SHARD_SETTINGS, flushBytes, flushAgeMs, pendingBytesMax },
    });
  }

  async acceptBatch(
    header: BatchHeader,
    slices: readonly BatchSlice[],
  ): Promise<Outcome<BatchReceipt>> {
    return await toOutcome(() => this.#shard.accept(header, slices));
  }

  async beginBatch(header: BatchHeader): Promise<Outcome<BeginOutcome>> {
    return await toOutcome(() => this.#shard.begin(header));
  }

  async appendSlice(batchId: BatchId, slice: BatchSlice): Promise<Outcome<null>> {
    return await toOutcome(() => nothing(this.#shard.append(batchId, slice)));
  }

  async sealBatch(batchId: BatchId, bodyDigest: string | null): Promise<Outcome<BatchReceipt>> {
    return await toOutcome(() => this.#shard.seal(batchId, bodyDigest));
  }

  async abortBatch(batchId: BatchId): Promise<Outcome<null>> {
    return await toOutcome(() => nothing(this.#shard.abort(batchId)));
  }

  async getBatch(batchId: BatchId): Promise<Outcome<BatchReceipt | null>> {
    return await toOutcome(() => this.#shard.receipt(batchId));
  }

  async waitCommitted(batchId: BatchId, timeoutMs: number): Promise<Outcome<BatchReceipt>> {
    return await toOutcome(() => this.#shard.waitCommitted(batchId, timeoutMs));
  }

  async flush(identifier: TableIdentifier): Promise<Outcome<FlushResult>> {
    return await toOutcome(() => this.#shard.flush(identifier));
  }

  async listQuarantine(after: number, limit: number): Promise<Outcome<QuarantinePage>> {
    return await toOutcome(() => this.#shard.listQuarantine(after, limit));
  }

  async replayRows(header: BatchHeader, rows: ReplayedRows): Promise<Outcome<ReplayResult>> {
    return await toOutcome(() => this.#shard.replay(header, rows));
  }

  async deleteQuarantined(first: number, last: number): Promise<Outcome<number>> {
    return await toOutcome(() => this.#shard.deleteQuarantined(first, last));
  }

  async pending(): Promise<Outcome<ShardStatus>> {
    return await toOutcome(() => this.#shard.status());
  }

  async clear(): Promise<Outcome<null>> {
    return await toOutcome(() => nothing(this.#shard.clear()));
  }

  override async alarm(): Promise<void> {
    await this.#shard.onAlarm();
  }
}

/** The committer of whichever table a call is about. */
function committers(env: Env): FlushTargetRpc {
  return {
    writeTarget: (identifier) => committerOf(env, identifier).writeTarget(identifier),
    submit: (request) => committerOf(env, request.identifier).submit(request),
  };
}

async function nothing(action: Promise<void>): Promise<null> {
  await action;
  return null;
}

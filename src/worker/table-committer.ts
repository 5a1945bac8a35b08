/** The Durable Object around a `Committer`: translates calls, decides nothing. */

import { DurableObject } from 'cloudflare:workers';
import { CachingCatalog } from '../catalog/caching.ts';
import { DirectCatalog } from '../catalog/direct.ts';
import type { TableDeclaration } from '../iceberg/metadata/table-declaration.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import type { InferredStruct } from '../iceberg/spec/inferred-type.ts';
import { R2ObjectStore } from '../object-store/r2.ts';
import { Committer } from '../table/committer.ts';
import type {
  FlushTargetRpc,
  Outcome,
  SchemaUpdateRequest,
  SchemaUpdateResult,
  SubmitRequest,
  SubmitResult,
  TableCommitterRpc,
  TableDocument,
  TableState,
  WriteTarget,
} from '../table/protocol.ts';
import { fromOutcome, toOutcome } from '../table/protocol.ts';
import { type Env, readSettings } from './config.ts';
import { alarmOf, sqlDatabase } from './durable-storage.ts';
import { shardOf } from './object-stubs.ts';
import { createLogger, workerClock, workerRandom } from './platform.ts';
import { FIRST_SHARD } from './services.ts';

/** How late the object may notice what a foreign writer did; its own commits it knows at once. */
const TABLE_AGE_MS_MAX = 10_000;

export class TableCommitter
  extends DurableObject<Env>
  implements TableCommitterRpc, FlushTargetRpc
{
  readonly #committer: Committer;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { bucketName, logLevel } = readSettings(env);
    const store = new R2ObjectStore(env.LAKE, bucketName);
    const logger = createLogger(logLevel);
    this.#committer = new Committer({
      database: sqlDatabase(ctx.storage),
      alarm: alarmOf(ctx.storage),
      catalog: new CachingCatalog(
        new DirectCatalog({ store, clock: workerClock, logger }),
        workerClock,
        TABLE_AGE_MS_MAX,
      ),
      store,
      clock: workerClock,
      random: workerRandom,
      logger,
      clearShards: async (identifier) => {
        fromOutcome(await shardOf(env, identifier, FIRST_SHARD).clear());
      },
    });
  }

  async tableState(identifier: TableIdentifier): Promise<Outcome<TableState | null>> {
    return await toOutcome(() => this.#committer.tableState(identifier));
  }

  async ensureSchema(
    identifier: TableIdentifier,
    arrived: InferredStruct,
    policy: SchemaPolicy | null,
  ): Promise<Outcome<TableState>> {
    return await toOutcome(() => this.#committer.ensureSchema(identifier, arrived, policy));
  }

  async writeTarget(identifier: TableIdentifier): Promise<Outcome<WriteTarget | null>> {
    return await toOutcome(() => this.#committer.writeTarget(identifier));
  }

  async submit(request: SubmitRequest): Promise<Outcome<SubmitResult>> {
    return await toOutcome(() => this.#committer.submit(request));
  }

  async loadTable(identifier: TableIdentifier): Promise<Outcome<TableDocument | null>> {
    return await toOutcome(() => this.#committer.document(identifier));
  }

  async createTable(
    identifier: TableIdentifier,
    declaration: TableDeclaration,
  ): Promise<Outcome<TableDocument>> {
    return await toOutcome(() => this.#committer.createTable(identifier, declaration));
  }

  async updateSchema(
    identifier: TableIdentifier,
    request: SchemaUpdateRequest,
  ): Promise<Outcome<SchemaUpdateResult>> {
    return await toOutcome(() => this.#committer.updateSchema(identifier, request));
  }

  async dropTable(identifier: TableIdentifier): Promise<Outcome<null>> {
    return await toOutcome(async () => {
      await this.#committer.drop(identifier);
      return null;
    });
  }

  override async alarm(): Promise<void> {
    await this.#committer.onAlarm();
  }
}

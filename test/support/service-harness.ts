/**
 * A shard and a committer over one store in memory, talking to each other by outcomes as the two
 * Durable Objects do. Each can die on its own; calls to the store, between the objects and to their
 * storage all count for `Faults`.
 */

import { CachingCatalog } from '../../src/catalog/caching.ts';
import { DirectCatalog } from '../../src/catalog/direct.ts';
import { uriToKey } from '../../src/iceberg/location-provider.ts';
import { MemoryObjectStore } from '../../src/object-store/memory.ts';
import { Committer } from '../../src/table/committer.ts';
import { createShard } from '../../src/table/create-shard.ts';
import { FlushEncoder } from '../../src/table/flush-encoder.ts';
import type { BatchHeader, BatchSlice, FlushTargetRpc, Outcome } from '../../src/table/protocol.ts';
import { toOutcome } from '../../src/table/protocol.ts';
import { DEFAULT_SHARD_SETTINGS } from '../../src/table/shard-settings.ts';
import type { Shard } from '../../src/table/shard.ts';
import { FakeKernel, fakeIpc, readFakeRows } from './fake-kernel.ts';
import type { Faults } from './faults.ts';
import { FaultyObjectStore } from './faulty-object-store.ts';
import { SkippingClock } from './manual-clock.ts';
import { liveDataFiles } from './read-table.ts';
import { RecordingLogger } from './recording-logger.ts';
import { SeededRandom } from './seeded-random.ts';
import { IDENTIFIER, MemoryAlarm } from './shard-harness.ts';
import { MortalDatabase, SqliteDatabase } from './sqlite-database.ts';

/** One object's storage, which outlives it, and its hold on it. */
class Home {
  readonly database = new SqliteDatabase();
  readonly alarm = new MemoryAlarm();
  held = new MortalDatabase(this.database);

  move(name: string, faults: Faults): MortalDatabase {
    this.held.kill();
    this.held = new MortalDatabase(this.database, (action) =>
      faults.aroundSync(`${name} transaction`, action),
    );
    return this.held;
  }
}

export class ServiceHarness {
  readonly clock = new SkippingClock();
  readonly objects = new MemoryObjectStore('s3://lake', this.clock);
  readonly faults: Faults;
  readonly #logger = new RecordingLogger();
  readonly #random = new SeededRandom(5);
  readonly #shardHome = new Home();
  readonly #committerHome = new Home();
  shard: Shard;
  committer: Committer;

  constructor(faults: Faults) {
    this.faults = faults;
    this.committer = this.startCommitter();
    this.shard = this.startShard();
  }

  /** Both die at once, in the middle of whatever they do. */
  kill(): void {
    this.#shardHome.held.kill();
    this.#committerHome.held.kill();
  }

  restart(): void {
    this.committer = this.startCommitter();
    this.shard = this.startShard();
  }

  startShard(): Shard {
    this.shard = createShard({
      database: this.#shardHome.move('shard', this.faults),
      alarm: this.#shardHome.alarm,
      store: new FaultyObjectStore(this.objects, this.faults),
      committer: this.#calls(),
      encoder: new FlushEncoder(new FakeKernel(), this.clock),
      clock: this.clock,
      random: this.#random,
      logger: this.#logger,
      settings: { ...DEFAULT_SHARD_SETTINGS, fileBytesMax: 8 },
    });
    return this.shard;
  }

  startCommitter(): Committer {
    const store = new FaultyObjectStore(this.objects, this.faults);
    this.committer = new Committer({
      database: this.#committerHome.move('committer', this.faults),
      alarm: this.#committerHome.alarm,
      catalog: new CachingCatalog(
        new DirectCatalog({ store, clock: this.clock, logger: this.#logger }),
        this.clock,
        10_000,
      ),
      store,
      clock: this.clock,
      random: this.#random,
      logger: this.#logger,
      clearShards: () => this.faults.around('clear', () => this.shard.clear()),
    });
    return this.committer;
  }

  header(batch: string, key: string): BatchHeader {
    return {
      batchId: `sales.orders.0.${batch}`,
      identifier: IDENTIFIER,
      idempotencyKey: key,
      bodyDigest: 'd'.repeat(64),
    };
  }

  slice(tableUuid: string, rows: readonly number[]): BatchSlice {
    return {
      schemaId: 0,
      tableUuid,
      ipc: fakeIpc(rows),
      rowsReceived: rows.length,
      rowsAccepted: rows.length,
      rejected: [],
    };
  }

  /** Rings both alarms in the order of their times until none is due soon. */
  async runAlarms(withinMs = 10 * 60_000): Promise<void> {
    const endMs = this.clock.nowMs() + withinMs;
    for (let ring = 0; ring < 300; ring += 1) {
      const next = [this.#shardHome, this.#committerHome]
        .filter(({ alarm }) => alarm.atMs !== null && alarm.atMs <= endMs)
        .toSorted((left, right) => (left.alarm.atMs ?? 0) - (right.alarm.atMs ?? 0))[0];
      if (next === undefined) return;
      this.clock.jump(Math.max((next.alarm.atMs ?? 0) - this.clock.nowMs(), 0));
      next.alarm.atMs = null;
      const rung = next === this.#shardHome ? this.shard.onAlarm() : this.committer.onAlarm();
      await rung.catch(() => {
        this.restart();
        next.alarm.atMs ??= this.clock.nowMs() + 2000;
      });
    }
    throw new Error('Alarms go on and on');
  }

  /** Rows a reader of the table sees; every live file must be there. */
  async tableRows(): Promise<number[]> {
    const rows: number[] = [];
    for (const key of await this.liveKeys()) {
      const bytes = await this.objects.get(key);
      if (bytes === null) throw new Error(`A live file is missing: ${key}`);
      rows.push(...readFakeRows(bytes).map(Number));
    }
    return rows.toSorted((left, right) => left - right);
  }

  async liveKeys(): Promise<string[]> {
    const catalog = new DirectCatalog({
      store: this.objects,
      clock: this.clock,
      logger: this.#logger,
    });
    const { metadata } = await catalog.loadTable(IDENTIFIER);
    const files = await liveDataFiles(this.objects, metadata);
    return files.map((file) => uriToKey('s3://lake', file.filePath)).toSorted();
  }

  async dataKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list('sales.db/orders/data/')) keys.push(key);
    return keys;
  }

  /** What the shard sees of the committer, whichever instance lives then. */
  #calls(): FlushTargetRpc {
    const call = async <T>(name: string, action: () => Promise<T>): Promise<Outcome<T>> => {
      try {
        return await this.faults.around(name, () => toOutcome(action));
      } catch (error) {
        // A call that broke off: as the stubs say it.
        return {
          ok: false,
          error: {
            kind: 'unavailable',
            code: 'object.unreachable',
            message: String(error),
            context: {},
          },
        };
      }
    };
    return {
      writeTarget: (identifier) =>
        call('writeTarget', () => this.committer.writeTarget(identifier)),
      submit: (request) => call('submit', () => this.committer.submit(request)),
    };
  }
}

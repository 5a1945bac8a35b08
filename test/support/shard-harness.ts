/** A shard with everything around it in memory, which can die and be started again. */

import type { Clock, ObjectStore } from '../../src/iceberg/ports.ts';
import { uriToKey } from '../../src/iceberg/location-provider.ts';
import { MemoryObjectStore } from '../../src/object-store/memory.ts';
import type { Alarm } from '../../src/table/alarm.ts';
import { FlushEncoder } from '../../src/table/flush-encoder.ts';
import type { BatchHeader, BatchSlice } from '../../src/table/protocol.ts';
import { createShard } from '../../src/table/create-shard.ts';
import { DEFAULT_SHARD_SETTINGS, type ShardSettings } from '../../src/table/shard-settings.ts';
import type { Shard } from '../../src/table/shard.ts';
import { FakeCommitter } from './fake-committer.ts';
import { FakeKernel, fakeIpc, readFakeRows } from './fake-kernel.ts';
import { Faults } from './faults.ts';
import { FaultyObjectStore } from './faulty-object-store.ts';
import { SkippingClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { SeededRandom } from './seeded-random.ts';
import { MortalDatabase, SqliteDatabase } from './sqlite-database.ts';

export const IDENTIFIER = { namespace: ['sales'], name: 'orders' };

export class MemoryAlarm implements Alarm {
  atMs: number | null = null;

  get(): Promise<number | null> {
    return Promise.resolve(this.atMs);
  }

  set(atMs: number | null): Promise<void> {
    this.atMs = atMs;
    return Promise.resolve();
  }
}

export class ShardHarness {
  readonly clock: Clock & { jump(ms: number): void };
  readonly database = new SqliteDatabase();
  readonly alarm = new MemoryAlarm();
  readonly objects: MemoryObjectStore;
  readonly committer = new FakeCommitter();
  readonly kernel = new FakeKernel();
  readonly logger = new RecordingLogger();
  readonly settings: ShardSettings;
  readonly #random = new SeededRandom(7);
  #faults: Faults;
  #held: MortalDatabase;
  shard: Shard;

  constructor(
    options: {
      settings?: Partial<ShardSettings>;
      faults?: Faults;
      clock?: Clock & { jump(ms: number): void };
    } = {},
  ) {
    this.clock = options.clock ?? new SkippingClock();
    this.objects = new MemoryObjectStore('s3://lake', this.clock);
    this.settings = { ...DEFAULT_SHARD_SETTINGS, ...options.settings };
    this.#faults = options.faults ?? new Faults(null, 'before');
    this.committer.faults = this.#faults;
    this.#held = new MortalDatabase(this.database);
    this.shard = this.#start();
  }

  /** The object dies as it stands and is started anew from its storage. */
  restart(): Shard {
    this.#held.kill();
    this.shard = this.#start();
    return this.shard;
  }

  /** Dies at once and stays dead until `restart`: what an injected crash does. */
  kill(): void {
    this.#held.kill();
  }

  /** Rings the alarm, again and again, until none is due within `withinMs`. */
  async runAlarms(withinMs = 10 * 60_000, ringsMax = 200): Promise<void> {
    const endMs = this.clock.nowMs() + withinMs;
    for (let ring = 0; ring < ringsMax; ring += 1) {
      const { atMs } = this.alarm;
      if (atMs === null || atMs > endMs) return;
      if (atMs > this.clock.nowMs()) this.clock.jump(atMs - this.clock.nowMs());
      this.alarm.atMs = null;
      await this.shard.onAlarm().catch(() => {
        // A handler that dies is called again by the platform.
        this.restart();
        this.alarm.atMs ??= this.clock.nowMs() + 2000;
      });
    }
    throw new Error(`Alarms go on after ${ringsMax} rings`);
  }

  /** Rows in all committed files, in no particular order. */
  async committedRows(): Promise<unknown[]> {
    const rows: unknown[] = [];
    for (const { files } of this.committer.committed.values()) {
      for (const file of files) {
        const bytes = await this.objects.get(uriToKey('s3://lake', file.filePath));
        if (bytes === null) throw new Error(`A committed file is missing: ${file.filePath}`);
        rows.push(...readFakeRows(bytes));
      }
    }
    return rows;
  }

  async objectKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list('')) keys.push(key);
    return keys;
  }

  committedKeys(): string[] {
    return [...this.committer.committed.values()].flatMap(({ files }) =>
      files.map((file) => uriToKey('s3://lake', file.filePath)),
    );
  }

  header(batch: string, key: string | null = null, bodyDigest: string | null = null): BatchHeader {
    return {
      batchId: `sales.orders.0.${batch}`,
      identifier: IDENTIFIER,
      idempotencyKey: key,
      bodyDigest,
    };
  }

  slice(rows: readonly unknown[], overrides: Partial<BatchSlice> = {}): BatchSlice {
    return {
      schemaId: 0,
      tableUuid: this.committer.tableUuid ?? '',
      ipc: rows.length === 0 ? null : fakeIpc(rows),
      rowsReceived: rows.length,
      rowsAccepted: rows.length,
      rejected: [],
      ...overrides,
    };
  }

  #start(): Shard {
    const faults = this.#faults;
    this.#held = new MortalDatabase(this.database, (action) =>
      faults.aroundSync('transaction', action),
    );
    const store: ObjectStore = new FaultyObjectStore(this.objects, faults);
    return createShard({
      database: this.#held,
      alarm: this.alarm,
      store,
      committer: this.committer,
      encoder: new FlushEncoder(this.kernel, this.clock),
      clock: this.clock,
      random: this.#random,
      logger: this.logger,
      settings: this.settings,
    });
  }
}

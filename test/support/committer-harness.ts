/** A committer over the direct catalog with everything in memory, which can die and start again. */

import { CachingCatalog } from '../../src/catalog/caching.ts';
import { DirectCatalog } from '../../src/catalog/direct.ts';
import { uriToKey } from '../../src/iceberg/location-provider.ts';
import type { LoadedTable, ObjectStore } from '../../src/iceberg/ports.ts';
import { MemoryObjectStore } from '../../src/object-store/memory.ts';
import { Committer } from '../../src/table/committer.ts';
import { DEFAULT_JOURNAL_SETTINGS, type JournalSettings } from '../../src/table/journal.ts';
import type { SubmitRequest } from '../../src/table/protocol.ts';
import { Faults } from './faults.ts';
import { FaultyObjectStore } from './faulty-object-store.ts';
import { SkippingClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { SeededRandom } from './seeded-random.ts';
import { IDENTIFIER, MemoryAlarm } from './shard-harness.ts';
import { MortalDatabase, SqliteDatabase } from './sqlite-database.ts';
import { makeDataFile, ORDERS_SCHEMA } from './tables.ts';

export class CommitterHarness {
  readonly clock = new SkippingClock();
  readonly objects: MemoryObjectStore;
  readonly database = new SqliteDatabase();
  readonly alarm = new MemoryAlarm();
  readonly logger = new RecordingLogger();
  readonly clears: string[] = [];
  onClear = (): Promise<void> => Promise.resolve();
  faults = new Faults(null, 'before');
  readonly #random: SeededRandom;
  readonly #journalSettings: JournalSettings;
  #held: MortalDatabase;
  committer: Committer;

  /** Another one's objects make it a second writer of the same table, with a store of its own. */
  constructor(
    journalSettings: Partial<JournalSettings> = {},
    objects: MemoryObjectStore | null = null,
  ) {
    this.objects = objects ?? new MemoryObjectStore('s3://lake', this.clock);
    this.#random = new SeededRandom(objects === null ? 11 : 12);
    this.#journalSettings = { ...DEFAULT_JOURNAL_SETTINGS, ...journalSettings };
    this.#held = new MortalDatabase(this.database);
    this.committer = this.#start();
  }

  kill(): void {
    this.#held.kill();
  }

  restart(): Committer {
    this.#held.kill();
    this.committer = this.#start();
    return this.committer;
  }

  /** From now on calls count as those of `faults`, for a committer started anew. */
  inject(faults: Faults): Committer {
    this.faults = faults;
    return this.restart();
  }

  async createTable(): Promise<string> {
    return (await this.committer.ensureSchema(IDENTIFIER, ORDERS_SCHEMA)).tableUuid;
  }

  async request(flushId: string, tableUuid: string, files = 1): Promise<SubmitRequest> {
    const dataFiles = Array.from({ length: files }, (_, index) =>
      makeDataFile(`s3://lake/sales.db/orders/data/${flushId}-${index}.parquet`),
    );
    for (const { filePath } of dataFiles) {
      await this.objects.put(uriToKey('s3://lake', filePath), new Uint8Array(100));
    }
    return { identifier: IDENTIFIER, flushId, tableUuid, dataFiles, batchCount: 1 };
  }

  /** As a reader sees the table: past every cache, without any fault. */
  async load(): Promise<LoadedTable> {
    return await this.catalog().loadTable(IDENTIFIER);
  }

  catalog(store: ObjectStore = this.objects): DirectCatalog {
    return new DirectCatalog({ store, clock: this.clock, logger: this.logger });
  }

  async runAlarms(withinMs = 10 * 60_000): Promise<void> {
    const endMs = this.clock.nowMs() + withinMs;
    for (let ring = 0; ring < 100; ring += 1) {
      const { atMs } = this.alarm;
      if (atMs === null || atMs > endMs) return;
      this.clock.jump(Math.max(atMs - this.clock.nowMs(), 0));
      this.alarm.atMs = null;
      await this.committer.onAlarm().catch(() => {
        this.restart();
        this.alarm.atMs ??= this.clock.nowMs() + 2000;
      });
    }
    throw new Error('Alarms go on and on');
  }

  #start(): Committer {
    const { faults } = this;
    this.#held = new MortalDatabase(this.database, (action) =>
      faults.aroundSync('transaction', action),
    );
    const store = new FaultyObjectStore(this.objects, faults);
    return new Committer({
      database: this.#held,
      alarm: this.alarm,
      catalog: new CachingCatalog(this.catalog(store), this.clock, 10_000),
      store,
      clock: this.clock,
      random: this.#random,
      logger: this.logger,
      journalSettings: this.#journalSettings,
      clearShards: async ({ name }) => {
        this.clears.push(name);
        await this.onClear();
      },
    });
  }
}

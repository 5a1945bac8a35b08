/** Puts a shard together from what the outside gives it. */

import type { Clock, Logger, ObjectStore, RandomSource } from '../iceberg/ports.ts';
import type { Alarm } from './alarm.ts';
import type { FlushEncoder } from './flush-encoder.ts';
import { FlushLog } from './flush-log.ts';
import { Flusher } from './flusher.ts';
import type { FlushTargetRpc } from './protocol.ts';
import type { ShardSettings } from './shard-settings.ts';
import { createShardTables } from './shard-tables.ts';
import { Shard } from './shard.ts';
import type { SqlDatabase } from './sql-database.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

export interface ShardDependencies {
  readonly database: SqlDatabase;
  readonly alarm: Alarm;
  readonly store: ObjectStore;
  readonly committer: FlushTargetRpc;
  readonly encoder: FlushEncoder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly settings: ShardSettings;
}

export function createShard(dependencies: ShardDependencies): Shard {
  const { database, settings } = dependencies;
  createShardTables(database);
  const flushLog = new FlushLog(database, settings);
  return new Shard({
    ...dependencies,
    log: new WriteAheadLog(database, settings),
    flushLog,
    flusher: new Flusher({ ...dependencies, log: flushLog }),
  });
}

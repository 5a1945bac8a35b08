/** The storage of a SQLite-backed Durable Object behind the ports of `table/`. */

import type { Alarm } from '../table/alarm.ts';
import type { SqlDatabase, SqlValue } from '../table/sql-database.ts';

export function sqlDatabase(storage: DurableObjectStorage): SqlDatabase {
  return {
    exec: (statement, ...bindings) =>
      storage.sql
        .exec<Record<string, SqlStorageValue>>(statement, ...bindings.map(bindable))
        .toArray(),
    transaction: (action) => storage.transactionSync(action),
  };
}

export function alarmOf(storage: DurableObjectStorage): Alarm {
  return {
    get: async () => await storage.getAlarm(),
    set: async (atMs) => {
      if (atMs === null) await storage.deleteAlarm();
      else await storage.setAlarm(atMs);
    },
  };
}

/** A view would bring the whole buffer under it along. */
function bindable(value: SqlValue): SqlStorageValue {
  if (!(value instanceof Uint8Array)) return value;
  return value.slice().buffer;
}

/** Time, chance and the log, as the Workers runtime has them. */

import type { Clock, LogFields, Logger, RandomSource } from '../iceberg/ports.ts';
import { LOG_LEVELS, type LogLevel } from './config.ts';

/** Stands still between I/O, so nothing may be derived from two readings being different. */
export const workerClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    }),
};

export const workerRandom: RandomSource = {
  uuid: () => crypto.randomUUID(),
  int63: () => {
    for (;;) {
      const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
      const value = BigInt.asUintN(63, bits);
      if (value !== 0n) return value;
    }
  },
  fraction: () => Math.random(),
};

/**
 * One JSON object a line. Callers pass counts, ids and keys; secrets and rows are never passed, and
 * long texts are cut all the same.
 */
export function createLogger(level: LogLevel, write: (line: string) => void = writeLine): Logger {
  const threshold = LOG_LEVELS.indexOf(level);
  const log = (entryLevel: LogLevel, event: string, fields: LogFields = {}): void => {
    if (LOG_LEVELS.indexOf(entryLevel) < threshold) return;
    write(JSON.stringify({ level: entryLevel, event, ...fields }, loggable));
  };
  return {
    debug: (event, fields) => log('debug', event, fields),
    info: (event, fields) => log('info', event, fields),
    warn: (event, fields) => log('warn', event, fields),
    error: (event, fields) => log('error', event, fields),
  };
}

const LOGGED_CHARACTERS_MAX = 2000;

function loggable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return value.slice(0, LOGGED_CHARACTERS_MAX);
  return value;
}

function writeLine(line: string): void {
  // oxlint-disable-next-line no-console -- this is the logger
  console.log(line);
}

/**
 * The Worker's environment, validated into settings. A value that cannot be understood stops the
 * start with its name and what is allowed: a mistyped bound must not silently become the default.
 */

import { IcebergError } from '../iceberg/errors.ts';

/** Bindings and variables, as `wrangler.toml` declares them. */
export interface Env {
  readonly LAKE: R2Bucket;
  readonly INGEST_SHARDS: DurableObjectNamespace;
  readonly TABLE_COMMITTERS: DurableObjectNamespace;
  /** Name of the bucket behind `LAKE`: a binding does not tell it. */
  readonly LAKE_BUCKET_NAME?: string;
  /** Secret. */
  readonly FLOE_TOKEN?: string;
  /** Set by `npm start` and the tests only; any text but the empty one. */
  readonly FLOE_LOCAL?: string;
  readonly LOG_LEVEL?: string;
  readonly FLUSH_BYTES?: string;
  readonly FLUSH_AGE_MS?: string;
  readonly PENDING_BYTES_MAX?: string;
  /** Origins separated by commas, or `*`. */
  readonly CORS_ORIGINS?: string;
  /** Keys of the bucket the local runtime serves over the S3 protocol. */
  readonly FLOE_LOCAL_S3_ACCESS_KEY_ID?: string;
  readonly FLOE_LOCAL_S3_SECRET_ACCESS_KEY?: string;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Settings {
  readonly bucketName: string;
  /** Null when the secret is not set. Never logged. */
  readonly token: string | null;
  readonly isLocal: boolean;
  readonly logLevel: LogLevel;
  readonly flushBytes: number;
  readonly flushAgeMs: number;
  readonly pendingBytesMax: number;
}

const MIB = 1024 * 1024;

/** @throws invalid `config.invalid` */
export function readSettings(env: Env): Settings {
  return {
    bucketName: text(env.LAKE_BUCKET_NAME) ?? 'floe-lake',
    token: text(env.FLOE_TOKEN),
    isLocal: text(env.FLOE_LOCAL) !== null,
    logLevel: logLevel(env.LOG_LEVEL),
    flushBytes: integer('FLUSH_BYTES', env.FLUSH_BYTES, 32 * MIB, 1, 64 * MIB),
    flushAgeMs: integer('FLUSH_AGE_MS', env.FLUSH_AGE_MS, 5000, 100, 3_600_000),
    pendingBytesMax: integer(
      'PENDING_BYTES_MAX',
      env.PENDING_BYTES_MAX,
      256 * MIB,
      MIB,
      4096 * MIB,
    ),
  };
}

function text(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

function logLevel(value: string | undefined): LogLevel {
  const wanted = text(value) ?? 'info';
  const level = LOG_LEVELS.find((known) => known === wanted);
  return level ?? invalid('LOG_LEVEL', `one of ${LOG_LEVELS.join(', ')}`, wanted);
}

function integer(
  name: string,
  value: string | undefined,
  defaultValue: number,
  min: number,
  max: number,
): number {
  const wanted = text(value);
  if (wanted === null) return defaultValue;
  const number = Number(wanted);
  const isAllowed = /^\d{1,15}$/.test(wanted) && number >= min && number <= max;
  return isAllowed ? number : invalid(name, `an integer from ${min} to ${max}`, wanted);
}

function invalid(name: string, range: string, value: string): never {
  throw new IcebergError('invalid', 'config.invalid', `${name} must be ${range}, not "${value}"`, {
    context: { variable: name },
  });
}

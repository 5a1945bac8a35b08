/** What the HTTP surface takes from the environment, beside the settings all parts share. */

import { IcebergError } from '../iceberg/errors.ts';
import type { Env } from './config.ts';
import { readSettings } from './config.ts';
import type { HttpSettings } from './services.ts';

/** @throws invalid `config.invalid` */
export function readHttpSettings(env: Env): HttpSettings {
  const { token, isLocal } = readSettings(env);
  const corsOrigins = parseOrigins(env.CORS_ORIGINS ?? '');
  return {
    token: token === null ? null : checkToken(token),
    isLocal,
    corsOrigins: isLocal && corsOrigins.length === 0 ? ['*'] : corsOrigins,
    localS3: isLocal ? localS3Of(env) : null,
  };
}

/** A token that no header can carry would shut everybody out. The value stays out of the error. */
function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw invalidSetting('FLOE_TOKEN', 'printable ASCII characters without spaces');
}

function parseOrigins(text: string): string[] {
  const origins = text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
  for (const origin of origins) {
    if (origin !== '*' && !/^https?:\/\/[^/\s]+$/.test(origin)) {
      throw invalidSetting('CORS_ORIGINS', 'origins such as https://app.example.com, or *');
    }
  }
  return origins;
}

function localS3Of(env: Env): HttpSettings['localS3'] {
  const accessKeyId = env.FLOE_LOCAL_S3_ACCESS_KEY_ID ?? '';
  const secretAccessKey = env.FLOE_LOCAL_S3_SECRET_ACCESS_KEY ?? '';
  if (accessKeyId === '' || secretAccessKey === '') return null;
  return { accessKeyId, secretAccessKey };
}

function invalidSetting(name: string, expected: string): IcebergError {
  return new IcebergError('invalid', 'config.invalid', `${name} must hold ${expected}`, {
    context: { variable: name },
  });
}

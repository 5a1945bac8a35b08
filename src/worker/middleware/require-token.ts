/** Lets in who holds the token; a deployed Worker without one lets in nobody. */

import type { MiddlewareHandler } from 'hono';
import { IcebergError } from '../../iceberg/errors.ts';
import type { HttpSettings } from '../services.ts';

/** @throws unavailable `auth.token-not-set`, unauthorized `auth.token-missing`, `auth.token-wrong` */
export function requireToken(settings: HttpSettings): MiddlewareHandler {
  return async (context, next) => {
    await checkToken(context.req.header('authorization') ?? null, settings);
    await next();
  };
}

export async function checkToken(header: string | null, settings: HttpSettings): Promise<void> {
  if (settings.token === null) {
    if (settings.isLocal) return;
    throw new IcebergError(
      'unavailable',
      'auth.token-not-set',
      'This Worker has no access token yet and stays closed. Set one: npx wrangler secret put FLOE_TOKEN',
      { context: { command: 'npx wrangler secret put FLOE_TOKEN', retryAfterSeconds: 60 } },
    );
  }
  const presented = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (presented === undefined) {
    throw new IcebergError(
      'unauthorized',
      'auth.token-missing',
      'Send the header "Authorization: Bearer <token>".',
    );
  }
  if (!(await isSameText(presented, settings.token))) {
    throw new IcebergError('unauthorized', 'auth.token-wrong', 'The token is not the right one.');
  }
}

/** Compares digests, whose equal length and full comparison tell nothing by their timing. */
async function isSameText(left: string, right: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [leftHash, rightHash] = await Promise.all(
    [left, right].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))),
  );
  if (leftHash === undefined || rightHash === undefined) return false;
  const leftBytes = new Uint8Array(leftHash);
  const rightBytes = new Uint8Array(rightHash);
  let difference = 0;
  for (const [index, byte] of leftBytes.entries()) difference |= byte ^ (rightBytes[index] ?? 256);
  return difference === 0;
}

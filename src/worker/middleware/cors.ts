/** Cross-origin calls, for the origins a deployment names. */

import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { HttpSettings } from '../services.ts';

const PREFLIGHT_SECONDS_MAX = 3600;

export function allowOrigins(settings: HttpSettings): MiddlewareHandler {
  const { corsOrigins } = settings;
  return cors({
    origin: (origin) =>
      corsOrigins.includes('*') ? '*' : corsOrigins.includes(origin) ? origin : null,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowHeaders: ['Authorization', 'Content-Type', 'Content-Encoding', 'Idempotency-Key'],
    exposeHeaders: ['Retry-After', 'ETag'],
    maxAge: PREFLIGHT_SECONDS_MAX,
  });
}

/**
 * One structured line a request. Paths and counts only: no headers, no query values, no bodies, so
 * that neither the token nor anybody's rows can reach a log.
 */

import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { isIcebergError } from '../iceberg/errors.ts';
import type { Clock, Logger } from '../iceberg/ports.ts';

export function logRequests(logger: Logger, clock: Clock): MiddlewareHandler {
  return async (context, next) => {
    const startedMs = clock.nowMs();
    await next();
    const fields = {
      method: context.req.method,
      route: routePath(context, -1),
      status: context.res.status,
      // The platform's clock moves only with I/O: this is waiting, not computing.
      waitedMs: clock.nowMs() - startedMs,
    };
    if (context.res.status >= 500) logger.warn('request', fields);
    else logger.debug('request', fields);
  };
}

/** Whether an error is for us to look into rather than for the caller. */
export function isOurFault(error: unknown): boolean {
  return !isIcebergError(error) || error.kind === 'internal' || error.kind === 'corrupt';
}

/** The cause of an answer that tells the caller nothing: for the log alone. */
export function logUnexpected(logger: Logger, error: unknown): void {
  const isError = error instanceof Error;
  logger.error('unexpected error', {
    name: isError ? error.name : typeof error,
    message: isError ? error.message : String(error),
    stack: isError ? error.stack : undefined,
  });
}

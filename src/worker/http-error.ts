/** Errors as HTTP answers: one table from kind to status, with the few codes that differ. */

import type { ErrorResponseBody } from '../api/ingest.ts';
import type { ErrorKind } from '../iceberg/errors.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';

const STATUS_BY_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'already-exists': 409,
  conflict: 409,
  'commit-unknown': 503,
  unavailable: 503,
  overloaded: 429,
  'too-large': 413,
  corrupt: 500,
  unsupported: 501,
  internal: 500,
};

const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['body.unsupported-type', 415],
  ['body.unsupported-encoding', 415],
  ['body.stalled', 408],
  ['request.method-not-allowed', 405],
  // The deployment's mistake, not the caller's.
  ['config.invalid', 500],
  ['rows.rejected', 422],
  ['idempotency.key-reused', 422],
]);

const RETRY_AFTER_SECONDS_DEFAULT = 1;

/** An answer in parts, so that each protocol can dress it in its own body. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly error: ErrorResponseBody['error'];
}

/** Anything unforeseen becomes `internal.unexpected`, without its message: it may hold anything. */
export function toErrorAnswer(error: unknown): ErrorAnswer {
  const known = isIcebergError(error)
    ? error
    : new IcebergError(
        'internal',
        'internal.unexpected',
        'Something unforeseen happened; the log of the Worker says what.',
      );
  const { kind, code, message } = known;
  return {
    status: STATUS_BY_CODE.get(code) ?? STATUS_BY_KIND[kind],
    headers: headersOf(known),
    error: { kind, code, message, context: contextOf(known) },
  };
}

export function errorResponse(error: unknown): Response {
  const { status, headers, error: body } = toErrorAnswer(error);
  return Response.json({ error: body } satisfies ErrorResponseBody, { status, headers });
}

function headersOf(error: IcebergError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error.kind === 'overloaded' || error.kind === 'unavailable') {
    const seconds = Number(error.context['retryAfterSeconds'] ?? RETRY_AFTER_SECONDS_DEFAULT);
    headers['retry-after'] = String(Math.max(1, Math.ceil(seconds)));
  }
  if (error.kind === 'unauthorized') headers['www-authenticate'] = 'Bearer realm="floe"';
  const allow = error.context['allow'];
  if (error.code === 'request.method-not-allowed' && typeof allow === 'string') {
    headers['allow'] = allow;
  }
  return headers;
}

function contextOf(error: IcebergError): ErrorResponseBody['error']['context'] {
  const context: ErrorResponseBody['error']['context'] = {};
  for (const [key, value] of Object.entries(error.context)) {
    if (value !== undefined) context[key] = typeof value === 'bigint' ? String(value) : value;
  }
  return context;
}

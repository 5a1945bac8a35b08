/**
 * The one error class of Floe. `kind` is for programs and is exhaustive, `code` names the exact
 * cause and is stable, `message` is for people and may change, `context` holds values that help to
 * find the place (never secrets, never row contents beyond a short excerpt).
 */

/** What a caller can do about a failure; `docs/http-api.md` has the HTTP status of each. */
export type ErrorKind =
  /** The request or a setting is wrong: fix it. */
  | 'invalid'
  /** No credentials, or wrong ones. */
  | 'unauthorized'
  /** The credentials are right but lack a permission. */
  | 'forbidden'
  | 'not-found'
  | 'already-exists'
  /** A requirement failed and nothing was committed: refresh, plan again, retry. */
  | 'conflict'
  /** The commit may or may not have landed: look it up; delete nothing. */
  | 'commit-unknown'
  /** A dependency is down or slow, before the point of commit: retry with backoff. */
  | 'unavailable'
  /** A bound on size, number or time is reached: slow down or send less. */
  | 'overloaded'
  /** The request is larger than a fixed limit: send it in smaller parts. */
  | 'too-large'
  /** Stored bytes break the specification: stop and keep the evidence. */
  | 'corrupt'
  /** Valid Iceberg, or a valid request, that Floe does not implement. */
  | 'unsupported'
  /** A broken assumption of our own. */
  | 'internal';

export type ErrorContext = Readonly<
  Record<string, string | number | bigint | boolean | null | undefined>
>;

export class IcebergError extends Error {
  override readonly name = 'IcebergError';
  readonly kind: ErrorKind;
  readonly code: string;
  readonly context: ErrorContext;

  constructor(
    kind: ErrorKind,
    code: string,
    message: string,
    options: { context?: ErrorContext; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.context = options.context ?? {};
  }
}

/** Narrows to `IcebergError`, optionally of one kind. */
export function isIcebergError(error: unknown, kind?: ErrorKind): error is IcebergError {
  return error instanceof IcebergError && (kind === undefined || error.kind === kind);
}

/** For our own invariants; validation of anybody else's input throws its own kind. */
export function assert(condition: boolean, code: string, message: string): asserts condition {
  if (!condition) throw new IcebergError('internal', code, message);
}

/** Makes a missing case of a union a type error, and an error at run time. */
export function unreachable(value: never): never {
  throw new IcebergError('internal', 'internal.unreachable', `Unexpected value ${String(value)}`);
}

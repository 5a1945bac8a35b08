/**
 * The object store on an R2 bucket binding. The only file that knows the binding's types.
 *
 * Failures carry R2's number at the end of their message, `… (10058)`; the table below turns it into
 * a kind. A failed put condition is not an exception: the binding answers null.
 * Source: https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ and
 * https://developers.cloudflare.com/r2/api/error-codes/
 */

import { IcebergError, type ErrorKind } from '../iceberg/errors.ts';
import type { ObjectStat, ObjectStore, PutOptions, PutOutcome } from '../iceberg/ports.ts';

/** Bound of one delete call of the binding. */
const DELETE_KEYS_MAX = 1000;

export class R2ObjectStore implements ObjectStore {
  readonly baseUri: string;
  readonly #bucket: R2Bucket;

  /** `bucketName` is only used for locations (`s3://{bucketName}/…`): a binding does not know it. */
  constructor(bucket: R2Bucket, bucketName: string) {
    this.#bucket = bucket;
    this.baseUri = `s3://${bucketName}`;
  }

  async get(key: string): Promise<Uint8Array | null> {
    return await translated('get', key, async () => {
      const object = await this.#bucket.get(key);
      return object === null ? null : await object.bytes();
    });
  }

  async getRange(key: string, offset: number, length: number): Promise<Uint8Array | null> {
    return await translated('get', key, async () => {
      const object = await this.#bucket.get(key, { range: { offset, length } });
      return object === null ? null : await object.bytes();
    });
  }

  async head(key: string): Promise<ObjectStat | null> {
    const object = await translated('head', key, () => this.#bucket.head(key));
    return object === null ? null : statOf(object);
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<PutOutcome> {
    const { condition, contentType } = options;
    const httpMetadata = contentType === undefined ? {} : { contentType };
    const stored = await translated('put', key, () =>
      condition === undefined
        ? this.#bucket.put(key, bytes, { httpMetadata })
        : this.#bucket.put(key, bytes, { httpMetadata, onlyIf: conditionOf(condition) }),
    );
    return stored === null
      ? { status: 'condition-failed' }
      : { status: 'stored', etag: stored.etag };
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += DELETE_KEYS_MAX) {
      const chunk = keys.slice(start, start + DELETE_KEYS_MAX);
      await translated('delete', chunk[0] ?? '', () => this.#bucket.delete(chunk));
    }
  }

  async *list(prefix: string): AsyncIterable<ObjectStat> {
    let cursor: string | undefined;
    do {
      const page = await this.#page({ prefix, ...(cursor === undefined ? {} : { cursor }) });
      for (const object of page.objects) yield statOf(object);
      // A page may be short, or empty, and yet not the last one: only `truncated` says so.
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  async listPrefixes(prefix: string): Promise<string[]> {
    const segments = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await this.#page({
        prefix,
        delimiter: '/',
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const found of page.delimitedPrefixes) segments.add(found.slice(prefix.length, -1));
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    return [...segments].toSorted();
  }

  async #page(options: R2ListOptions): Promise<R2Objects> {
    return await translated('list', options.prefix ?? '', () => this.#bucket.list(options));
  }
}

/** The header form: the object form of "absent" has been read as a literal etag by some runtimes. */
function conditionOf(condition: NonNullable<PutOptions['condition']>): Headers {
  return condition === 'absent'
    ? new Headers({ 'If-None-Match': '*' })
    : new Headers({ 'If-Match': `"${condition.etag}"` });
}

function statOf(object: R2Object): ObjectStat {
  return {
    key: object.key,
    size: object.size,
    etag: object.etag,
    lastModifiedMs: object.uploaded.getTime(),
  };
}

const KIND_OF_CODE: ReadonlyMap<number, ErrorKind> = new Map([
  [10002, 'unauthorized'],
  [10003, 'forbidden'],
  [10006, 'not-found'],
  [10011, 'internal'],
  [10012, 'internal'],
  [10020, 'invalid'],
  [10035, 'forbidden'],
  [10037, 'internal'],
  [10042, 'forbidden'],
  [10069, 'forbidden'],
]);

async function translated<T>(
  operation: 'get' | 'head' | 'put' | 'delete' | 'list',
  key: string,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw translateR2Error(operation, key, error);
  }
}

/** What an exception of the binding means. Whatever is not known to be final may be retried. */
export function translateR2Error(operation: string, key: string, error: unknown): IcebergError {
  const message = error instanceof Error ? error.message : String(error);
  const digits = /\((\d{5})\)\s*$/.exec(message)?.[1];
  const r2Code = digits === undefined ? undefined : Number(digits);
  const kind: ErrorKind =
    r2Code === undefined
      ? error instanceof TypeError
        ? 'invalid'
        : 'unavailable'
      : (KIND_OF_CODE.get(r2Code) ?? 'unavailable');
  return new IcebergError(kind, `store.${operation}-failed`, `R2 ${operation} failed: ${message}`, {
    context: { key, r2Code },
    cause: error,
  });
}

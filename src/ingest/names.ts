/** What a namespace or table may be called, and the ids that carry those names. */

import { IcebergError } from '../iceberg/errors.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import type { BatchId } from '../table/protocol.ts';

/** No dot (it separates the parts of a batch id), no slash, nothing that needs escaping in a key. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/;
const SHARD = /^(0|[1-9][0-9]{0,3})$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** @throws invalid `name.invalid` */
export function parseTableIdentifier(namespace: string, name: string): TableIdentifier {
  return { namespace: [parseName(namespace, 'namespace')], name: parseName(name, 'table') };
}

/** @throws invalid `name.invalid` */
export function parseName(text: string, what: 'namespace' | 'table'): string {
  if (NAME.test(text)) return text;
  throw new IcebergError(
    'invalid',
    'name.invalid',
    `A ${what} name has 1 to 128 letters, digits, "_" or "-" and does not begin with "-".`,
    { context: { what, name: text.slice(0, 128) } },
  );
}

export interface BatchAddress {
  readonly identifier: TableIdentifier;
  readonly shard: number;
}

/** `{namespace}.{table}.{shard}.{uuid}` */
export function formatBatchId(address: BatchAddress, uuid: string): BatchId {
  const { identifier, shard } = address;
  return [...identifier.namespace, identifier.name, String(shard), uuid].join('.');
}

/** Where a batch lives. @throws invalid `batch.invalid-id` */
export function parseBatchId(batchId: string): BatchAddress {
  const [namespace = '', table = '', shard = '', uuid = '', ...rest] = batchId.split('.');
  const isValid =
    NAME.test(namespace) &&
    NAME.test(table) &&
    SHARD.test(shard) &&
    UUID.test(uuid) &&
    rest.length === 0;
  if (!isValid) {
    throw new IcebergError(
      'invalid',
      'batch.invalid-id',
      'A batch id is the "batch" of an ingest answer: {namespace}.{table}.{shard}.{uuid}.',
      { context: { batch: batchId.slice(0, 300) } },
    );
  }
  return { identifier: { namespace: [namespace], name: table }, shard: Number(shard) };
}

/** Printable ASCII, 1 to `charsMax` characters; null when there is none. @throws invalid */
export function parseIdempotencyKey(header: string | null, charsMax: number): string | null {
  if (header === null) return null;
  if (header.length >= 1 && header.length <= charsMax && /^[\x20-\x7e]+$/.test(header)) {
    return header;
  }
  throw new IcebergError(
    'invalid',
    'idempotency.invalid-key',
    `Idempotency-Key has 1 to ${charsMax} printable ASCII characters.`,
    { context: { charsMax } },
  );
}

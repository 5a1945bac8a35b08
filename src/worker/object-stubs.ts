/**
 * Calls to the Durable Objects of a table. A stub may be broken after any exception, so each call
 * takes a fresh one; what the platform throws becomes an outcome like any other.
 */

import type { TableIdentifier } from '../iceberg/ports.ts';
import type {
  FlushTargetRpc,
  IngestShardRpc,
  Outcome,
  TableCommitterRpc,
} from '../table/protocol.ts';
import type { Env } from './config.ts';

const RETRY_AFTER_SECONDS = 2;

export function shardOf(env: Env, identifier: TableIdentifier, shard: number): IngestShardRpc {
  const name = `${objectName(identifier)}/${shard}`;
  // Typed by the contract: the binding's own types cannot express maps and bigints in results.
  const stub = (): IngestShardRpc => env.INGEST_SHARDS.getByName(name) as unknown as IngestShardRpc;
  return {
    acceptBatch: (header, slices) => answered(() => stub().acceptBatch(header, slices)),
    beginBatch: (header) => answered(() => stub().beginBatch(header)),
    appendSlice: (batchId, slice) => answered(() => stub().appendSlice(batchId, slice)),
    sealBatch: (batchId, digest) => answered(() => stub().sealBatch(batchId, digest)),
    abortBatch: (batchId) => answered(() => stub().abortBatch(batchId)),
    getBatch: (batchId) => answered(() => stub().getBatch(batchId)),
    waitCommitted: (batchId, timeoutMs) => answered(() => stub().waitCommitted(batchId, timeoutMs)),
    flush: (table) => answered(() => stub().flush(table)),
    listQuarantine: (after, limit) => answered(() => stub().listQuarantine(after, limit)),
    replayRows: (header, rows) => answered(() => stub().replayRows(header, rows)),
    deleteQuarantined: (first, last) => answered(() => stub().deleteQuarantined(first, last)),
    pending: () => answered(() => stub().pending()),
    clear: () => answered(() => stub().clear()),
  };
}

export function committerOf(
  env: Env,
  identifier: TableIdentifier,
): TableCommitterRpc & FlushTargetRpc {
  const name = objectName(identifier);
  const stub = (): TableCommitterRpc & FlushTargetRpc =>
    env.TABLE_COMMITTERS.getByName(name) as unknown as TableCommitterRpc & FlushTargetRpc;
  return {
    tableState: (table) => answered(() => stub().tableState(table)),
    ensureSchema: (table, arrived, policy) =>
      answered(() => stub().ensureSchema(table, arrived, policy)),
    writeTarget: (table) => answered(() => stub().writeTarget(table)),
    submit: (request) => answered(() => stub().submit(request)),
    loadTable: (table) => answered(() => stub().loadTable(table)),
    createTable: (table, declaration) => answered(() => stub().createTable(table, declaration)),
    updateSchema: (table, request) => answered(() => stub().updateSchema(table, request)),
    dropTable: (table) => answered(() => stub().dropTable(table)),
  };
}

function objectName(identifier: TableIdentifier): string {
  return `${identifier.namespace.join('.')}.${identifier.name}`;
}

async function answered<T>(call: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await call();
  } catch (error) {
    return { ok: false, error: platformError(error) };
  }
}

/** `overloaded` must not be retried at once; of everything else it is not known what it did. */
function platformError(error: unknown): Extract<Outcome<never>, { ok: false }>['error'] {
  const message = error instanceof Error ? error.message : String(error);
  const isOverloaded =
    typeof error === 'object' &&
    error !== null &&
    'overloaded' in error &&
    error.overloaded === true;
  return isOverloaded
    ? {
        kind: 'overloaded',
        code: 'object.overloaded',
        message: 'The table has more requests than it can take',
        context: { retryAfterSeconds: RETRY_AFTER_SECONDS },
      }
    : {
        kind: 'unavailable',
        code: 'object.unreachable',
        message: `The table's object did not answer: ${message}`,
        context: {},
      };
}

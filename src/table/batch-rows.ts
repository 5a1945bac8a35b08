/** Rows of the table `batches` as receipts, and as reasons to refuse a repeated idempotency key. */

import type { RejectedRow } from '../columnar/kernel-port.ts';
import { IcebergError } from '../iceberg/errors.ts';
import type { BatchReceipt } from './protocol.ts';
import type { SqlRow } from './sql-database.ts';
import { numberOf, textOf, textOrNullOf } from './sql-database.ts';

const ERROR_CHARACTERS_MAX = 500;

/** What the functions here, and the write-ahead log, read of a batch. */
export const RECEIPT_COLUMNS = `batch_no, batch_id, state, body_digest, rows_received, rows_accepted,
  rows_quarantined, bytes, errors, lease_until_ms, accepted_at_ms, snapshot_id, idempotency_key, slices`;

export function receiptOf(batch: SqlRow): BatchReceipt {
  const snapshotId = textOrNullOf(batch, 'snapshot_id');
  return {
    batchId: textOf(batch, 'batch_id'),
    state: textOf(batch, 'state') === 'committed' ? 'committed' : 'durable',
    rowsReceived: numberOf(batch, 'rows_received'),
    rowsAccepted: numberOf(batch, 'rows_accepted'),
    rowsQuarantined: numberOf(batch, 'rows_quarantined'),
    snapshotId: snapshotId === null ? null : BigInt(snapshotId),
    errors: JSON.parse(textOf(batch, 'errors')) as BatchReceipt['errors'],
    acceptedAtMs: numberOf(batch, 'accepted_at_ms'),
  };
}

/** Why a request with the key of `earlier` is not accepted. */
export function refusalOf(earlier: SqlRow): IcebergError {
  return textOf(earlier, 'state') === 'open'
    ? new IcebergError(
        'conflict',
        'idempotency.in-progress',
        'A request with this idempotency key is still being received',
      )
    : new IcebergError(
        'invalid',
        'idempotency.key-reused',
        'This idempotency key was used before with another body',
      );
}

/** The errors of a receipt, as stored, with those of another slice; the first `errorsMax` are kept. */
export function errorsWith(
  errors: string,
  rejected: readonly RejectedRow[],
  errorsMax: number,
): string {
  if (rejected.length === 0) return errors;
  const kept = JSON.parse(errors) as BatchReceipt['errors'];
  const room = Math.max(errorsMax - kept.length, 0);
  const added = rejected.slice(0, room).map(({ row, column, code, message }) => ({
    row,
    column: column.slice(0, ERROR_CHARACTERS_MAX),
    code,
    message: message.slice(0, ERROR_CHARACTERS_MAX),
  }));
  return JSON.stringify([...kept, ...added]);
}

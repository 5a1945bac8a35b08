/** The receipt of a batch as its JSON answer. */

import type { IngestResponseBody } from '../api/ingest.ts';
import type { BatchReceipt } from '../table/protocol.ts';

export function toIngestResponse(receipt: BatchReceipt, errorsMax: number): IngestResponseBody {
  return {
    batch: receipt.batchId,
    status: receipt.state,
    rows: {
      received: receipt.rowsReceived,
      accepted: receipt.rowsAccepted,
      quarantined: receipt.rowsQuarantined,
    },
    snapshotId: receipt.snapshotId === null ? null : String(receipt.snapshotId),
    errors: receipt.errors
      .slice(0, errorsMax)
      .map(({ row, column, code, message }) => ({ row, column, code, message })),
  };
}

/** `POST /ingest/{namespace}/{table}` */

import { Hono } from 'hono';
import { describeBody } from '../../ingest/decode-body.ts';
import { ingestBatch } from '../../ingest/ingest-batch.ts';
import { parseIdempotencyKey, parseTableIdentifier } from '../../ingest/names.ts';
import { toIngestResponse } from '../../ingest/receipt.ts';
import type { BatchReceipt } from '../../table/protocol.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { AppServices } from '../services.ts';
import { FIRST_SHARD } from '../services.ts';
import { oneOf, schemaPolicyOf } from '../table-request.ts';

export function ingestRoutes(services: AppServices): Hono {
  const app = new Hono();

  app.post('/:namespace/:table', async (context) => {
    const { limits } = services;
    const request = context.req.raw;
    const { namespace, table } = context.req.param();
    const identifier = parseTableIdentifier(namespace, table);
    const onError = oneOf(context.req.query('on-error'), 'on-error', ['quarantine', 'reject']);
    const schemaPolicy = schemaPolicyOf(context);
    const waitFor = oneOf(context.req.query('wait'), 'wait', ['durable', 'committed']);
    const idempotencyKey = parseIdempotencyKey(
      request.headers.get('idempotency-key'),
      limits.idempotencyKeyCharsMax,
    );
    const { format, compression } = describeBody(request.headers, limits);
    const shard = services.shard(identifier, FIRST_SHARD);
    let receipt = await ingestBatch(
      {
        identifier,
        shard: FIRST_SHARD,
        format,
        compression,
        body: request.body,
        onError,
        schemaPolicy,
        idempotencyKey,
      },
      {
        shard,
        committer: services.committer(identifier),
        kernels: services.kernels,
        streamKernels: services.streamKernels,
        random: services.random,
        createDigest: services.createDigest,
        createZstdDecoder: services.createZstdDecoder,
      },
      limits,
    );
    if (waitFor === 'committed' && isPending(receipt)) {
      receipt = fromOutcome(await shard.waitCommitted(receipt.batchId, limits.commitWaitMsMax));
    }
    services.logger.debug('batch accepted', {
      table: `${namespace}.${table}`,
      batch: receipt.batchId,
      rowsReceived: receipt.rowsReceived,
      rowsAccepted: receipt.rowsAccepted,
      rowsQuarantined: receipt.rowsQuarantined,
    });
    // 202: what was asked for, the commit, is still to come; the batch itself is safe.
    const status = waitFor === 'committed' && isPending(receipt) ? 202 : 200;
    return context.json(toIngestResponse(receipt, limits.errorsPerResponseMax), status);
  });
  app.all('/:namespace/:table', methodNotAllowed('POST'));

  return app;
}

/** A batch without accepted rows has nothing to commit. */
function isPending(receipt: BatchReceipt): boolean {
  return receipt.state === 'durable' && receipt.rowsAccepted > 0;
}

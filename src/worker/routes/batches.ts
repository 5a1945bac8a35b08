/** `GET /batches/{id}` */

import { Hono } from 'hono';
import { parseBatchId } from '../../ingest/names.ts';
import { toIngestResponse } from '../../ingest/receipt.ts';
import { IcebergError } from '../../iceberg/errors.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { AppServices } from '../services.ts';

export function batchRoutes(services: AppServices): Hono {
  const app = new Hono();

  app.get('/:id', async (context) => {
    const batchId = context.req.param('id');
    const { identifier, shard } = parseBatchId(batchId);
    const receipt = fromOutcome(await services.shard(identifier, shard).getBatch(batchId));
    if (receipt === null) {
      throw new IcebergError(
        'not-found',
        'batch.not-found',
        'No such batch is known: it was never sealed, or its receipt is past the time it is kept.',
        { context: { batch: batchId } },
      );
    }
    return context.json(toIngestResponse(receipt, services.limits.errorsPerResponseMax));
  });
  app.all('/:id', methodNotAllowed('GET', 'HEAD'));

  return app;
}

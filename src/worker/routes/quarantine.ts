/** `/tables/{namespace}/{table}/quarantine`: rows that were not accepted; sent again, or deleted. */

import { Hono } from 'hono';
import type { QuarantineBody, ReplayBody } from '../../api/tables.ts';
import { IcebergError } from '../../iceberg/errors.ts';
import { replayQuarantine } from '../../ingest/replay-quarantine.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { AppServices } from '../services.ts';
import { FIRST_SHARD } from '../services.ts';
import {
  identifierOf,
  integerOf,
  labelOf,
  loadTable,
  oneOf,
  schemaPolicyOf,
} from '../table-request.ts';

const PAGE_ROWS_MAX = 1000;
const PAGE_ROWS_DEFAULT = 100;

export function quarantineRoutes(services: AppServices): Hono {
  const app = new Hono();

  app.get('/:namespace/:table/quarantine', async (context) => {
    const identifier = identifierOf(context);
    const after = integerOf(context, 'after', 0, 0, Number.MAX_SAFE_INTEGER);
    const limit = integerOf(context, 'limit', PAGE_ROWS_DEFAULT, 1, PAGE_ROWS_MAX);
    await loadTable(services, identifier);
    const shard = services.shard(identifier, FIRST_SHARD);
    const page = fromOutcome(await shard.listQuarantine(after, limit));
    const rows = page.rows.map(({ batchId, id, row, column, code, message, raw, atMs }) => ({
      id,
      batch: batchId,
      row,
      column,
      code,
      message,
      raw,
      atMs,
    }));
    return context.json({ rows, total: page.total, next: page.next } satisfies QuarantineBody);
  });

  app.delete('/:namespace/:table/quarantine', async (context) => {
    const identifier = identifierOf(context);
    const through = integerOf(context, 'through', 0, 1, Number.MAX_SAFE_INTEGER);
    if (through === 0) {
      throw new IcebergError(
        'invalid',
        'request.invalid-parameter',
        'The parameter "through" must be the id of the last row to delete; earlier ones go with it.',
        { context: { parameter: 'through' } },
      );
    }
    await loadTable(services, identifier);
    const shard = services.shard(identifier, FIRST_SHARD);
    const deleted = fromOutcome(await shard.deleteQuarantined(1, through));
    services.logger.info('quarantine deleted', { table: labelOf(identifier), rows: deleted });
    return context.json({ deleted });
  });
  app.all('/:namespace/:table/quarantine', methodNotAllowed('GET', 'HEAD', 'DELETE'));

  app.post('/:namespace/:table/quarantine/replay', async (context) => {
    const { limits } = services;
    const identifier = identifierOf(context);
    const after = integerOf(context, 'after', 0, 0, Number.MAX_SAFE_INTEGER);
    const limit = integerOf(context, 'limit', PAGE_ROWS_MAX, 1, PAGE_ROWS_MAX);
    const schemaPolicy = schemaPolicyOf(context);
    const waitFor = oneOf(context.req.query('wait'), 'wait', ['durable', 'committed']);
    await loadTable(services, identifier);
    const shard = services.shard(identifier, FIRST_SHARD);
    const replay = await replayQuarantine(
      { identifier, shard: FIRST_SHARD, schemaPolicy, after, limit },
      { ...services, shard, committer: services.committer(identifier) },
      limits,
    );
    let { receipt } = replay;
    if (receipt !== null && waitFor === 'committed') {
      receipt = fromOutcome(await shard.waitCommitted(receipt.batchId, limits.commitWaitMsMax));
    }
    const { rowsReplayed, rowsLanded, rowsLeft, next } = replay;
    services.logger.info('quarantine replayed', {
      table: labelOf(identifier),
      rowsReplayed,
      rowsLanded,
    });
    const snapshotId = receipt?.snapshotId ?? null;
    // 202: what was asked for, the commit, is still to come; the rows themselves are safe.
    const isPending = waitFor === 'committed' && receipt?.state === 'durable';
    return context.json(
      {
        batch: receipt?.batchId ?? null,
        status: receipt?.state ?? null,
        snapshotId: snapshotId === null ? null : String(snapshotId),
        rows: { replayed: rowsReplayed, landed: rowsLanded, kept: rowsReplayed - rowsLanded },
        total: rowsLeft,
        next,
      } satisfies ReplayBody,
      isPending ? 202 : 200,
    );
  });
  app.all('/:namespace/:table/quarantine/replay', methodNotAllowed('POST'));

  return app;
}

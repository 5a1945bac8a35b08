/** `/tables` and what is below it. */

import type { Context } from 'hono';
import { Hono } from 'hono';
import type {
  FlushBody,
  QuarantineBody,
  SnapshotListBody,
  TableBody,
  TableListBody,
} from '../../api/tables.ts';
import { IcebergError } from '../../iceberg/errors.ts';
import type { TableIdentifier } from '../../iceberg/ports.ts';
import { parseTableMetadata } from '../../iceberg/spec/table-metadata-json.ts';
import { parseTableIdentifier } from '../../ingest/names.ts';
import type { TableDocument } from '../../table/protocol.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { AppServices } from '../services.ts';
import { FIRST_SHARD } from '../services.ts';
import { describeSnapshots, describeTable } from '../table-body.ts';

const QUARANTINE_PAGE_ROWS_MAX = 1000;
const QUARANTINE_PAGE_ROWS_DEFAULT = 100;

export function tableRoutes(services: AppServices): Hono {
  const app = new Hono();

  app.get('/', async (context) => {
    const namespaces = await services.catalog.listNamespaces();
    const lists = await Promise.all(
      namespaces.map((levels) => services.catalog.listTables(levels)),
    );
    const tables = lists
      .flat()
      .map(({ namespace, name }) => ({ namespace: namespace.join('.'), name }));
    return context.json({ tables } satisfies TableListBody);
  });
  app.all('/', methodNotAllowed('GET', 'HEAD'));

  app.get('/:namespace/:table', async (context) => {
    const identifier = identifierOf(context);
    const [document, status] = await Promise.all([
      loadTable(services, identifier),
      services.shard(identifier, FIRST_SHARD).pending(),
    ]);
    const metadata = parseTableMetadata(document.metadataJson);
    const body = describeTable(
      identifier,
      metadata,
      document.metadataLocation,
      fromOutcome(status),
    );
    return context.json(body satisfies TableBody);
  });

  app.delete('/:namespace/:table', async (context) => {
    const identifier = identifierOf(context);
    await loadTable(services, identifier);
    fromOutcome(await services.committer(identifier).dropTable(identifier));
    services.logger.info('table dropped', { table: labelOf(identifier) });
    return context.body(null, 204);
  });
  app.all('/:namespace/:table', methodNotAllowed('GET', 'HEAD', 'DELETE'));

  app.get('/:namespace/:table/snapshots', async (context) => {
    const document = await loadTable(services, identifierOf(context));
    const body = describeSnapshots(parseTableMetadata(document.metadataJson));
    return context.json(body satisfies SnapshotListBody);
  });
  app.all('/:namespace/:table/snapshots', methodNotAllowed('GET', 'HEAD'));

  app.get('/:namespace/:table/quarantine', async (context) => {
    const identifier = identifierOf(context);
    const after = integerOf(context, 'after', 0, 0, Number.MAX_SAFE_INTEGER);
    const limit = integerOf(
      context,
      'limit',
      QUARANTINE_PAGE_ROWS_DEFAULT,
      1,
      QUARANTINE_PAGE_ROWS_MAX,
    );
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
  app.all('/:namespace/:table/quarantine', methodNotAllowed('GET', 'HEAD'));

  app.post('/:namespace/:table/flush', async (context) => {
    const identifier = identifierOf(context);
    await loadTable(services, identifier);
    const flushed = fromOutcome(await services.shard(identifier, FIRST_SHARD).flush(identifier));
    const { rows, files, snapshotId } = flushed;
    return context.json({
      rows,
      files,
      snapshotId: snapshotId === null ? null : String(snapshotId),
    } satisfies FlushBody);
  });
  app.all('/:namespace/:table/flush', methodNotAllowed('POST'));

  return app;
}

/** The table's metadata file. @throws not-found `table.not-found` */
async function loadTable(
  services: AppServices,
  identifier: TableIdentifier,
): Promise<TableDocument> {
  const document = fromOutcome(await services.committer(identifier).loadTable(identifier));
  if (document !== null) return document;
  const label = labelOf(identifier);
  throw new IcebergError('not-found', 'table.not-found', `There is no table ${label}.`, {
    context: { table: label },
  });
}

function identifierOf(context: Context): TableIdentifier {
  const { namespace, table } = context.req.param();
  return parseTableIdentifier(namespace ?? '', table ?? '');
}

function labelOf(identifier: TableIdentifier): string {
  return [...identifier.namespace, identifier.name].join('.');
}

function integerOf(
  context: Context,
  name: string,
  missing: number,
  min: number,
  max: number,
): number {
  const text = context.req.query(name);
  if (text === undefined) return missing;
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  throw new IcebergError(
    'invalid',
    'request.invalid-parameter',
    `The parameter "${name}" must be a whole number from ${min} to ${max}.`,
    { context: { parameter: name } },
  );
}

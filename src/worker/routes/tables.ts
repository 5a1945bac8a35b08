/** `/tables` and what is below it. */

import { Hono } from 'hono';
import type { FlushBody, SnapshotListBody, TableBody, TableListBody } from '../../api/tables.ts';
import { IcebergError } from '../../iceberg/errors.ts';
import { parseTableDeclaration } from '../../iceberg/metadata/table-declaration.ts';
import { parseTableMetadata } from '../../iceberg/spec/table-metadata-json.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { exactJson, readJsonBody } from '../json-body.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { AppServices } from '../services.ts';
import { FIRST_SHARD } from '../services.ts';
import { describeSnapshots, describeTable } from '../table-body.ts';
import { identifierOf, labelOf, loadTable } from '../table-request.ts';

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
    const body = describeTable(identifier, document, fromOutcome(status));
    return exactJson(context, body satisfies TableBody);
  });

  app.put('/:namespace/:table', async (context) => {
    const identifier = identifierOf(context);
    const body = await readJsonBody(context.req.raw, services.limits);
    const declaration = parseTableDeclaration(body);
    if (declaration.name !== null && declaration.name !== identifier.name) {
      throw new IcebergError(
        'invalid',
        'table.name-mismatch',
        'The "name" of the body is not the one in the address: leave it out.',
        { context: { name: declaration.name.slice(0, 128) } },
      );
    }
    const committer = services.committer(identifier);
    const document = fromOutcome(await committer.createTable(identifier, declaration));
    services.logger.info('table created', { table: labelOf(identifier) });
    const status = fromOutcome(await services.shard(identifier, FIRST_SHARD).pending());
    const answer = describeTable(identifier, document, status) satisfies TableBody;
    return exactJson(context, answer, 201);
  });

  app.delete('/:namespace/:table', async (context) => {
    const identifier = identifierOf(context);
    await loadTable(services, identifier);
    fromOutcome(await services.committer(identifier).dropTable(identifier));
    services.logger.info('table dropped', { table: labelOf(identifier) });
    return context.body(null, 204);
  });
  app.all('/:namespace/:table', methodNotAllowed('GET', 'HEAD', 'PUT', 'DELETE'));

  app.get('/:namespace/:table/snapshots', async (context) => {
    const document = await loadTable(services, identifierOf(context));
    const body = describeSnapshots(parseTableMetadata(document.metadataJson));
    return context.json(body satisfies SnapshotListBody);
  });
  app.all('/:namespace/:table/snapshots', methodNotAllowed('GET', 'HEAD'));

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

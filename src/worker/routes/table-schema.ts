/** `/tables/{namespace}/{table}/schema`: the columns of a table, for programs and for people. */

import type { Context } from 'hono';
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { SchemaUpdateBody } from '../../api/tables.ts';
import { IcebergError } from '../../iceberg/errors.ts';
import { differenceText } from '../../iceberg/metadata/schema-difference.ts';
import { parseColumnChange } from '../../iceberg/operations/column-change.ts';
import { serializeSchema } from '../../iceberg/spec/schema-json.ts';
import { parseTableMetadata } from '../../iceberg/spec/table-metadata-json.ts';
import { currentSchema } from '../../iceberg/spec/table-metadata-rules.ts';
import { arrowSchemaStream } from '../../ingest/arrow-schema.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { exactJson, readJsonBody } from '../json-body.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { schemaPage } from '../schema-page.ts';
import type { AppServices } from '../services.ts';
import { identifierOf, labelOf, loadTable, oneOf } from '../table-request.ts';

/** All of them are applied to one schema, in one commit. */
const CHANGES_MAX = 1000;
const ARROW_TYPE = 'application/vnd.apache.arrow.stream';

export function tableSchemaRoutes(services: AppServices): Hono {
  const app = new Hono();

  app.get('/:namespace/:table/schema', async (context) => {
    const identifier = identifierOf(context);
    const format = oneOf(context.req.query('format') ?? acceptedFormat(context), 'format', [
      'iceberg',
      'arrow',
      'html',
    ]);
    const document = await loadTable(services, identifier);
    const metadata = parseTableMetadata(document.metadataJson);
    const schema = currentSchema(metadata);
    context.header('vary', 'Accept', { append: true });
    switch (format) {
      case 'iceberg':
        return exactJson(context, serializeSchema(schema));
      case 'arrow': {
        const stream = await services.kernels.use(async (kernel) =>
          arrowSchemaStream(kernel, schema),
        );
        return context.body(stream, 200, { 'content-type': ARROW_TYPE });
      }
      case 'html':
        return await schemaPage(context, identifier, metadata);
    }
  });

  app.post('/:namespace/:table/schema', async (context) => {
    const identifier = identifierOf(context);
    const isDryRun = oneOf(context.req.query('dry-run'), 'dry-run', ['false', 'true']) === 'true';
    const body = await readJsonBody(context.req.raw, services.limits);
    const changes = body.member('changes').items().map(parseColumnChange);
    if (changes.length > CHANGES_MAX) {
      throw new IcebergError(
        'too-large',
        'schema.too-many-changes',
        `One request takes at most ${CHANGES_MAX} changes.`,
        { context: { limit: CHANGES_MAX, count: changes.length } },
      );
    }
    const committer = services.committer(identifier);
    const updated = fromOutcome(await committer.updateSchema(identifier, { changes, isDryRun }));
    const differences = updated.difference.map((difference) => ({
      ...difference,
      text: differenceText(difference),
    }));
    services.logger.info('schema updated', {
      table: labelOf(identifier),
      schemaId: updated.schema.schemaId,
      isCommitted: updated.isCommitted,
      changes: changes.length,
    });
    return exactJson(context, {
      schema: serializeSchema(updated.schema),
      committed: updated.isCommitted,
      differences,
    } satisfies SchemaUpdateBody);
  });
  app.all('/:namespace/:table/schema', methodNotAllowed('GET', 'HEAD', 'POST'));

  return app;
}

/** What a caller who names no format would rather have: a browser asks for a page. */
function acceptedFormat(context: Context): string {
  const type = accepts(context, {
    header: 'Accept',
    supports: ['application/json', ARROW_TYPE, 'text/html'],
    default: 'application/json',
  });
  if (type === 'text/html') return 'html';
  return type === ARROW_TYPE ? 'arrow' : 'iceberg';
}

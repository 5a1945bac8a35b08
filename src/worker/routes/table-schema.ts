/** `/tables/{namespace}/{table}/schema`: the columns of a table, for programs and for people. */

import type { Context } from 'hono';
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { serializeSchema } from '../../iceberg/spec/schema-json.ts';
import { parseTableMetadata } from '../../iceberg/spec/table-metadata-json.ts';
import { currentSchema } from '../../iceberg/spec/table-metadata-rules.ts';
import { arrowSchemaStream } from '../../ingest/arrow-schema.ts';
import { exactJson } from '../json-body.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { schemaPage } from '../schema-page.ts';
import type { AppServices } from '../services.ts';
import { identifierOf, loadTable, oneOf } from '../table-request.ts';

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
  app.all('/:namespace/:table/schema', methodNotAllowed('GET', 'HEAD'));

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

/** The HTTP surface: which route is behind which door. What the routes do is in `routes/`. */

import { Hono } from 'hono';
import { IcebergError } from '../iceberg/errors.ts';
import { errorResponse } from './http-error.ts';
import { allowOrigins } from './middleware/cors.ts';
import { requireToken } from './middleware/require-token.ts';
import { batchRoutes } from './routes/batches.ts';
import { healthRoutes } from './routes/health.ts';
import { homeRoutes } from './routes/home.ts';
import { icebergCatalogRoutes } from './routes/iceberg-catalog.ts';
import { ingestRoutes } from './routes/ingest.ts';
import { quarantineRoutes } from './routes/quarantine.ts';
import { tableSchemaRoutes } from './routes/table-schema.ts';
import { tableRoutes } from './routes/tables.ts';
import type { AppServices } from './services.ts';
import { isOurFault, logRequests, logUnexpected } from './telemetry.ts';

export function createApp(services: AppServices): Hono {
  const { settings, logger, clock } = services;
  const app = new Hono();
  app.onError((error) => {
    if (isOurFault(error)) logUnexpected(logger, error);
    return errorResponse(error);
  });
  app.notFound((context) =>
    errorResponse(
      new IcebergError('not-found', 'request.no-such-path', `Nothing is at ${context.req.path}.`, {
        context: { path: context.req.path.slice(0, 300) },
      }),
    ),
  );

  app.use(logRequests(logger, clock));
  app.use(allowOrigins(settings));
  app.route('/', homeRoutes(settings));
  app.route('/healthz', healthRoutes());
  app.route('/iceberg', icebergCatalogRoutes(services));

  app.use(requireToken(settings));
  app.route('/ingest', ingestRoutes(services));
  app.route('/tables', tableRoutes(services));
  app.route('/tables', tableSchemaRoutes(services));
  app.route('/tables', quarantineRoutes(services));
  app.route('/batches', batchRoutes(services));
  return app;
}

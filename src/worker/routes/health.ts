/** `GET /healthz`: the Worker answers. Needs no token and tells nothing about the tables. */

import { Hono } from 'hono';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';

export function healthRoutes(): Hono {
  const app = new Hono();
  app.get('/', (context) => context.json({ status: 'ok' }, 200, { 'cache-control': 'no-store' }));
  app.all('/', methodNotAllowed('GET', 'HEAD'));
  return app;
}

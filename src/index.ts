/** The Worker's entry: HTTP, the cron trigger, and the Durable Objects. */

import type { Hono } from 'hono';
import { createApp } from './worker/app.ts';
import { composeServices } from './worker/compose.ts';
import type { Env } from './worker/config.ts';
import { errorResponse } from './worker/http-error.ts';
import { wakeTables } from './worker/scheduled.ts';
import type { AppServices } from './worker/services.ts';

export { IngestShard } from './worker/ingest-shard.ts';
export { TableCommitter } from './worker/table-committer.ts';

interface Composed {
  readonly services: AppServices;
  readonly app: Hono;
}

/** Made once an isolate, whose environment never changes: the kernels are kept between requests. */
let composed: Composed | null = null;

function compose(env: Env): Composed {
  if (composed === null) {
    const services = composeServices(env);
    composed = { services, app: createApp(services) };
  }
  return composed;
}

export default {
  async fetch(request, env, context) {
    try {
      const answering = Promise.resolve(compose(env).app.fetch(request, env, context));
      // A client that goes away would end the work between any two steps, with a kernel lent out
      // for good and a batch left open. This way the work comes to its own end.
      context.waitUntil(answering);
      return await answering;
    } catch (error) {
      // A setting that cannot be understood: said to whoever asks, instead of a bare 1101.
      return errorResponse(error);
    }
  },
  async scheduled(_controller, env) {
    await wakeTables(compose(env).services);
  },
} satisfies ExportedHandler<Env>;

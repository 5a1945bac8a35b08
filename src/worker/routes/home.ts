/** `GET /`: a page for a person who opened the address. Open to all, so it tells nothing of the tables. */

import { Hono } from 'hono';
import { html } from 'hono/html';
import { examplesFor } from '../../api/examples.ts';
import { htmlPage } from '../html-page.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { HttpSettings } from '../services.ts';

const STYLE = `
.status { display: inline-block; margin-top: 1rem; padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 999px; font-size: 0.875rem; }
.status::before { content: ""; display: inline-block; width: 0.55rem; height: 0.55rem; margin-right: 0.5rem; border-radius: 50%; background: #2f9e5b; }
.status.closed::before { background: #d08a1c; }
ul { margin: 0.35rem 0 0; padding: 0; list-style: none; }
li { padding: 0.3rem 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: minmax(0, 27rem) 1fr; gap: 0 1rem; }
li span { color: var(--soft); }
@media (max-width: 40rem) { li { grid-template-columns: 1fr; } }
`;

const PATHS: readonly (readonly [string, string])[] = [
  ['POST /ingest/{namespace}/{table}', 'JSON, NDJSON, CSV, Arrow or Parquet becomes rows'],
  ['GET /tables', 'every table'],
  ['GET /tables/{namespace}/{table}', 'schema, totals, what is pending'],
  ['PUT /tables/{namespace}/{table}', 'declare a table before its first row'],
  ['GET /tables/{namespace}/{table}/schema', 'the columns: Iceberg JSON, Arrow, or a page'],
  [
    'POST /tables/{namespace}/{table}/schema',
    'change the columns; a dry run says what is different',
  ],
  ['GET /tables/{namespace}/{table}/snapshots', 'what was committed when'],
  ['GET /tables/{namespace}/{table}/quarantine', 'rows that were not accepted, and why'],
  ['POST /tables/{namespace}/{table}/quarantine/replay', 'send those rows through again'],
  ['POST /tables/{namespace}/{table}/flush', 'commit now what is pending'],
  ['GET /batches/{id}', 'what became of a batch'],
  ['/iceberg', 'the Iceberg REST catalog for engines'],
];

export function homeRoutes(settings: HttpSettings): Hono {
  const app = new Hono();
  const isOpen = settings.isLocal && settings.token === null;
  app.get('/', (context) => {
    const examples = examplesFor(new URL(context.req.url).origin, !isOpen);
    const status =
      settings.token !== null
        ? html`<span class="status">Running; calls need the token</span>`
        : isOpen
          ? html`<span class="status">Running locally; no token needed</span>`
          : html`<span class="status closed"
              >Closed: set a token with <code>npx wrangler secret put FLOE_TOKEN</code></span
            >`;
    return htmlPage(
      context,
      'Floe',
      STYLE,
      html`<h1>Floe</h1>
        <p>Send rows over HTTP; read them from an Apache Iceberg table.</p>
        ${status}
        <h2>Send rows</h2>
        <pre>${examples.curl}</pre>
        <h2>Read them with DuckDB</h2>
        <pre>${examples.duckdb}</pre>
        <h2>Read them with PyIceberg</h2>
        <pre>${examples.pyiceberg}</pre>
        <h2>Paths</h2>
        <ul>
          ${PATHS.map(([path, what]) => html`<li><code>${path}</code><span>${what}</span></li>`)}
        </ul>`,
    );
  });
  app.all('/', methodNotAllowed('GET', 'HEAD'));
  return app;
}

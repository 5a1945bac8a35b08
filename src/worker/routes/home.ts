/** `GET /`: a page for a person who opened the address. Open to all, so it tells nothing of the tables. */

import { Hono } from 'hono';
import { html, raw } from 'hono/html';
import { examplesFor } from '../../api/examples.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import type { HttpSettings } from '../services.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7a; --paper: #fbfcfd; --line: #d8e0e7; --code: #eef3f7; --accent: #0b6e99; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4ebf1; --soft: #9fb0bf; --paper: #12181e; --line: #2b3742; --code: #1a232c; --accent: #62bfe6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: clamp(1.25rem, 4vw, 3.5rem) clamp(1rem, 4vw, 2rem); }
h1 { margin: 0; font-size: clamp(1.75rem, 5vw, 2.5rem); letter-spacing: -0.02em; }
h2 { margin: 2.25rem 0 0.5rem; font-size: 1.05rem; }
p { margin: 0.35rem 0 0; color: var(--soft); max-width: 46rem; }
.status { display: inline-block; margin-top: 1rem; padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 999px; font-size: 0.875rem; }
.status::before { content: ""; display: inline-block; width: 0.55rem; height: 0.55rem; margin-right: 0.5rem; border-radius: 50%; background: #2f9e5b; }
.status.closed::before { background: #d08a1c; }
pre { margin: 0; padding: 0.9rem 1rem; overflow-x: auto; background: var(--code); border: 1px solid var(--line); border-radius: 8px; font: 0.85rem/1.5 ui-monospace, monospace; }
ul { margin: 0.35rem 0 0; padding: 0; list-style: none; }
li { padding: 0.3rem 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: minmax(0, 21rem) 1fr; gap: 0 1rem; }
li span { color: var(--soft); }
code { font: 0.875rem ui-monospace, monospace; overflow-wrap: anywhere; }
a { color: var(--accent); }
@media (max-width: 40rem) { li { grid-template-columns: 1fr; } }
`;

const PATHS: readonly (readonly [string, string])[] = [
  ['POST /ingest/{namespace}/{table}', 'JSON, NDJSON or Arrow becomes rows'],
  ['GET /tables', 'every table'],
  ['GET /tables/{namespace}/{table}', 'schema, totals, what is pending'],
  ['GET /tables/{namespace}/{table}/snapshots', 'what was committed when'],
  ['GET /tables/{namespace}/{table}/quarantine', 'rows that were not accepted, and why'],
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
    context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
    context.header('cache-control', 'no-store');
    return context.html(
      html`<!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <title>Floe</title>
            <style>
              ${raw(STYLE)}
            </style>
          </head>
          <body>
            <main>
              <h1>Floe</h1>
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
                ${PATHS.map(
                  ([path, what]) => html`<li><code>${path}</code><span>${what}</span></li>`,
                )}
              </ul>
            </main>
          </body>
        </html>`,
    );
  });
  app.all('/', methodNotAllowed('GET', 'HEAD'));
  return app;
}

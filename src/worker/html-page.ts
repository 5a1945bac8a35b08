/** The frame of the pages for people: one look, no scripts, and nothing from anywhere else. */

import type { Context } from 'hono';
import { html, raw } from 'hono/html';

const BASE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7a; --paper: #fbfcfd; --line: #d8e0e7; --code: #eef3f7; --accent: #0b6e99; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4ebf1; --soft: #9fb0bf; --paper: #12181e; --line: #2b3742; --code: #1a232c; --accent: #62bfe6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: clamp(1.25rem, 4vw, 3.5rem) clamp(1rem, 4vw, 2rem); }
h1 { margin: 0; font-size: clamp(1.75rem, 5vw, 2.5rem); letter-spacing: -0.02em; }
h2 { margin: 2.25rem 0 0.5rem; font-size: 1.05rem; }
p { margin: 0.35rem 0 0; color: var(--soft); max-width: 46rem; }
pre { margin: 0; padding: 0.9rem 1rem; overflow-x: auto; background: var(--code); border: 1px solid var(--line); border-radius: 8px; font: 0.85rem/1.5 ui-monospace, monospace; }
code { font: 0.875rem ui-monospace, monospace; overflow-wrap: anywhere; }
a { color: var(--accent); }
`;

type Markup = ReturnType<typeof html>;

/** `style` is our own text; what `body` shows of anybody else's is escaped by `html`. */
export async function htmlPage(
  context: Context,
  title: string,
  style: string,
  body: Markup,
): Promise<Response> {
  context.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
  context.header('cache-control', 'no-store');
  return await context.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}</title>
          <style>
            ${raw(BASE_STYLE + style)}
          </style>
        </head>
        <body>
          <main>${body}</main>
        </body>
      </html>`,
  );
}

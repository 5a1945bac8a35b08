/** The real Worker app over real Durable Objects, R2 and kernel, with settings of the test's own. */

import { env } from 'cloudflare:workers';
import type { ErrorResponseBody, IngestResponseBody } from '../../src/api/ingest.ts';
import { createApp } from '../../src/worker/app.ts';
import { composeServices } from '../../src/worker/compose.ts';
import type { Env } from '../../src/worker/config.ts';

export const TOKEN = 'token-of-the-tests';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly body: Body;
}

const settings = { FLOE_TOKEN: TOKEN, FLOE_LOCAL: '1', LOG_LEVEL: 'error' };
const app = createApp(composeServices({ ...(env as unknown as Env), ...settings }));

export async function call<Body = unknown>(
  path: string,
  init: RequestInit = {},
): Promise<Answer<Body>> {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', `Bearer ${TOKEN}`);
  const response = await app.fetch(new Request(`http://floe.test${path}`, { ...init, headers }));
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const body = (isJson ? JSON.parse(text) : null) as Body;
  return { status: response.status, headers: response.headers, text, bytes, body };
}

export type Body = string | Uint8Array | ReadableStream<Uint8Array>;

export async function ingest(
  table: string,
  body: Body,
  options: { query?: string; headers?: Record<string, string> } = {},
): Promise<Answer<IngestResponseBody>> {
  const { query = '', headers = {} } = options;
  return await call(`/ingest/${table}${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
}

/** As `ingest`, for requests that are to fail. */
export async function refused(...args: Parameters<typeof ingest>) {
  const { status, headers, text } = await ingest(...args);
  const { error } = JSON.parse(text) as ErrorResponseBody;
  return { status, headers, text, error };
}

export interface TableView {
  schema: { fields: { name: string; type: unknown }[] };
  totals: { rows: string; dataFiles: string };
  pending: { rows: number };
  quarantinedRows: number;
}

/** What is committed and pending; null when the table does not exist. */
export async function table(name: string): Promise<TableView | null> {
  const { status, body } = await call<TableView>(`/tables/${name}`);
  return status === 404 ? null : body;
}

export async function columnsOf(name: string): Promise<string[]> {
  return (await table(name))?.schema.fields.map((field) => field.name) ?? [];
}

export async function flushed(name: string): Promise<{ rows: number; snapshotId: string | null }> {
  const { body } = await call<{ rows: number; snapshotId: string | null }>(
    `/tables/${name}/flush`,
    { method: 'POST' },
  );
  return body;
}

export function streamOf(
  bytes: Uint8Array,
  chunkBytes: number,
  failAfter: number | null = null,
): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (failAfter !== null && offset >= failAfter) {
        controller.error(new Error('Network connection lost.'));
      } else if (offset >= bytes.byteLength) {
        controller.close();
      } else {
        controller.enqueue(bytes.slice(offset, offset + chunkBytes));
        offset += chunkBytes;
      }
    },
  });
}

export async function gzip(bytes: Uint8Array | ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const plain = bytes instanceof ReadableStream ? bytes : streamOf(bytes, 1 << 20);
  const zipped = plain.pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** NDJSON rows `{"id":…,"text":…}`, about `rowBytes` each. */
export function rowsOf(count: number, rowBytes = 40): string {
  const filler = 'x'.repeat(Math.max(0, rowBytes - 25));
  return Array.from({ length: count }, (_, id) => `{"id":${id},"text":"${filler}"}`).join('\n');
}

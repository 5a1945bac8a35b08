/** Small JSON documents as bodies: read whole within a bound, written with exact 64-bit integers. */

import type { Context } from 'hono';
import { IcebergError } from '../iceberg/errors.ts';
import type { JsonObject } from '../iceberg/json.ts';
import { JsonNode, parseJson, serializeJson } from '../iceberg/json.ts';
import { readBody, readHead } from '../ingest/decode-body.ts';
import type { IngestLimits } from '../ingest/limits.ts';
import { createZstdDecoder } from './zstd-decoder.ts';

/** A schema of a thousand documented columns takes a fifth of it. */
export const DOCUMENT_BYTES_MAX = 1024 * 1024;

/**
 * The document; what is read from it throws `invalid`. 64-bit integers stay exact.
 * @throws invalid `json.malformed`, `body.unsupported-type`, `body.cut`, `body.stalled`; too-large
 * `body.too-large`
 */
export async function readJsonBody(request: Request, limits: IngestLimits): Promise<JsonNode> {
  const contentType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (contentType !== 'application/json') {
    throw new IcebergError(
      'invalid',
      'body.unsupported-type',
      'Content-Type must be application/json here.',
    );
  }
  const chunks = readBody(
    request.body,
    { format: 'json', compression: null },
    limits,
    createZstdDecoder,
  );
  try {
    const head = await readHead(chunks, DOCUMENT_BYTES_MAX);
    if (!head.isWhole) {
      throw new IcebergError(
        'too-large',
        'body.too-large',
        `The document has more than ${DOCUMENT_BYTES_MAX} bytes.`,
        { context: { bodyBytesMax: DOCUMENT_BYTES_MAX } },
      );
    }
    return new JsonNode(parseJson(new TextDecoder().decode(head.bytes), 'invalid'), '$', 'invalid');
  } finally {
    await chunks.return();
  }
}

/** For documents with a schema: its default values may be integers that a double cannot hold. */
export function exactJson(context: Context, body: object, status: 200 | 201 = 200): Response {
  const text = serializeJson(body as JsonObject);
  return context.body(text, status, { 'content-type': 'application/json' });
}

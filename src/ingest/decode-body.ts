/**
 * A request body as decoded bytes: which format it has, whether it is small enough, and its bytes
 * in chunks, inflated, with every bound enforced while they pass.
 */

import type { BodyFormat } from '../columnar/kernel-port.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { ChunkReader } from './chunk-reader.ts';
import type { StreamCompression } from './inflate.ts';
import { inflate } from './inflate.ts';
import type { ZstdFrameDecoder } from './inflate-zstd.ts';
import { inflateZstd } from './inflate-zstd.ts';
import type { IngestLimits } from './limits.ts';

const FORMATS: ReadonlyMap<string, BodyFormat> = new Map([
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['application/vnd.apache.arrow.stream', 'arrow-stream'],
  ['application/vnd.apache.arrow.file', 'arrow-file'],
  ['application/vnd.apache.parquet', 'parquet'],
  ['application/x-parquet', 'parquet'],
  ['text/csv', 'csv'],
]);

export type Compression = StreamCompression | 'zstd';

/** `deflate` is the zlib form, as HTTP means it. */
const COMPRESSIONS: ReadonlyMap<string, Compression | null> = new Map([
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['zstd', 'zstd'],
]);

export interface BodyDescription {
  readonly format: BodyFormat;
  readonly compression: Compression | null;
}

/**
 * What the headers say of the body, before any of it is read.
 *
 * @throws invalid `body.unsupported-type`, `body.unsupported-encoding`, `body.invalid-length`;
 * too-large `body.too-large`
 */
export function describeBody(headers: Headers, limits: IngestLimits): BodyDescription {
  const contentType = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const format = FORMATS.get(contentType);
  if (format === undefined) {
    throw new IcebergError(
      'invalid',
      'body.unsupported-type',
      `Content-Type must be one of ${[...FORMATS.keys()].join(', ')}.`,
      { context: { contentType: contentType.slice(0, 100) } },
    );
  }
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  const compression = COMPRESSIONS.get(encoding);
  if (compression === undefined) {
    throw new IcebergError(
      'invalid',
      'body.unsupported-encoding',
      'Content-Encoding must be gzip, deflate or zstd, or left out.',
      { context: { contentEncoding: encoding.slice(0, 100) } },
    );
  }
  checkDeclaredLength(headers.get('content-length'), limits);
  return { format, compression };
}

function checkDeclaredLength(header: string | null, limits: IngestLimits): void {
  if (header === null) return;
  const bytes = Number(header);
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new IcebergError('invalid', 'body.invalid-length', 'Content-Length is not a number.');
  }
  if (bytes > limits.bodyBytesMax) throw bodyTooLarge(limits);
}

/**
 * The decoded bytes in chunks of about `chunkBytes`. A chunk is valid until the next is asked for.
 *
 * @throws too-large `body.too-large`, `body.inflates-too-much`; invalid `body.cut`, `body.stalled`,
 * `body.gzip-malformed`, `body.deflate-malformed`, `body.zstd-malformed`
 */
export async function* readBody(
  stream: ReadableStream<Uint8Array> | null,
  description: BodyDescription,
  limits: IngestLimits,
  createZstdDecoder: () => ZstdFrameDecoder,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (stream === null) return;
  const { chunkBytes } = limits;
  const { compression } = description;
  const sent = gather(readSent(stream, limits), chunkBytes);
  if (compression === null) {
    yield* sent;
    return;
  }
  const inflated =
    compression === 'zstd'
      ? inflateZstd(sent, createZstdDecoder, limits)
      : inflate(sent, compression, chunkBytes, limits);
  yield* gather(inflated, chunkBytes);
}

/** The bytes as they were sent. */
async function* readSent(
  stream: ReadableStream<Uint8Array>,
  limits: IngestLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new ChunkReader(stream, limits.chunkBytes, true);
  let bytes = 0;
  let isFinished = false;
  try {
    for (;;) {
      const chunk = await withinIdleTime(reader.next(), limits.bodyIdleMsMax);
      if (chunk.byteLength === 0) break;
      bytes += chunk.byteLength;
      if (bytes > limits.bodyBytesMax) throw bodyTooLarge(limits);
      yield chunk;
    }
    isFinished = true;
  } catch (error) {
    if (isIcebergError(error)) throw error;
    throw new IcebergError(
      'invalid',
      'body.cut',
      'The connection ended before the body did: nothing of it was kept.',
      { context: { bytesReceived: bytes }, cause: error },
    );
  } finally {
    // A body that is given up half-way must not keep its sender waiting.
    if (!isFinished) await reader.cancel().catch(() => undefined);
  }
}

async function withinIdleTime<T>(read: Promise<T>, idleMsMax: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const timeout = new Promise<never>((_, reject) => {
    const stalled = (): void =>
      reject(
        new IcebergError(
          'invalid',
          'body.stalled',
          `No byte of the body came for ${idleMsMax} ms.`,
          {
            context: { idleMsMax },
          },
        ),
      );
    timer = setTimeout(stalled, idleMsMax);
  });
  try {
    return await Promise.race([read, timeout]);
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** Joins small chunks, so that the kernel is not called for a few bytes at a time. */
async function* gather(
  source: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = new Uint8Array(chunkBytes);
  let filled = 0;
  for await (const chunk of source) {
    if (filled === 0 && chunk.byteLength >= chunkBytes) {
      yield chunk;
      continue;
    }
    let offset = 0;
    while (offset < chunk.byteLength) {
      const part = chunk.subarray(offset, offset + chunkBytes - filled);
      buffer.set(part, filled);
      filled += part.byteLength;
      offset += part.byteLength;
      if (filled === chunkBytes) {
        yield buffer;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

/** The first bytes of a body, and whether they are all of it. */
export interface BodyHead {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
}

/** Reads on until the end, or until more than `bytesMax` are there; `chunks` can be read further. */
export async function readHead(
  chunks: AsyncIterator<Uint8Array, void, undefined>,
  bytesMax: number,
): Promise<BodyHead> {
  const parts: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (!isWhole && length <= bytesMax) {
    const { value, done } = await chunks.next();
    if (value === undefined) {
      isWhole = done === true;
      continue;
    }
    parts.push(new Uint8Array(value));
    length += value.byteLength;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return { bytes, isWhole };
}

function bodyTooLarge(limits: IngestLimits): IcebergError {
  return new IcebergError(
    'too-large',
    'body.too-large',
    `A body has at most ${limits.bodyBytesMax} bytes as it is sent: send it in smaller parts.`,
    { context: { bodyBytesMax: limits.bodyBytesMax } },
  );
}

/**
 * Inflates a body in bounded memory.
 *
 * `DecompressionStream` inflates whatever it is given at once, without waiting for a reader (seen in
 * workerd: 64 writes of 4 KiB settle while 256 MiB of output pile up), and gzip expands up to 1032
 * times. So the input goes in by small pieces, and the next piece only when the output of the last
 * one has been taken: at most `PIECE_BYTES` × 1032 wait inside.
 */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { ChunkReader } from './chunk-reader.ts';

/** What `DecompressionStream` knows. */
export type StreamCompression = 'gzip' | 'deflate';

const PIECE_BYTES = 8 * 1024;

export interface InflateLimits {
  /** Decoded bytes a body may have. */
  readonly decodedBytesMax: number;
  /** Decoded bytes per encoded byte, once the body is past `inflateRatioFreeBytes`. */
  readonly inflateRatioMax: number;
  readonly inflateRatioFreeBytes: number;
}

/**
 * The decoded bytes of `source`. A chunk is valid until the next one is asked for.
 *
 * @throws too-large `body.inflates-too-much`; invalid `body.gzip-malformed`, `body.deflate-malformed` for
 * bytes that are not of that form, are damaged or end too early; what `source` throws
 */
export async function* inflate(
  source: AsyncIterable<Uint8Array>,
  compression: StreamCompression,
  chunkBytes: number,
  limits: InflateLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const inflater = new DecompressionStream(compression);
  const writer = inflater.writable.getWriter();
  // The reader side reports every failure; an unhandled rejection of `closed` would only repeat it.
  writer.closed.catch(() => undefined);
  const reader = new ChunkReader(inflater.readable, chunkBytes, false);
  let encodedBytes = 0;
  let decodedBytes = 0;
  const count = (chunk: Uint8Array): Uint8Array => {
    decodedBytes += chunk.byteLength;
    checkInflated(encodedBytes, decodedBytes, limits);
    return chunk;
  };
  try {
    let read = reader.next();
    for await (const piece of piecesOf(source)) {
      encodedBytes += piece.byteLength;
      const writing = writer.write(piece).then(() => null);
      writing.catch(() => undefined);
      let waitFor: Promise<null> = writing;
      // A chunk shorter than the buffer was all there was.
      let isDrained = false;
      for (;;) {
        const chunk = await Promise.race([read, waitFor]);
        if (chunk === null) {
          if (isDrained || waitFor !== writing) break;
          // The piece is inside, and what it makes may come a moment later, or not at all.
          waitFor = quiet();
          continue;
        }
        if (chunk.byteLength === 0) throw new Error('bytes after the end of the compressed stream');
        yield count(chunk);
        isDrained = chunk.byteLength < chunkBytes;
        read = reader.next();
        if (waitFor !== writing) waitFor = isDrained ? Promise.resolve(null) : quiet();
      }
    }
    const closing = writer.close();
    closing.catch(() => undefined);
    for (let chunk = await read; chunk.byteLength > 0; chunk = await reader.next()) {
      yield count(chunk);
    }
    await closing;
  } catch (error) {
    if (isIcebergError(error)) throw error;
    throw new IcebergError(
      'invalid',
      `body.${compression}-malformed`,
      `The body is not complete, valid ${compression} although Content-Encoding says so.`,
      { cause: error },
    );
  } finally {
    // Both may have failed already; there is nothing left to lose in either.
    await Promise.allSettled([reader.cancel(), writer.abort()]);
  }
}

/** @throws too-large `body.inflates-too-much` */
export function checkInflated(
  encodedBytes: number,
  decodedBytes: number,
  limits: InflateLimits,
): void {
  const isBomb =
    decodedBytes > limits.inflateRatioFreeBytes &&
    decodedBytes > encodedBytes * limits.inflateRatioMax;
  if (decodedBytes <= limits.decodedBytesMax && !isBomb) return;
  throw new IcebergError(
    'too-large',
    'body.inflates-too-much',
    isBomb
      ? `The body expands more than ${limits.inflateRatioMax} times, which real data does not.`
      : `The body expands past ${limits.decodedBytesMax} bytes: send it in smaller parts.`,
    { context: { decodedBytesMax: limits.decodedBytesMax, ratioMax: limits.inflateRatioMax } },
  );
}

/** Copies, because a written piece may be read after the source has reused its buffer. */
async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of source) {
    for (let offset = 0; offset < chunk.byteLength; offset += PIECE_BYTES) {
      yield new Uint8Array(chunk.subarray(offset, offset + PIECE_BYTES));
    }
  }
}

/** Settles after everything that is ready now has been delivered. */
function quiet(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), 0));
}

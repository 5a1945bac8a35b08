/** Inflates a zstd body in bounded memory, whatever frames it is made of. */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import type { InflateLimits } from './inflate.ts';
import { checkInflated } from './inflate.ts';
import { ZstdScanner } from './zstd-scanner.ts';

/** Decodes one frame. The runtime's own, which `src/worker` lends. */
export interface ZstdFrameDecoder {
  /** What the decoder has made so far, at the latest with `end` all of it. */
  write(bytes: Uint8Array): Promise<Uint8Array[]>;
  end(): Promise<Uint8Array[]>;
  close(): void;
}

/**
 * The decoded bytes of `source`.
 *
 * @throws too-large `body.inflates-too-much`; invalid `body.zstd-malformed` for bytes that are not
 * zstd, are damaged or end too early; what `source` throws
 */
export async function* inflateZstd(
  source: AsyncIterable<Uint8Array>,
  createDecoder: () => ZstdFrameDecoder,
  limits: InflateLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const scanner = new ZstdScanner();
  let decoder: ZstdFrameDecoder | null = null;
  let encodedBytes = 0;
  let decodedBytes = 0;
  try {
    for await (const chunk of source) {
      encodedBytes += chunk.byteLength;
      for (const { bytes, endsFrame } of scanner.parts(chunk)) {
        decoder ??= createDecoder();
        // A copy: it may be read after the source has reused its buffer.
        const made = await decoder.write(new Uint8Array(bytes));
        if (endsFrame) {
          made.push(...(await decoder.end()));
          decoder.close();
          decoder = null;
        }
        for (const piece of made) {
          decodedBytes += piece.byteLength;
          checkInflated(encodedBytes, decodedBytes, limits);
          yield piece;
        }
      }
    }
    if (!scanner.isComplete || scanner.isEmpty) throw new Error('the stream ends too early');
  } catch (error) {
    if (isIcebergError(error)) throw error;
    throw new IcebergError(
      'invalid',
      'body.zstd-malformed',
      'The body is not complete, valid zstd although Content-Encoding says so.',
      { cause: error },
    );
  } finally {
    decoder?.close();
  }
}

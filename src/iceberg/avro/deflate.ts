/** Raw deflate by the platform's streams: the same in Workers, browsers and Node. */

import { IcebergError } from '../errors.ts';

/** More than any manifest block of a sane writer: a bound against a bomb. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;

export async function deflateRaw(bytes: Uint8Array): Promise<Uint8Array> {
  return collect(bytes, new CompressionStream('deflate-raw'), Number.MAX_SAFE_INTEGER);
}

/**
 * PyIceberg cuts a zlib stream to the raw one but leaves three bytes of its checksum; others might
 * leave all four. The platform refuses any byte behind the end, so the lengths are tried in turn: a
 * raw stream marks its own end, hence at most one of them inflates.
 */
const TRAILING_BYTES = [0, 3, 4, 1, 2] as const;

/** @throws corrupt `avro.deflate`; too-large `avro.block-too-large` */
export async function inflateRaw(bytes: Uint8Array): Promise<Uint8Array> {
  let firstCause: unknown = null;
  for (const trailing of TRAILING_BYTES) {
    try {
      const stream = new DecompressionStream('deflate-raw');
      return await collect(bytes.subarray(0, bytes.length - trailing), stream, INFLATED_BYTES_MAX);
    } catch (cause) {
      if (cause instanceof IcebergError) throw cause;
      firstCause ??= cause;
    }
  }
  throw new IcebergError('corrupt', 'avro.deflate', 'A deflated block is damaged', {
    cause: firstCause,
  });
}

async function collect(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  bytesMax: number,
): Promise<Uint8Array> {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = source.pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      throw new IcebergError(
        'too-large',
        'avro.block-too-large',
        `An Avro block inflates beyond ${bytesMax} bytes`,
      );
    }
    chunks.push(value);
  }
  const result = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    result.set(chunk, at);
    at += chunk.length;
  }
  return result;
}

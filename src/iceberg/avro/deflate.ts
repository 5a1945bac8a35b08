/** Raw deflate by the platform's streams: the same in Workers, browsers and Node. */

import { IcebergError } from '../errors.ts';

/** More than any manifest block of a sane writer: a bound against a bomb. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;

export async function deflateRaw(bytes: Uint8Array): Promise<Uint8Array> {
  return collect(bytes, new CompressionStream('deflate-raw'), Number.MAX_SAFE_INTEGER);
}

/** @throws corrupt `avro.deflate`; too-large `avro.block-too-large` */
export async function inflateRaw(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await collect(bytes, new DecompressionStream('deflate-raw'), INFLATED_BYTES_MAX);
  } catch (cause) {
    if (cause instanceof IcebergError) throw cause;
    throw new IcebergError('corrupt', 'avro.deflate', 'A deflated block is damaged', { cause });
  }
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

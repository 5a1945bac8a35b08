/**
 * Reads a byte stream in few, large chunks. workerd hands a default reader 4 KiB at a time (12,800
 * reads for 50 MiB); its BYOB reader fills a buffer of our size. Elsewhere a plain reader serves.
 */

export class ChunkReader {
  readonly #chunkBytes: number;
  readonly #chunkBytesMin: number;
  readonly #byob: ReadableStreamBYOBReader | null;
  readonly #plain: ReadableStreamDefaultReader<Uint8Array> | null;
  #buffer: ArrayBuffer;

  /** `fill`: wait for whole chunks, except the last; otherwise take what is there. */
  constructor(stream: ReadableStream<Uint8Array>, chunkBytes: number, fill: boolean) {
    this.#chunkBytes = chunkBytes;
    this.#chunkBytesMin = fill ? chunkBytes : 1;
    this.#byob = byobReader(stream);
    this.#plain = this.#byob === null ? stream.getReader() : null;
    this.#buffer = new ArrayBuffer(this.#byob === null ? 0 : chunkBytes);
  }

  /** The next bytes, at most `chunkBytes` in workerd; empty at the end. Valid until the next call. */
  async next(): Promise<Uint8Array> {
    if (this.#plain !== null) {
      for (;;) {
        const { value, done } = await this.#plain.read();
        if (done) return new Uint8Array(0);
        if (value.byteLength > 0) return value;
      }
    }
    if (this.#byob === null) return new Uint8Array(0);
    const view = new Uint8Array(this.#buffer, 0, this.#chunkBytes);
    // `readAtLeast` is workerd's own; a standard reader answers with what it has.
    const { value } =
      'readAtLeast' in this.#byob
        ? await this.#byob.readAtLeast(this.#chunkBytesMin, view)
        : await (this.#byob as ReadableStreamBYOBReader).read(view);
    // The stream took the buffer over and hands it back in the view, so it serves the next read.
    if (value === undefined) return new Uint8Array(0);
    this.#buffer = value.buffer;
    return value;
  }

  async cancel(reason?: unknown): Promise<void> {
    await (this.#byob ?? this.#plain)?.cancel(reason);
  }
}

function byobReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: 'byob' });
  } catch {
    // Not a byte stream: only a default reader is possible, and the stream is still unlocked.
    return null;
  }
}

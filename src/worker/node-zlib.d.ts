/** The part of `node:zlib` that the Worker uses; the types of the Workers runtime leave it out. */

declare module 'node:zlib' {
  interface ZstdDecompressStream {
    on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
    on(event: 'error', listener: (error: unknown) => void): unknown;
    on(event: 'end', listener: () => void): unknown;
    write(chunk: Uint8Array, done: () => void): unknown;
    end(): unknown;
    destroy(): unknown;
  }

  function createZstdDecompress(): ZstdDecompressStream;
}

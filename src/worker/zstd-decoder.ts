/** The runtime's zstd decoder, one frame at a time. */

import { createZstdDecompress } from 'node:zlib';
import type { ZstdFrameDecoder } from '../ingest/inflate-zstd.ts';

export function createZstdDecoder(): ZstdFrameDecoder {
  const stream = createZstdDecompress();
  let made: Uint8Array[] = [];
  let failure: unknown = null;
  let onFailure: (error: unknown) => void = () => undefined;
  stream.on('data', (chunk) => {
    made.push(chunk);
  });
  stream.on('error', (error) => {
    failure = error ?? new Error('the zstd decoder failed');
    onFailure(failure);
  });
  /** What `start` makes the stream do until it says `done`; a failure ends the waiting too. */
  const run = async (start: (done: () => void) => void): Promise<Uint8Array[]> => {
    await new Promise<void>((resolve, reject) => {
      onFailure = reject;
      if (failure === null) start(resolve);
      else reject(failure);
    });
    const taken = made;
    made = [];
    return taken;
  };
  return {
    write: (bytes) => run((done) => stream.write(bytes, done)),
    end: () =>
      run((done) => {
        stream.on('end', done);
        stream.end();
      }),
    close: () => stream.destroy(),
  };
}

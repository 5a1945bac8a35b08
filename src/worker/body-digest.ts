/** SHA-256 of a body while it passes, by the runtime's own stream. */

import type { BodyDigest } from '../ingest/ingest-batch.ts';

export function createBodyDigest(): BodyDigest {
  const stream = new crypto.DigestStream('SHA-256');
  const writer = stream.getWriter();
  return {
    update: (bytes) => writer.write(bytes),
    hex: async () => {
      await writer.close();
      return [...new Uint8Array(await stream.digest)]
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('');
    },
  };
}

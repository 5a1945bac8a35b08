/** The 32-bit Murmur3 hash, x86 variant, seed 0. Spec: appendix B. */

const BLOCK_BYTES = 4;

/** The hash as a signed 32-bit integer, as the specification prints it. */
export function murmur3(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tailStart = bytes.length - (bytes.length % BLOCK_BYTES);
  let hash = 0;
  for (let at = 0; at < tailStart; at += BLOCK_BYTES) {
    hash ^= scramble(view.getInt32(at, true));
    hash = Math.imul(rotateLeft(hash, 13), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= tailStart; at -= 1) tail = (tail << 8) | (bytes[at] ?? 0);
  if (tailStart < bytes.length) hash ^= scramble(tail);
  return finish(hash ^ bytes.length);
}

function scramble(block: number): number {
  return Math.imul(rotateLeft(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

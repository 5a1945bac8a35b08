import { describe, expect, it } from 'vitest';
import { deflateRaw, inflateRaw } from '../../../../src/iceberg/avro/deflate.ts';

const TEXT = new TextEncoder().encode('the same text, again and again '.repeat(500));

describe('raw deflate', () => {
  it('survives the round', async () => {
    expect(await inflateRaw(await deflateRaw(TEXT))).toEqual(TEXT);
    expect(await inflateRaw(await deflateRaw(new Uint8Array(0)))).toEqual(new Uint8Array(0));
  });

  it.each([1, 2, 3, 4])('reads a stream with %i bytes of a zlib checksum left', async (count) => {
    const compressed = await deflateRaw(TEXT);
    const trailing = Uint8Array.from([...compressed, ...[9, 8, 7, 6].slice(0, count)]);
    expect(await inflateRaw(trailing)).toEqual(TEXT);
  });

  it('refuses a stream that is cut or damaged', async () => {
    const compressed = await deflateRaw(TEXT);
    await expect(inflateRaw(compressed.slice(0, -6))).rejects.toMatchObject({
      code: 'avro.deflate',
    });
    await expect(inflateRaw(Uint8Array.of(0xff, 1, 2))).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('stops a bomb', async () => {
    const bomb = await deflateRaw(new Uint8Array(65 * 1024 * 1024));
    await expect(inflateRaw(bomb)).rejects.toMatchObject({ kind: 'too-large' });
  });
});

import { constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Compression } from '../../../src/ingest/decode-body.ts';
import { describeBody, readBody, readHead } from '../../../src/ingest/decode-body.ts';
import type { IngestLimits } from '../../../src/ingest/limits.ts';
import { createZstdDecoder } from '../../../src/worker/zstd-decoder.ts';
import { INGEST_LIMITS } from '../../../src/ingest/limits.ts';

const LIMITS: IngestLimits = { ...INGEST_LIMITS, chunkBytes: 1000, bodyBytesMax: 50_000 };

function headers(entries: Record<string, string>): Headers {
  return new Headers(entries);
}

function streamOf(chunks: readonly Uint8Array[], end: 'close' | 'stall' = 'close') {
  let next = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[next++];
      if (chunk !== undefined) controller.enqueue(chunk);
      else if (end === 'close') controller.close();
    },
  });
}

async function readAll(
  chunks: readonly Uint8Array[],
  compression: Compression | null,
  limits: IngestLimits = LIMITS,
): Promise<{ bytes: Buffer; sizes: number[] }> {
  const parts: Uint8Array[] = [];
  for await (const chunk of readBody(
    streamOf(chunks),
    { format: 'ndjson', compression },
    limits,
    createZstdDecoder,
  )) {
    parts.push(new Uint8Array(chunk));
  }
  return { bytes: Buffer.concat(parts), sizes: parts.map(({ byteLength }) => byteLength) };
}

function split(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  );
}

describe('describeBody', () => {
  it.each([
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/x-ndjson', 'ndjson'],
    ['application/ndjson', 'ndjson'],
    ['application/jsonl', 'ndjson'],
    ['application/vnd.apache.arrow.stream', 'arrow-stream'],
    ['application/vnd.apache.arrow.file', 'arrow-file'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['text/csv; header=present', 'csv'],
  ])('reads %s as %s', (contentType, format) => {
    expect(describeBody(headers({ 'content-type': contentType }), LIMITS)).toEqual({
      format,
      compression: null,
    });
  });

  it.each([
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    ['deflate', 'deflate'],
    ['zstd', 'zstd'],
    ['identity', null],
  ])('reads the encoding %s as %s', (encoding, compression) => {
    const described = { 'content-type': 'application/json', 'content-encoding': encoding };
    expect(describeBody(headers(described), LIMITS).compression).toBe(compression);
  });

  it.each([
    [{ 'content-type': 'text/plain' }, 'body.unsupported-type'],
    [{}, 'body.unsupported-type'],
    [{ 'content-type': 'application/json', 'content-encoding': 'br' }, 'body.unsupported-encoding'],
    [
      { 'content-type': 'application/json', 'content-encoding': 'gzip, gzip' },
      'body.unsupported-encoding',
    ],
    [{ 'content-type': 'application/json', 'content-length': '50001' }, 'body.too-large'],
    [{ 'content-type': 'application/json', 'content-length': 'many' }, 'body.invalid-length'],
  ])('refuses %o before reading', (entries, code) => {
    expect(() => describeBody(headers(entries), LIMITS)).toThrow(expect.objectContaining({ code }));
  });
});

describe('readBody', () => {
  it('gathers single bytes into chunks and keeps every one of them', async () => {
    const bytes = Buffer.from('żółw 🦊'.repeat(200));
    const read = await readAll(split(bytes, 1), null);
    expect(read.bytes.equals(bytes)).toBe(true);
    expect(read.sizes.slice(0, -1).every((size) => size === 1000)).toBe(true);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('inflates %s whatever the chunks are', async (compression, compress) => {
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `${i * 7919}`).join(','));
    for (const size of [1, 17, 5000, 100_000]) {
      const read = await readAll(split(compress(bytes), size), compression, {
        ...LIMITS,
        bodyBytesMax: 1 << 20,
      });
      expect(read.bytes.equals(bytes)).toBe(true);
    }
  });

  it('stops a body that is longer than the limit, whatever it declared', async () => {
    await expect(readAll(split(new Uint8Array(50_001), 900), null)).rejects.toMatchObject({
      kind: 'too-large',
      code: 'body.too-large',
    });
  });

  describe.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ] as const)('of %s', (compression, compress) => {
    it('stops a body that expands without measure', async () => {
      const limits = { ...LIMITS, inflateRatioFreeBytes: 100_000, inflateRatioMax: 100 };
      const bomb = compress(Buffer.alloc(20_000_000));
      await expect(readAll(split(bomb, 4096), compression, limits)).rejects.toMatchObject({
        kind: 'too-large',
        code: 'body.inflates-too-much',
      });
      await expect(
        readAll(split(bomb, 4096), compression, { ...LIMITS, decodedBytesMax: 1_000_000 }),
      ).rejects.toMatchObject({ code: 'body.inflates-too-much' });
    });

    it.each([
      ['ends early', compress('{"a":1}'.repeat(500)).subarray(0, 20)],
      ['is plain text', Buffer.from('{"a":1}')],
      ['is empty', Buffer.alloc(0)],
      ['goes on after its end', Buffer.concat([compress('{"a":1}'), Buffer.from('more')])],
    ])('refuses a body that %s', async (_, bytes) => {
      await expect(readAll([bytes], compression)).rejects.toMatchObject({
        kind: 'invalid',
        code: `body.${compression}-malformed`,
      });
    });
  });

  describe('of zstd', () => {
    const rows = Buffer.from(Array.from({ length: 9000 }, (_, i) => `${i * 7919}`).join(','));
    const withChecksum = zstdCompressSync(rows, {
      params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 19 },
    });
    const skippable = (length: number): Buffer => {
      const frame = Buffer.alloc(8 + length, 0xfd);
      frame.writeUInt32LE(0x184d2a53, 0);
      frame.writeUInt32LE(length, 4);
      return frame;
    };
    const noise = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 31) >> 5));
    const roomy = { ...LIMITS, bodyBytesMax: 1 << 22, decodedBytesMax: 1 << 24 };

    it.each([1, 7, 1000, 1 << 20])(
      'reads every frame of a body in pieces of %i, and skips what is to be skipped',
      async (size) => {
        const frames = [
          skippable(0),
          zstdCompressSync(rows),
          skippable(300),
          withChecksum,
          zstdCompressSync(Buffer.alloc(0)),
          zstdCompressSync(noise),
          skippable(5),
        ];
        const { bytes } = await readAll(split(Buffer.concat(frames), size), 'zstd', roomy);
        expect(bytes.equals(Buffer.concat([rows, rows, noise]))).toBe(true);
      },
    );

    it('is refused where it is cut, wherever that is', async () => {
      const whole = Buffer.concat([zstdCompressSync('{"a":1}'), withChecksum]);
      for (const length of [1, 4, 5, 9, whole.length >> 1, whole.length - 1]) {
        await expect(readAll([whole.subarray(0, length)], 'zstd', roomy)).rejects.toMatchObject({
          code: 'body.zstd-malformed',
        });
      }
    });

    it('is refused where a byte of it is another', async () => {
      for (let at = 4; at < withChecksum.length; at += 997) {
        const broken = Buffer.from(withChecksum);
        broken[at] = (broken[at] ?? 0) ^ 0x55;
        await expect(readAll([broken], 'zstd', roomy)).rejects.toMatchObject({
          code: expect.stringMatching(/^body\.(zstd-malformed|inflates-too-much)$/),
        });
      }
    });

    it('may not ask for a window, or for frames, without measure', async () => {
      const wide = zstdCompressSync(Buffer.alloc(40_000_000, 'ab'), {
        params: { [constants.ZSTD_c_windowLog]: 25 },
      });
      await expect(readAll([wide], 'zstd', roomy)).rejects.toMatchObject({
        code: 'body.inflates-too-much',
        message: expect.stringContaining('window'),
      });
      const many = Buffer.concat(Array.from({ length: 10_001 }, () => zstdCompressSync('')));
      await expect(readAll([many], 'zstd', roomy)).rejects.toMatchObject({
        code: 'body.inflates-too-much',
        message: expect.stringContaining('frames'),
      });
    });
  });

  it('gives up a body that sends nothing for too long, and lets go of it', async () => {
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      cancel() {
        isCancelled = true;
      },
    });
    const chunks = readBody(
      stream,
      { format: 'json', compression: null },
      { ...LIMITS, bodyIdleMsMax: 20 },
      createZstdDecoder,
    );
    await expect(chunks.next()).rejects.toMatchObject({ code: 'body.stalled' });
    expect(isCancelled).toBe(true);
  });
});

describe('readHead', () => {
  it('says whether the body ended within the bound, and leaves the rest to be read', async () => {
    const bytes = Buffer.from('x'.repeat(3500));
    const open = () =>
      readBody(
        streamOf(split(bytes, 400)),
        { format: 'json', compression: null },
        LIMITS,
        createZstdDecoder,
      );
    expect(await readHead(open(), 5000)).toMatchObject({ isWhole: true, bytes: { length: 3500 } });
    const chunks = open();
    const head = await readHead(chunks, 1000);
    expect(head).toMatchObject({ isWhole: false, bytes: { length: 2000 } });
    let rest = 0;
    for await (const chunk of chunks) rest += chunk.byteLength;
    expect(rest).toBe(1500);
  });
});

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { BodyDigest, IngestRequest } from '../../../src/ingest/ingest-batch.ts';
import { ingestBatch } from '../../../src/ingest/ingest-batch.ts';
import type { IngestLimits } from '../../../src/ingest/limits.ts';
import { INGEST_LIMITS } from '../../../src/ingest/limits.ts';
import { FakeKernels } from './fake-kernel.ts';
import { createZstdDecoder } from '../../../src/worker/zstd-decoder.ts';
import { FakeCommitter, FakeShard, TABLE_UUID } from './fake-objects.ts';

const LIMITS: IngestLimits = {
  ...INGEST_LIMITS,
  wholeBodyBytesMax: 200,
  chunkBytes: 64,
  sliceBytes: 100,
};

class NodeDigest implements BodyDigest {
  readonly #hash = createHash('sha256');
  async update(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
  }
  async hex(): Promise<string> {
    return this.#hash.digest('hex');
  }
}

function streamOf(bytes: Uint8Array, chunkBytes = 50): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.slice(offset, offset + chunkBytes));
      offset += chunkBytes;
    },
  });
}

function makeRun(columns: readonly string[] | null = ['n']) {
  const shard = new FakeShard();
  const committer = new FakeCommitter(columns);
  const kernels = new FakeKernels();
  let ids = 0;
  const uuid = (): string => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`;
  const random = { uuid, int63: () => 1n, fraction: () => 0 };
  const send = (body: string | Uint8Array, request: Partial<IngestRequest> = {}) => {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    return ingestBatch(
      {
        identifier: { namespace: ['app'], name: 'events' },
        shard: 0,
        format: 'ndjson',
        compression: null,
        body: streamOf(bytes),
        onError: 'quarantine',
        schemaPolicy: null,
        idempotencyKey: null,
        ...request,
      },
      {
        shard,
        committer,
        kernels,
        streamKernels: kernels,
        random,
        createDigest: () => new NodeDigest(),
        createZstdDecoder,
      },
      LIMITS,
    );
  };
  return { shard, committer, kernels, send };
}

const lines = (count: number, cell = '1'): string =>
  Array.from({ length: count }, (_, index) => `{"n":${cell},"i":${index}}`).join('\n');

describe('a small body', () => {
  it('is handed to the shard in one call', async () => {
    const { shard, send } = makeRun(['n', 'i']);
    const receipt = await send(lines(3));
    expect(shard.calls).toEqual(['accept']);
    expect(receipt).toMatchObject({ rowsReceived: 3, rowsAccepted: 3, rowsQuarantined: 0 });
    expect(receipt.batchId).toBe('app.events.0.00000000-0000-4000-8000-000000000001');
    expect(shard.rows()).toHaveLength(3);
  });

  it('creates a missing table from what the rows show', async () => {
    const { shard, committer, send } = makeRun(null);
    await send('{"a":1}\n{"b":2}');
    expect(committer.schema?.fields.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(shard.batches.values().next().value?.slices).toMatchObject([
      { schemaId: 1, tableUuid: TABLE_UUID },
    ]);
  });

  it('refuses rows that show no column when the table does not exist', async () => {
    const { shard, send } = makeRun(null);
    await expect(send('{"a":null}')).rejects.toMatchObject({
      kind: 'invalid',
      code: 'schema.empty',
    });
    expect(shard.calls).toEqual([]);
  });

  it('leaves an empty body as a receipt of no rows (C014)', async () => {
    for (const columns of [['n'], null]) {
      const { shard, committer, send } = makeRun(columns);
      expect(await send('\n\n')).toMatchObject({ rowsReceived: 0, rowsAccepted: 0 });
      expect(await send('', { body: null })).toMatchObject({ rowsReceived: 0 });
      expect(committer.ensured).toBe(0);
      expect(shard.rows()).toEqual([]);
    }
  });

  it('keeps the digest of the decoded bytes only for an idempotency key', async () => {
    const { shard, send } = makeRun(['n', 'i']);
    await send(lines(1));
    expect(shard.sealedDigest).toBeNull();
    const expected = createHash('sha256').update(lines(2)).digest('hex');
    await send(lines(2), { idempotencyKey: 'k' });
    expect(shard.sealedDigest).toBe(expected);
    await send(gzipSync(lines(2)), { idempotencyKey: 'k', compression: 'gzip' });
    expect(shard.sealedDigest).toBe(expected);
  });
});

describe('a large body', () => {
  it('goes to the shard slice by slice and is sealed at the end', async () => {
    const { shard, send, kernels } = makeRun(['n', 'i']);
    const body = lines(60);
    const receipt = await send(body, { idempotencyKey: 'k' });
    expect(receipt).toMatchObject({ rowsReceived: 60, rowsAccepted: 60 });
    expect(shard.rows()).toEqual(body.split('\n').map((line) => JSON.parse(line)));
    expect(shard.calls.at(0)).toBe('begin');
    expect(shard.calls.at(-1)).toBe('seal');
    expect(shard.calls.filter((call) => call === 'append').length).toBeGreaterThan(2);
    expect(shard.sealedDigest).toBe(createHash('sha256').update(body).digest('hex'));
    expect(kernels).toMatchObject({ lent: 0, closed: 1 });
  });

  it('grows the schema in the slice that brings a new column', async () => {
    const { shard, committer, send } = makeRun(['n', 'i']);
    await send(`${lines(40)}\n{"n":1,"late":2}`);
    expect(committer.ensured).toBe(1);
    const ids = [...shard.batches.values()].flatMap(({ slices }) => slices.map((s) => s.schemaId));
    expect(ids[0]).toBe(0);
    expect(ids.at(-1)).toBe(1);
  });

  it.each([
    ['malformed JSON at the end', `${lines(60)}\n{"n":`, 'json.malformed'],
    ['a wrong value at the end, with reject', `${lines(60)}\n{"n":"bad"}`, 'rows.rejected'],
  ])('is given up as a whole for %s', async (_, body, code) => {
    const { shard, kernels, send } = makeRun(['n', 'i']);
    await expect(send(body, { onError: 'reject' })).rejects.toMatchObject({ code });
    expect(shard.sealed.size).toBe(0);
    expect(shard.aborted).toHaveLength(1);
    expect(kernels).toMatchObject({ lent: 0, closed: 1 });
  });

  it('is given up when the sender goes away half-way', async () => {
    const { shard, send } = makeRun(['n', 'i']);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if ((sent += 1) > 8) return controller.error(new Error('Network connection lost.'));
        controller.enqueue(new TextEncoder().encode(`${lines(5)}\n`));
      },
    });
    await expect(send('', { body })).rejects.toMatchObject({ kind: 'invalid', code: 'body.cut' });
    expect(shard.aborted).toHaveLength(1);
    expect(shard.sealed.size).toBe(0);
  });

  it('is given up, and its sender told, when the shard is full', async () => {
    const { shard, send } = makeRun(['n', 'i']);
    const error = new IcebergError('overloaded', 'ingest.full', 'full', {
      context: { retryAfterSeconds: 5 },
    });
    shard.failAppend = { at: 2, error };
    await expect(send(lines(60))).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'ingest.full',
    });
    expect(shard.aborted).toHaveLength(1);
  });
});

describe('a row with a wrong value', () => {
  it('is quarantined while its neighbours are accepted', async () => {
    const { shard, send } = makeRun(['n']);
    const receipt = await send('{"n":1}\n{"n":"bad"}\n{"n":2}');
    expect(receipt).toMatchObject({ rowsReceived: 3, rowsAccepted: 2, rowsQuarantined: 1 });
    expect(receipt.errors).toMatchObject([{ row: 1, column: 'n', code: 'value.type-mismatch' }]);
    expect(shard.rows()).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('refuses the whole request with on-error=reject, before the schema is touched', async () => {
    const { shard, committer, send } = makeRun(['n']);
    const sending = send('{"new":1}\n{"n":"bad"}', { onError: 'reject' });
    await expect(sending).rejects.toMatchObject({
      code: 'rows.rejected',
      context: { row: 1, column: 'n', reason: 'value.type-mismatch' },
    });
    expect(committer.ensured).toBe(0);
    expect(shard.calls).toEqual([]);
  });
});

/**
 * One request becomes one batch: bytes go through the kernel slice by slice, the table's schema
 * grows where the rows bring new columns, and the shard keeps what was accepted.
 *
 * Nothing of a request is visible before the shard has sealed its batch. A request that fails
 * leaves, at most, columns it added in earlier slices and an unsealed batch that the shard drops.
 */

import type {
  BodyDecoder,
  BodyFormat,
  KernelInstance,
  KernelLender,
} from '../columnar/kernel-port.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { RandomSource, TableIdentifier } from '../iceberg/ports.ts';
import type {
  BatchHeader,
  BatchReceipt,
  BatchSlice,
  IngestShardRpc,
  TableCommitterRpc,
} from '../table/protocol.ts';
import { fromOutcome } from '../table/protocol.ts';
import type { Compression } from './decode-body.ts';
import { readBody, readHead } from './decode-body.ts';
import { GrowingTable } from './growing-table.ts';
import type { ZstdFrameDecoder } from './inflate-zstd.ts';
import type { IngestLimits } from './limits.ts';
import { formatBatchId } from './names.ts';

/** A running SHA-256. `update` has read the bytes when it settles. */
export interface BodyDigest {
  update(bytes: Uint8Array): Promise<void>;
  hex(): Promise<string>;
}

export interface IngestPorts {
  /** The shard that takes the batch. */
  readonly shard: IngestShardRpc;
  readonly committer: TableCommitterRpc;
  /** For bodies that are here whole: lent for milliseconds. */
  readonly kernels: KernelLender;
  /** For streamed bodies: lent for as long as the sender takes, so never the ones above. */
  readonly streamKernels: KernelLender;
  readonly random: RandomSource;
  readonly createDigest: () => BodyDigest;
  readonly createZstdDecoder: () => ZstdFrameDecoder;
}

export interface IngestRequest {
  readonly identifier: TableIdentifier;
  readonly shard: number;
  readonly format: BodyFormat;
  readonly compression: Compression | null;
  readonly body: ReadableStream<Uint8Array> | null;
  /** What a row with a wrong value does: goes to quarantine, or refuses the whole request. */
  readonly onError: 'quarantine' | 'reject';
  /** What becomes of columns the table does not have; null: what its properties say. */
  readonly schemaPolicy: SchemaPolicy | null;
  readonly idempotencyKey: string | null;
}

/**
 * Reads the body to its end and answers once the batch is durable.
 *
 * @throws invalid `json.*`, `arrow.malformed`, `rows.rejected`, `schema.*`, `idempotency.*`,
 * `body.*`; too-large; overloaded; unavailable
 */
export async function ingestBatch(
  request: IngestRequest,
  ports: IngestPorts,
  limits: IngestLimits,
): Promise<BatchReceipt> {
  const chunks = readBody(request.body, request, limits, ports.createZstdDecoder);
  try {
    const head = await readHead(chunks, limits.wholeBodyBytesMax);
    return head.isWhole
      ? await ingestWhole(request, head.bytes, ports, limits)
      : await ingestStreamed(request, head.bytes, chunks, ports, limits);
  } finally {
    // Ends the reading of a body that is refused half-way.
    await chunks.return();
  }
}

/** A small body: decoded in one go, handed to the shard in one call. */
async function ingestWhole(
  request: IngestRequest,
  bytes: Uint8Array,
  ports: IngestPorts,
  limits: IngestLimits,
): Promise<BatchReceipt> {
  const digest = request.idempotencyKey === null ? null : ports.createDigest();
  await digest?.update(bytes);
  const header = newHeader(request, ports, (await digest?.hex()) ?? null);
  const table = new GrowingTable(request, ports, limits);
  await table.load();
  const slices = await ports.kernels.use(async (kernel) => {
    const decoded: BatchSlice[] = [];
    await feed(kernel, request.format, limits, [bytes], async (decoder) => {
      const slice = await table.decode(decoder);
      if (slice !== null) decoded.push(slice);
    });
    return decoded;
  });
  return fromOutcome(await ports.shard.acceptBatch(header, slices));
}

/** A body of any size: each slice goes to the shard while the next one is read and decoded. */
async function ingestStreamed(
  request: IngestRequest,
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  ports: IngestPorts,
  limits: IngestLimits,
): Promise<BatchReceipt> {
  const { shard } = ports;
  const header = newHeader(request, ports, null);
  const digest = request.idempotencyKey === null ? null : ports.createDigest();
  const begun = fromOutcome(await shard.beginBatch(header));
  if (begun.status === 'repeated') return begun.receipt;
  try {
    const table = new GrowingTable(request, ports, limits);
    await table.load();
    await ports.streamKernels.use(async (kernel) => {
      let appending: Promise<unknown> = Promise.resolve();
      try {
        await feed(
          kernel,
          request.format,
          limits,
          digested(head, rest, digest),
          async (decoder) => {
            const slice = await table.decode(decoder);
            // One slice on its way at most: the next may be decoded meanwhile, not pile up.
            await appending;
            if (slice !== null) appending = append(shard, header.batchId, slice);
          },
        );
      } finally {
        // A failure while reading must not leave the other failure unobserved.
        await Promise.allSettled([appending]);
      }
      await appending;
    });
    return fromOutcome(await shard.sealBatch(header.batchId, (await digest?.hex()) ?? null));
  } catch (error) {
    // Should this call fail too, the batch's lease ends by itself; the first error says more.
    await shard.abortBatch(header.batchId).catch(() => undefined);
    throw error;
  }
}

async function append(shard: IngestShardRpc, batchId: string, slice: BatchSlice): Promise<void> {
  fromOutcome(await shard.appendSlice(batchId, slice));
}

async function* digested(
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  digest: BodyDigest | null,
): AsyncGenerator<Uint8Array> {
  await digest?.update(head);
  yield head;
  for await (const chunk of rest) {
    await digest?.update(chunk);
    yield chunk;
  }
}

/** Drives a decoder over `chunks`; `onReady` takes the slice that is ready, `feed` drops it then. */
export async function feed(
  kernel: KernelInstance,
  format: BodyFormat,
  limits: IngestLimits,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  onReady: (decoder: BodyDecoder) => Promise<void>,
): Promise<void> {
  const decoder = kernel.createBodyDecoder(format, limits);
  const drain = async (): Promise<void> => {
    while (decoder.ready) {
      await onReady(decoder);
      decoder.advance();
    }
  };
  try {
    for await (const chunk of chunks) {
      decoder.push(chunk);
      await drain();
    }
    decoder.finish();
    await drain();
  } finally {
    decoder.close();
  }
}

function newHeader(
  request: IngestRequest,
  ports: IngestPorts,
  bodyDigest: string | null,
): BatchHeader {
  const { identifier, idempotencyKey } = request;
  return {
    batchId: formatBatchId(request, ports.random.uuid()),
    identifier,
    idempotencyKey,
    bodyDigest,
  };
}

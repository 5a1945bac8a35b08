/**
 * Sends rows of the quarantine through again, e.g. after a change of the schema. The shard takes what
 * is accepted now and removes it from the quarantine in one transaction, so a row lands exactly once,
 * however often and however concurrently it is asked for.
 */

import type { RejectedRow } from '../columnar/kernel-port.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import type { BatchSlice, QuarantinedRow, ReplayResult } from '../table/protocol.ts';
import { fromOutcome } from '../table/protocol.ts';
import { GrowingTable } from './growing-table.ts';
import type { IngestPorts } from './ingest-batch.ts';
import { feed } from './ingest-batch.ts';
import type { IngestLimits } from './limits.ts';
import { formatBatchId } from './names.ts';

export interface ReplayRequest {
  readonly identifier: TableIdentifier;
  readonly shard: number;
  readonly schemaPolicy: SchemaPolicy | null;
  /** Rows with an id above this … */
  readonly after: number;
  /** … and at most so many. */
  readonly limit: number;
}

export interface Replay extends ReplayResult {
  readonly rowsReplayed: number;
  /** Pass as `after` to go on; null when every row has had its turn. */
  readonly next: number | null;
}

/**
 * One page of the quarantine. Rows that are refused again stay, with the reason of now.
 * @throws conflict `quarantine.changed`: another replay, or a deletion, was faster; and as `ingestBatch`
 */
export async function replayQuarantine(
  request: ReplayRequest,
  ports: IngestPorts,
  limits: IngestLimits,
): Promise<Replay> {
  const { identifier, shard } = request;
  const page = fromOutcome(await ports.shard.listQuarantine(request.after, request.limit));
  const rows = page.rows.filter(({ raw }) => isWhole(raw));
  const slices = await decodeRows(request, rows, ports, limits);
  const refused = new Map(
    slices.flatMap(({ rejected }) => rejected.map((rejection) => [rejection.row, rejection])),
  );
  const result = fromOutcome(
    await ports.shard.replayRows(
      {
        batchId: formatBatchId({ identifier, shard }, ports.random.uuid()),
        identifier,
        idempotencyKey: null,
        bodyDigest: null,
      },
      {
        slices: slices.map(withoutRejected),
        landed: rows.filter((_, index) => !refused.has(index)).map(({ id }) => id),
        refused: rows.flatMap((row, index) => reasonOf(row, refused.get(index))),
      },
    ),
  );
  return { ...result, rowsReplayed: page.rows.length, next: page.next };
}

async function decodeRows(
  request: ReplayRequest,
  rows: readonly QuarantinedRow[],
  ports: IngestPorts,
  limits: IngestLimits,
): Promise<BatchSlice[]> {
  if (rows.length === 0) return [];
  const { identifier, schemaPolicy } = request;
  const growth = { identifier, schemaPolicy, format: 'json', onError: 'quarantine' } as const;
  const table = new GrowingTable(growth, ports, limits);
  await table.load();
  return await ports.kernels.use(async (kernel) => {
    const slices: BatchSlice[] = [];
    // An array: a row may have line breaks of its own.
    const body = new TextEncoder().encode(`[${rows.map(({ raw }) => raw).join(',\n')}]`);
    await feed(kernel, growth.format, limits, [body], async (decoder) => {
      const slice = await table.decode(decoder);
      if (slice !== null) slices.push(slice);
    });
    return slices;
  });
}

/** A row that was too long to be kept whole cannot be sent again, nor a line of CSV without its header. */
function isWhole(raw: string): boolean {
  try {
    const row: unknown = JSON.parse(raw);
    return typeof row === 'object' && row !== null && !Array.isArray(row);
  } catch {
    // It stays where it is, with the reason it has.
    return false;
  }
}

/** The refused rows are in the quarantine already: in the new batch they do not count. */
function withoutRejected(slice: BatchSlice): BatchSlice {
  return { ...slice, rowsReceived: slice.rowsAccepted, rejected: [] };
}

function reasonOf(
  { id }: QuarantinedRow,
  rejection: RejectedRow | undefined,
): { id: number; column: string; code: string; message: string }[] {
  if (rejection === undefined) return [];
  const { column, code, message } = rejection;
  return [{ id, column, code, message }];
}

/** Talks to the real Durable Objects inside the Workers runtime, as the HTTP surface does. */

import { env } from 'cloudflare:test';
import { createBundledKernel } from '../../src/columnar/bundled-kernel.ts';
import type { TableIdentifier } from '../../src/iceberg/ports.ts';
import { parseTableMetadata } from '../../src/iceberg/spec/table-metadata-json.ts';
import type { TableMetadata } from '../../src/iceberg/spec/table-metadata.ts';
import { R2ObjectStore } from '../../src/object-store/r2.ts';
import type {
  BatchHeader,
  BatchSlice,
  FlushTargetRpc,
  IngestShardRpc,
  TableCommitterRpc,
  TableState,
} from '../../src/table/protocol.ts';
import { fromOutcome } from '../../src/table/protocol.ts';
import type { Env } from '../../src/worker/config.ts';
import { committerOf, shardOf } from '../../src/worker/object-stubs.ts';

export const bindings = env as unknown as Env;
export const lake = new R2ObjectStore(bindings.LAKE, 'floe-lake');

const LIMITS = { sliceBytes: 16_000_000, rowBytesMax: 16_000_000, rawBytesMax: 1000 };

export class WorkerdTable {
  readonly identifier: TableIdentifier;
  readonly shard: IngestShardRpc;
  readonly committer: TableCommitterRpc & FlushTargetRpc;
  readonly shardStub: DurableObjectStub;
  readonly committerStub: DurableObjectStub;
  #batches = 0;

  constructor(name: string) {
    this.identifier = { namespace: ['workerd'], name };
    this.shard = shardOf(bindings, this.identifier, 0);
    this.committer = committerOf(bindings, this.identifier);
    this.shardStub = bindings.INGEST_SHARDS.getByName(`workerd.${name}/0`);
    this.committerStub = bindings.TABLE_COMMITTERS.getByName(`workerd.${name}`);
  }

  header(idempotencyKey: string | null = null, bodyDigest: string | null = null): BatchHeader {
    this.#batches += 1;
    return {
      batchId: `workerd.${this.identifier.name}.0.batch-${this.#batches}`,
      identifier: this.identifier,
      idempotencyKey,
      bodyDigest,
    };
  }

  /** Decodes rows with the real kernel, evolving the table as the ingest path does. */
  async slice(rows: readonly unknown[]): Promise<BatchSlice> {
    const decoder = createBundledKernel().createBodyDecoder('ndjson', LIMITS);
    decoder.push(new TextEncoder().encode(rows.map((row) => JSON.stringify(row)).join('\n')));
    decoder.finish();
    let state: TableState | null = fromOutcome(await this.committer.tableState(this.identifier));
    let decoded = decoder.decode(
      state?.schema ?? { schemaId: 0, fields: [], identifierFieldIds: [] },
    );
    if (decoded.unknown !== null) {
      const { unknown } = decoded;
      state = fromOutcome(await this.committer.ensureSchema(this.identifier, unknown, null));
      decoded = decoder.decode(state.schema);
    }
    decoder.close();
    if (state === null) throw new Error('The rows made no table');
    const { ipc, rowsReceived, rowsAccepted, rejected } = decoded;
    return {
      schemaId: state.schema.schemaId,
      tableUuid: state.tableUuid,
      ipc,
      rowsReceived,
      rowsAccepted,
      rejected,
    };
  }

  async metadata(): Promise<TableMetadata> {
    const document = fromOutcome(await this.committer.loadTable(this.identifier));
    if (document === null) throw new Error('There is no such table');
    return parseTableMetadata(document.metadataJson);
  }
}

/** The two Durable Objects as plain objects, with just enough behaviour to observe a caller. */

import type { IcebergError } from '../../../src/iceberg/errors.ts';
import type { TableDeclaration } from '../../../src/iceberg/metadata/table-declaration.ts';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';
import type {
  BatchHeader,
  BatchReceipt,
  BatchSlice,
  IngestShardRpc,
  Outcome,
  TableCommitterRpc,
  TableState,
} from '../../../src/table/protocol.ts';
import { DEFAULT_SCHEMA_RULES } from '../../../src/table/schema-rules.ts';

export const TABLE_UUID = '7d5f2c3e-0000-4000-8000-000000000001';

export function failed(error: IcebergError): { ok: false; error: IcebergError } {
  return { ok: false, error };
}

export class FakeShard implements IngestShardRpc {
  readonly batches = new Map<string, { header: BatchHeader; slices: BatchSlice[] }>();
  readonly sealed = new Map<string, BatchReceipt>();
  readonly aborted: string[] = [];
  readonly calls: string[] = [];
  /** When set, the n-th append (from 1) answers this. */
  failAppend: { readonly at: number; readonly error: IcebergError } | null = null;
  sealedDigest: string | null = null;
  #appends = 0;

  async acceptBatch(header: BatchHeader, slices: readonly BatchSlice[]) {
    this.calls.push('accept');
    this.batches.set(header.batchId, { header, slices: [...slices] });
    this.sealedDigest = header.bodyDigest;
    return this.#seal(header.batchId);
  }

  async beginBatch(header: BatchHeader) {
    this.calls.push('begin');
    this.batches.set(header.batchId, { header, slices: [] });
    return value({ status: 'new' } as const);
  }

  async appendSlice(batchId: string, slice: BatchSlice): Promise<Outcome<null>> {
    this.calls.push('append');
    this.#appends += 1;
    if (this.failAppend?.at === this.#appends) return failed(this.failAppend.error);
    this.batches.get(batchId)?.slices.push(slice);
    return value(null);
  }

  async sealBatch(batchId: string, bodyDigest: string | null) {
    this.calls.push('seal');
    this.sealedDigest = bodyDigest;
    return this.#seal(batchId);
  }

  async abortBatch(batchId: string) {
    this.calls.push('abort');
    this.aborted.push(batchId);
    this.batches.delete(batchId);
    return value(null);
  }

  async getBatch(batchId: string) {
    return value(this.sealed.get(batchId) ?? null);
  }

  async waitCommitted(batchId: string): Promise<Outcome<BatchReceipt>> {
    this.calls.push('wait');
    const receipt = this.sealed.get(batchId);
    if (receipt === undefined) throw new Error('waiting for a batch that was never sealed');
    return value({ ...receipt, state: 'committed', snapshotId: 8_214_400_127_550_012_345n });
  }

  async flush() {
    return value({ rows: 3, files: 1, snapshotId: 8_214_400_127_550_012_345n });
  }

  async listQuarantine(after: number, limit: number) {
    const rejected = { row: 1, column: 'n', code: 'value.type-mismatch', message: 'no', raw: '{}' };
    const row = { ...rejected, id: after + 1, batchId: 'a.b.0.x', atMs: 5 };
    return value({ rows: [row], total: limit, next: null });
  }

  async replayRows(): Promise<never> {
    throw new Error('no test here replays rows');
  }

  async deleteQuarantined(first: number, last: number) {
    this.calls.push(`delete ${first} to ${last}`);
    return value(1);
  }

  async pending() {
    return value({
      rowsPending: 2,
      bytesPending: 20,
      batchesPending: 1,
      rowsQuarantined: 1,
      rowsDiscarded: 0,
      oldestPendingMs: 7,
    });
  }

  async clear() {
    return value(null);
  }

  /** The rows of every sealed batch, as the fake kernel wrote them. */
  rows(): unknown[] {
    return [...this.sealed.keys()].flatMap((batchId) =>
      (this.batches.get(batchId)?.slices ?? []).flatMap(({ ipc }) =>
        ipc === null ? [] : (JSON.parse(new TextDecoder().decode(ipc)) as unknown[]),
      ),
    );
  }

  #seal(batchId: string): Outcome<BatchReceipt> {
    const slices = this.batches.get(batchId)?.slices ?? [];
    const sum = (of: (slice: BatchSlice) => number): number =>
      slices.reduce((total, slice) => total + of(slice), 0);
    const receipt: BatchReceipt = {
      batchId,
      state: 'durable',
      rowsReceived: sum(({ rowsReceived }) => rowsReceived),
      rowsAccepted: sum(({ rowsAccepted }) => rowsAccepted),
      rowsQuarantined: sum(({ rejected }) => rejected.length),
      snapshotId: null,
      errors: slices.flatMap(({ rejected }) => rejected),
      acceptedAtMs: 0,
    };
    this.sealed.set(batchId, receipt);
    return value(receipt);
  }
}

export class FakeCommitter implements TableCommitterRpc {
  schema: Schema | null;
  ensured = 0;
  dropped = 0;
  readonly declared: TableDeclaration[] = [];
  metadataJson: string | null = null;

  constructor(columns: readonly string[] | null) {
    this.schema = columns === null ? null : schemaOf(columns, 0);
  }

  async tableState() {
    return value(this.#state());
  }

  async ensureSchema(...[, missing]: Parameters<TableCommitterRpc['ensureSchema']>) {
    this.ensured += 1;
    const columns = [...(this.schema?.fields ?? []), ...missing.fields].map(({ name }) => name);
    this.schema = schemaOf(columns, this.ensured);
    return value({ tableUuid: TABLE_UUID, schema: this.schema, rules: DEFAULT_SCHEMA_RULES });
  }

  async submit(): Promise<never> {
    throw new Error('the HTTP surface submits nothing');
  }

  async loadTable() {
    const { metadataJson } = this;
    if (metadataJson === null) return value(null);
    return value({
      metadataLocation: 's3://floe-lake/a.db/b/metadata/v1.metadata.json',
      metadataJson,
    });
  }

  async createTable(...[, declaration]: Parameters<TableCommitterRpc['createTable']>) {
    this.declared.push(declaration);
    return value({
      metadataLocation: 's3://floe-lake/a.db/b/metadata/v1.metadata.json',
      metadataJson: this.metadataJson ?? '',
    });
  }

  async updateSchema(): Promise<never> {
    throw new Error('no test here changes a schema');
  }

  async dropTable() {
    this.dropped += 1;
    return value(null);
  }

  #state(): TableState | null {
    const { schema } = this;
    return schema === null ? null : { tableUuid: TABLE_UUID, schema, rules: DEFAULT_SCHEMA_RULES };
  }
}

function schemaOf(columns: readonly string[], schemaId: number): Schema {
  const fields = columns.map((name, index) => ({
    id: index + 1,
    name,
    required: false,
    type: { type: 'string' } as const,
  }));
  return { schemaId, fields, identifierFieldIds: [] };
}

function value<T>(result: T): { ok: true; value: T } {
  return { ok: true, value: result };
}

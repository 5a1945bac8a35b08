/**
 * What passes between the Worker and the two Durable Objects. Errors are values, because an error's
 * own properties do not survive an RPC boundary; every argument and result is structured-clonable
 * and stays well under the 32 MiB of a call.
 */

import type { InferredStruct, RejectedRow } from '../columnar/kernel-port.ts';
import type { ErrorContext, ErrorKind } from '../iceberg/errors.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import type { SchemaDifference } from '../iceberg/metadata/schema-difference.ts';
import type { TableDeclaration } from '../iceberg/metadata/table-declaration.ts';
import type { ColumnChange } from '../iceberg/operations/column-change.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import type { DataFile } from '../iceberg/spec/data-file.ts';
import type { PartitionSpec } from '../iceberg/spec/partition-spec.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import type { SortOrder } from '../iceberg/spec/sort-order.ts';
import type { SchemaRules } from './schema-rules.ts';

export interface WireError {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly context: ErrorContext;
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: WireError };

/** Runs `action` and turns what it throws into a value. Unforeseen errors become `internal`. */
export async function toOutcome<T>(action: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await action() };
  } catch (error) {
    return { ok: false, error: wireErrorOf(error) };
  }
}

export function wireErrorOf(error: unknown): WireError {
  if (isIcebergError(error)) {
    const { kind, code, message, context } = error;
    return { kind, code, message, context };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'internal', code: 'internal.unexpected', message, context: {} };
}

/** The value of an outcome. @throws the error it carries */
export function fromOutcome<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { kind, code, message, context } = outcome.error;
  throw new IcebergError(kind, code, message, { context });
}

/** `{namespace}.{table}.{shard}.{uuid}`: an id says where its batch lives. */
export type BatchId = string;

export type BatchState = 'durable' | 'committed';

export interface BatchReceipt {
  readonly batchId: BatchId;
  readonly state: BatchState;
  readonly rowsReceived: number;
  readonly rowsAccepted: number;
  readonly rowsQuarantined: number;
  /** Null until committed, and for a batch without accepted rows. */
  readonly snapshotId: bigint | null;
  /** The first errors, at most `errorsPerReceiptMax` of them. */
  readonly errors: readonly Omit<RejectedRow, 'raw'>[];
  readonly acceptedAtMs: number;
}

export interface BatchHeader {
  readonly batchId: BatchId;
  readonly identifier: TableIdentifier;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the decoded body in hex; null without an idempotency key. */
  readonly bodyDigest: string | null;
}

export interface BatchSlice {
  /** Schema of the table the IPC stream was made under. */
  readonly schemaId: number;
  /** Table the schema belongs to: a table dropped and made again is another one. */
  readonly tableUuid: string;
  readonly ipc: Uint8Array | null;
  readonly rowsReceived: number;
  readonly rowsAccepted: number;
  readonly rejected: readonly RejectedRow[];
}

export type BeginOutcome =
  | { readonly status: 'new' }
  /** The key was used before, with the same bytes. */
  | { readonly status: 'repeated'; readonly receipt: BatchReceipt };

export interface QuarantinedRow extends RejectedRow {
  readonly id: number;
  readonly batchId: BatchId;
  readonly atMs: number;
}

export interface QuarantinePage {
  readonly rows: readonly QuarantinedRow[];
  readonly total: number;
  /** Pass as `after` for the next page; null on the last one. */
  readonly next: number | null;
}

/** Rows of the quarantine that were sent through again. */
export interface ReplayedRows {
  /** What is accepted now; without rejected rows. */
  readonly slices: readonly BatchSlice[];
  /** Ids of the rows in `slices`. */
  readonly landed: readonly number[];
  /** Why the others are refused now. */
  readonly refused: readonly Pick<QuarantinedRow, 'id' | 'column' | 'code' | 'message'>[];
}

export interface ReplayResult {
  /** Null when no row landed. */
  readonly receipt: BatchReceipt | null;
  readonly rowsLanded: number;
  /** Rows in the quarantine now. */
  readonly rowsLeft: number;
}

export interface FlushResult {
  readonly rows: number;
  readonly files: number;
  readonly snapshotId: bigint | null;
}

/**
 * RPC surface of `IngestShard`. A batch is invisible until sealed; an unsealed one is dropped by
 * `abortBatch`, or by itself once its lease ends. Bounds answer `overloaded` with the context
 * `retryAfterSeconds`.
 */
export interface IngestShardRpc {
  /** Begin, append and seal in one call: what a small body uses. */
  acceptBatch(header: BatchHeader, slices: readonly BatchSlice[]): Promise<Outcome<BatchReceipt>>;
  beginBatch(header: BatchHeader): Promise<Outcome<BeginOutcome>>;
  appendSlice(batchId: BatchId, slice: BatchSlice): Promise<Outcome<null>>;
  /** `bodyDigest` is known only now when the body was streamed. */
  sealBatch(batchId: BatchId, bodyDigest: string | null): Promise<Outcome<BatchReceipt>>;
  abortBatch(batchId: BatchId): Promise<Outcome<null>>;
  /** @throws not-found `batch.discarded`: its table was dropped before the batch was committed */
  getBatch(batchId: BatchId): Promise<Outcome<BatchReceipt | null>>;
  /**
   * Asks for a flush and answers when the batch is committed, or with the receipt as it stands
   * (`durable`) once the time is over.
   */
  waitCommitted(batchId: BatchId, timeoutMs: number): Promise<Outcome<BatchReceipt>>;
  /** Everything sealed so far is committed when this answers. */
  flush(identifier: TableIdentifier): Promise<Outcome<FlushResult>>;
  listQuarantine(after: number, limit: number): Promise<Outcome<QuarantinePage>>;
  /**
   * Accepts the rows and takes them out of the quarantine, both or neither.
   * @throws conflict `quarantine.changed`: one of the rows is not there any more; overloaded
   */
  replayRows(header: BatchHeader, rows: ReplayedRows): Promise<Outcome<ReplayResult>>;
  /** Deletes the rows with ids from `first` to `last`, and answers how many there were. */
  deleteQuarantined(first: number, last: number): Promise<Outcome<number>>;
  pending(): Promise<Outcome<ShardStatus>>;
  /** Forgets everything of the table; called by the committer's drop. */
  clear(): Promise<Outcome<null>>;
}

export interface ShardStatus {
  readonly rowsPending: number;
  readonly bytesPending: number;
  readonly batchesPending: number;
  readonly rowsQuarantined: number;
  /** Rows of batches whose table was dropped before they were committed. */
  readonly rowsDiscarded?: number;
  readonly oldestPendingMs: number | null;
}

export interface TableState {
  readonly tableUuid: string;
  readonly schema: Schema;
  readonly rules: SchemaRules;
}

export interface SubmitRequest {
  readonly identifier: TableIdentifier;
  /** Made by the shard before it writes the files; the same one is submitted again after a crash. */
  readonly flushId: string;
  readonly tableUuid: string;
  readonly dataFiles: readonly DataFile[];
  readonly batchCount: number;
}

export interface SubmitResult {
  readonly snapshotId: bigint;
}

export interface TableDocument {
  readonly metadataLocation: string;
  /** The metadata file's text: 64-bit numbers are exact only as text. */
  readonly metadataJson: string;
}

/** Changes of a schema that somebody asked for: all of them, or none. */
export interface SchemaUpdateRequest {
  readonly changes: readonly ColumnChange[];
  /** Says what would be changed and commits nothing. */
  readonly isDryRun: boolean;
}

export interface SchemaUpdateResult {
  /** As it is now; after a dry run as it would be, under the id of the present one. */
  readonly schema: Schema;
  readonly difference: readonly SchemaDifference[];
  readonly isCommitted: boolean;
}

/** What a shard needs to write data files of a table. */
export interface WriteTarget {
  readonly tableUuid: string;
  readonly schema: Schema;
  /** Where the table lives: a full URI without a trailing slash. */
  readonly location: string;
  readonly properties: ReadonlyMap<string, string>;
  /** The default one: what new files are laid out by. */
  readonly spec: PartitionSpec;
  readonly sortOrder: SortOrder;
}

/** The calls of `TableCommitter` that only shards make. */
export interface FlushTargetRpc {
  /** Null when the table does not exist. */
  writeTarget(identifier: TableIdentifier): Promise<Outcome<WriteTarget | null>>;
  submit(request: SubmitRequest): Promise<Outcome<SubmitResult>>;
}

/** RPC surface of `TableCommitter`, one object a table, named `{namespace}.{table}`. */
export interface TableCommitterRpc {
  /** Null when the table does not exist. */
  tableState(identifier: TableIdentifier): Promise<Outcome<TableState | null>>;
  /**
   * Creates the table, or fits it to the columns that arrived by `policy`, null for the table's own;
   * concurrent callers get one id a column. Under `strict` nothing is created or changed.
   * @throws not-found `table.not-found` under `strict`
   */
  ensureSchema(
    identifier: TableIdentifier,
    arrived: InferredStruct,
    policy: SchemaPolicy | null,
  ): Promise<Outcome<TableState>>;
  /** Answers when the files are in a snapshot. Repeating a `flushId` is harmless. */
  submit(request: SubmitRequest): Promise<Outcome<SubmitResult>>;
  loadTable(identifier: TableIdentifier): Promise<Outcome<TableDocument | null>>;
  /** @throws already-exists `table.already-exists` */
  createTable(
    identifier: TableIdentifier,
    declaration: TableDeclaration,
  ): Promise<Outcome<TableDocument>>;
  /** @throws not-found `table.not-found`; invalid `schema.*`, `type.*` by the change that cannot be */
  updateSchema(
    identifier: TableIdentifier,
    request: SchemaUpdateRequest,
  ): Promise<Outcome<SchemaUpdateResult>>;
  dropTable(identifier: TableIdentifier): Promise<Outcome<null>>;
}

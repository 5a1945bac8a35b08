/** Bounds and times of an `IngestShard`, each with the default a deployment gets. */

const MIB = 1024 * 1024;
const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

export interface ShardSettings {
  /** Sealed Arrow bytes that start a flush at once. */
  readonly flushBytes: number;
  /** How long a sealed batch waits for a flush at most. */
  readonly flushAgeMs: number;
  /** How long a flush on demand waits for others to join it. */
  readonly flushLingerMs: number;
  /** One flush takes batches up to this sum; a single larger batch still goes in one piece. */
  readonly flushBytesMax: number;
  readonly flushBatchesMax: number;
  /** A data file is closed once it holds this many encoded bytes. */
  readonly fileBytesMax: number;
  /** Arrow bytes kept in SQLite, sealed or not; more answers `overloaded`. */
  readonly pendingBytesMax: number;
  readonly pendingBatchesMax: number;
  readonly openBatchesMax: number;
  /** An unsealed batch is dropped this long after its last slice. */
  readonly batchLeaseMs: number;
  /** Receipts, and with them idempotency keys, are kept this long … */
  readonly receiptRetentionMs: number;
  /** … and at most this many of them. */
  readonly receiptsMax: number;
  readonly errorsPerReceiptMax: number;
  readonly quarantineRowsMax: number;
  readonly quarantineBytesMax: number;
  /** How long batches wait for a table that cannot be found before they count as dropped with it. */
  readonly missingTableGraceMs: number;
  /** A batch that cannot be encoded is set aside this long, so that others get past it. */
  readonly parkMs: number;
  readonly retryDelayMsMin: number;
  readonly retryDelayMsMax: number;
}

export const DEFAULT_SHARD_SETTINGS: ShardSettings = {
  flushBytes: 32 * MIB,
  flushAgeMs: 5 * SECOND_MS,
  flushLingerMs: 25,
  flushBytesMax: 64 * MIB,
  flushBatchesMax: 10_000,
  fileBytesMax: 24 * MIB,
  pendingBytesMax: 256 * MIB,
  pendingBatchesMax: 50_000,
  openBatchesMax: 64,
  batchLeaseMs: 5 * 60 * SECOND_MS,
  receiptRetentionMs: 7 * DAY_MS,
  receiptsMax: 1_000_000,
  errorsPerReceiptMax: 100,
  quarantineRowsMax: 100_000,
  quarantineBytesMax: 64 * MIB,
  missingTableGraceMs: 60 * 60 * SECOND_MS,
  parkMs: 60 * 60 * SECOND_MS,
  retryDelayMsMin: 500,
  retryDelayMsMax: 60 * SECOND_MS,
};

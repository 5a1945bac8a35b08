/**
 * The ports of the core: everything the table format needs from outside. Adapters implement them,
 * tests replace them by parts in memory that pass the same conformance suite.
 */

import type { TableMetadata } from './spec/table-metadata.ts';
import type { TableRequirement } from './spec/table-requirement.ts';
import type { TableUpdate } from './spec/table-update.ts';

/** What is known of a stored object. */
export interface ObjectStat {
  /** Key inside the store, without scheme or bucket, exactly as it was put. */
  readonly key: string;
  readonly size: number;
  /** Opaque version tag, without quotes or weak prefix. */
  readonly etag: string;
  readonly lastModifiedMs: number;
}

export interface PutOptions {
  /** `absent`: create only. `{ etag }`: swap only that version. Left out: overwrite. */
  readonly condition?: 'absent' | { readonly etag: string };
  readonly contentType?: string;
}

/** A failed condition is an expected outcome, not an error: nothing was written. */
export type PutOutcome =
  | { readonly status: 'stored'; readonly etag: string }
  | { readonly status: 'condition-failed' };

/**
 * A bucket, or a prefix of one, with strong read-after-write consistency.
 *
 * Failures are `IcebergError`s: `unavailable` (may be retried; a conditional put may nevertheless
 * have landed), `forbidden`, `unauthorized`, `invalid`.
 */
export interface ObjectStore {
  /** Scheme and bucket, e.g. `s3://lake`: what locations in metadata begin with. */
  readonly baseUri: string;
  /** The whole object, or null when there is none. */
  get(key: string): Promise<Uint8Array | null>;
  /** `length` bytes from `offset`; null when there is no such object. */
  getRange(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  head(key: string): Promise<ObjectStat | null>;
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome>;
  /** Deleting what is not there is a success. Any number of keys. */
  delete(keys: readonly string[]): Promise<void>;
  /** Every object whose key begins with `prefix`, in key order, page by page inside. */
  list(prefix: string): AsyncIterable<ObjectStat>;
  /** The distinct next segments (without the closing `/`) below `prefix`, in order. */
  listPrefixes(prefix: string): Promise<string[]>;
}

export interface TableIdentifier {
  readonly namespace: readonly string[];
  readonly name: string;
}

/** A table as its catalog answered it. */
export interface LoadedTable {
  readonly metadata: TableMetadata;
  /** Full URI of the metadata file that was read. */
  readonly metadataLocation: string;
}

export interface CommitRequest {
  readonly identifier: TableIdentifier;
  readonly requirements: readonly TableRequirement[];
  readonly updates: readonly TableUpdate[];
}

/** `unknown`: it may have landed; the caller looks before it does anything else. */
export type CommitOutcome =
  | { readonly status: 'committed'; readonly table: LoadedTable }
  | { readonly status: 'conflict'; readonly message: string }
  | { readonly status: 'unknown'; readonly cause: unknown };

/** The least every catalog can do. More abilities are interfaces of their own, asked for by a guard. */
export interface Catalog {
  /** @throws not-found when the table does not exist */
  loadTable(identifier: TableIdentifier): Promise<LoadedTable>;
  /** @throws already-exists when another creator was first */
  createTable(identifier: TableIdentifier, metadata: TableMetadata): Promise<LoadedTable>;
  commitTable(request: CommitRequest): Promise<CommitOutcome>;
  /** Removes the table from the catalog; `purge` removes its files too. Repeatable. */
  dropTable(identifier: TableIdentifier, options: { readonly purge: boolean }): Promise<void>;
  listNamespaces(): Promise<string[][]>;
  listTables(namespace: readonly string[]): Promise<TableIdentifier[]>;
  /** The location a new table of that name gets. */
  newTableLocation(identifier: TableIdentifier): string;
}

export interface Clock {
  /** Milliseconds since 1970; may stand still between I/O. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface RandomSource {
  /** A random (version 4) UUID in lower case. */
  uuid(): string;
  /** A uniformly random positive 63-bit integer, never 0. */
  int63(): bigint;
  /** In [0, 1). For jitter only. */
  fraction(): number;
}

export type LogFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

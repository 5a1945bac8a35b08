/**
 * A catalog that is only files: `{namespace}.db/{table}/metadata/v{N}.metadata.json`. Creating the
 * next version, on the condition that it does not exist, is the commit; the store lets exactly one
 * writer do it. The hint file is a help for readers, written last and never trusted.
 *
 * Finding the current version and reading it is in `metadata-files.ts`.
 * Spec: "File System Tables", with a conditional put in the place of the rename.
 */

import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import {
  directNamespaceKey,
  directTableKey,
  directTableLocation,
  keyToUri,
  metadataFileVersion,
  namespaceOfFolder,
  uriToKey,
  versionHintFile,
} from '../iceberg/location-provider.ts';
import { applyUpdates } from '../iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../iceberg/metadata/check-requirements.ts';
import type {
  Catalog,
  Clock,
  CommitOutcome,
  CommitRequest,
  LoadedTable,
  Logger,
  ObjectStore,
  TableIdentifier,
} from '../iceberg/ports.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';
import { tableProperty, TABLE_PROPERTIES } from '../iceberg/table-properties.ts';
import type { FoundMetadata } from './metadata-files.ts';
import { MetadataFiles } from './metadata-files.ts';
import { VersionHints } from './version-hints.ts';

/** Puts of one metadata file before its outcome is called unknown. */
const PUT_ATTEMPTS_MAX = 4;
const PUT_RETRY_DELAY_MS = 200;
const DELETE_KEYS_PER_CALL = 1000;
const LIST_CONCURRENCY = 4;

export interface DirectCatalogParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

type CreateOutcome =
  | { readonly status: 'created'; readonly etag: string }
  | { readonly status: 'exists' }
  | { readonly status: 'unknown'; readonly cause: unknown };

export class DirectCatalog implements Catalog {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #files: MetadataFiles;
  readonly #hints: VersionHints;

  constructor({ store, clock, logger }: DirectCatalogParts) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#files = new MetadataFiles(store);
    this.#hints = new VersionHints(store, clock, logger);
  }

  async loadTable(identifier: TableIdentifier): Promise<LoadedTable> {
    return this.#loaded(await this.#require(identifier));
  }

  async createTable(identifier: TableIdentifier, metadata: TableMetadata): Promise<LoadedTable> {
    const folder = directTableKey(identifier);
    if ((await this.#files.find(folder)) !== null) throw alreadyExists(identifier);
    const file = await this.#files.encode(folder, 1, metadata);
    const outcome = await this.#create(file.key, file.bytes);
    switch (outcome.status) {
      case 'created':
        break;
      case 'exists':
        throw alreadyExists(identifier);
      case 'unknown':
        throw new IcebergError(
          'unavailable',
          'catalog.create-unknown',
          'The table may or may not have been created: look again',
          { cause: outcome.cause },
        );
    }
    const found = { key: file.key, version: 1, etag: outcome.etag, metadata };
    this.#files.remember(folder, found);
    await this.#hints.write(folder, 1);
    return this.#loaded(found);
  }

  async commitTable(request: CommitRequest): Promise<CommitOutcome> {
    const { identifier, requirements, updates } = request;
    const folder = directTableKey(identifier);
    const base = await this.#require(identifier);
    const failed = checkRequirements(base.metadata, requirements);
    if (failed !== null) return { status: 'conflict', message: failed };
    const metadata = applyUpdates(base.metadata, updates, {
      nowMs: this.#clock.nowMs(),
      previousMetadataLocation: keyToUri(this.#store.baseUri, base.key),
    });
    if (metadata === base.metadata) return { status: 'committed', table: this.#loaded(base) };
    if (metadata.location !== base.metadata.location) {
      throw new IcebergError(
        'unsupported',
        'catalog.location-fixed',
        'The location of a table without a catalog cannot change',
      );
    }
    const version = base.version + 1;
    const file = await this.#files.encode(folder, version, metadata);
    const outcome = await this.#create(file.key, file.bytes);
    switch (outcome.status) {
      case 'exists':
        this.#files.forget(folder);
        return {
          status: 'conflict',
          message: `Version ${version} was committed by another writer`,
        };
      case 'unknown':
        this.#files.forget(folder);
        return { status: 'unknown', cause: outcome.cause };
      case 'created':
        break;
    }
    const found = { key: file.key, version, etag: outcome.etag, metadata };
    this.#files.remember(folder, found);
    await this.#deleteUnlogged(folder, base, metadata);
    // Last: a crash before this line leaves a stale hint, which readers probe past.
    await this.#hints.write(folder, version);
    return { status: 'committed', table: this.#loaded(found) };
  }

  /**
   * The current metadata file is deleted last of the metadata: up to that moment readers see the
   * whole table, from then on none. What a crash leaves behind the next call removes.
   */
  async dropTable(
    identifier: TableIdentifier,
    options: { readonly purge: boolean },
  ): Promise<void> {
    const folder = directTableKey(identifier);
    const found = await this.#files.find(folder);
    if (options.purge && found?.metadata.properties.get('gc.enabled')?.toLowerCase() === 'false') {
      throw new IcebergError(
        'invalid',
        'table.gc-disabled',
        'The table property gc.enabled=false forbids deleting the files of this table',
      );
    }
    this.#files.forget(folder);
    this.#hints.forget(folder);
    // Again until nothing is found: another writer may commit a version meanwhile.
    for (;;) {
      const keys = await this.#keys(
        `${folder}/metadata/`,
        (key) => metadataFileVersion(key) !== null,
      );
      if (keys.length === 0) break;
      const ascending = keys.toSorted(
        (left, right) => (metadataFileVersion(left) ?? 0) - (metadataFileVersion(right) ?? 0),
      );
      const current = ascending.at(-1);
      await this.#store.delete(ascending.slice(0, -1));
      if (current !== undefined) await this.#store.delete([current]);
    }
    const rest = options.purge ? `${folder}/` : versionHintFile(folder);
    for (;;) {
      const keys = await this.#keys(rest, () => true, DELETE_KEYS_PER_CALL);
      if (keys.length === 0) return;
      await this.#store.delete(keys);
    }
  }

  async listNamespaces(): Promise<string[][]> {
    const folders = await this.#store.listPrefixes('');
    return folders.flatMap((folder) => {
      const namespace = namespaceOfFolder(folder);
      return namespace === null ? [] : [namespace];
    });
  }

  async listTables(namespace: readonly string[]): Promise<TableIdentifier[]> {
    const folder = directNamespaceKey(namespace);
    const names = await this.#store.listPrefixes(`${folder}/`);
    const tables: TableIdentifier[] = [];
    for (let start = 0; start < names.length; start += LIST_CONCURRENCY) {
      const part = names.slice(start, start + LIST_CONCURRENCY);
      const exist = await Promise.all(part.map((name) => this.#files.exists(`${folder}/${name}`)));
      tables.push(
        ...part.filter((_, index) => exist[index] === true).map((name) => ({ namespace, name })),
      );
    }
    return tables;
  }

  newTableLocation(identifier: TableIdentifier): string {
    return directTableLocation(this.#store.baseUri, identifier);
  }

  /**
   * Creates a metadata file. A put that failed is repeated as it is: if it had landed, the repeat
   * finds its own bytes there, which no other writer makes.
   */
  async #create(key: string, bytes: Uint8Array): Promise<CreateOutcome> {
    let cause: unknown;
    for (let attempt = 1; attempt <= PUT_ATTEMPTS_MAX; attempt += 1) {
      try {
        const outcome = await this.#store.put(key, bytes, {
          condition: 'absent',
          contentType: 'application/json',
        });
        if (outcome.status === 'stored') return { status: 'created', etag: outcome.etag };
        if (cause === undefined) return { status: 'exists' };
        return await this.#ownOrOther(key, bytes);
      } catch (error) {
        // A definite refusal of the first put is no unknown outcome; after a lost one it is.
        if (!isIcebergError(error, 'unavailable') && cause === undefined) throw error;
        cause = error;
        this.#logger.warn('catalog.put-unanswered', { key, attempt });
        await this.#clock.sleep(PUT_RETRY_DELAY_MS * attempt);
      }
    }
    return { status: 'unknown', cause };
  }

  async #ownOrOther(key: string, bytes: Uint8Array): Promise<CreateOutcome> {
    const stored = await this.#store.get(key);
    const stat = await this.#store.head(key);
    return stored !== null && stat !== null && isEqual(stored, bytes)
      ? { status: 'created', etag: stat.etag }
      : { status: 'exists' };
  }

  /** Deletes metadata files that left the log with this commit, if the table asks for it. */
  async #deleteUnlogged(
    folder: string,
    base: FoundMetadata,
    metadata: TableMetadata,
  ): Promise<void> {
    try {
      if (!tableProperty(metadata.properties, TABLE_PROPERTIES.deleteMetadataAfterCommit)) return;
      const logged = new Set(metadata.metadataLog.map((entry) => entry.metadataFile));
      const keys = base.metadata.metadataLog
        .filter((entry) => !logged.has(entry.metadataFile))
        .map((entry) => uriToKey(this.#store.baseUri, entry.metadataFile))
        .filter((key) => key.startsWith(`${folder}/metadata/`));
      if (keys.length > 0) await this.#store.delete(keys);
    } catch (error) {
      // The commit stands; a file too many is harmless.
      this.#logger.warn('catalog.metadata-not-deleted', { folder, message: String(error) });
    }
  }

  async #require(identifier: TableIdentifier): Promise<FoundMetadata> {
    const found = await this.#files.find(directTableKey(identifier));
    if (found !== null) return found;
    throw new IcebergError('not-found', 'table.not-found', 'There is no such table', {
      context: { namespace: identifier.namespace.join('.'), table: identifier.name },
    });
  }

  async #keys(
    prefix: string,
    isWanted: (key: string) => boolean,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.#store.list(prefix)) {
      if (isWanted(key)) keys.push(key);
      if (keys.length >= limit) break;
    }
    return keys;
  }

  #loaded(found: FoundMetadata): LoadedTable {
    return {
      metadata: found.metadata,
      metadataLocation: keyToUri(this.#store.baseUri, found.key),
    };
  }
}

function alreadyExists(identifier: TableIdentifier): IcebergError {
  return new IcebergError('already-exists', 'table.already-exists', 'The table exists already', {
    context: { namespace: identifier.namespace.join('.'), table: identifier.name },
  });
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.byteLength === right.byteLength && left.every((byte, index) => byte === right[index]);
}

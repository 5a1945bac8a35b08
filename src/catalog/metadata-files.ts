/**
 * Finds, reads and encodes the versioned metadata files of a table's folder.
 *
 * The hint may be stale, ahead of the truth, garbage or missing: from where it points the versions
 * are probed forward to the highest that exists, and where it points nowhere they are listed.
 */

import { IcebergError } from '../iceberg/errors.ts';
import {
  gzippedMetadataFile,
  metadataFileVersion,
  versionedMetadataFile,
  versionHintFile,
} from '../iceberg/location-provider.ts';
import type { ObjectStore } from '../iceberg/ports.ts';
import { parseTableMetadata, serializeTableMetadata } from '../iceberg/spec/table-metadata-json.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';
import { tableProperty, TABLE_PROPERTIES } from '../iceberg/table-properties.ts';

/** Tables whose current metadata is kept parsed. */
const CACHED_TABLES_MAX = 64;
/** A text larger than this when unpacked is not read: it would not fit into an isolate. */
const METADATA_BYTES_MAX = 32 * 1024 * 1024;

export interface FoundMetadata {
  readonly key: string;
  readonly version: number;
  readonly etag: string;
  readonly metadata: TableMetadata;
}

interface FoundFile {
  readonly key: string;
  readonly version: number;
  readonly etag: string;
}

export class MetadataFiles {
  readonly #store: ObjectStore;
  /** Parsed current files, oldest use first. Checked against the store at every use. */
  readonly #cache = new Map<string, FoundMetadata>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** The current metadata; null when there is no table. @throws corrupt, unsupported */
  async find(folder: string): Promise<FoundMetadata | null> {
    const cached = this.#cache.get(folder);
    const start =
      cached === undefined
        ? await this.#fromHint(folder)
        : await this.#probe(folder, cached.version);
    if (start === null) {
      this.forget(folder);
      const listed = await this.#highestListed(folder);
      return listed === null ? null : await this.#read(folder, listed);
    }
    const current = await this.#probeForward(folder, start);
    if (cached !== undefined && cached.key === current.key && cached.etag === current.etag) {
      return cached;
    }
    return await this.#read(folder, current);
  }

  /** Whether there is a table, without reading it. */
  async exists(folder: string): Promise<boolean> {
    return (await this.#fromHint(folder)) !== null || (await this.#highestListed(folder)) !== null;
  }

  async encode(
    folder: string,
    version: number,
    metadata: TableMetadata,
  ): Promise<{ readonly key: string; readonly bytes: Uint8Array }> {
    const text = new TextEncoder().encode(serializeTableMetadata(metadata));
    return tableProperty(metadata.properties, TABLE_PROPERTIES.metadataCodec) === 'gzip'
      ? { key: gzippedMetadataFile(folder, version), bytes: await gzip(text) }
      : { key: versionedMetadataFile(folder, version), bytes: text };
  }

  remember(folder: string, found: FoundMetadata): void {
    this.#cache.delete(folder);
    this.#cache.set(folder, found);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= CACHED_TABLES_MAX) break;
      this.#cache.delete(oldest);
    }
  }

  forget(folder: string): void {
    this.#cache.delete(folder);
  }

  async #fromHint(folder: string): Promise<FoundFile | null> {
    const bytes = await this.#store.get(versionHintFile(folder));
    const text = bytes === null ? '' : new TextDecoder().decode(bytes).trim();
    return /^[1-9]\d{0,8}$/.test(text) ? await this.#probe(folder, Number(text)) : null;
  }

  async #probe(folder: string, version: number): Promise<FoundFile | null> {
    for (const key of [
      versionedMetadataFile(folder, version),
      gzippedMetadataFile(folder, version),
    ]) {
      const stat = await this.#store.head(key);
      if (stat !== null) return { key, version, etag: stat.etag };
    }
    return null;
  }

  async #probeForward(folder: string, start: FoundFile): Promise<FoundFile> {
    let current = start;
    for (;;) {
      const next = await this.#probe(folder, current.version + 1);
      if (next === null) return current;
      current = next;
    }
  }

  async #highestListed(folder: string): Promise<FoundFile | null> {
    let highest: FoundFile | null = null;
    for await (const { key, etag } of this.#store.list(`${folder}/metadata/v`)) {
      const version = metadataFileVersion(key);
      if (version !== null && (highest === null || version > highest.version)) {
        highest = { key, version, etag };
      }
    }
    return highest;
  }

  async #read(folder: string, file: FoundFile): Promise<FoundMetadata> {
    const bytes = await this.#store.get(file.key);
    if (bytes === null) {
      throw new IcebergError(
        'unavailable',
        'catalog.table-changing',
        'The metadata was deleted while it was being read',
        { context: { key: file.key } },
      );
    }
    const text = isGzipped(bytes) ? await gunzip(bytes, file.key) : bytes;
    const found = { ...file, metadata: parseTableMetadata(new TextDecoder().decode(text)) };
    this.remember(folder, found);
    return found;
  }
}

function isGzipped(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @throws corrupt `metadata.malformed-gzip`; too-large `metadata.too-large` */
async function gunzip(bytes: Uint8Array, key: string): Promise<Uint8Array> {
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('gzip'));
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > METADATA_BYTES_MAX) break;
      chunks.push(part.value);
    }
  } catch (cause) {
    throw new IcebergError('corrupt', 'metadata.malformed-gzip', 'The metadata is not valid gzip', {
      context: { key },
      cause,
    });
  }
  if (size > METADATA_BYTES_MAX) {
    await reader.cancel();
    throw new IcebergError('too-large', 'metadata.too-large', 'The metadata is too large to read', {
      context: { key, bytesMax: METADATA_BYTES_MAX },
    });
  }
  return new Uint8Array(await new Blob(chunks.map((chunk) => chunk.slice())).arrayBuffer());
}

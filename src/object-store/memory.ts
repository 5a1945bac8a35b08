/**
 * An object store in memory: for tests, for trying things out, and for runs without any storage.
 * It behaves as a bucket does (strong consistency, conditional puts, lists in key order) and copies
 * bytes on the way in and out, so that a caller's later write to a buffer changes nothing stored.
 */

import type { Clock, ObjectStat, ObjectStore, PutOptions, PutOutcome } from '../iceberg/ports.ts';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly lastModifiedMs: number;
}

export class MemoryObjectStore implements ObjectStore {
  readonly baseUri: string;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #objects = new Map<string, StoredObject>();
  #version = 0;

  constructor(baseUri: string, clock: Pick<Clock, 'nowMs'>) {
    this.baseUri = baseUri;
    this.#clock = clock;
  }

  get(key: string): Promise<Uint8Array | null> {
    return Promise.resolve(this.#objects.get(key)?.bytes.slice() ?? null);
  }

  getRange(key: string, offset: number, length: number): Promise<Uint8Array | null> {
    return Promise.resolve(this.#objects.get(key)?.bytes.slice(offset, offset + length) ?? null);
  }

  head(key: string): Promise<ObjectStat | null> {
    const stored = this.#objects.get(key);
    return Promise.resolve(stored === undefined ? null : statOf(key, stored));
  }

  put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<PutOutcome> {
    const stored = this.#objects.get(key);
    const { condition } = options;
    if (condition === 'absent' && stored !== undefined) {
      return Promise.resolve({ status: 'condition-failed' });
    }
    if (typeof condition === 'object' && stored?.etag !== condition.etag) {
      return Promise.resolve({ status: 'condition-failed' });
    }
    this.#version += 1;
    const etag = `memory-${this.#version}`;
    this.#objects.set(key, { bytes: bytes.slice(), etag, lastModifiedMs: this.#clock.nowMs() });
    return Promise.resolve({ status: 'stored', etag });
  }

  delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#objects.delete(key);
    return Promise.resolve();
  }

  // oxlint-disable-next-line require-await -- the port is asynchronous, memory is not
  async *list(prefix: string): AsyncIterable<ObjectStat> {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
    for (const key of keys) {
      const stored = this.#objects.get(key);
      if (stored !== undefined) yield statOf(key, stored);
    }
  }

  listPrefixes(prefix: string): Promise<string[]> {
    const segments = new Set<string>();
    for (const key of this.#objects.keys()) {
      if (!key.startsWith(prefix)) continue;
      const end = key.indexOf('/', prefix.length);
      if (end !== -1) segments.add(key.slice(prefix.length, end));
    }
    return Promise.resolve([...segments].toSorted());
  }
}

function statOf(key: string, stored: StoredObject): ObjectStat {
  return {
    key,
    size: stored.bytes.byteLength,
    etag: stored.etag,
    lastModifiedMs: stored.lastModifiedMs,
  };
}

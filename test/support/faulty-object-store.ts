import { IcebergError } from '../../src/iceberg/errors.ts';
import type { ObjectStat, ObjectStore, PutOptions, PutOutcome } from '../../src/iceberg/ports.ts';
import type { Faults } from './faults.ts';

/** A store whose n-th call fails as an unreachable store does; it passes the store conformance suite. */
export class FaultyObjectStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #faults: Faults;

  constructor(store: ObjectStore, faults: Faults) {
    this.#store = store;
    this.#faults = faults;
  }

  get baseUri(): string {
    return this.#store.baseUri;
  }

  async get(key: string): Promise<Uint8Array | null> {
    return await this.#faults.around(`get ${key}`, () => this.#store.get(key));
  }

  async getRange(key: string, offset: number, length: number): Promise<Uint8Array | null> {
    return await this.#faults.around(`getRange ${key}`, () =>
      this.#store.getRange(key, offset, length),
    );
  }

  async head(key: string): Promise<ObjectStat | null> {
    return await this.#faults.around(`head ${key}`, () => this.#store.head(key));
  }

  async put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<PutOutcome> {
    return await this.#faults.around(`put ${key}`, () => this.#store.put(key, bytes, options));
  }

  async delete(keys: readonly string[]): Promise<void> {
    await this.#faults.around(`delete ${keys.length} keys`, () => this.#store.delete(keys));
  }

  async *list(prefix: string): AsyncIterable<ObjectStat> {
    await this.#faults.around(`list ${prefix}`, () => Promise.resolve());
    yield* this.#store.list(prefix);
  }

  async listPrefixes(prefix: string): Promise<string[]> {
    return await this.#faults.around(`listPrefixes ${prefix}`, () =>
      this.#store.listPrefixes(prefix),
    );
  }
}

export function storeUnavailable(name: string): IcebergError {
  return new IcebergError('unavailable', 'store.unreachable', `The store did not answer: ${name}`);
}

/**
 * Writes hint files: at most one write a second for a table, because a store may refuse faster
 * writes of one key. A skipped number is written a little later, unless a higher one comes first.
 * A failure is harmless, since readers probe past the hint.
 */

import { versionHintFile } from '../iceberg/location-provider.ts';
import type { Clock, Logger, ObjectStore } from '../iceberg/ports.ts';

const WRITE_INTERVAL_MS = 1000;
const TABLES_MAX = 1000;

interface TableHint {
  writtenAtMs: number;
  /** The number to be written next; null when the file is up to date. */
  pending: number | null;
  isScheduled: boolean;
}

export class VersionHints {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #tables = new Map<string, TableHint>();

  constructor(store: ObjectStore, clock: Clock, logger: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Writes now, or notes the number for later. Never throws. */
  async write(folder: string, version: number): Promise<void> {
    const hint = this.#tables.get(folder) ?? {
      writtenAtMs: Number.NEGATIVE_INFINITY,
      pending: null,
      isScheduled: false,
    };
    if (this.#tables.size >= TABLES_MAX) this.#tables.clear();
    this.#tables.set(folder, hint);
    hint.pending = version;
    if (hint.isScheduled) return;
    const waitMs = hint.writtenAtMs + WRITE_INTERVAL_MS - this.#clock.nowMs();
    if (waitMs <= 0) {
      await this.#writePending(folder, hint);
      return;
    }
    hint.isScheduled = true;
    void this.#writeLater(folder, hint, waitMs);
  }

  /** The table is dropped: a number noted for later must not bring its hint back. */
  forget(folder: string): void {
    const hint = this.#tables.get(folder);
    if (hint !== undefined) hint.pending = null;
    this.#tables.delete(folder);
  }

  async #writeLater(folder: string, hint: TableHint, waitMs: number): Promise<void> {
    await this.#clock.sleep(waitMs);
    hint.isScheduled = false;
    await this.#writePending(folder, hint);
  }

  async #writePending(folder: string, hint: TableHint): Promise<void> {
    const { pending } = hint;
    if (pending === null) return;
    hint.pending = null;
    hint.writtenAtMs = this.#clock.nowMs();
    try {
      await this.#store.put(versionHintFile(folder), new TextEncoder().encode(String(pending)), {
        contentType: 'text/plain',
      });
    } catch (error) {
      this.#logger.debug('catalog.hint-not-written', { folder, message: String(error) });
    }
  }
}

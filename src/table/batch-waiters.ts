/** Those who wait in memory for a batch to be finished. What it became is in the log. */

import type { BatchId } from './protocol.ts';

export class BatchWaiters {
  readonly #waiting = new Map<BatchId, { promise: Promise<void>; resolve: () => void }>();

  /** Settles once `finish` names the batch; all who ask for one batch share one promise. */
  async finished(batchId: BatchId): Promise<void> {
    let waiter = this.#waiting.get(batchId);
    if (waiter === undefined) {
      let resolve = (): void => undefined;
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      waiter = { promise, resolve };
      this.#waiting.set(batchId, waiter);
    }
    await waiter.promise;
  }

  finish(batchIds: readonly BatchId[]): void {
    for (const batchId of batchIds) {
      this.#waiting.get(batchId)?.resolve();
      this.#waiting.delete(batchId);
    }
  }

  finishAll(): void {
    this.finish([...this.#waiting.keys()]);
  }
}

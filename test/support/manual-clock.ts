import type { Clock } from '../../src/iceberg/ports.ts';

/** Time that moves only when told to. `sleep(0)` yields; a longer sleep waits for `advance`. */
export class ManualClock implements Clock {
  #nowMs: number;
  #sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor(nowMs = 1_700_000_000_000) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((wake) => this.#sleepers.push({ atMs: this.#nowMs + ms, wake }));
  }

  /** Moves time, wakes who is due, and lets what they start run until it waits again. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = this.#sleepers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { wake } of due) wake();
    await settle();
  }

  /** Moves time forward without waking anybody: a clock that was set, not one that ran. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }
}

/** Time that a sleep moves by itself: nobody ever waits. */
export class SkippingClock implements Clock {
  #nowMs: number;

  constructor(nowMs = 1_700_000_000_000) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number): Promise<void> {
    this.#nowMs += Math.max(ms, 0);
    return Promise.resolve();
  }

  jump(ms: number): void {
    this.#nowMs += ms;
  }
}

/** Lets everything run that is only waiting for promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

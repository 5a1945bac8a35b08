/**
 * Lends kernel instances, each to one caller at a time, so that their memory together stays bounded.
 * Linear memory never shrinks: an instance that has grown is dropped rather than kept.
 *
 * A caller asks again until it is its turn, instead of waiting for another caller's promise: the
 * Workers runtime takes a request that waits for nothing of its own for hung. For the same reason a
 * loan ends by itself: a request that is killed never gives its instance back.
 */

import { IcebergError } from '../iceberg/errors.ts';
import type { Clock } from '../iceberg/ports.ts';
import type { Kernel } from './kernel.ts';
import type { KernelInstance } from './kernel-port.ts';

export interface KernelPoolOptions {
  /** Instances lent at once. */
  readonly instancesMax: number;
  /** Callers that may wait for one; the next is turned away. */
  readonly waitersMax: number;
  /** An instance whose memory has grown beyond this is not used again. */
  readonly keptMemoryBytesMax: number;
  /** After this a loan no longer counts, and its instance is not used again. */
  readonly loanMsMax: number;
}

/** An exclusive loan; `release` ends it, a second call does nothing. */
export interface KernelLease {
  readonly kernel: KernelInstance;
  release(): void;
}

const ASK_AGAIN_MS = 4;

export class KernelPool {
  readonly #create: () => Kernel;
  readonly #clock: Clock;
  readonly #options: KernelPoolOptions;
  readonly #idle: Kernel[] = [];
  /** When each loan ends by itself. */
  readonly #loans = new Map<Kernel, number>();
  /** Who waits, in order, and when each last asked: one that asks no more has been killed. */
  readonly #waiting = new Map<symbol, number>();

  constructor(create: () => Kernel, clock: Clock, options: KernelPoolOptions) {
    this.#create = create;
    this.#clock = clock;
    this.#options = options;
  }

  /** Waits for a free instance. @throws overloaded `kernel.busy` when too many wait already */
  async acquire(): Promise<KernelLease> {
    this.#forgetTheDead();
    if (this.#waiting.size === 0 && this.#isOneFree()) return this.#lend();
    if (this.#waiting.size >= this.#options.waitersMax) {
      throw new IcebergError('overloaded', 'kernel.busy', 'Too many requests are being decoded', {
        context: { retryAfterSeconds: 1 },
      });
    }
    const self = Symbol('waiter');
    try {
      for (;;) {
        this.#waiting.set(self, this.#clock.nowMs());
        await this.#clock.sleep(ASK_AGAIN_MS);
        this.#forgetTheDead();
        const [first] = this.#waiting.keys();
        if ((first === self || first === undefined) && this.#isOneFree()) return this.#lend();
      }
    } finally {
      this.#waiting.delete(self);
    }
  }

  /** Runs `action` with an instance and takes it back, whatever happens. @throws as `acquire` */
  async use<T>(action: (kernel: KernelInstance) => T | Promise<T>): Promise<T> {
    const lease = await this.acquire();
    try {
      return await action(lease.kernel);
    } finally {
      lease.release();
    }
  }

  #isOneFree(): boolean {
    return this.#loans.size < this.#options.instancesMax;
  }

  #forgetTheDead(): void {
    const nowMs = this.#clock.nowMs();
    for (const [kernel, endsMs] of this.#loans) if (endsMs <= nowMs) this.#loans.delete(kernel);
    const askedMsMin = nowMs - this.#options.loanMsMax;
    for (const [waiter, askedMs] of this.#waiting) {
      if (askedMs < askedMsMin) this.#waiting.delete(waiter);
    }
  }

  #lend(): KernelLease {
    const kernel = this.#idle.pop() ?? this.#create();
    this.#loans.set(kernel, this.#clock.nowMs() + this.#options.loanMsMax);
    return { kernel, release: () => this.#takeBack(kernel) };
  }

  #takeBack(kernel: Kernel): void {
    // False for a second call, and for a loan that has ended by itself.
    if (!this.#loans.delete(kernel)) return;
    if (!kernel.isPoisoned && kernel.memoryBytes <= this.#options.keptMemoryBytesMax) {
      this.#idle.push(kernel);
    }
  }
}

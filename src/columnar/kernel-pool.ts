/**
 * Lends kernel instances, each to one caller at a time, so that their memory together stays bounded.
 * Linear memory never shrinks: an instance that has grown is dropped rather than kept.
 */

import { IcebergError } from '../iceberg/errors.ts';
import type { Kernel } from './kernel.ts';
import type { KernelInstance } from './kernel-port.ts';

export interface KernelPoolOptions {
  /** Instances alive at once. */
  readonly instancesMax: number;
  /** Callers that may wait for one; the next is turned away. */
  readonly waitersMax: number;
  /** An instance whose memory has grown beyond this is not used again. */
  readonly keptMemoryBytesMax: number;
}

export const KERNEL_POOL_DEFAULTS: KernelPoolOptions = {
  instancesMax: 3,
  waitersMax: 64,
  keptMemoryBytesMax: 48 * 1024 * 1024,
};

/** An exclusive loan; `release` ends it, a second call does nothing. */
export interface KernelLease {
  readonly kernel: KernelInstance;
  release(): void;
}

interface Waiter {
  resolve(lease: KernelLease): void;
  reject(error: unknown): void;
}

export class KernelPool {
  readonly #create: () => Kernel;
  readonly #options: KernelPoolOptions;
  readonly #idle: Kernel[] = [];
  readonly #waiters: Waiter[] = [];
  #lentCount = 0;

  constructor(create: () => Kernel, options: KernelPoolOptions = KERNEL_POOL_DEFAULTS) {
    this.#create = create;
    this.#options = options;
  }

  /** Waits for a free instance. @throws overloaded `kernel.busy` when too many wait already */
  async acquire(): Promise<KernelLease> {
    if (this.#lentCount < this.#options.instancesMax) return this.#lend();
    if (this.#waiters.length >= this.#options.waitersMax) {
      throw new IcebergError('overloaded', 'kernel.busy', 'Too many requests are being decoded', {
        context: { retryAfterSeconds: 1 },
      });
    }
    return await new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
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

  #lend(): KernelLease {
    // Counted only once it exists: making an instance may fail for lack of memory.
    const kernel = this.#idle.pop() ?? this.#create();
    this.#lentCount += 1;
    let isReleased = false;
    return {
      kernel,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#takeBack(kernel);
      },
    };
  }

  #takeBack(kernel: Kernel): void {
    this.#lentCount -= 1;
    if (!kernel.isPoisoned && kernel.memoryBytes <= this.#options.keptMemoryBytesMax) {
      this.#idle.push(kernel);
    }
    const next = this.#waiters.shift();
    if (next === undefined) return;
    try {
      next.resolve(this.#lend());
    } catch (error) {
      next.reject(error);
    }
  }
}

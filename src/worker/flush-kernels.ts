/**
 * Kernel instances for flushes. An isolate may hold many shards and has one memory, so one file is
 * encoded at a time, by an instance of its own that is let go with the file: its memory only grows.
 *
 * The turn is taken by asking again, not by waiting for another object's promise, and it ends by
 * itself: an object that is reset in the middle of a file never gives its turn back.
 */

import { createBundledKernel } from '../columnar/bundled-kernel.ts';
import type { KernelLender, PartitioningKernelInstance } from '../columnar/kernel-port.ts';
import type { Clock } from '../iceberg/ports.ts';

/** Far longer than a file of bounded size takes. */
const TURN_MS_MAX = 60_000;
const ASK_AGAIN_MS = 5;

/** Which flush has the turn. Shared by the whole isolate, because the memory is. */
let turn: { readonly untilMs: number } | null = null;

export function flushKernels(clock: Clock): KernelLender<PartitioningKernelInstance> {
  return {
    use: async <T>(action: (kernel: PartitioningKernelInstance) => Promise<T>): Promise<T> => {
      while (turn !== null && turn.untilMs > clock.nowMs()) await clock.sleep(ASK_AGAIN_MS);
      const own = { untilMs: clock.nowMs() + TURN_MS_MAX };
      turn = own;
      try {
        return await action(createBundledKernel());
      } finally {
        if (turn === own) turn = null;
      }
    },
  };
}

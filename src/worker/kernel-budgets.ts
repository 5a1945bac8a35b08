/** How many kernel instances an isolate lends to requests, and how large they may become. */

import type { KernelPoolOptions } from '../columnar/kernel-pool.ts';

const MIB = 1024 * 1024;

/**
 * An isolate has 128 MB for everything. An instance takes about 11 MiB for slices of the usual kind,
 * and one more encodes a flush.
 */
export const WHOLE_BODY_KERNELS: KernelPoolOptions = {
  instancesMax: 1,
  waitersMax: 256,
  keptMemoryBytesMax: 24 * MIB,
  loanMsMax: 30_000,
};

/** A slow sender holds its instance; it must not keep small batches from being decoded. */
export const STREAM_KERNELS: KernelPoolOptions = {
  instancesMax: 3,
  waitersMax: 16,
  keptMemoryBytesMax: 16 * MIB,
  loanMsMax: 600_000,
};

/** Puts the HTTP surface together from a Worker's environment. */

import { DirectCatalog } from '../catalog/direct.ts';
import { createBundledKernel } from '../columnar/bundled-kernel.ts';
import { KernelPool } from '../columnar/kernel-pool.ts';
import { INGEST_LIMITS } from '../ingest/limits.ts';
import { R2ObjectStore } from '../object-store/r2.ts';
import { createBodyDigest } from './body-digest.ts';
import type { Env } from './config.ts';
import { readSettings } from './config.ts';
import { readHttpSettings } from './http-settings.ts';
import { committerOf, shardOf } from './object-stubs.ts';
import { STREAM_KERNELS, WHOLE_BODY_KERNELS } from './kernel-budgets.ts';
import { createLogger, workerClock, workerRandom } from './platform.ts';
import type { AppServices } from './services.ts';
import { createZstdDecoder } from './zstd-decoder.ts';

/** @throws invalid `config.invalid` */
export function composeServices(env: Env): AppServices {
  const { bucketName, logLevel } = readSettings(env);
  const store = new R2ObjectStore(env.LAKE, bucketName);
  const logger = createLogger(logLevel);
  return {
    settings: readHttpSettings(env),
    limits: INGEST_LIMITS,
    catalog: new DirectCatalog({ store, clock: workerClock, logger }),
    kernels: new KernelPool(createBundledKernel, workerClock, WHOLE_BODY_KERNELS),
    streamKernels: new KernelPool(createBundledKernel, workerClock, STREAM_KERNELS),
    clock: workerClock,
    random: workerRandom,
    logger,
    shard: (identifier, shard) => shardOf(env, identifier, shard),
    committer: (identifier) => committerOf(env, identifier),
    createDigest: createBodyDigest,
    createZstdDecoder,
  };
}

/** What the HTTP surface works with. `compose.ts` makes it from a Worker's environment, tests by hand. */

import type { KernelLender } from '../columnar/kernel-port.ts';
import type { Catalog, Clock, Logger, RandomSource, TableIdentifier } from '../iceberg/ports.ts';
import type { BodyDigest } from '../ingest/ingest-batch.ts';
import type { ZstdFrameDecoder } from '../ingest/inflate-zstd.ts';
import type { IngestLimits } from '../ingest/limits.ts';
import type { IngestShardRpc, TableCommitterRpc } from '../table/protocol.ts';

export interface HttpSettings {
  /** Null when the secret `FLOE_TOKEN` is not set: then only a local run lets anybody in. */
  readonly token: string | null;
  readonly isLocal: boolean;
  /** Origins a browser may call from; `*` for every one. */
  readonly corsOrigins: readonly string[];
  /** Keys of the S3 endpoint the local runtime serves its bucket on; null when deployed. */
  readonly localS3: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

export interface AppServices {
  readonly settings: HttpSettings;
  readonly limits: IngestLimits;
  readonly catalog: Pick<Catalog, 'listNamespaces' | 'listTables'>;
  readonly kernels: KernelLender;
  readonly streamKernels: KernelLender;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly shard: (identifier: TableIdentifier, shard: number) => IngestShardRpc;
  readonly committer: (identifier: TableIdentifier) => TableCommitterRpc;
  readonly createDigest: () => BodyDigest;
  readonly createZstdDecoder: () => ZstdFrameDecoder;
}

/** One shard a table takes every batch for now; a batch id names its shard, so more may come. */
export const FIRST_SHARD = 0;

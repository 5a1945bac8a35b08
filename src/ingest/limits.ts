/** Every bound of the ingest path, in one place. `docs/http-api.md` states them. */

import type { DecodeLimits } from '../columnar/kernel-port.ts';
import type { InflateLimits } from './inflate.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

export interface IngestLimits extends DecodeLimits, InflateLimits {
  /** A request body as it is sent, compressed or not. */
  readonly bodyBytesMax: number;
  /** A decoded body up to this size is read whole before a kernel is borrowed for it. */
  readonly wholeBodyBytesMax: number;
  /** Bytes gathered before they are fed to the kernel. */
  readonly chunkBytes: number;
  /** The IPC bytes of one slice, which travel in one call between objects (32 MiB at most). */
  readonly sliceIpcBytesMax: number;
  /** A body that sends nothing for so long is given up. */
  readonly bodyIdleMsMax: number;
  /** How long `?wait=committed` waits before it answers `durable`. */
  readonly commitWaitMsMax: number;
  readonly errorsPerResponseMax: number;
  readonly idempotencyKeyCharsMax: number;
}

export const INGEST_LIMITS: IngestLimits = {
  bodyBytesMax: 100 * MIB,
  decodedBytesMax: 1024 * MIB,
  inflateRatioMax: 200,
  inflateRatioFreeBytes: 16 * MIB,
  wholeBodyBytesMax: 1 * MIB,
  chunkBytes: 256 * KIB,
  sliceBytes: 2 * MIB,
  rowBytesMax: 4 * MIB,
  // As long as the quarantine keeps it: a row that is cut cannot be sent again.
  rawBytesMax: 64 * KIB,
  sliceIpcBytesMax: 30 * MIB,
  bodyIdleMsMax: 30_000,
  commitWaitMsMax: 60_000,
  errorsPerResponseMax: 100,
  idempotencyKeyCharsMax: 256,
};

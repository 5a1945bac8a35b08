/** What an operation hands to the commit loop for one attempt. */

import type { TableRequirement } from '../spec/table-requirement.ts';
import type { TableUpdate } from '../spec/table-update.ts';

export interface StagedChange {
  readonly updates: readonly TableUpdate[];
  readonly requirements: readonly TableRequirement[];
  /** The snapshot this attempt adds; null for a change of metadata only. */
  readonly snapshotId: bigint | null;
  /** URIs of files only this attempt refers to: garbage once it is certain that it did not land. */
  readonly written: readonly string[];
}

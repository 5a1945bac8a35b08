/** The counts in a snapshot's summary. Spec: "Snapshot Summary" (optional fields, appendix F). */

import type { DataFile } from './data-file.ts';
import { partitionKey } from './partition-key.ts';
import type { Snapshot, SnapshotOperation, SnapshotSummary } from './snapshot.ts';

/** Key under which Floe keeps the id of a commit: how an uncertain commit is found again. */
export const COMMIT_ID_KEY = 'floe.commit-id';

/** What a commit adds and removes. */
export interface SummaryDelta {
  readonly addedFiles: readonly DataFile[];
  readonly removedFiles: readonly DataFile[];
}

interface FileTotals {
  readonly dataFiles: bigint;
  readonly deleteFiles: bigint;
  readonly records: bigint;
  readonly bytes: bigint;
  readonly positionDeletes: bigint;
  readonly equalityDeletes: bigint;
  readonly positionDeleteFiles: bigint;
  readonly equalityDeleteFiles: bigint;
}

/**
 * The summary of a new snapshot. A total is the parent's plus what is added minus what is removed;
 * when the parent's summary lacks it, it is left out, because readers trust totals. Deltas of zero
 * are left out.
 */
export function summarize(
  operation: SnapshotOperation,
  parent: Snapshot | null,
  delta: SummaryDelta,
  extra: ReadonlyMap<string, string>,
): SnapshotSummary {
  const added = totalsOf(delta.addedFiles);
  const removed = totalsOf(delta.removedFiles);
  const properties = new Map<string, string>();
  const put = (key: string, count: bigint): void => {
    if (count > 0n) properties.set(key, String(count));
  };
  put('added-data-files', added.dataFiles);
  put('deleted-data-files', removed.dataFiles);
  put('added-delete-files', added.deleteFiles);
  put('removed-delete-files', removed.deleteFiles);
  put('added-position-delete-files', added.positionDeleteFiles);
  put('removed-position-delete-files', removed.positionDeleteFiles);
  put('added-equality-delete-files', added.equalityDeleteFiles);
  put('removed-equality-delete-files', removed.equalityDeleteFiles);
  put('added-records', added.records);
  put('deleted-records', removed.records);
  put('added-files-size', added.bytes);
  put('removed-files-size', removed.bytes);
  put('added-position-deletes', added.positionDeletes);
  put('removed-position-deletes', removed.positionDeletes);
  put('added-equality-deletes', added.equalityDeletes);
  put('removed-equality-deletes', removed.equalityDeletes);
  properties.set(
    'changed-partition-count',
    String(changedPartitions([...delta.addedFiles, ...delta.removedFiles])),
  );
  const total = (key: string, plus: bigint, minus: bigint): void => {
    const previous = previousTotal(parent, key);
    if (previous === null) return;
    const sum = previous + plus - minus;
    // A parent that counted wrongly must not be carried on.
    if (sum >= 0n) properties.set(key, String(sum));
  };
  total('total-data-files', added.dataFiles, removed.dataFiles);
  total('total-delete-files', added.deleteFiles, removed.deleteFiles);
  total('total-records', added.records, removed.records);
  total('total-files-size', added.bytes, removed.bytes);
  total('total-position-deletes', added.positionDeletes, removed.positionDeletes);
  total('total-equality-deletes', added.equalityDeletes, removed.equalityDeletes);
  for (const [key, value] of extra) properties.set(key, value);
  return { operation, properties };
}

function previousTotal(parent: Snapshot | null, key: string): bigint | null {
  if (parent === null) return 0n;
  const text = parent.summary.properties.get(key);
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : null;
}

function totalsOf(files: readonly DataFile[]): FileTotals {
  const data = files.filter((file) => file.content === 'data');
  const position = files.filter((file) => file.content === 'position-deletes');
  const equality = files.filter((file) => file.content === 'equality-deletes');
  return {
    dataFiles: BigInt(data.length),
    deleteFiles: BigInt(position.length + equality.length),
    records: recordsOf(data),
    // Deletion vectors share a file; their own part of it is what counts.
    bytes: files.reduce((sum, file) => sum + (file.contentSizeInBytes ?? file.fileSizeInBytes), 0n),
    positionDeletes: recordsOf(position),
    equalityDeletes: recordsOf(equality),
    positionDeleteFiles: BigInt(position.length),
    equalityDeleteFiles: BigInt(equality.length),
  };
}

function recordsOf(files: readonly DataFile[]): bigint {
  return files.reduce((sum, file) => sum + file.recordCount, 0n);
}

function changedPartitions(files: readonly DataFile[]): number {
  return new Set(files.map(partitionKey)).size;
}

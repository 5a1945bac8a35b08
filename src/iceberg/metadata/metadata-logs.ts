/** The logs inside table metadata, and what expiring snapshots does to them. */

import { tableProperty, TABLE_PROPERTIES } from '../table-properties.ts';
import type { JsonValue } from '../json.ts';
import type { MetadataLogEntry, SnapshotLogEntry } from '../spec/snapshot.ts';
import { MAIN_BRANCH } from '../spec/table-metadata-json.ts';
import { findSnapshot } from '../spec/table-metadata-rules.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';

/**
 * The snapshot log after a commit: one entry when main moved. A snapshot added by this commit is
 * logged at its own time, a return to an older one at the time of the commit.
 */
export function updatedSnapshotLog(
  base: TableMetadata,
  updated: TableMetadata,
  addedSnapshotIds: ReadonlySet<bigint>,
  lastUpdatedMs: number,
): readonly SnapshotLogEntry[] {
  const snapshotId = updated.currentSnapshotId;
  if (snapshotId === null) return [];
  if (snapshotId === base.currentSnapshotId) return updated.snapshotLog;
  const snapshot = findSnapshot(updated, snapshotId);
  const timestampMs =
    snapshot !== null && addedSnapshotIds.has(snapshotId) ? snapshot.timestampMs : lastUpdatedMs;
  return [...updated.snapshotLog, { timestampMs, snapshotId }];
}

/** The metadata log with the previous file appended and the oldest entries dropped. */
export function trimmedMetadataLog(
  base: TableMetadata,
  updated: TableMetadata,
  previousMetadataLocation: string | null,
): readonly MetadataLogEntry[] {
  if (previousMetadataLocation === null) return updated.metadataLog;
  const entry = { timestampMs: base.lastUpdatedMs, metadataFile: previousMetadataLocation };
  const keep = Math.max(1, tableProperty(updated.properties, TABLE_PROPERTIES.previousVersionsMax));
  return [...updated.metadataLog, entry].slice(-keep);
}

/**
 * The metadata without these snapshots: also without their statistics, the refs that would dangle,
 * and the log entries up to the last one of them (an older entry could not be read any more).
 */
export function removeSnapshots(
  metadata: TableMetadata,
  removed: ReadonlySet<bigint>,
): TableMetadata {
  const refs = new Map([...metadata.refs].filter(([, ref]) => !removed.has(ref.snapshotId)));
  const lastRemoved = metadata.snapshotLog.findLastIndex((entry) => removed.has(entry.snapshotId));
  const isKept = (statistics: JsonValue): boolean => {
    const id = snapshotIdOf(statistics);
    return id === null || !removed.has(id);
  };
  return {
    ...metadata,
    snapshots: metadata.snapshots.filter((snapshot) => !removed.has(snapshot.snapshotId)),
    refs,
    currentSnapshotId: refs.get(MAIN_BRANCH)?.snapshotId ?? null,
    snapshotLog: metadata.snapshotLog.slice(lastRemoved + 1),
    statistics: metadata.statistics.filter(isKept),
    partitionStatistics: metadata.partitionStatistics.filter(isKept),
  };
}

function snapshotIdOf(statistics: JsonValue): bigint | null {
  if (typeof statistics !== 'object' || statistics === null || Array.isArray(statistics)) {
    return null;
  }
  const id = Object.entries(statistics).find(([key]) => key === 'snapshot-id')?.[1];
  if (typeof id === 'bigint') return id;
  return typeof id === 'number' && Number.isSafeInteger(id) ? BigInt(id) : null;
}

/** Table metadata as the JSON answers of `/tables`. */

import type { SnapshotBody, SnapshotListBody, TableBody } from '../api/tables.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import { serializePartitionSpec } from '../iceberg/spec/partition-spec-json.ts';
import { serializeSchema } from '../iceberg/spec/schema-json.ts';
import type { Snapshot } from '../iceberg/spec/snapshot.ts';
import { parseTableMetadata } from '../iceberg/spec/table-metadata-json.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';
import {
  currentSchema,
  currentSnapshot,
  defaultSpec,
} from '../iceberg/spec/table-metadata-rules.ts';
import type { ShardStatus, TableDocument } from '../table/protocol.ts';

export function describeTable(
  identifier: TableIdentifier,
  { metadataJson, metadataLocation }: TableDocument,
  status: ShardStatus,
): TableBody {
  const metadata = parseTableMetadata(metadataJson);
  const snapshot = currentSnapshot(metadata);
  return {
    namespace: identifier.namespace.join('.'),
    name: identifier.name,
    tableUuid: metadata.tableUuid,
    formatVersion: metadata.formatVersion,
    location: metadata.location,
    metadataLocation,
    schema: serializeSchema(currentSchema(metadata)),
    partitionSpec: serializePartitionSpec(defaultSpec(metadata)),
    properties: Object.fromEntries(metadata.properties),
    currentSnapshot: snapshot === null ? null : describeSnapshot(snapshot),
    totals: totalsOf(snapshot),
    pending: {
      rows: status.rowsPending,
      bytes: status.bytesPending,
      batches: status.batchesPending,
      oldestAtMs: status.oldestPendingMs,
    },
    quarantinedRows: status.rowsQuarantined,
  };
}

export function describeSnapshots(metadata: TableMetadata): SnapshotListBody {
  const { currentSnapshotId, snapshots } = metadata;
  return {
    currentSnapshotId: currentSnapshotId === null ? null : String(currentSnapshotId),
    snapshots: snapshots.map(describeSnapshot),
  };
}

function describeSnapshot(snapshot: Snapshot): SnapshotBody {
  const { parentSnapshotId, summary } = snapshot;
  return {
    snapshotId: String(snapshot.snapshotId),
    parentSnapshotId: parentSnapshotId === null ? null : String(parentSnapshotId),
    sequenceNumber: String(snapshot.sequenceNumber),
    timestampMs: snapshot.timestampMs,
    operation: summary.operation,
    schemaId: snapshot.schemaId,
    manifestList: snapshot.manifestList,
    summary: Object.fromEntries(summary.properties),
  };
}

/** A table without a snapshot has nothing; a summary may leave a total out. */
function totalsOf(snapshot: Snapshot | null): TableBody['totals'] {
  if (snapshot === null) return { rows: '0', dataFiles: '0', bytes: '0' };
  const { properties } = snapshot.summary;
  return {
    rows: properties.get('total-records') ?? null,
    dataFiles: properties.get('total-data-files') ?? null,
    bytes: properties.get('total-files-size') ?? null,
  };
}

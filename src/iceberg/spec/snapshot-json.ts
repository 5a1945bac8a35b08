/** Snapshots and refs in their JSON form. Spec: "Snapshots", "Snapshot References", appendix C. */

import { IcebergError } from '../errors.ts';
import type { JsonNode, JsonObject } from '../json.ts';
import { jsonFromMap, jsonInt64, jsonObject } from '../json.ts';
import type { Snapshot, SnapshotOperation, SnapshotRef, SnapshotSummary } from './snapshot.ts';

/** A snapshot of v1 has no sequence number and reads as 0. */
export function parseSnapshot(node: JsonNode): Snapshot {
  const manifestList = node.optional('manifest-list');
  if (manifestList === null && node.optional('manifests') !== null) {
    throw new IcebergError(
      'unsupported',
      'snapshot.embedded-manifests',
      `${node.path}: v1 snapshots that list their manifests in place are not supported`,
    );
  }
  const keyId = node.optional('key-id')?.string();
  return {
    snapshotId: node.member('snapshot-id').long(),
    parentSnapshotId: node.optional('parent-snapshot-id')?.long() ?? null,
    sequenceNumber: node.optional('sequence-number')?.long() ?? 0n,
    timestampMs: node.member('timestamp-ms').millis(),
    manifestList: node.member('manifest-list').string(),
    summary: parseSummary(node.optional('summary')),
    schemaId: node.optional('schema-id')?.int() ?? null,
    firstRowId: node.optional('first-row-id')?.long() ?? null,
    addedRows: node.optional('added-rows')?.long() ?? null,
    ...(keyId === undefined ? {} : { keyId }),
  };
}

export function serializeSnapshot(snapshot: Snapshot): JsonObject {
  const { parentSnapshotId, firstRowId, addedRows } = snapshot;
  return jsonObject({
    'snapshot-id': jsonInt64(snapshot.snapshotId),
    'parent-snapshot-id': parentSnapshotId === null ? undefined : jsonInt64(parentSnapshotId),
    'sequence-number': jsonInt64(snapshot.sequenceNumber),
    'timestamp-ms': snapshot.timestampMs,
    'manifest-list': snapshot.manifestList,
    summary: {
      operation: snapshot.summary.operation,
      ...jsonFromMap(snapshot.summary.properties),
    },
    'schema-id': snapshot.schemaId ?? undefined,
    'first-row-id': firstRowId === null ? undefined : jsonInt64(firstRowId),
    'added-rows': addedRows === null ? undefined : jsonInt64(addedRows),
    'key-id': snapshot.keyId,
  });
}

export function parseSnapshotRef(node: JsonNode): SnapshotRef {
  const type = node.member('type').string().toLowerCase();
  if (type !== 'branch' && type !== 'tag') {
    throw node.fail('ref.type', `a ref is a branch or a tag, not "${type}"`);
  }
  const minSnapshotsToKeep = node.optional('min-snapshots-to-keep')?.int();
  const maxSnapshotAgeMs = node.optional('max-snapshot-age-ms')?.long();
  const maxRefAgeMs = node.optional('max-ref-age-ms')?.long();
  return {
    snapshotId: node.member('snapshot-id').long(),
    type,
    ...(minSnapshotsToKeep === undefined ? {} : { minSnapshotsToKeep }),
    ...(maxSnapshotAgeMs === undefined ? {} : { maxSnapshotAgeMs }),
    ...(maxRefAgeMs === undefined ? {} : { maxRefAgeMs }),
  };
}

export function serializeSnapshotRef(ref: SnapshotRef): JsonObject {
  const { maxSnapshotAgeMs, maxRefAgeMs } = ref;
  return jsonObject({
    'snapshot-id': jsonInt64(ref.snapshotId),
    type: ref.type,
    'min-snapshots-to-keep': ref.minSnapshotsToKeep,
    'max-snapshot-age-ms': maxSnapshotAgeMs === undefined ? undefined : jsonInt64(maxSnapshotAgeMs),
    'max-ref-age-ms': maxRefAgeMs === undefined ? undefined : jsonInt64(maxRefAgeMs),
  });
}

function parseSummary(node: JsonNode | null): SnapshotSummary {
  if (node === null) return { operation: 'overwrite', properties: new Map() };
  const properties = node.stringMap();
  const operation = properties.get('operation');
  properties.delete('operation');
  // A missing operation reads as the one that promises least.
  if (operation === undefined) return { operation: 'overwrite', properties };
  if (!isOperation(operation)) {
    throw node.fail('snapshot.operation', `unknown operation "${operation}"`);
  }
  return { operation, properties };
}

function isOperation(text: string): text is SnapshotOperation {
  return text === 'append' || text === 'replace' || text === 'overwrite' || text === 'delete';
}

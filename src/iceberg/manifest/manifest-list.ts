/** Writes and reads manifest lists. Spec: "Manifest Lists". */

import type { AvroCodec } from '../avro/object-container-file.ts';
import { AvroRecord } from '../avro/avro-value.ts';
import { readContainer, writeContainer } from '../avro/object-container-file.ts';
import { IcebergError } from '../errors.ts';
import type { ManifestFile, PartitionFieldSummary } from '../spec/manifest-file.ts';
import {
  optionalBoolean,
  optionalBytes,
  optionalInt,
  optionalLong,
  optionalRecords,
  requiredInt,
  requiredLong,
  requiredText,
} from './avro-fields.ts';
import { manifestFileSchema } from './manifest-schema.ts';

export interface ManifestListOptions {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | null;
  readonly sequenceNumber: bigint;
  /** v3: the snapshot's first row id; null before. */
  readonly firstRowId: bigint | null;
  readonly formatVersion: 2 | 3;
  readonly codec: AvroCodec;
  readonly syncMarker: Uint8Array;
}

export async function writeManifestList(
  options: ManifestListOptions,
  manifests: readonly ManifestFile[],
): Promise<Uint8Array> {
  const metadata = new Map([
    ['snapshot-id', String(options.snapshotId)],
    ['parent-snapshot-id', String(options.parentSnapshotId)],
    ['sequence-number', String(options.sequenceNumber)],
    ['format-version', String(options.formatVersion)],
  ]);
  if (options.formatVersion === 3) metadata.set('first-row-id', String(options.firstRowId));
  return writeContainer(
    {
      schema: manifestFileSchema(options.formatVersion),
      metadata,
      codec: options.codec,
      syncMarker: options.syncMarker,
    },
    manifests.map(manifestRecord),
  );
}

/** @throws corrupt `manifest.*`, `avro.*` */
export async function readManifestList(bytes: Uint8Array): Promise<ManifestFile[]> {
  const manifests: ManifestFile[] = [];
  for await (const record of readContainer(bytes).records) {
    if (!(record instanceof AvroRecord)) {
      throw new IcebergError('corrupt', 'manifest.record', 'A manifest list holds something else');
    }
    manifests.push(readManifestFile(record));
  }
  return manifests;
}

function manifestRecord(manifest: ManifestFile): AvroRecord {
  return new AvroRecord()
    .set(500, 'manifest_path', manifest.manifestPath)
    .set(501, 'manifest_length', manifest.manifestLength)
    .set(502, 'partition_spec_id', manifest.partitionSpecId)
    .set(517, 'content', manifest.content === 'data' ? 0 : 1)
    .set(515, 'sequence_number', manifest.sequenceNumber)
    .set(516, 'min_sequence_number', manifest.minSequenceNumber)
    .set(503, 'added_snapshot_id', manifest.addedSnapshotId)
    .set(504, 'added_files_count', counted(manifest, manifest.addedFilesCount))
    .set(505, 'existing_files_count', counted(manifest, manifest.existingFilesCount))
    .set(506, 'deleted_files_count', counted(manifest, manifest.deletedFilesCount))
    .set(512, 'added_rows_count', counted(manifest, manifest.addedRowsCount))
    .set(513, 'existing_rows_count', counted(manifest, manifest.existingRowsCount))
    .set(514, 'deleted_rows_count', counted(manifest, manifest.deletedRowsCount))
    .set(507, 'partitions', manifest.partitions?.map(summaryRecord) ?? null)
    .set(519, 'key_metadata', manifest.keyMetadata)
    .set(520, 'first_row_id', manifest.firstRowId);
}

/** v1 lists may lack counts, which v2 requires: such a manifest must be rewritten, not guessed. */
function counted<T>(manifest: ManifestFile, count: T | null): T {
  if (count !== null) return count;
  throw new IcebergError(
    'unsupported',
    'manifest.counts-missing',
    `The list of version 1 does not count the files of ${manifest.manifestPath}`,
  );
}

function summaryRecord(summary: PartitionFieldSummary): AvroRecord {
  return new AvroRecord()
    .set(509, 'contains_null', summary.containsNull)
    .set(518, 'contains_nan', summary.containsNan)
    .set(510, 'lower_bound', summary.lowerBound)
    .set(511, 'upper_bound', summary.upperBound);
}

function readManifestFile(record: AvroRecord): ManifestFile {
  return {
    manifestPath: requiredText(record, 500, 'manifest_path'),
    manifestLength: requiredLong(record, 501, 'manifest_length'),
    partitionSpecId: requiredInt(record, 502, 'partition_spec_id'),
    content: optionalInt(record, 517, 'content') === 1 ? 'deletes' : 'data',
    sequenceNumber: optionalLong(record, 515, 'sequence_number') ?? 0n,
    minSequenceNumber: optionalLong(record, 516, 'min_sequence_number') ?? 0n,
    addedSnapshotId: requiredLong(record, 503, 'added_snapshot_id'),
    addedFilesCount: optionalInt(record, 504, 'added_files_count'),
    existingFilesCount: optionalInt(record, 505, 'existing_files_count'),
    deletedFilesCount: optionalInt(record, 506, 'deleted_files_count'),
    addedRowsCount: optionalLong(record, 512, 'added_rows_count'),
    existingRowsCount: optionalLong(record, 513, 'existing_rows_count'),
    deletedRowsCount: optionalLong(record, 514, 'deleted_rows_count'),
    partitions:
      optionalRecords(record, 507, 'partitions')?.map((summary) => ({
        containsNull: optionalBoolean(summary, 509, 'contains_null') ?? true,
        containsNan: optionalBoolean(summary, 518, 'contains_nan'),
        lowerBound: optionalBytes(summary, 510, 'lower_bound'),
        upperBound: optionalBytes(summary, 511, 'upper_bound'),
      })) ?? null,
    keyMetadata: optionalBytes(record, 519, 'key_metadata'),
    firstRowId: optionalLong(record, 520, 'first_row_id'),
  };
}

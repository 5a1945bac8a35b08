/** Writes one manifest: entries of one partition spec and one kind of content. */

import type { AvroCodec } from '../avro/object-container-file.ts';
import { writeContainer } from '../avro/object-container-file.ts';
import { AvroRecord } from '../avro/avro-value.ts';
import { assert } from '../errors.ts';
import { serializeJson } from '../json.ts';
import type { ManifestEntry, ManifestEntryStatus } from '../spec/manifest-entry.ts';
import type { ManifestContent, PartitionFieldSummary } from '../spec/manifest-file.ts';
import { serializePartitionFields } from '../spec/partition-spec-json.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import { serializeSchema } from '../spec/schema-json.ts';
import type { Schema } from '../spec/schema.ts';
import { partitionColumns } from '../spec/transform.ts';
import { dataFileRecord } from './data-file-avro.ts';
import { manifestEntrySchema } from './manifest-schema.ts';
import { partitionRecordSchema } from './partition-avro.ts';
import { summarizePartitions } from './partition-summary.ts';

const STATUS_CODES: Readonly<Record<ManifestEntryStatus, number>> = {
  existing: 0,
  added: 1,
  deleted: 2,
};

export interface ManifestOptions {
  readonly content: ManifestContent;
  /** Written into the header. */
  readonly schema: Schema;
  /** Where the sources of the partition fields are looked up, the newest first. */
  readonly schemas: readonly Schema[];
  readonly spec: PartitionSpec;
  readonly formatVersion: 2 | 3;
  readonly codec: AvroCodec;
  readonly syncMarker: Uint8Array;
}

/** The bytes of a manifest and what its row in the list says, as far as it does not depend on a commit. */
export interface WrittenManifest {
  readonly bytes: Uint8Array;
  readonly content: ManifestContent;
  readonly partitionSpecId: number;
  readonly addedFilesCount: number;
  readonly existingFilesCount: number;
  readonly deletedFilesCount: number;
  readonly addedRowsCount: bigint;
  readonly existingRowsCount: bigint;
  readonly deletedRowsCount: bigint;
  /** Lowest explicit number among live entries; null when all of them inherit theirs. */
  readonly minSequenceNumber: bigint | null;
  readonly partitions: readonly PartitionFieldSummary[];
}

export async function writeManifest(
  options: ManifestOptions,
  entries: readonly ManifestEntry[],
): Promise<WrittenManifest> {
  for (const entry of entries) checkEntry(entry, options);
  const columns = partitionColumns(options.spec, options.schemas);
  const records = function* (): Generator<AvroRecord> {
    for (const entry of entries) {
      yield new AvroRecord()
        .set(0, 'status', STATUS_CODES[entry.status])
        .set(1, 'snapshot_id', entry.snapshotId)
        .set(3, 'sequence_number', entry.sequenceNumber)
        .set(4, 'file_sequence_number', entry.fileSequenceNumber)
        .set(2, 'data_file', dataFileRecord(entry.dataFile, columns));
    }
  };
  const bytes = await writeContainer(
    {
      schema: manifestEntrySchema(partitionRecordSchema(columns), options.formatVersion),
      metadata: headerOf(options),
      codec: options.codec,
      syncMarker: options.syncMarker,
    },
    records(),
  );
  const live = entries.filter((entry) => entry.status !== 'deleted');
  return {
    bytes,
    content: options.content,
    partitionSpecId: options.spec.specId,
    addedFilesCount: countFiles(entries, 'added'),
    existingFilesCount: countFiles(entries, 'existing'),
    deletedFilesCount: countFiles(entries, 'deleted'),
    addedRowsCount: countRows(entries, 'added'),
    existingRowsCount: countRows(entries, 'existing'),
    deletedRowsCount: countRows(entries, 'deleted'),
    minSequenceNumber: lowest(live.map((entry) => entry.sequenceNumber)),
    partitions: summarizePartitions(
      columns,
      entries.map((entry) => entry.dataFile.partition),
    ),
  };
}

function headerOf(options: ManifestOptions): Map<string, string> {
  return new Map([
    ['schema', serializeJson(serializeSchema(options.schema))],
    ['schema-id', String(options.schema.schemaId)],
    ['partition-spec', serializeJson(serializePartitionFields(options.spec))],
    ['partition-spec-id', String(options.spec.specId)],
    ['format-version', String(options.formatVersion)],
    ['content', options.content],
  ]);
}

function checkEntry(entry: ManifestEntry, options: ManifestOptions): void {
  const { dataFile } = entry;
  assert(
    (dataFile.content === 'data') === (options.content === 'data'),
    'manifest.content',
    `A file of ${dataFile.content} does not belong into a manifest of ${options.content}`,
  );
  assert(
    dataFile.specId === options.spec.specId,
    'manifest.spec',
    `A file of spec ${dataFile.specId} does not belong into a manifest of spec ${options.spec.specId}`,
  );
  // Only an added entry may inherit: a carried one would get the numbers of the wrong commit, and
  // deletes would stop applying to it.
  const isExplicit =
    entry.snapshotId !== null && entry.sequenceNumber !== null && entry.fileSequenceNumber !== null;
  assert(
    entry.status === 'added' || isExplicit,
    'manifest.inherited-ids',
    'An existing or deleted entry needs its snapshot id and sequence numbers',
  );
}

function countFiles(entries: readonly ManifestEntry[], status: ManifestEntryStatus): number {
  return entries.filter((entry) => entry.status === status).length;
}

function countRows(entries: readonly ManifestEntry[], status: ManifestEntryStatus): bigint {
  return entries
    .filter((entry) => entry.status === status)
    .reduce((sum, entry) => sum + entry.dataFile.recordCount, 0n);
}

function lowest(numbers: readonly (bigint | null)[]): bigint | null {
  let min: bigint | null = null;
  for (const number of numbers) {
    if (number !== null && (min === null || number < min)) min = number;
  }
  return min;
}

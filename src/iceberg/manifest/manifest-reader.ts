/** Reads manifests of every format version and writer. Fields are resolved by id, not by order. */

import type { AvroType } from '../avro/avro-schema.ts';
import { AvroRecord } from '../avro/avro-value.ts';
import { readContainer } from '../avro/object-container-file.ts';
import { IcebergError } from '../errors.ts';
import { JsonNode, parseJson } from '../json.ts';
import type { ManifestEntry, ManifestEntryStatus } from '../spec/manifest-entry.ts';
import type { ManifestFile } from '../spec/manifest-file.ts';
import { parsePartitionFields } from '../spec/partition-spec-json.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import { optionalLong, requiredInt } from './avro-fields.ts';
import { readDataFile } from './data-file-avro.ts';

const STATUSES: readonly ManifestEntryStatus[] = ['existing', 'added', 'deleted'];

/** What the entries inherit from the manifest's row in the list. */
export type ManifestInheritance = Pick<
  ManifestFile,
  'addedSnapshotId' | 'sequenceNumber' | 'partitionSpecId' | 'firstRowId'
>;

/**
 * The entries of a manifest with everything inherited filled in (snapshot id, sequence numbers,
 * first row ids), so that a live entry can be carried into another manifest as it is.
 */
export async function* readManifest(
  bytes: Uint8Array,
  inheritance: ManifestInheritance,
): AsyncGenerator<ManifestEntry> {
  const { schema, metadata, records } = readContainer(bytes);
  const spec = specOf(metadata, inheritance.partitionSpecId);
  const partitionType = partitionTypeOf(schema);
  let nextRowId = inheritance.firstRowId;
  for await (const record of records) {
    if (!(record instanceof AvroRecord)) {
      throw new IcebergError('corrupt', 'manifest.record', 'A manifest holds something else');
    }
    const entry = readEntry(record, spec, partitionType, inheritance);
    const { dataFile } = entry;
    if (nextRowId !== null && dataFile.content === 'data' && dataFile.firstRowId === null) {
      yield { ...entry, dataFile: { ...dataFile, firstRowId: nextRowId } };
      nextRowId += dataFile.recordCount;
    } else {
      yield entry;
    }
  }
}

function readEntry(
  record: AvroRecord,
  spec: PartitionSpec,
  partitionType: AvroType | null,
  inheritance: ManifestInheritance,
): ManifestEntry {
  const status = STATUSES[requiredInt(record, 0, 'status')];
  if (status === undefined) {
    throw new IcebergError('corrupt', 'manifest.status', 'An entry has an unknown status');
  }
  const fileRecord = record.get(2, 'data_file');
  if (!(fileRecord instanceof AvroRecord)) {
    throw new IcebergError('corrupt', 'manifest.field-missing', 'An entry has no data file');
  }
  // Files of v1 have no numbers and read as 0; else only an added file may inherit.
  const inherited =
    inheritance.sequenceNumber === 0n || status === 'added' ? inheritance.sequenceNumber : null;
  const sequenceNumber = optionalLong(record, 3, 'sequence_number') ?? inherited;
  if (sequenceNumber === null) {
    throw new IcebergError(
      'corrupt',
      'manifest.sequence-number-missing',
      `An entry that is ${status} has no sequence number`,
    );
  }
  return {
    status,
    snapshotId: optionalLong(record, 1, 'snapshot_id') ?? inheritance.addedSnapshotId,
    sequenceNumber,
    fileSequenceNumber: optionalLong(record, 4, 'file_sequence_number') ?? inherited,
    dataFile: readDataFile(fileRecord, spec, partitionType),
  };
}

function specOf(metadata: ReadonlyMap<string, string>, specId: number): PartitionSpec {
  const text = metadata.get('partition-spec');
  if (text === undefined) {
    throw new IcebergError(
      'corrupt',
      'manifest.partition-spec-missing',
      'The header of a manifest has no partition spec',
    );
  }
  const node = new JsonNode(parseJson(text), 'partition-spec');
  return { specId, fields: parsePartitionFields(node) };
}

function partitionTypeOf(schema: AvroType): AvroType | null {
  const dataFile = fieldType(schema, 2, 'data_file');
  return dataFile === null ? null : fieldType(dataFile, 102, 'partition');
}

function fieldType(type: AvroType, id: number, name: string): AvroType | null {
  if (type.kind !== 'record') return null;
  const field =
    type.fields.find((one) => one.fieldId === id) ?? type.fields.find((one) => one.name === name);
  if (field === undefined) return null;
  if (field.type.kind !== 'union') return field.type;
  return field.type.branches.find((branch) => branch.kind !== 'null') ?? null;
}

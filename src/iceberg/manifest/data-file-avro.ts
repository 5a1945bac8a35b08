/** `DataFile` to and from the Avro record `r2`. */

import type { AvroType } from '../avro/avro-schema.ts';
import { AvroRecord } from '../avro/avro-value.ts';
import type { AvroValue } from '../avro/avro-value.ts';
import { IcebergError } from '../errors.ts';
import type { DataFile, FileContent } from '../spec/data-file.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import type { PartitionColumn } from '../spec/transform.ts';
import {
  longList,
  longMap,
  bytesMap,
  intList,
  optionalBytes,
  optionalInt,
  optionalLong,
  optionalText,
  requiredLong,
  requiredText,
} from './avro-fields.ts';
import { partitionRecord, readPartition } from './partition-avro.ts';

const CONTENTS: readonly FileContent[] = ['data', 'position-deletes', 'equality-deletes'];

export function dataFileRecord(file: DataFile, columns: readonly PartitionColumn[]): AvroRecord {
  return new AvroRecord()
    .set(134, 'content', CONTENTS.indexOf(file.content))
    .set(100, 'file_path', file.filePath)
    .set(101, 'file_format', file.fileFormat)
    .set(102, 'partition', partitionRecord(columns, file.partition))
    .set(103, 'record_count', file.recordCount)
    .set(104, 'file_size_in_bytes', file.fileSizeInBytes)
    .set(108, 'column_sizes', pairs(file.columnSizes, 117, 118))
    .set(109, 'value_counts', pairs(file.valueCounts, 119, 120))
    .set(110, 'null_value_counts', pairs(file.nullValueCounts, 121, 122))
    .set(137, 'nan_value_counts', pairs(file.nanValueCounts, 138, 139))
    .set(125, 'lower_bounds', pairs(file.lowerBounds, 126, 127))
    .set(128, 'upper_bounds', pairs(file.upperBounds, 129, 130))
    .set(131, 'key_metadata', file.keyMetadata)
    .set(132, 'split_offsets', file.splitOffsets.length === 0 ? null : file.splitOffsets)
    .set(135, 'equality_ids', file.equalityIds)
    .set(140, 'sort_order_id', file.sortOrderId)
    .set(142, 'first_row_id', file.firstRowId)
    .set(143, 'referenced_data_file', file.referencedDataFile)
    .set(144, 'content_offset', file.contentOffset)
    .set(145, 'content_size_in_bytes', file.contentSizeInBytes);
}

/** @throws corrupt `manifest.*` when a required field is missing or of another type */
export function readDataFile(
  record: AvroRecord,
  spec: PartitionSpec,
  partitionType: AvroType | null,
): DataFile {
  // v1 manifests have no content: everything in them is data.
  const content = CONTENTS[optionalInt(record, 134, 'content') ?? 0];
  if (content === undefined) {
    throw new IcebergError('corrupt', 'manifest.content', 'A file has an unknown content');
  }
  return {
    content,
    filePath: requiredText(record, 100, 'file_path'),
    fileFormat: requiredText(record, 101, 'file_format'),
    specId: spec.specId,
    partition: readPartition(spec, partitionType, record.get(102, 'partition')),
    recordCount: requiredLong(record, 103, 'record_count'),
    fileSizeInBytes: requiredLong(record, 104, 'file_size_in_bytes'),
    columnSizes: longMap(record, 108, 'column_sizes', 117, 118),
    valueCounts: longMap(record, 109, 'value_counts', 119, 120),
    nullValueCounts: longMap(record, 110, 'null_value_counts', 121, 122),
    nanValueCounts: longMap(record, 137, 'nan_value_counts', 138, 139),
    lowerBounds: bytesMap(record, 125, 'lower_bounds', 126, 127),
    upperBounds: bytesMap(record, 128, 'upper_bounds', 129, 130),
    keyMetadata: optionalBytes(record, 131, 'key_metadata'),
    splitOffsets: longList(record, 132, 'split_offsets') ?? [],
    equalityIds: intList(record, 135, 'equality_ids'),
    sortOrderId: optionalInt(record, 140, 'sort_order_id'),
    firstRowId: optionalLong(record, 142, 'first_row_id'),
    referencedDataFile: optionalText(record, 143, 'referenced_data_file'),
    contentOffset: optionalLong(record, 144, 'content_offset'),
    contentSizeInBytes: optionalLong(record, 145, 'content_size_in_bytes'),
  };
}

/** Null for an empty map: "not known" is what an absent statistic means. */
function pairs<V extends bigint | Uint8Array>(
  map: ReadonlyMap<number, V>,
  keyId: number,
  valueId: number,
): AvroValue {
  if (map.size === 0) return null;
  return [...map].map(([key, value]) =>
    new AvroRecord().set(keyId, 'key', key).set(valueId, 'value', value),
  );
}

/** The Avro schema of manifests with every field id. Spec: "Manifests", appendix A. */

import type { JsonObject, JsonValue } from '../json.ts';

/** Avro schema of `manifest_entry` around the given partition record; v3 adds its own fields. */
export function manifestEntrySchema(partition: JsonObject, formatVersion: 2 | 3): JsonObject {
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      required(0, 'status', 'int'),
      optional(1, 'snapshot_id', 'long'),
      optional(3, 'sequence_number', 'long'),
      optional(4, 'file_sequence_number', 'long'),
      required(2, 'data_file', dataFileSchema(partition, formatVersion)),
    ],
  };
}

function dataFileSchema(partition: JsonObject, formatVersion: 2 | 3): JsonObject {
  return {
    type: 'record',
    name: 'r2',
    fields: [
      required(134, 'content', 'int'),
      required(100, 'file_path', 'string'),
      required(101, 'file_format', 'string'),
      required(102, 'partition', partition),
      required(103, 'record_count', 'long'),
      required(104, 'file_size_in_bytes', 'long'),
      optional(108, 'column_sizes', intMap(117, 118, 'long')),
      optional(109, 'value_counts', intMap(119, 120, 'long')),
      optional(110, 'null_value_counts', intMap(121, 122, 'long')),
      optional(137, 'nan_value_counts', intMap(138, 139, 'long')),
      optional(125, 'lower_bounds', intMap(126, 127, 'bytes')),
      optional(128, 'upper_bounds', intMap(129, 130, 'bytes')),
      optional(131, 'key_metadata', 'bytes'),
      optional(132, 'split_offsets', list(133, 'long')),
      optional(135, 'equality_ids', list(136, 'int')),
      optional(140, 'sort_order_id', 'int'),
      ...(formatVersion === 3 ? [optional(142, 'first_row_id', 'long')] : []),
      optional(143, 'referenced_data_file', 'string'),
      ...(formatVersion === 3
        ? [optional(144, 'content_offset', 'long'), optional(145, 'content_size_in_bytes', 'long')]
        : []),
    ],
  };
}

/** Avro schema of `manifest_file`, the row of a manifest list. Spec: "Manifest Lists". */
export function manifestFileSchema(formatVersion: 2 | 3): JsonObject {
  return {
    type: 'record',
    name: 'manifest_file',
    fields: [
      required(500, 'manifest_path', 'string'),
      required(501, 'manifest_length', 'long'),
      required(502, 'partition_spec_id', 'int'),
      required(517, 'content', 'int'),
      required(515, 'sequence_number', 'long'),
      required(516, 'min_sequence_number', 'long'),
      required(503, 'added_snapshot_id', 'long'),
      required(504, 'added_files_count', 'int'),
      required(505, 'existing_files_count', 'int'),
      required(506, 'deleted_files_count', 'int'),
      required(512, 'added_rows_count', 'long'),
      required(513, 'existing_rows_count', 'long'),
      required(514, 'deleted_rows_count', 'long'),
      optional(507, 'partitions', list(508, FIELD_SUMMARY_SCHEMA)),
      optional(519, 'key_metadata', 'bytes'),
      ...(formatVersion === 3 ? [optional(520, 'first_row_id', 'long')] : []),
    ],
  };
}

const FIELD_SUMMARY_SCHEMA: JsonObject = {
  type: 'record',
  name: 'r508',
  fields: [
    required(509, 'contains_null', 'boolean'),
    optional(518, 'contains_nan', 'boolean'),
    optional(510, 'lower_bound', 'bytes'),
    optional(511, 'upper_bound', 'bytes'),
  ],
};

function required(id: number, name: string, type: JsonValue): JsonObject {
  return { name, type, 'field-id': id };
}

function optional(id: number, name: string, type: JsonValue): JsonObject {
  return { name, type: ['null', type], default: null, 'field-id': id };
}

function list(elementId: number, items: JsonValue): JsonObject {
  return { type: 'array', items, 'element-id': elementId };
}

/** Avro maps have text keys only: a map by field id is an array of pairs. */
function intMap(keyId: number, valueId: number, valueType: string): JsonObject {
  return {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${keyId}_v${valueId}`,
      fields: [required(keyId, 'key', 'int'), required(valueId, 'value', valueType)],
    },
  };
}

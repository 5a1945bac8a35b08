/** Partition specs in their JSON form. Spec: appendix C, "Partition Specs". */

import { IcebergError } from '../errors.ts';
import type { JsonNode, JsonObject } from '../json.ts';
import type { PartitionField, PartitionSpec } from './partition-spec.ts';

/** Ids of partition fields begin here. */
export const PARTITION_FIELD_ID_MIN = 1000;

export function parsePartitionSpec(node: JsonNode): PartitionSpec {
  return {
    specId: node.optional('spec-id')?.int() ?? 0,
    fields: parsePartitionFields(node.member('fields')),
  };
}

/** A list of fields alone: what v1 metadata and the headers of manifests hold. */
export function parsePartitionFields(list: JsonNode): PartitionField[] {
  return list.items().map((field, i) => {
    if (field.optional('source-ids') !== null && field.optional('source-id') === null) {
      throw new IcebergError(
        'unsupported',
        'partition-spec.multi-argument',
        `${field.path}: transforms of several columns are not supported`,
      );
    }
    return {
      sourceId: field.member('source-id').int(),
      // v1 files may lack the id; the spec then counts from 1000 in order.
      fieldId: field.optional('field-id')?.int() ?? PARTITION_FIELD_ID_MIN + i,
      name: field.member('name').string(),
      transform: parseTransformText(field.member('transform')),
    };
  });
}

export function serializePartitionSpec(spec: PartitionSpec): JsonObject {
  return { 'spec-id': spec.specId, fields: serializePartitionFields(spec) };
}

export function serializePartitionFields(spec: PartitionSpec): JsonObject[] {
  return spec.fields.map((field) => ({
    'source-id': field.sourceId,
    'field-id': field.fieldId,
    name: field.name,
    transform: field.transform,
  }));
}

/** Equal placement of rows, whatever the ids of spec and fields. */
export function samePartitioning(left: PartitionSpec, right: PartitionSpec): boolean {
  return (
    left.fields.length === right.fields.length &&
    left.fields.every((field, i) => {
      const other = right.fields[i];
      return (
        other !== undefined &&
        field.sourceId === other.sourceId &&
        field.name === other.name &&
        field.transform === other.transform
      );
    })
  );
}

/** Canonical text of a transform. A name not known here is kept: readers must ignore it (spec). */
export function parseTransformText(node: JsonNode): string {
  return node.string().trim().toLowerCase().replaceAll(/\s+/g, '');
}

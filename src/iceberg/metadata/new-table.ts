/** The metadata of a table that does not exist yet. */

import { IcebergError } from '../errors.ts';
import { stripTrailingSlashes } from '../location-provider.ts';
import { PARTITION_FIELD_ID_MIN } from '../spec/partition-spec-json.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import { UNPARTITIONED_SPEC } from '../spec/partition-spec.ts';
import type { InferredStruct } from '../spec/inferred-type.ts';
import type { Schema } from '../spec/schema.ts';
import type { SortOrder } from '../spec/sort-order.ts';
import { UNSORTED_ORDER } from '../spec/sort-order.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { checkTableProperties, FORMAT_VERSION_PROPERTY } from '../table-properties.ts';
import { assignFieldIds, FieldIdSource, reassignFieldIds } from './fresh-ids.ts';
import type { SchemaLimits } from './inferred-fields.ts';
import {
  checkColumnCount,
  checkTypeDepth,
  DEFAULT_SCHEMA_LIMITS,
  prunedFields,
} from './inferred-fields.ts';
import { checkPartitionSpec, checkSortOrder } from './layout-rules.ts';
import { checkSchema } from './schema-rules.ts';

export interface NewTable {
  readonly tableUuid: string;
  /** Full URI; trailing slashes are dropped. */
  readonly location: string;
  /** A schema with ids gets fresh ones: the caller's own are only good inside the request. */
  readonly schema: InferredStruct | Schema;
  /** Sources are ids of `schema`, which must then have them; ids of its fields are given anew. */
  readonly partitionSpec?: PartitionSpec | null;
  /** The same of the order rows are written in. */
  readonly sortOrder?: SortOrder | null;
  /** `format-version` among them chooses the version and is not kept. */
  readonly properties?: ReadonlyMap<string, string>;
  /** Goes before the property; 2 when neither is given. */
  readonly formatVersion?: 2 | 3;
  readonly nowMs: number;
  readonly limits?: SchemaLimits;
}

/**
 * A table without snapshots. `write.parquet.compression-codec=zstd` is kept in the properties as the
 * Java library does, since readers of old tables assume gzip.
 * @throws invalid as `unionByName`, `checkSchema`, `checkPartitionSpec`, `checkSortOrder` and
 * `checkTableProperties`; `property.invalid` for an impossible format version
 */
export function newTableMetadata(table: NewTable): TableMetadata {
  const limits = table.limits ?? DEFAULT_SCHEMA_LIMITS;
  const properties = new Map(table.properties);
  const formatVersion = table.formatVersion ?? requestedVersion(properties);
  properties.delete(FORMAT_VERSION_PROPERTY);
  checkTableProperties(properties);
  const ids = new FieldIdSource(0);
  const { schema, idMap } = schemaWithFreshIds(table.schema, ids, limits);
  checkColumnCount(schema, limits);
  for (const field of schema.fields) checkTypeDepth(field.type, 1, limits);
  checkSchema(schema, formatVersion);
  const spec = partitionSpecOf(table.partitionSpec ?? UNPARTITIONED_SPEC, idMap);
  checkPartitionSpec(spec, schema);
  const sortOrder = sortOrderOf(table.sortOrder ?? UNSORTED_ORDER, idMap);
  checkSortOrder(sortOrder, schema);
  return {
    formatVersion,
    tableUuid: table.tableUuid,
    location: stripTrailingSlashes(table.location),
    lastSequenceNumber: 0n,
    lastUpdatedMs: table.nowMs,
    lastColumnId: ids.lastColumnId,
    schemas: [schema],
    currentSchemaId: 0,
    partitionSpecs: [spec],
    defaultSpecId: spec.specId,
    lastPartitionId: PARTITION_FIELD_ID_MIN - 1 + spec.fields.length,
    sortOrders: [sortOrder],
    defaultSortOrderId: sortOrder.orderId,
    properties: new Map([['write.parquet.compression-codec', 'zstd'], ...properties]),
    currentSnapshotId: null,
    snapshots: [],
    snapshotLog: [],
    metadataLog: [],
    refs: new Map(),
    statistics: [],
    partitionStatistics: [],
    nextRowId: formatVersion === 3 ? 0n : null,
  };
}

function schemaWithFreshIds(
  schema: InferredStruct | Schema,
  ids: FieldIdSource,
  limits: SchemaLimits,
): { schema: Schema; idMap: ReadonlyMap<number, number> } {
  const idMap = new Map<number, number>();
  if ('type' in schema) {
    const fields = assignFieldIds(prunedFields(schema, limits), ids);
    return { schema: { schemaId: 0, fields, identifierFieldIds: [] }, idMap };
  }
  const fields = reassignFieldIds(schema.fields, ids, idMap);
  const identifierFieldIds = schema.identifierFieldIds.flatMap((id) => idMap.get(id) ?? []);
  return { schema: { schemaId: 0, fields, identifierFieldIds }, idMap };
}

function partitionSpecOf(
  requested: PartitionSpec,
  idMap: ReadonlyMap<number, number>,
): PartitionSpec {
  const fields = requested.fields.map((field, i) => ({
    ...field,
    fieldId: PARTITION_FIELD_ID_MIN + i,
    sourceId: freshId(field.sourceId, idMap, 'partition-spec.unknown-source'),
  }));
  return { specId: 0, fields };
}

/** Id 0 is the unsorted order, and only that. */
function sortOrderOf(requested: SortOrder, idMap: ReadonlyMap<number, number>): SortOrder {
  const fields = requested.fields.map((field) => ({
    ...field,
    sourceId: freshId(field.sourceId, idMap, 'sort-order.unknown-source'),
  }));
  return fields.length === 0 ? UNSORTED_ORDER : { orderId: 1, fields };
}

function freshId(id: number, idMap: ReadonlyMap<number, number>, code: string): number {
  const fresh = idMap.get(id);
  if (fresh !== undefined) return fresh;
  throw new IcebergError('invalid', code, `The declared schema has no column with id ${id}`);
}

function requestedVersion(properties: ReadonlyMap<string, string>): 2 | 3 {
  const text = properties.get(FORMAT_VERSION_PROPERTY) ?? '2';
  if (text === '2' || text === '3') return text === '2' ? 2 : 3;
  throw new IcebergError(
    'invalid',
    'property.invalid',
    `Table property "${FORMAT_VERSION_PROPERTY}" must be 2 or 3 for a new table, not "${text}"`,
    { context: { property: FORMAT_VERSION_PROPERTY } },
  );
}

/** The metadata of a table that does not exist yet. */

import { IcebergError } from '../errors.ts';
import { stripTrailingSlashes } from '../location-provider.ts';
import { PARTITION_FIELD_ID_MIN } from '../spec/partition-spec-json.ts';
import { UNPARTITIONED_SPEC } from '../spec/partition-spec.ts';
import type { InferredStruct } from '../spec/inferred-type.ts';
import type { Schema } from '../spec/schema.ts';
import { UNSORTED_ORDER } from '../spec/sort-order.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { assignFieldIds, FieldIdSource, reassignFieldIds } from './fresh-ids.ts';
import type { SchemaLimits } from './union-by-name.ts';
import { checkColumnCount, DEFAULT_SCHEMA_LIMITS, prunedFields } from './union-by-name.ts';

export interface NewTable {
  readonly tableUuid: string;
  /** Full URI; trailing slashes are dropped. */
  readonly location: string;
  /** A schema with ids gets fresh ones: the caller's own are only good inside the request. */
  readonly schema: InferredStruct | Schema;
  readonly properties?: ReadonlyMap<string, string>;
  readonly formatVersion?: 2 | 3;
  readonly nowMs: number;
  readonly limits?: SchemaLimits;
}

/**
 * An unpartitioned, unsorted table without snapshots. `write.parquet.compression-codec=zstd` is
 * kept in the properties as the Java library does, since readers of old tables assume gzip.
 * @throws invalid `schema.no-columns`, and as `unionByName`
 */
export function newTableMetadata(table: NewTable): TableMetadata {
  const limits = table.limits ?? DEFAULT_SCHEMA_LIMITS;
  const formatVersion = table.formatVersion ?? 2;
  const ids = new FieldIdSource(0);
  const schema = schemaWithFreshIds(table.schema, ids, limits);
  checkColumnCount(schema, limits);
  if (schema.fields.length === 0) {
    throw new IcebergError('invalid', 'schema.no-columns', 'A table needs at least one column');
  }
  return {
    formatVersion,
    tableUuid: table.tableUuid,
    location: stripTrailingSlashes(table.location),
    lastSequenceNumber: 0n,
    lastUpdatedMs: table.nowMs,
    lastColumnId: ids.lastColumnId,
    schemas: [schema],
    currentSchemaId: 0,
    partitionSpecs: [UNPARTITIONED_SPEC],
    defaultSpecId: UNPARTITIONED_SPEC.specId,
    lastPartitionId: PARTITION_FIELD_ID_MIN - 1,
    sortOrders: [UNSORTED_ORDER],
    defaultSortOrderId: UNSORTED_ORDER.orderId,
    properties: new Map([
      ['write.parquet.compression-codec', 'zstd'],
      ...(table.properties ?? new Map<string, string>()),
    ]),
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
): Schema {
  if ('type' in schema) {
    const fields = assignFieldIds(prunedFields(schema, limits), ids);
    return { schemaId: 0, fields, identifierFieldIds: [] };
  }
  const idMap = new Map<number, number>();
  const fields = reassignFieldIds(schema.fields, ids, idMap);
  const identifierFieldIds = schema.identifierFieldIds.flatMap((id) => idMap.get(id) ?? []);
  return { schemaId: 0, fields, identifierFieldIds };
}

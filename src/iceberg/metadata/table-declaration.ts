/**
 * What a caller declares of a table that does not exist yet: the body of the REST protocol's
 * `CreateTableRequest`. Field ids in it are only good inside the request; `newTableMetadata` gives
 * fresh ones. Source: Iceberg REST OpenAPI, `CreateTableRequest`.
 */

import type { JsonNode } from '../json.ts';
import { parsePartitionSpec } from '../spec/partition-spec-json.ts';
import type { PartitionSpec } from '../spec/partition-spec.ts';
import { parseSchema } from '../spec/schema-json.ts';
import type { Schema } from '../spec/schema.ts';
import { parseSortOrder } from '../spec/sort-order-json.ts';
import type { SortOrder } from '../spec/sort-order.ts';

export interface TableDeclaration {
  /** Null where the address of the request names the table. */
  readonly name: string | null;
  /** Null: the catalog chooses. */
  readonly location: string | null;
  readonly schema: Schema;
  readonly partitionSpec: PartitionSpec | null;
  readonly sortOrder: SortOrder | null;
  readonly properties: ReadonlyMap<string, string>;
  /** Prepare the metadata, but create nothing yet. */
  readonly stageCreate: boolean;
}

/** @throws the node's kind for a body of another shape */
export function parseTableDeclaration(node: JsonNode): TableDeclaration {
  const partitionSpec = node.optional('partition-spec');
  const sortOrder = node.optional('write-order');
  return {
    name: node.optional('name')?.string() ?? null,
    location: node.optional('location')?.string() ?? null,
    schema: parseSchema(node.member('schema')),
    partitionSpec: partitionSpec === null ? null : parsePartitionSpec(partitionSpec),
    sortOrder: sortOrder === null ? null : parseSortOrder(sortOrder),
    properties: node.optional('properties')?.stringMap() ?? new Map(),
    stageCreate: node.optional('stage-create')?.boolean() ?? false,
  };
}

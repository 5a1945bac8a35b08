/**
 * Partition evolution: the next spec from the current one. Files keep the spec they were written
 * under; only new files follow the new one. Pure. Spec: "Partition Evolution".
 */

import { IcebergError, unreachable } from '../errors.ts';
import type { JsonNode } from '../json.ts';
import { foldedName } from '../metadata/column-names.ts';
import { checkPartitionSpec, clashesWithColumn } from '../metadata/layout-rules.ts';
import type { ColumnPath } from '../metadata/schema-editor.ts';
import { findColumn } from '../metadata/schema-editor.ts';
import { parseTransformText, samePartitioning } from '../spec/partition-spec-json.ts';
import type { PartitionField, PartitionSpec } from '../spec/partition-spec.ts';
import type { Schema } from '../spec/schema.ts';
import type { TableMetadata } from '../spec/table-metadata.ts';
import { currentSchema, defaultSpec } from '../spec/table-metadata-rules.ts';
import type { TableRequirement } from '../spec/table-requirement.ts';
import type { TableUpdate } from '../spec/table-update.ts';
import { parseTransform } from '../spec/transform.ts';

export type PartitionChange =
  | {
      readonly action: 'add';
      /** Of the source column. */
      readonly path: ColumnPath;
      /** Canonical text. */
      readonly transform: string;
      /** Made of column and transform, and of a number if that is taken, when left out. */
      readonly name?: string;
    }
  | { readonly action: 'remove'; readonly name: string }
  | { readonly action: 'rename'; readonly name: string; readonly newName: string };

export interface LayoutChange {
  readonly updates: readonly TableUpdate[];
  readonly requirements: readonly TableRequirement[];
}

export interface PartitionSpecUpdate {
  /** The spec as it would be; a catalog gives the id. */
  readonly spec: PartitionSpec;
  /** What to commit; null when the spec stays the same. */
  readonly change: LayoutChange | null;
}

/**
 * Applies the changes in order. A field that any spec of the table had before, of the same source and
 * transform, gets its old id and name again; other ids are above the last one given.
 * @throws invalid `partition-spec.*` as `checkPartitionSpec`, `partition-spec.unknown-field`;
 * `schema.unknown-column`
 */
export function updatePartitionSpec(
  metadata: TableMetadata,
  changes: readonly PartitionChange[],
): PartitionSpecUpdate {
  const base = defaultSpec(metadata);
  const draft = new SpecDraft(metadata, base);
  for (const change of changes) draft.apply(change);
  const spec: PartitionSpec = { specId: base.specId, fields: draft.fields };
  checkPartitionSpec(spec, currentSchema(metadata));
  if (samePartitioning(spec, base)) return { spec: base, change: null };
  const change: LayoutChange = {
    updates: [
      { action: 'add-spec', spec },
      { action: 'set-default-spec', specId: -1 },
    ],
    requirements: [
      { type: 'assert-table-uuid', uuid: metadata.tableUuid },
      // A column that was dropped meanwhile must not become a source.
      { type: 'assert-current-schema-id', currentSchemaId: metadata.currentSchemaId },
      {
        type: 'assert-last-assigned-partition-id',
        lastAssignedPartitionId: metadata.lastPartitionId,
      },
      { type: 'assert-default-spec-id', defaultSpecId: metadata.defaultSpecId },
    ],
  };
  return { spec, change };
}

/** `{"action":"add","path":["ts"],"transform":"day","name":"d"}`, `remove`, `rename` with `new-name`. */
export function parsePartitionChange(node: JsonNode): PartitionChange {
  const action = node.member('action').string();
  switch (action) {
    case 'add': {
      const name = node.optional('name')?.string();
      return {
        action,
        path: node
          .member('path')
          .items()
          .map((part) => part.string()),
        transform: parseTransformText(node.member('transform')),
        ...(name === undefined ? {} : { name }),
      };
    }
    case 'remove':
      return { action, name: node.member('name').string() };
    case 'rename':
      return {
        action,
        name: node.member('name').string(),
        newName: node.member('new-name').string(),
      };
    default:
      throw node.fail('partition-spec.unknown-action', `unknown change "${action}"`);
  }
}

class SpecDraft {
  readonly #metadata: TableMetadata;
  readonly #schema: Schema;
  #fields: readonly PartitionField[];
  #lastPartitionId: number;

  constructor(metadata: TableMetadata, base: PartitionSpec) {
    this.#metadata = metadata;
    this.#schema = currentSchema(metadata);
    this.#fields = base.fields;
    this.#lastPartitionId = metadata.lastPartitionId;
  }

  get fields(): readonly PartitionField[] {
    return this.#fields;
  }

  apply(change: PartitionChange): void {
    switch (change.action) {
      case 'add':
        this.#add(change);
        return;
      case 'remove': {
        const removed = this.#find(change.name);
        // Version 1 identifies fields by position, which must not shift.
        this.#fields =
          this.#metadata.formatVersion === 1
            ? this.#replace(removed, { ...removed, transform: 'void' })
            : this.#fields.filter((field) => field !== removed);
        return;
      }
      case 'rename': {
        const renamed = this.#find(change.name);
        this.#fields = this.#replace(renamed, { ...renamed, name: change.newName });
        return;
      }
      default:
        unreachable(change);
    }
  }

  #add(change: PartitionChange & { action: 'add' }): void {
    const { path, transform } = change;
    const sourceId = findColumn(this.#schema.fields, path).id;
    const earlier = this.#earlierField(sourceId, transform);
    const fieldId = earlier?.fieldId ?? this.#nextId();
    const field: PartitionField = { sourceId, fieldId, name: '', transform };
    const name =
      change.name ?? this.#freeName(field, earlier?.name ?? generatedName(path, transform));
    this.#releaseVoidName(name);
    this.#fields = [...this.#fields, { ...field, name }];
  }

  /** Not in version 1, whose ids are positions. */
  #earlierField(sourceId: number, transform: string): PartitionField | null {
    if (this.#metadata.formatVersion === 1) return null;
    const inUse = new Set(this.#fields.map((field) => field.fieldId));
    const fields = this.#metadata.partitionSpecs.flatMap((spec) => spec.fields);
    return (
      fields.findLast(
        (field) =>
          field.sourceId === sourceId && field.transform === transform && !inUse.has(field.fieldId),
      ) ?? null
    );
  }

  #nextId(): number {
    this.#lastPartitionId += 1;
    return this.#lastPartitionId;
  }

  #freeName(field: PartitionField, wanted: string): string {
    const taken = new Set(
      this.#fields.filter((one) => one.transform !== 'void').map((one) => foldedName(one.name)),
    );
    let name = wanted;
    for (let i = 2; ; i += 1) {
      const isFree =
        !taken.has(foldedName(name)) && !clashesWithColumn({ ...field, name }, this.#schema);
      if (isFree) return name;
      name = `${wanted}_${i}`;
    }
  }

  /** What a void field is called matters to nobody: the name goes to the field that has a meaning. */
  #releaseVoidName(name: string): void {
    this.#fields = this.#fields.map((field) =>
      field.transform === 'void' && foldedName(field.name) === foldedName(name)
        ? { ...field, name: `${field.name}_${field.fieldId}` }
        : field,
    );
  }

  #find(name: string): PartitionField {
    const field =
      this.#fields.find((one) => one.name === name) ??
      this.#fields.find((one) => foldedName(one.name) === foldedName(name));
    if (field !== undefined) return field;
    throw new IcebergError(
      'invalid',
      'partition-spec.unknown-field',
      `The table has no partition field "${name}"`,
    );
  }

  #replace(field: PartitionField, by: PartitionField): PartitionField[] {
    return this.#fields.map((one) => (one === field ? by : one));
  }
}

/** As the Java library names them: `ts_day`, `id_bucket_16`, `zip_trunc_3`, and the column alone. */
function generatedName(path: ColumnPath, transformText: string): string {
  const column = path.join('.');
  const transform = parseTransform(transformText);
  switch (transform?.kind) {
    case 'bucket':
      return `${column}_bucket_${transform.bucketCount}`;
    case 'truncate':
      return `${column}_trunc_${transform.width}`;
    case 'void':
      return `${column}_null`;
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return `${column}_${transform.kind}`;
    case 'identity':
    case undefined:
      return column;
  }
}

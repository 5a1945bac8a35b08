/** Tables, files and a catalog in memory for the tests of the table format. */

import { applyUpdates } from '../../../src/iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../../../src/iceberg/metadata/check-requirements.ts';
import { newTableMetadata } from '../../../src/iceberg/metadata/new-table.ts';
import type {
  Catalog,
  Clock,
  CommitOutcome,
  CommitRequest,
  LoadedTable,
  TableIdentifier,
} from '../../../src/iceberg/ports.ts';
import type { DataFile } from '../../../src/iceberg/spec/data-file.ts';
import type { InferredStruct } from '../../../src/iceberg/spec/inferred-type.ts';
import type { Snapshot } from '../../../src/iceberg/spec/snapshot.ts';
import {
  parseTableMetadata,
  serializeTableMetadata,
} from '../../../src/iceberg/spec/table-metadata-json.ts';
import type { TableMetadata } from '../../../src/iceberg/spec/table-metadata.ts';

export const TABLE: TableIdentifier = { namespace: ['sales'], name: 'orders' };
export const TABLE_UUID = '2c5f0c1e-8a3b-4d5e-9f60-718293a4b5c6';
export const LOCATION = 's3://lake/sales.db/orders';
export const NOW_MS = 1_780_000_000_000;
/** Beyond 2^53, where a double loses the last digits. */
export const BIG_ID = 7_393_143_700_390_627_738n;

export function struct(...fields: [string, InferredStruct['fields'][number]['type']][]) {
  return {
    type: 'struct',
    fields: fields.map(([name, type]) => ({ name, type })),
  } satisfies InferredStruct;
}

export function makeTable(changes: Partial<TableMetadata> = {}): TableMetadata {
  const metadata = newTableMetadata({
    tableUuid: TABLE_UUID,
    location: LOCATION,
    schema: struct(['id', 'long'], ['name', 'string']),
    nowMs: NOW_MS,
  });
  return { ...metadata, ...changes };
}

export function makeSnapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    snapshotId: BIG_ID,
    parentSnapshotId: null,
    sequenceNumber: 1n,
    timestampMs: NOW_MS + 1,
    manifestList: `${LOCATION}/metadata/snap-1.avro`,
    summary: { operation: 'append', properties: new Map() },
    schemaId: 0,
    firstRowId: null,
    addedRows: null,
    ...changes,
  };
}

export function makeDataFile(changes: Partial<DataFile> = {}): DataFile {
  return {
    content: 'data',
    filePath: `${LOCATION}/data/a.parquet`,
    fileFormat: 'PARQUET',
    specId: 0,
    partition: [],
    recordCount: 3n,
    fileSizeInBytes: 1234n,
    columnSizes: new Map([
      [1, 40n],
      [2, 50n],
    ]),
    valueCounts: new Map([
      [1, 3n],
      [2, 3n],
    ]),
    nullValueCounts: new Map([
      [1, 0n],
      [2, 1n],
    ]),
    nanValueCounts: new Map(),
    lowerBounds: new Map([
      [1, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)],
      [2, Uint8Array.of(97)],
    ]),
    upperBounds: new Map([
      [1, Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0)],
      [2, Uint8Array.of(122)],
    ]),
    splitOffsets: [4n],
    keyMetadata: null,
    equalityIds: null,
    sortOrderId: null,
    firstRowId: null,
    referencedDataFile: null,
    contentOffset: null,
    contentSizeInBytes: null,
    ...changes,
  };
}

/** What a scripted commit does instead of what was asked. */
export type Script =
  /** Somebody else commits `metadata` first. */
  | { readonly kind: 'conflict'; readonly metadata?: TableMetadata }
  /** The answer is lost; the commit landed, or it did not. */
  | { readonly kind: 'lost'; readonly landed: boolean };

/** A catalog of one table, kept as text so that every commit passes through the JSON form. */
export class ScriptedCatalog implements Catalog {
  readonly requests: CommitRequest[] = [];
  readonly script: Script[] = [];
  readonly #clock: Pick<Clock, 'nowMs'>;
  #text: string;
  #version = 1;

  constructor(metadata: TableMetadata, clock: Pick<Clock, 'nowMs'>) {
    this.#text = serializeTableMetadata(metadata);
    this.#clock = clock;
  }

  get table(): LoadedTable {
    return {
      metadata: parseTableMetadata(this.#text),
      metadataLocation: `${LOCATION}/metadata/v${this.#version}.metadata.json`,
    };
  }

  replace(metadata: TableMetadata): void {
    this.#text = serializeTableMetadata(metadata);
    this.#version += 1;
  }

  loadTable(): Promise<LoadedTable> {
    return Promise.resolve(this.table);
  }

  commitTable(request: CommitRequest): Promise<CommitOutcome> {
    this.requests.push(request);
    const next = this.script.shift();
    if (next?.kind === 'conflict') {
      if (next.metadata !== undefined) this.replace(next.metadata);
      return Promise.resolve({ status: 'conflict', message: 'scripted' });
    }
    if (next?.kind === 'lost') {
      if (next.landed) this.#apply(request);
      return Promise.resolve({ status: 'unknown', cause: new Error('the answer was lost') });
    }
    return Promise.resolve(this.#apply(request));
  }

  #apply(request: CommitRequest): CommitOutcome {
    const { metadata, metadataLocation } = this.table;
    const problem = checkRequirements(metadata, request.requirements);
    if (problem !== null) return { status: 'conflict', message: problem };
    this.replace(
      applyUpdates(metadata, request.updates, {
        nowMs: this.#clock.nowMs(),
        previousMetadataLocation: metadataLocation,
      }),
    );
    return { status: 'committed', table: this.table };
  }

  createTable(): Promise<LoadedTable> {
    return Promise.reject(new Error('not scripted'));
  }

  dropTable(): Promise<void> {
    return Promise.reject(new Error('not scripted'));
  }

  listNamespaces(): Promise<string[][]> {
    return Promise.resolve([[...TABLE.namespace]]);
  }

  listTables(): Promise<TableIdentifier[]> {
    return Promise.resolve([TABLE]);
  }

  newTableLocation(): string {
    return LOCATION;
  }
}

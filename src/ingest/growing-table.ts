/** The table as one request sees it: it may not exist yet, and follows the rows by its schema policy. */

import type { BodyDecoder, BodyFormat, DecodedSlice } from '../columnar/kernel-port.ts';
import { IcebergError, isIcebergError } from '../iceberg/errors.ts';
import { foldedName } from '../iceberg/metadata/column-names.ts';
import type { SchemaPolicy, SchemaUnion } from '../iceberg/metadata/union-by-name.ts';
import { unionByName } from '../iceberg/metadata/union-by-name.ts';
import type { RandomSource, TableIdentifier } from '../iceberg/ports.ts';
import { highestFieldId } from '../iceberg/spec/data-types.ts';
import type { InferredField, InferredStruct, InferredType } from '../iceberg/spec/inferred-type.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import type { BatchSlice, TableCommitterRpc, TableState } from '../table/protocol.ts';
import { fromOutcome } from '../table/protocol.ts';
import { DEFAULT_SCHEMA_RULES } from '../table/schema-rules.ts';
import { kernelPathText } from './column-text.ts';
import type { IngestLimits } from './limits.ts';
import { strictSchema } from './strict-schema.ts';

const EMPTY_SCHEMA: Schema = { schemaId: 0, fields: [], identifierFieldIds: [] };

/** Adding the missing columns must leave nothing unknown; more rounds would hide a defect. */
const SCHEMA_ROUNDS_MAX = 3;

/** Bodies whose columns have one type from end to end. */
const COLUMNAR_FORMATS: ReadonlySet<string> = new Set(['arrow-stream', 'arrow-file', 'parquet']);

export interface GrowthRequest {
  readonly identifier: TableIdentifier;
  readonly format: BodyFormat;
  readonly onError: 'quarantine' | 'reject';
  /** Null: what the table's properties say. */
  readonly schemaPolicy: SchemaPolicy | null;
}

export interface GrowthPorts {
  readonly committer: TableCommitterRpc;
  readonly random: RandomSource;
}

export class GrowingTable {
  readonly #request: GrowthRequest;
  readonly #ports: GrowthPorts;
  readonly #limits: IngestLimits;
  #state: TableState | null = null;
  #newColumns = 0;

  constructor(request: GrowthRequest, ports: GrowthPorts, limits: IngestLimits) {
    this.#request = request;
    this.#ports = ports;
    this.#limits = limits;
  }

  async load(): Promise<void> {
    const { identifier } = this.#request;
    this.#state = fromOutcome(await this.#ports.committer.tableState(identifier));
  }

  /**
   * The decoder's ready slice under a schema that has all its columns; null without rows.
   * @throws invalid `rows.rejected`, `schema.*`; not-found `table.not-found` under `strict`
   */
  async decode(decoder: BodyDecoder): Promise<BatchSlice | null> {
    let decoded = await this.#decodeFirst(decoder);
    let arrived = withWider(decoded.unknown, this.#widerColumns(decoder, decoded));
    for (let round = 0; arrived !== null; round += 1) {
      if (this.#policy === 'strict') {
        decoded = this.#decodeStrictly(decoder, arrived);
        break;
      }
      if (round === SCHEMA_ROUNDS_MAX) {
        throw new IcebergError(
          'internal',
          'ingest.schema-unsettled',
          'The table was given the missing columns and the rows still have unknown ones.',
        );
      }
      const provisional = this.#provisional(arrived);
      if (!provisional.changed) {
        // No promotion is legal: what was rejected stays so.
        if (decoded.unknown === null) break;
        throw untypedColumns(decoded.unknown);
      }
      await this.#grow(decoder, arrived, provisional);
      decoded = this.#decodeOnce(decoder, this.#schema);
      arrived = decoded.unknown;
    }
    this.#refuseRejected(decoded);
    if (decoded.rowsReceived === 0) return null;
    if (this.#state === null) throw emptySchema(decoded);
    const { ipc, rowsReceived, rowsAccepted, rejected } = decoded;
    const { tableUuid, schema } = this.#state;
    return { schemaId: schema.schemaId, tableUuid, ipc, rowsReceived, rowsAccepted, rejected };
  }

  get #schema(): Schema {
    return this.#state?.schema ?? EMPTY_SCHEMA;
  }

  get #policy(): SchemaPolicy {
    return this.#request.schemaPolicy ?? (this.#state?.rules ?? DEFAULT_SCHEMA_RULES).policy;
  }

  /** The schema as this request alone would have it. @throws invalid `schema.*` */
  #provisional(arrived: InferredStruct): SchemaUnion {
    const { limits } = this.#state?.rules ?? DEFAULT_SCHEMA_RULES;
    const schema = this.#schema;
    const rules = { policy: this.#policy, limits };
    return unionByName(schema, arrived, highestFieldId(schema), rules);
  }

  async #grow(
    decoder: BodyDecoder,
    arrived: InferredStruct,
    provisional: SchemaUnion,
  ): Promise<void> {
    const { identifier, onError, schemaPolicy } = this.#request;
    const { newColumnsMax } = this.#state?.rules ?? DEFAULT_SCHEMA_RULES;
    this.#newColumns += provisional.lastColumnId - highestFieldId(this.#schema);
    if (this.#newColumns > newColumnsMax) {
      throw new IcebergError(
        'invalid',
        'schema.too-many-new-columns',
        `The request brings ${this.#newColumns} new columns, nested ones included; the table takes ${newColumnsMax} at once`,
        { context: { limit: newColumnsMax, count: this.#newColumns } },
      );
    }
    // Whether the new columns' own values fit is only seen under a schema that has them. A request
    // that will be refused must not leave columns, or a table, behind.
    if (onError === 'reject') this.#refuseRejected(decoder.decode(provisional.schema));
    const { committer } = this.#ports;
    this.#state = fromOutcome(await committer.ensureSchema(identifier, arrived, schemaPolicy));
  }

  #decodeStrictly(decoder: BodyDecoder, unknown: InferredStruct): DecodedSlice {
    if (this.#state === null) {
      throw new IcebergError(
        'not-found',
        'table.not-found',
        'There is no such table, and under the schema policy "strict" rows do not make one.',
      );
    }
    if (COLUMNAR_FORMATS.has(this.#request.format)) throw unknownColumns(this.#schema, unknown);
    const strict = strictSchema(this.#schema, unknown, this.#ports.random.uuid());
    const decoded = this.#decodeOnce(decoder, strict.schema);
    return { ...decoded, rejected: strict.explain(decoded.rejected) };
  }

  /** A columnar body of another type is refused whole, unless `widen` makes its columns fit. */
  async #decodeFirst(decoder: BodyDecoder): Promise<DecodedSlice> {
    try {
      return this.#decodeOnce(decoder, this.#schema);
    } catch (error) {
      const isWidening = this.#policy === 'widen' && this.#state !== null;
      const isMismatch = isIcebergError(error) && error.code === 'arrow.type-mismatch';
      const arrived = isWidening && isMismatch ? decoder.decode(EMPTY_SCHEMA).unknown : null;
      const provisional = arrived === null ? null : this.#provisional(arrived);
      if (arrived === null || provisional?.changed !== true) throw error;
      // Another column may be of a type that nothing makes fit: then this one is not touched.
      decoder.decode(provisional.schema);
      await this.#grow(decoder, arrived, provisional);
      return this.#decodeOnce(decoder, this.#schema);
    }
  }

  /** Under `widen` what rejected rows hold in the columns they were rejected for. */
  #widerColumns(decoder: BodyDecoder, decoded: DecodedSlice): InferredStruct | null {
    if (this.#policy !== 'widen' || this.#state === null) return null;
    if (decoded.rejected.length === 0) return null;
    const columns = new Set(decoded.rejected.map(({ column }) => foldedName(column)));
    const all = decoder.decode(EMPTY_SCHEMA).unknown;
    return all === null ? null : onlyColumns(all, columns, []);
  }

  #decodeOnce(decoder: BodyDecoder, schema: Schema): DecodedSlice {
    const decoded = decoder.decode(schema);
    const ipcBytesMax = this.#limits.sliceIpcBytesMax;
    if (decoded.ipc !== null && decoded.ipc.byteLength > ipcBytesMax) {
      throw new IcebergError(
        'too-large',
        'body.slice-too-large',
        'So many rows with so few bytes each do not fit one step: send the body in smaller parts.',
        { context: { bytes: decoded.ipc.byteLength, bytesMax: ipcBytesMax } },
      );
    }
    return decoded;
  }

  #refuseRejected({ rejected }: DecodedSlice): void {
    const [first] = rejected;
    if (this.#request.onError !== 'reject' || first === undefined) return;
    const { row, column, code } = first;
    throw new IcebergError(
      'invalid',
      'rows.rejected',
      `Row ${row}, column "${column}": ${first.message}; nothing of the request was kept (on-error=reject).`,
      { context: { row, column, reason: code, rowsRejected: rejected.length } },
    );
  }
}

/** A column that is declared as `unknown` holds nulls, until a policy or somebody gives it a type. */
function untypedColumns({ fields }: InferredStruct): IcebergError {
  const names = fields.map(({ name }) => kernelPathText([name])).join(', ');
  return new IcebergError(
    'invalid',
    'schema.untyped-column',
    `The type of column ${names.slice(0, 500)} is "unknown": widen it, or send the rows with schema-policy=widen`,
    { context: { columns: names.slice(0, 500) } },
  );
}

function unknownColumns(schema: Schema, unknown: InferredStruct): IcebergError {
  const { missingColumns } = unionByName(schema, unknown, 0, { policy: 'strict' });
  const names = missingColumns.map(kernelPathText).join(', ');
  return new IcebergError(
    'invalid',
    'schema.unknown-columns',
    `The table has no column ${names.slice(0, 500)}, and its schema policy is strict`,
    { context: { columns: names.slice(0, 500), count: missingColumns.length } },
  );
}

/** Only what leads to one of the columns; null when nothing does. */
function onlyColumns(
  struct: InferredStruct,
  columns: ReadonlySet<string>,
  parent: readonly string[],
): InferredStruct | null {
  const fields = struct.fields.flatMap(({ name, type }): InferredField[] => {
    const kept = onlyType(type, columns, [...parent, name]);
    return kept === null ? [] : [{ name, type: kept }];
  });
  return fields.length === 0 ? null : { type: 'struct', fields };
}

function onlyType(
  type: InferredType,
  columns: ReadonlySet<string>,
  path: readonly string[],
): InferredType | null {
  if (columns.has(foldedName(kernelPathText(path)))) return type;
  if (typeof type === 'string') return null;
  switch (type.type) {
    case 'struct':
      return onlyColumns(type, columns, path);
    case 'list': {
      const element = onlyType(type.element, columns, [...path, 'element']);
      return element === null ? null : { type: 'list', element };
    }
    case 'map': {
      const value = onlyType(type.value, columns, [...path, 'value']);
      return value === null ? null : { type: 'map', key: type.key, value };
    }
  }
}

/** A union takes a column in two parts as well as in one. */
function withWider(
  unknown: InferredStruct | null,
  wider: InferredStruct | null,
): InferredStruct | null {
  if (unknown === null || wider === null) return unknown ?? wider;
  return { type: 'struct', fields: [...unknown.fields, ...wider.fields] };
}

function emptySchema(decoded: DecodedSlice): IcebergError {
  const first = decoded.rejected[0];
  return new IcebergError(
    'invalid',
    'schema.empty',
    'The table does not exist, and no row has a value to make its first column of (only nulls, {} and []).',
    {
      context: {
        rows: decoded.rowsReceived,
        rowsRejected: decoded.rejected.length,
        firstError: first === undefined ? null : `row ${first.row}: ${first.message}`,
      },
    },
  );
}

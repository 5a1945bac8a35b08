/** What the routes of a table read from a request, and the table they are about. */

import type { Context } from 'hono';
import { IcebergError } from '../iceberg/errors.ts';
import type { SchemaPolicy } from '../iceberg/metadata/union-by-name.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import { parseTableIdentifier } from '../ingest/names.ts';
import type { TableDocument } from '../table/protocol.ts';
import { fromOutcome } from '../table/protocol.ts';
import { rescueNotYet } from '../table/schema-rules.ts';
import type { AppServices } from './services.ts';

/** The table's metadata file. @throws not-found `table.not-found` */
export async function loadTable(
  services: AppServices,
  identifier: TableIdentifier,
): Promise<TableDocument> {
  const document = fromOutcome(await services.committer(identifier).loadTable(identifier));
  if (document !== null) return document;
  const label = labelOf(identifier);
  throw new IcebergError('not-found', 'table.not-found', `There is no table ${label}.`, {
    context: { table: label },
  });
}

/** @throws invalid `name.invalid` */
export function identifierOf(context: Context): TableIdentifier {
  const { namespace, table } = context.req.param();
  return parseTableIdentifier(namespace ?? '', table ?? '');
}

export function labelOf(identifier: TableIdentifier): string {
  return [...identifier.namespace, identifier.name].join('.');
}

/** A whole number of the query; `missing` when it is left out. @throws invalid */
export function integerOf(
  context: Context,
  name: string,
  missing: number,
  min: number,
  max: number,
): number {
  const text = context.req.query(name);
  if (text === undefined) return missing;
  const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  throw new IcebergError(
    'invalid',
    'request.invalid-parameter',
    `The parameter "${name}" must be a whole number from ${min} to ${max}.`,
    { context: { parameter: name } },
  );
}

/** A value of the query; the first choice when it is left out. @throws invalid */
export function oneOf<Choice extends string>(
  text: string | undefined,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  if (text === undefined) return choices[0];
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new IcebergError(
    'invalid',
    'request.invalid-parameter',
    `The parameter "${name}" must be one of: ${choices.join(', ')}.`,
    { context: { parameter: name } },
  );
}

/** Null: what the table's properties say. @throws invalid; unsupported `schema.rescue-not-yet` */
export function schemaPolicyOf(context: Context): SchemaPolicy | null {
  const text = context.req.query('schema-policy');
  if (text === undefined) return null;
  if (text === 'rescue') throw rescueNotYet();
  return oneOf<SchemaPolicy>(text, 'schema-policy', ['strict', 'add', 'widen']);
}

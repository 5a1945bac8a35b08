/**
 * The reading half of the Iceberg REST catalog protocol at `/iceberg`: enough for an engine to find
 * and load every table. The metadata passes through as the text of its file, because a 64-bit id
 * would lose digits on the way through `JSON.parse`.
 *
 * Source: the `rest-catalog-open-api.yaml` of Apache Iceberg.
 */

import type { Context, Handler } from 'hono';
import { Hono } from 'hono';
import { IcebergError, isIcebergError } from '../../iceberg/errors.ts';
import type { TableIdentifier } from '../../iceberg/ports.ts';
import {
  parseTableMetadata,
  serializeTableMetadata,
} from '../../iceberg/spec/table-metadata-json.ts';
import { parseTableIdentifier } from '../../ingest/names.ts';
import type { TableDocument } from '../../table/protocol.ts';
import { fromOutcome } from '../../table/protocol.ts';
import { toErrorAnswer } from '../http-error.ts';
import { methodNotAllowed } from '../middleware/method-not-allowed.ts';
import { requireToken } from '../middleware/require-token.ts';
import type { AppServices } from '../services.ts';
import { isOurFault, logUnexpected } from '../telemetry.ts';

const ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics',
];

/** Where the local Workers runtime serves its buckets over the S3 protocol. */
const LOCAL_S3_PATH = '/cdn-cgi/local/r2/s3';
/** The local endpoint takes any region; this is the one R2 uses. */
const LOCAL_S3_REGION = 'auto';

export function icebergCatalogRoutes(services: AppServices): Hono {
  const app = new Hono();
  app.onError((error) => {
    if (isOurFault(error)) logUnexpected(services.logger, error);
    return catalogErrorResponse(error);
  });
  app.use(requireToken(services.settings));

  app.get('/v1/config', (context) =>
    context.json({ defaults: {}, overrides: {}, endpoints: ENDPOINTS }),
  );
  app.get('/v1/namespaces', async (context) => {
    const parent = context.req.query('parent') ?? '';
    if (parent !== '') {
      await requireNamespace(services, parent);
      return context.json({ namespaces: [] });
    }
    return context.json({ namespaces: await services.catalog.listNamespaces() });
  });
  app.get('/v1/namespaces/:namespace', async (context) => {
    const namespace = await requireNamespace(services, context.req.param('namespace'));
    if (context.req.method === 'HEAD') return context.body(null, 204);
    return context.json({ namespace: [namespace], properties: {} });
  });
  app.get('/v1/namespaces/:namespace/tables', async (context) => {
    const namespace = await requireNamespace(services, context.req.param('namespace'));
    const identifiers = await services.catalog.listTables([namespace]);
    return context.json({
      identifiers: identifiers.map(({ namespace: levels, name }) => ({ namespace: levels, name })),
    });
  });
  app.get('/v1/namespaces/:namespace/tables/:table', (context) => loadTable(context, services));
  app.post('/v1/namespaces/:namespace/tables/:table/metrics', async (context) => {
    // Engines report how a scan went; nothing here needs it, but refusing would make them warn.
    await context.req.raw.body?.cancel();
    return context.body(null, 204);
  });

  for (const path of [
    '/v1/namespaces',
    '/v1/namespaces/:namespace',
    '/v1/namespaces/:namespace/properties',
    '/v1/namespaces/:namespace/tables',
    '/v1/namespaces/:namespace/tables/:table',
    '/v1/namespaces/:namespace/register',
    '/v1/tables/rename',
    '/v1/transactions/commit',
  ]) {
    app.on(['POST', 'DELETE', 'PUT'], path, readOnly);
  }
  app.all('/v1/config', methodNotAllowed('GET', 'HEAD'));
  app.all('*', () => {
    throw new IcebergError(
      'not-found',
      'request.no-such-path',
      'This catalog has no such path; GET /iceberg/v1/config lists those it has.',
    );
  });
  return app;
}

const readOnly: Handler = () => {
  throw new IcebergError(
    'unsupported',
    'catalog.read-only',
    'This catalog can be read; tables are written by POST /ingest/{namespace}/{table}.',
  );
};

async function loadTable(context: Context, services: AppServices): Promise<Response> {
  const { namespace, table } = context.req.param();
  const identifier = tableIdentifier(namespace ?? '', table ?? '');
  const document = fromOutcome(await services.committer(identifier).loadTable(identifier));
  if (document === null) throw noSuchTable(identifier);
  if (context.req.method === 'HEAD') return context.body(null, 204);
  // A metadata file never changes, so its address is as good as a hash of it.
  const etag = `"${encodeURI(document.metadataLocation)}"`;
  if (context.req.header('if-none-match') === etag) return context.body(null, 304, { etag });
  const onlyReferenced = context.req.query('snapshots') === 'refs';
  const config = tableConfig(context, services);
  const text =
    `{"metadata-location":${JSON.stringify(document.metadataLocation)},` +
    `"metadata":${metadataText(document, onlyReferenced)},"config":${JSON.stringify(config)}}`;
  return context.body(text, 200, { 'content-type': 'application/json', etag });
}

function metadataText(document: TableDocument, onlyReferenced: boolean): string {
  if (!onlyReferenced) return document.metadataJson;
  const metadata = parseTableMetadata(document.metadataJson);
  const referenced = new Set([...metadata.refs.values()].map(({ snapshotId }) => snapshotId));
  const snapshots = metadata.snapshots.filter(({ snapshotId }) => referenced.has(snapshotId));
  // The log may name only snapshots that are listed.
  const snapshotLog = metadata.snapshotLog.filter(({ snapshotId }) => referenced.has(snapshotId));
  return serializeTableMetadata({ ...metadata, snapshots, snapshotLog });
}

/** What an engine needs to read the files. A deployed bucket is read with the engine's own keys. */
function tableConfig(context: Context, services: AppServices): Record<string, string> {
  const { localS3 } = services.settings;
  if (localS3 === null) return {};
  return {
    's3.endpoint': new URL(context.req.url).origin + LOCAL_S3_PATH,
    's3.access-key-id': localS3.accessKeyId,
    's3.secret-access-key': localS3.secretAccessKey,
    's3.path-style-access': 'true',
    's3.region': LOCAL_S3_REGION,
    'client.region': LOCAL_S3_REGION,
  };
}

async function requireNamespace(services: AppServices, namespace: string): Promise<string> {
  const namespaces = await services.catalog.listNamespaces();
  if (namespaces.some((levels) => levels.length === 1 && levels[0] === namespace)) return namespace;
  throw new IcebergError(
    'not-found',
    'namespace.not-found',
    `There is no namespace ${namespace.slice(0, 128)}.`,
  );
}

/** A name that no table can have is a table that is not there. */
function tableIdentifier(namespace: string, table: string): TableIdentifier {
  try {
    return parseTableIdentifier(namespace, table);
  } catch (error) {
    if (isIcebergError(error, 'invalid'))
      throw noSuchTable({ namespace: [namespace], name: table });
    throw error;
  }
}

function noSuchTable({ namespace, name }: TableIdentifier): IcebergError {
  const label = [...namespace, name].join('.').slice(0, 260);
  return new IcebergError('not-found', 'table.not-found', `There is no table ${label}.`);
}

/** The protocol's own error shape, and its names for what clients act upon. */
function catalogErrorResponse(error: unknown): Response {
  const { status, headers, error: body } = toErrorAnswer(error);
  const code = body.kind === 'unsupported' ? 406 : status;
  const type = TYPE_BY_CODE.get(body.code) ?? TYPE_BY_STATUS.get(code) ?? 'InternalServerError';
  return Response.json({ error: { message: body.message, type, code } }, { status: code, headers });
}

const TYPE_BY_CODE: ReadonlyMap<string, string> = new Map([
  ['namespace.not-found', 'NoSuchNamespaceException'],
  ['table.not-found', 'NoSuchTableException'],
]);

const TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequestException'],
  [401, 'NotAuthorizedException'],
  [404, 'NotFoundException'],
  [405, 'BadRequestException'],
  [406, 'UnsupportedOperationException'],
  [429, 'SlowDownException'],
  [503, 'ServiceUnavailableException'],
]);

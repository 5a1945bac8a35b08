import { describe, expect, it } from 'vitest';
import { INGEST_LIMITS } from '../../../src/ingest/limits.ts';
import { createApp } from '../../../src/worker/app.ts';
import type { AppServices, HttpSettings } from '../../../src/worker/services.ts';
import { createZstdDecoder } from '../../../src/worker/zstd-decoder.ts';
import { FakeKernels } from '../ingest/fake-kernel.ts';
import { FakeCommitter, FakeShard } from '../ingest/fake-objects.ts';

const TOKEN = 'correct-horse-battery-staple';
const BIG = '9007199254740993001';
const METADATA = `{"format-version":2,"table-uuid":"7d5f2c3e-0000-4000-8000-000000000001",
"location":"s3://floe-lake/a.db/b","last-sequence-number":2,"last-updated-ms":1780000002000,
"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":
[{"id":1,"name":"n","required":false,"type":"long"}]}],"default-spec-id":0,
"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,"default-sort-order-id":0,
"sort-orders":[{"order-id":0,"fields":[]}],"properties":{"owner":"me"},
"current-snapshot-id":${BIG},"refs":{"main":{"snapshot-id":${BIG},"type":"branch"}},
"snapshots":[{"snapshot-id":17,"sequence-number":1,"timestamp-ms":1780000001000,"schema-id":0,
"manifest-list":"s3://floe-lake/a.db/b/metadata/snap-17.avro","summary":{"operation":"append"}},
{"snapshot-id":${BIG},"parent-snapshot-id":17,"sequence-number":2,"timestamp-ms":1780000002000,
"schema-id":0,"manifest-list":"s3://floe-lake/a.db/b/metadata/snap-2.avro","summary":{"operation":
"append","total-records":"5","total-data-files":"2","total-files-size":"900"}}],
"snapshot-log":[{"timestamp-ms":1780000001000,"snapshot-id":17},
{"timestamp-ms":1780000002000,"snapshot-id":${BIG}}],"metadata-log":[]}`;

function makeApp(settings: Partial<HttpSettings> = {}) {
  const shard = new FakeShard();
  const committer = new FakeCommitter(['n']);
  const lines: string[] = [];
  const log = (event: string, fields: object = {}): void => {
    lines.push(`${event} ${JSON.stringify(fields)}`);
  };
  const services: AppServices = {
    settings: { token: TOKEN, isLocal: false, corsOrigins: [], localS3: null, ...settings },
    limits: INGEST_LIMITS,
    catalog: {
      listNamespaces: async () => [['a'], ['empty']],
      listTables: async (levels) => (levels[0] === 'a' ? [{ namespace: ['a'], name: 'b' }] : []),
    },
    kernels: new FakeKernels(),
    streamKernels: new FakeKernels(),
    clock: { nowMs: () => 0, sleep: async () => undefined },
    random: {
      uuid: () => '00000000-0000-4000-8000-000000000001',
      int63: () => 1n,
      fraction: () => 0,
    },
    logger: { debug: log, info: log, warn: log, error: log },
    shard: () => shard,
    committer: () => committer,
    createDigest: () => ({ update: async () => undefined, hex: async () => 'digest' }),
    createZstdDecoder,
  };
  const app = createApp(services);
  const call = async (path: string, init: RequestInit & { anonymous?: boolean } = {}) => {
    const headers = new Headers(init.headers);
    if (init.anonymous !== true) headers.set('authorization', `Bearer ${TOKEN}`);
    const response = await app.request(`http://floe.test${path}`, { ...init, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    call(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-ndjson', ...headers },
    });
  return { call, post, shard, committer, lines };
}

const errorOf = (text: string): { code: string } => JSON.parse(text).error;

describe('the door', () => {
  it('stays shut in a deployment without a token, and says what opens it', async () => {
    const { call } = makeApp({ token: null });
    for (const path of ['/tables', '/ingest/a/b', '/batches/x', '/iceberg/v1/config']) {
      const { status, text } = await call(path);
      expect([path, status]).toEqual([path, 503]);
      expect(text).toContain('npx wrangler secret put FLOE_TOKEN');
    }
    expect((await call('/healthz')).status).toBe(200);
    expect((await call('/')).text).toContain('npx wrangler secret put FLOE_TOKEN');
  });

  it('asks for the token, and names neither it nor what was sent', async () => {
    const { call, lines } = makeApp();
    const wrong = [
      undefined,
      'Bearer',
      'Bearer wrong-secret',
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
    ];
    for (const path of ['/tables', '/iceberg/v1/config']) {
      for (const header of wrong) {
        const headers = header === undefined ? {} : { authorization: header };
        const response = await call(path, { anonymous: true, headers });
        expect([header, response.status]).toEqual([header, 401]);
        expect(response.headers.get('www-authenticate')).toContain('Bearer');
        expect(response.text).not.toContain(TOKEN);
        expect(response.text).not.toContain('wrong-secret');
      }
      expect((await call(path)).status).toBe(200);
    }
    expect(lines.join()).not.toContain(TOKEN);
    expect(lines.join()).not.toContain('wrong-secret');
  });

  it('is open in a local run without a token, and shut with one', async () => {
    const open = makeApp({ token: null, isLocal: true });
    expect((await open.call('/tables', { anonymous: true })).status).toBe(200);
    const shut = makeApp({ isLocal: true });
    expect((await shut.call('/tables', { anonymous: true })).status).toBe(401);
  });
});

describe('a table of another writer', () => {
  it('keeps every digit of a default value', async () => {
    const { call, committer } = makeApp();
    committer.metadataJson = METADATA.replace('"format-version":2', '"format-version":3')
      .replace('"type":"long"', `"type":"long","initial-default":${BIG}`)
      .replace('"properties"', '"next-row-id":5,"properties"');
    for (const path of ['/tables/a/b', '/tables/a/b/schema']) {
      expect((await call(path)).text).toContain(`"initial-default":${BIG}`);
    }
  });
});

describe('paths and methods', () => {
  it.each([
    ['GET', '/nowhere', 404, 'request.no-such-path'],
    ['GET', '/ingest/a', 404, 'request.no-such-path'],
    ['GET', '/ingest/a/b', 405, 'request.method-not-allowed'],
    ['PUT', '/tables', 405, 'request.method-not-allowed'],
    ['DELETE', '/tables/a/b/snapshots', 405, 'request.method-not-allowed'],
    ['POST', '/healthz', 405, 'request.method-not-allowed'],
    ['GET', '/tables/a/b.c', 400, 'name.invalid'],
    ['GET', '/tables/a/missing', 404, 'table.not-found'],
    ['GET', '/tables/a/missing/quarantine', 404, 'table.not-found'],
    ['POST', '/tables/a/missing/flush', 404, 'table.not-found'],
    ['DELETE', '/tables/a/missing', 404, 'table.not-found'],
    ['GET', '/batches/nonsense', 400, 'batch.invalid-id'],
    ['GET', '/batches/a.b.0.00000000-0000-4000-8000-000000000009', 404, 'batch.not-found'],
  ])('%s %s answers %i %s', async (method, path, status, code) => {
    const response = await makeApp().call(path, { method });
    expect([response.status, errorOf(response.text).code]).toEqual([status, code]);
    expect(response.headers.get('content-type')).toContain('application/json');
    if (status === 405) expect(response.headers.get('allow')).toContain('OPTIONS');
  });

  it('answers HEAD like GET, without a body', async () => {
    const { status, text } = await makeApp().call('/tables', { method: 'HEAD' });
    expect([status, text]).toEqual([200, '']);
  });

  it('lets browsers in from the origins that are named, and from no other', async () => {
    const { call } = makeApp({ corsOrigins: ['https://app.example'] });
    const ask = (origin: string) =>
      call('/ingest/a/b', {
        method: 'OPTIONS',
        anonymous: true,
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await ask('https://app.example');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
    const refused = await ask('https://evil.example');
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('POST /ingest', () => {
  it('answers what the contract says', async () => {
    const { post } = makeApp();
    const { status, text } = await post('/ingest/a/b', '{"n":1}\n{"n":"bad"}\n{"n":3}');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      batch: 'a.b.0.00000000-0000-4000-8000-000000000001',
      status: 'durable',
      rows: { received: 3, accepted: 2, quarantined: 1 },
      snapshotId: null,
      errors: [{ row: 1, column: 'n', code: 'value.type-mismatch', message: 'not a number' }],
    });
  });

  it('waits for the commit when asked, and gives the id as exact text', async () => {
    const { post, shard } = makeApp();
    const { text } = await post('/ingest/a/b?wait=committed', '{"n":1}');
    expect(JSON.parse(text)).toMatchObject({
      status: 'committed',
      snapshotId: '8214400127550012345',
    });
    await post('/ingest/a/b?wait=committed', '');
    expect(shard.calls.filter((call) => call === 'wait')).toHaveLength(1);
  });

  it.each([
    ['/ingest/a/b?wait=never', {}, 400, 'request.invalid-parameter'],
    ['/ingest/a/b?on-error=ignore', {}, 400, 'request.invalid-parameter'],
    ['/ingest/a/b', { 'content-type': 'text/plain' }, 415, 'body.unsupported-type'],
    ['/ingest/a/b', { 'content-encoding': 'br' }, 415, 'body.unsupported-encoding'],
    ['/ingest/a/b', { 'content-length': '104857601' }, 413, 'body.too-large'],
    ['/ingest/a/b', { 'idempotency-key': 'x'.repeat(257) }, 400, 'idempotency.invalid-key'],
    ['/ingest/a.b/c', {}, 400, 'name.invalid'],
  ])('%s with %o answers %i %s', async (path, headers, status, code) => {
    const response = await makeApp().post(path, '{"n":1}', headers);
    expect([response.status, errorOf(response.text).code]).toEqual([status, code]);
  });

  it('names line and column of malformed JSON, and the row that made it refuse', async () => {
    const malformed = await makeApp().post('/ingest/a/b', '{"n":1}\n{"n"');
    expect(malformed.status).toBe(400);
    expect(errorOf(malformed.text)).toMatchObject({
      code: 'json.malformed',
      context: { line: 2, column: 1 },
    });
    const rejected = await makeApp().post('/ingest/a/b?on-error=reject', '{"n":"bad"}');
    expect(rejected.status).toBe(422);
    expect(errorOf(rejected.text)).toMatchObject({ code: 'rows.rejected', context: { row: 0 } });
  });

  it('hides the cause of what nobody foresaw from the caller, not from the log', async () => {
    const { post, shard, lines } = makeApp();
    shard.acceptBatch = async () => {
      throw new Error('inner detail');
    };
    const { status, text } = await post('/ingest/a/b', '{"n":1}');
    expect([status, errorOf(text).code]).toEqual([500, 'internal.unexpected']);
    expect(text).not.toContain('inner detail');
    expect(lines.join()).toContain('inner detail');
  });
});

describe('/tables', () => {
  it('lists and describes tables with exact ids', async () => {
    const { call, committer } = makeApp();
    committer.metadataJson = METADATA;
    expect(JSON.parse((await call('/tables')).text)).toEqual({
      tables: [{ namespace: 'a', name: 'b' }],
    });
    expect(JSON.parse((await call('/tables/a/b')).text)).toMatchObject({
      namespace: 'a',
      name: 'b',
      location: 's3://floe-lake/a.db/b',
      properties: { owner: 'me' },
      schema: { fields: [{ id: 1, name: 'n', type: 'long' }] },
      currentSnapshot: { snapshotId: BIG, parentSnapshotId: '17', operation: 'append' },
      totals: { rows: '5', dataFiles: '2', bytes: '900' },
      pending: { rows: 2, bytes: 20, batches: 1, oldestAtMs: 7 },
      quarantinedRows: 1,
    });
    const snapshots = JSON.parse((await call('/tables/a/b/snapshots')).text);
    expect(snapshots.currentSnapshotId).toBe(BIG);
    expect(snapshots.snapshots.map((s: { snapshotId: string }) => s.snapshotId)).toEqual([
      '17',
      BIG,
    ]);
  });

  it('pages through the quarantine, flushes and drops', async () => {
    const { call, committer } = makeApp();
    committer.metadataJson = METADATA;
    const page = JSON.parse((await call('/tables/a/b/quarantine?after=41&limit=7')).text);
    expect(page).toMatchObject({
      rows: [{ id: 42, column: 'n', raw: '{}' }],
      total: 7,
      next: null,
    });
    expect((await call('/tables/a/b/quarantine?limit=1001')).status).toBe(400);
    expect((await call('/tables/a/b/quarantine?after=-1')).status).toBe(400);
    const flushed = await call('/tables/a/b/flush', { method: 'POST' });
    expect(JSON.parse(flushed.text)).toMatchObject({ rows: 3, snapshotId: '8214400127550012345' });
    expect((await call('/tables/a/b', { method: 'DELETE' })).status).toBe(204);
    expect(committer.dropped).toBe(1);
  });
});

describe('/', () => {
  it('shows lines that name this Worker and not the token', async () => {
    const { text, headers } = await makeApp().call('/', { anonymous: true });
    expect(text).toContain('http://floe.test/ingest/demo/events');
    expect(text).toContain('http://floe.test/iceberg');
    expect(text).not.toContain(TOKEN);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('/iceberg', () => {
  const loaded = (settings: Partial<HttpSettings> = {}) => {
    const run = makeApp(settings);
    run.committer.metadataJson = METADATA;
    return run;
  };

  it('lists what it serves and serves what it lists', async () => {
    const { call } = loaded();
    const { endpoints } = JSON.parse((await call('/iceberg/v1/config?warehouse=x')).text);
    for (const endpoint of endpoints as string[]) {
      const [method = '', template = ''] = endpoint.split(' ');
      const path = template
        .replace('{prefix}/', '')
        .replace('{namespace}', 'a')
        .replace('{table}', 'b');
      const { status } = await call(`/iceberg${path}`, { method });
      expect([endpoint, status]).toEqual([endpoint, method === 'GET' ? 200 : 204]);
    }
  });

  it('lists namespaces and tables', async () => {
    const { call } = loaded();
    const read = async (path: string) => JSON.parse((await call(`/iceberg/v1${path}`)).text);
    expect(await read('/namespaces')).toEqual({ namespaces: [['a'], ['empty']] });
    expect(await read('/namespaces?parent=a')).toEqual({ namespaces: [] });
    expect(await read('/namespaces/a')).toEqual({ namespace: ['a'], properties: {} });
    expect(await read('/namespaces/a/tables')).toEqual({
      identifiers: [{ namespace: ['a'], name: 'b' }],
    });
    expect(await read('/namespaces/empty/tables')).toEqual({ identifiers: [] });
  });

  it('passes 64-bit ids through digit by digit, with and without the old snapshots', async () => {
    const { call } = loaded();
    const all = await call('/iceberg/v1/namespaces/a/tables/b');
    expect(all.text).toContain(`"current-snapshot-id":${BIG}`);
    expect(JSON.parse(all.text)).toMatchObject({
      'metadata-location': 's3://floe-lake/a.db/b/metadata/v1.metadata.json',
      config: {},
    });
    const refs = await call('/iceberg/v1/namespaces/a/tables/b?snapshots=refs');
    expect(refs.text).toContain(`"snapshot-id":${BIG}`);
    expect(JSON.parse(refs.text).metadata.snapshots).toHaveLength(1);
  });

  it('answers 304 to who has the newest metadata already', async () => {
    const { call } = loaded();
    const path = '/iceberg/v1/namespaces/a/tables/b';
    const etag = (await call(path)).headers.get('etag') ?? '';
    const again = await call(path, { headers: { 'if-none-match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('hands out the local storage keys in a local run only', async () => {
    const localS3 = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const { call } = loaded({ isLocal: true, localS3 });
    const { config } = JSON.parse((await call('/iceberg/v1/namespaces/a/tables/b')).text);
    expect(config).toMatchObject({
      's3.endpoint': 'http://floe.test/cdn-cgi/local/r2/s3',
      's3.access-key-id': 'key',
      's3.path-style-access': 'true',
    });
  });

  it.each([
    ['GET', '/namespaces/none', 404, 'NoSuchNamespaceException'],
    ['GET', '/namespaces/none/tables', 404, 'NoSuchNamespaceException'],
    ['GET', '/namespaces/a%1Fb/tables', 404, 'NoSuchNamespaceException'],
    ['GET', '/namespaces/a/tables/x.y', 404, 'NoSuchTableException'],
    ['POST', '/namespaces', 406, 'UnsupportedOperationException'],
    ['POST', '/namespaces/a/tables', 406, 'UnsupportedOperationException'],
    ['POST', '/namespaces/a/tables/b', 406, 'UnsupportedOperationException'],
    ['DELETE', '/namespaces/a/tables/b', 406, 'UnsupportedOperationException'],
    ['POST', '/transactions/commit', 406, 'UnsupportedOperationException'],
    ['GET', '/namespaces/a/views', 404, 'NotFoundException'],
  ])('%s %s answers %i in the shape of the protocol', async (method, path, status, type) => {
    const response = await loaded().call(`/iceberg/v1${path}`, { method });
    const { error } = JSON.parse(response.text);
    expect([response.status, error.code, error.type]).toEqual([status, status, type]);
  });
});

import { describe, expect, it } from 'vitest';
import { call, ingest } from './http-harness.ts';

interface LoadedTable {
  'metadata-location': string;
  metadata: { location: string; 'current-snapshot-id': number; snapshots: object[] };
  config: Record<string, string>;
}

const TABLE = '/iceberg/v1/namespaces/rest/tables/events';

async function commit(n: number): Promise<string> {
  const { body } = await ingest('rest/events', `{"n":${n}}`, { query: '?wait=committed' });
  return body.snapshotId ?? '';
}

describe('the catalog at /iceberg', () => {
  it('shows a table from its first commit on, with the exact snapshot id', async () => {
    expect((await call(TABLE)).status).toBe(404);
    const snapshotId = await commit(1);
    expect((await call('/iceberg/v1/namespaces')).body).toEqual({ namespaces: [['rest']] });
    expect((await call('/iceberg/v1/namespaces/rest/tables')).body).toEqual({
      identifiers: [{ namespace: ['rest'], name: 'events' }],
    });
    const { text, body } = await call<LoadedTable>(TABLE);
    expect(text).toContain(`"current-snapshot-id":${snapshotId}`);
    expect(body.metadata.location).toBe('s3://floe-lake/rest.db/events');
    expect(body['metadata-location']).toMatch(
      /^s3:\/\/floe-lake\/rest\.db\/events\/metadata\/v\d+\.metadata\.json$/,
    );
    expect((await call(TABLE, { method: 'HEAD' })).status).toBe(204);
  });

  it('answers 304 until the next commit', async () => {
    await commit(2);
    const etag = (await call(TABLE)).headers.get('etag') ?? '';
    const headers = { 'if-none-match': etag };
    expect((await call(TABLE, { headers })).status).toBe(304);
    await commit(3);
    expect((await call(TABLE, { headers })).status).toBe(200);
  });

  it('leaves unreferenced snapshots out when only the referenced are wanted', async () => {
    await commit(4);
    await commit(5);
    const all = (await call<LoadedTable>(`${TABLE}?snapshots=all`)).body;
    const refs = (await call<LoadedTable>(`${TABLE}?snapshots=refs`)).body;
    expect(all.metadata.snapshots.length).toBeGreaterThan(1);
    expect(refs.metadata.snapshots).toHaveLength(1);
    expect(refs.metadata['current-snapshot-id']).toBe(all.metadata['current-snapshot-id']);
  });

  it('refuses writes in the shape of the protocol', async () => {
    const { status, body } = await call(TABLE, { method: 'POST', body: '{}' });
    expect([status, body]).toMatchObject([
      406,
      { error: { code: 406, type: 'UnsupportedOperationException' } },
    ]);
  });
});

import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import worker from '../../src/index.ts';
import type { Env } from '../../src/worker/config.ts';
import {
  TOKEN,
  call,
  columnsOf,
  flushed,
  gzip,
  ingest,
  refused,
  rowsOf,
  streamOf,
  table,
  utf8,
} from './http-harness.ts';

const lake = (env as unknown as Env).LAKE;

/** 2000 rows as `rowsOf` makes them, in two frames, by zstd 1.5 at level 19. */
const ZSTD_ROWS = Uint8Array.from(
  atob(
    'KLUv/WAyi2UYACpCaAcWkCeFHLuKq5j/H6ylpCS5d5gYszMDAYMAcwBkACIiIhIRERERESRIkCBBggQJEiTI////b9u2bbdt27YkSZLktm3bJkmSJM3MzMzMiIiIiIhERERERIQQQgghhBB3OY1E+F1OIxF8l9NIhN7lNBKBdzmNRNhdTiMRdJfTSIS5y2kkgtzlNBJxl9NIADgwKDAgGBQUGFAwCBAIBgIIDAwEkiRJkiRJkiRJkiRJMzMzMzMiIiIiIhERERERQUFBQUFBQUFBQf///79t27bdtm3bkiRJktu2bZskSZI0MzMzMyMiIiIiEhERERERJkyYMGHChAkTJsz///9v27Ztt23btiRJkuS2bdsmSZIkzczMzMyISG3btm3btm3btm3btm1bkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkty2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bds2SZIkSZIkSZIkSQr/////////////////////////////////////////////////b9u2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdu2bdtt27Zt27Zt27Zt27Zt27Zt27Zt27Zt2zaD6agSQG/7HbJXVKl0ElAQeASB/wQBB48/gCAQQABIAhAAQgECQQiAABECIQBBAAZAEoAACAoQBEIABEgQiAAIAjAAkgACQCiAIBACIEBCQARAEIABSAQQAEIBBEEQgAASAiIAggAGQBKAABAKIAhCAASQEAgBCAQg3ISPkABCAARCVbjdu+wfdq9bThCAMBACIACKQAQAhaP0yQCiECpYDKU92Tps3O6eAAgBIQgAUAiBAIRQAE3haL0GIFgOpr67d9k/7F4BKASAEAQCEIIBQIQQAkAxgjUaLR5k8RAWD654YMWDKh6g4oEpHogUadJyaOUVosvRildIi6OVpJCWQ1tWIV2OVrxCtBytJIW0XLSyCulytMQrpOVosSYM1pPJ8zyf53kjLy0A7Wm7FSi1L/1kh4+tFAA6QVAHFZAnhRy7plfO/w8LNyUlZQIZkasVJ4UAYgBiAEmSJEmSJEnc5ZRBiLjLKYPwuMspg+C4yymD0LjLKYPAuMspg7C4yymDoLjLKYOQuMspgzCIu5wyCGEQdzllECLucsogPO5yyiA47nLKIDTucsogMO5yyiAs7nLKICjucsogJO5yyiAM4i6nDAKABAUHCgQUGDhAwEBBgBDCQEDBgAIFCALbtm3btm3btm3btm3btm3btm3btm3btm3btm3btk2SJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSJEmSkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkrZt27Zt27Zt27Zt27Zt223btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm3btm1LkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJkiRJktu2bdu2bdu2ERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERERH/////////////////////////////////////////////////b9u2bdu2bdu2bdu2bdu2bdu2bdu2bdsBg+moEqA/+2/y19gNEjhB4ASBfwSBE/wB/////+///+////f///f///v///3///3///7///7/f///f///v///v///3///v///3///7///7///9///9///+///+////f///f///v9///9///+///+////f///f///v///v///3///7///7///999959X/a/13/d/93++/+7+7f+b97f/d/63yf6v9d/7v/u/13/3fv3/3fvb/7w6HIAwJoTb2tHfhB/Q==',
  ),
  (character) => character.charCodeAt(0),
);

/** One frame of `blocks` blocks, each of which is 128 KiB of line breaks. */
function zstdBomb(blocks: number): Uint8Array {
  const frame = new Uint8Array(6 + blocks * 4);
  frame.set([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
  for (let block = 0; block < blocks; block += 1) {
    const isLast = block === blocks - 1 ? 1 : 0;
    const header = isLast | (1 << 1) | ((128 * 1024) << 3);
    frame.set([header & 255, (header >> 8) & 255, header >> 16, 0x0a], 6 + block * 4);
  }
  return frame;
}

async function objectKeys(prefix: string): Promise<string[]> {
  return (await lake.list({ prefix })).objects.map(({ key }) => key);
}

describe('the deployed Worker', () => {
  it('answers 503 with the command that opens it while it has no token', async () => {
    const ask = async (path: string): Promise<Response> =>
      await worker.fetch(
        new Request(`http://floe.test${path}`),
        env as unknown as Env,
        createExecutionContext(),
      );
    const shut = await ask('/tables');
    expect(shut.status).toBe(503);
    expect(await shut.text()).toContain('npx wrangler secret put FLOE_TOKEN');
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('refuses a wrong token', async () => {
    const { status, text } = await call('/tables', { headers: { authorization: 'Bearer guess' } });
    expect(status).toBe(401);
    expect(text).not.toContain('guess');
    expect(text).not.toContain(TOKEN);
  });
});

describe('a batch', () => {
  it('is durable first, committed when asked, and found by its id', async () => {
    const { status, body } = await ingest('app/first', '{"n":1}\n{"n":2}');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'durable',
      rows: { received: 2, accepted: 2, quarantined: 0 },
      snapshotId: null,
      errors: [],
    });
    expect(await table('app/first')).toMatchObject({ pending: { rows: 2 }, totals: { rows: '0' } });
    const committed = await ingest('app/first', '{"n":3}', { query: '?wait=committed' });
    expect(committed.body.status).toBe('committed');
    expect(committed.body.snapshotId).toMatch(/^[1-9][0-9]{0,18}$/);
    expect((await call(`/batches/${body.batch}`)).body).toMatchObject({
      status: 'committed',
      rows: { received: 2 },
    });
    expect(await table('app/first')).toMatchObject({ pending: { rows: 0 }, totals: { rows: '3' } });
  });

  it('that is flushed by demand is in a snapshot', async () => {
    await ingest('app/flush', rowsOf(10));
    const { rows, snapshotId } = await flushed('app/flush');
    expect(rows).toBe(10);
    const { body } = await call<{ snapshots: object[] }>('/tables/app/flush/snapshots');
    expect(body).toMatchObject({ currentSnapshotId: snapshotId });
    expect(body.snapshots).toHaveLength(1);
  });

  it('may be deflate', async () => {
    const zipped = streamOf(utf8(rowsOf(3)), 100).pipeThrough(new CompressionStream('deflate'));
    const body = new Uint8Array(await new Response(zipped).arrayBuffer());
    const { body: answer } = await ingest('app/deflated', body, {
      headers: { 'content-encoding': 'deflate' },
    });
    expect(answer.rows.accepted).toBe(3);
  });

  it('may be zstd, of several frames, small or streamed', async () => {
    const headers = { 'content-encoding': 'zstd' };
    const small = await ingest('app/zstd', ZSTD_ROWS, { headers });
    expect(small.body.rows.accepted).toBe(2000);
    const streamed = await ingest('app/zstd', streamOf(ZSTD_ROWS, 11), { headers });
    expect(streamed.body.rows.accepted).toBe(2000);
    const cut = await refused('app/zstd', ZSTD_ROWS.subarray(0, -3), { headers });
    expect([cut.status, cut.error.code]).toEqual([400, 'body.zstd-malformed']);
    const bomb = await refused('app/zstd', zstdBomb(200_000), { headers });
    expect([bomb.status, bomb.error.code]).toEqual([413, 'body.inflates-too-much']);
  });

  it('may be gzip, small or streamed', async () => {
    const small = await ingest('app/zipped', await gzip(utf8(rowsOf(3))), {
      headers: { 'content-encoding': 'gzip' },
    });
    expect(small.body.rows.accepted).toBe(3);
    const large = await gzip(utf8(rowsOf(60_000)));
    const streamed = await ingest('app/zipped', streamOf(large, 7000), {
      headers: { 'content-encoding': 'gzip' },
      query: '?wait=committed',
    });
    expect(streamed.body.rows.accepted).toBe(60_000);
    expect(await table('app/zipped')).toMatchObject({ totals: { rows: '60003' } });
  });

  it('larger than one slice arrives whole', async () => {
    const body = rowsOf(150_000, 80);
    const answer = await ingest('app/large', streamOf(utf8(body), 100_000));
    expect(answer.body).toMatchObject({ rows: { received: 150_000, accepted: 150_000 } });
    expect((await flushed('app/large')).rows).toBe(150_000);
  });
});

describe('Idempotency-Key', () => {
  it.each([
    ['small', rowsOf(5)],
    ['streamed', rowsOf(60_000)],
  ])('makes the repeat of a %s body harmless and refuses another body', async (size, body) => {
    const name = `app/idempotent-${size}`;
    const headers = { 'idempotency-key': 'order-17' };
    const first = await ingest(name, body, { headers });
    const again = await ingest(name, body, { headers });
    expect(again.body).toEqual(first.body);
    const other = await refused(name, `${body}\n{"id":-1}`, { headers });
    expect([other.status, other.error.code]).toEqual([422, 'idempotency.key-reused']);
    await flushed(name);
    expect((await table(name))?.totals.rows).toBe(String(first.body.rows.accepted));
  });
});

describe('wrong values', () => {
  it('go to quarantine with row, column and reason', async () => {
    const body = '{"n":1}\n{"n":"two"}\n{"n":3}';
    const answer = await ingest('app/quarantine', body);
    expect(answer.body).toMatchObject({
      rows: { received: 3, accepted: 2, quarantined: 1 },
      errors: [{ row: 1, column: 'n', code: 'value.type-mismatch' }],
    });
    const { body: page } = await call('/tables/app/quarantine/quarantine?limit=10');
    expect(page).toMatchObject({
      rows: [{ batch: answer.body.batch, row: 1, column: 'n', raw: '{"n":"two"}' }],
      total: 1,
      next: null,
    });
    expect(await table('app/quarantine')).toMatchObject({ quarantinedRows: 1 });
  });

  it('refuse the request with on-error=reject, and nothing of it is kept', async () => {
    const { status, error } = await refused('app/reject', '{"n":1}\n{"n":"two"}', {
      query: '?on-error=reject',
    });
    expect(status).toBe(422);
    expect(error).toMatchObject({ code: 'rows.rejected', context: { row: 1, column: 'n' } });
    expect(await table('app/reject')).toBeNull();
    expect(await objectKeys('app.db/reject/')).toEqual([]);
  });

  it('of a streamed body refuse all of it with on-error=reject', async () => {
    await ingest('app/reject-late', '{"id":0,"text":"a"}');
    const body = `${rowsOf(60_000)}\n{"id":"late"}`;
    const { status, error } = await refused('app/reject-late', streamOf(utf8(body), 50_000), {
      query: '?on-error=reject',
    });
    expect([status, error.context['row']]).toEqual([422, 60_000]);
    expect((await flushed('app/reject-late')).rows).toBe(1);
  });
});

describe('a body that cannot be read', () => {
  it('is refused with line and column, and nothing is kept', async () => {
    const { status, error } = await refused('app/malformed', '{"n":1}\n{"n":2}\n{"n":');
    expect(status).toBe(400);
    expect(error.code).toMatch(/^json\.(malformed|truncated)$/);
    expect(error.context).toMatchObject({ line: 3 });
    expect(await table('app/malformed')).toBeNull();
  });

  it('is refused as a whole when the fault is in its last line', async () => {
    await ingest('app/malformed-late', '{"id":0,"text":"a"}');
    const body = `${rowsOf(60_000)}\n{"id":nope}`;
    const { status, error } = await refused('app/malformed-late', streamOf(utf8(body), 50_000));
    expect([status, error.code, error.context['line']]).toEqual([400, 'json.malformed', 60_001]);
    expect((await flushed('app/malformed-late')).rows).toBe(1);
  });

  it('because the connection was lost leaves nothing', async () => {
    await ingest('app/cut', '{"id":0,"text":"a"}');
    for (const size of [100, 3_000_000]) {
      const body = utf8(rowsOf(100_000));
      const { status, error } = await refused('app/cut', streamOf(body, 50_000, size));
      expect([status, error.code]).toEqual([400, 'body.cut']);
    }
    expect((await flushed('app/cut')).rows).toBe(1);
  });

  it.each([
    ['nested without end', '['.repeat(1000), 'application/json', 400, /^json\./],
    ['an object nested too deep', `{"a":${'['.repeat(500)}`, 'application/json', 400, /^json\./],
    ['nested 5,000,000 deep', `{"a":${'['.repeat(5_000_000)}`, 'application/json', 413, /^row\./],
    ['one endless string', `{"a":"${'x'.repeat(6_000_000)}`, 'application/x-ndjson', 413, /^row\./],
    ['one endless array', `[${'1,'.repeat(3_000_000)}`, 'application/json', 400, /^schema\.empty$/],
    ['not an object', '[1,2,3]', 'application/x-ndjson', 400, /^schema\.empty$/],
  ])('because it is %s is refused', async (_, body, contentType, status, code) => {
    const answer = await refused('app/hostile', body, { headers: { 'content-type': contentType } });
    expect(answer.error.code).toMatch(code);
    expect(answer.status).toBe(status);
    expect(await table('app/hostile')).toBeNull();
  });

  it('because its array never ends is refused, and the rows before the end are not kept', async () => {
    await ingest('app/endless', '{"n":1}');
    for (const [body, status, code] of [
      [`[${'{"n":2},'.repeat(500_000)}`, 400, 'json.truncated'],
      [`[${'1,'.repeat(3_000_000)}`, 429, 'quarantine.full'],
    ] as const) {
      const headers = { 'content-type': 'application/json' };
      const answer = await refused('app/endless', body, { headers });
      expect([answer.status, answer.error.code]).toEqual([status, code]);
    }
    expect((await flushed('app/endless')).rows).toBe(1);
    expect(await table('app/endless')).toMatchObject({ quarantinedRows: 0 });
  });

  it('because it is a zip bomb is refused with bounded memory', async () => {
    let blocks = 300;
    const block = utf8(`${'{"n":1}\n'.repeat(131_072)}`);
    const zeros = new ReadableStream<Uint8Array>({
      pull(controller) {
        if ((blocks -= 1) < 0) controller.close();
        else controller.enqueue(block);
      },
    });
    const bomb = await gzip(zeros);
    expect(bomb.byteLength).toBeLessThan(2_000_000);
    const { status, error } = await refused('app/bomb', bomb, {
      headers: { 'content-encoding': 'gzip' },
    });
    expect([status, error.code]).toEqual([413, 'body.inflates-too-much']);
    expect((await table('app/bomb'))?.totals.rows ?? '0').toBe('0');
  });

  it('because its length is past the limit is refused unread', async () => {
    const { status, error } = await refused('app/long', '{"n":1}', {
      headers: { 'content-length': '104857601' },
    });
    expect([status, error.code]).toEqual([413, 'body.too-large']);
  });

  it('because nobody knows its type is refused', async () => {
    const headers = { 'content-type': 'text/plain' };
    const { status, error } = await refused('app/csv', 'a,b', { headers });
    expect([status, error.code]).toEqual([415, 'body.unsupported-type']);
  });

  it('because it is not Arrow is refused', async () => {
    const headers = { 'content-type': 'application/vnd.apache.arrow.stream' };
    const { status, error } = await refused('app/arrow', 'not arrow at all', { headers });
    expect([status, error.kind]).toEqual([400, 'invalid']);
    expect(error.code).toMatch(/^arrow\./);
  });
});

describe('tables', () => {
  it('gain the columns that rows bring, once, also from concurrent requests', async () => {
    const bodies = Array.from({ length: 6 }, (_, i) => `{"id":${i},"a${i % 3}":1}`);
    const answers = await Promise.all(bodies.map((body) => ingest('app/evolve', body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await columnsOf('app/evolve')).toSorted()).toEqual(['a0', 'a1', 'a2', 'id']);
    expect((await flushed('app/evolve')).rows).toBe(6);
  });

  it('are listed, and gone after DELETE', async () => {
    await ingest('app/dropped', '{"n":1}', { query: '?wait=committed' });
    const { body } = await call<{ tables: object[] }>('/tables');
    expect(body.tables).toContainEqual({ namespace: 'app', name: 'dropped' });
    expect((await call('/tables/app/dropped', { method: 'DELETE' })).status).toBe(204);
    expect(await table('app/dropped')).toBeNull();
    expect((await ingest('app/dropped', '{"m":"new"}')).status).toBe(200);
    expect(await columnsOf('app/dropped')).toEqual(['m']);
  });
});

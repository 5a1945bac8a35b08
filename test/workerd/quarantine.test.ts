/** Rows that were set aside, sent again or deleted, over HTTP. */

import { describe, expect, it } from 'vitest';
import type { QuarantineBody, ReplayBody } from '../../src/api/tables.ts';
import type { Answer } from './http-harness.ts';
import { call, flushed, ingest, table } from './http-harness.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

async function declare(name: string, properties: Readonly<Record<string, string>>): Promise<void> {
  const fields = [{ id: 1, name: 'n', required: false, type: 'int' }];
  const body = JSON.stringify({ schema: { type: 'struct', fields }, properties });
  const { status } = await call(`/tables/${name}`, { method: 'PUT', headers: JSON_TYPE, body });
  expect(status).toBe(201);
}

async function change(name: string, ...changes: readonly object[]): Promise<void> {
  const body = JSON.stringify({ changes });
  const path = `/tables/${name}/schema`;
  expect((await call(path, { method: 'POST', headers: JSON_TYPE, body })).status).toBe(200);
}

async function replay(
  name: string,
  query = '',
): Promise<Answer<ReplayBody & { error: { code: string } }>> {
  return await call(`/tables/${name}/quarantine/replay${query}`, { method: 'POST' });
}

async function quarantined(name: string): Promise<QuarantineBody> {
  return (await call<QuarantineBody>(`/tables/${name}/quarantine?limit=1000`)).body;
}

describe('POST …/quarantine/replay', () => {
  it('lands after a change of the schema what was refused before, and keeps the rest', async () => {
    await declare('again/strict', { 'schema-policy': 'strict' });
    const rows = [
      '{"n":1}',
      '{"n":2,"tag":"a\\nb"}',
      '{"n":"text"}',
      '{"n":3000000000}',
      '{\n  "n": 4,\n  "tag": null,\n  "more": 1\n}',
    ];
    const sent = await ingest('again/strict', `[${rows.join(',')}]`, { headers: JSON_TYPE });
    expect(sent.body.rows).toEqual({ received: 5, accepted: 1, quarantined: 4 });
    await change(
      'again/strict',
      { action: 'add', path: ['tag'], type: 'string' },
      { action: 'widen', path: ['n'], type: 'long' },
    );
    const { status, body } = await replay('again/strict', '?wait=committed');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'committed',
      rows: { replayed: 4, landed: 2, kept: 2 },
      total: 2,
      next: null,
    });
    expect((await call(`/batches/${body.batch}`)).body).toMatchObject({
      status: 'committed',
      rows: { received: 2, accepted: 2, quarantined: 0 },
      snapshotId: body.snapshotId,
    });
    expect((await quarantined('again/strict')).rows).toMatchObject([
      { row: 2, column: 'n', code: 'value.type-mismatch', raw: rows[2] },
      { row: 4, column: 'more', code: 'column.unknown', raw: rows[4] },
    ]);
    expect(await table('again/strict')).toMatchObject({
      totals: { rows: '3' },
      quarantinedRows: 2,
    });
    // By request the policy may be another one for the rows that are left.
    const added = await replay('again/strict', '?schema-policy=add');
    expect(added.body.rows).toEqual({ replayed: 2, landed: 1, kept: 1 });
  });

  it('lands every row once, however many ask for it at the same time', async () => {
    await declare('again/race', { 'schema-policy': 'strict' });
    const rows = Array.from({ length: 200 }, (_, n) => `{"n":${n},"tag":"t"}`);
    await ingest('again/race', rows.join('\n'));
    await change('again/race', { action: 'add', path: ['tag'], type: 'string' });
    const answers = await Promise.all(Array.from({ length: 6 }, () => replay('again/race')));
    for (const { status, body } of answers) {
      if (status === 200) continue;
      expect([status, body.error.code]).toEqual([409, 'quarantine.changed']);
    }
    expect(answers.reduce((sum, { body }) => sum + (body.rows?.landed ?? 0), 0)).toBe(200);
    expect((await flushed('again/race')).rows).toBe(200);
    expect((await replay('again/race')).body).toMatchObject({ batch: null, rows: { replayed: 0 } });
  });

  it('goes through the quarantine page by page', async () => {
    await declare('again/pages', { 'schema-policy': 'strict' });
    await ingest('again/pages', '{"n":1,"x":1}\n{"n":"bad"}\n{"n":2,"x":2}');
    await change('again/pages', { action: 'add', path: ['x'], type: 'long' });
    const landed: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const { body }: Answer<ReplayBody> = await replay('again/pages', `?limit=1&after=${after}`);
      landed.push(body.rows.landed);
      after = body.next;
    }
    expect(landed).toEqual([1, 0, 1]);
    expect((await quarantined('again/pages')).total).toBe(1);
  });

  it('leaves a row that was too long to be kept whole', async () => {
    await declare('again/long', { 'schema-policy': 'strict' });
    const long = `{"n":1,"x":"${'y'.repeat(70_000)}"}`;
    const fits = `{"n":2,"x":"${'y'.repeat(60_000)}"}`;
    await ingest('again/long', `${long}\n${fits}`);
    await change('again/long', { action: 'add', path: ['x'], type: 'string' });
    const { body } = await replay('again/long');
    expect(body.rows).toEqual({ replayed: 2, landed: 1, kept: 1 });
    expect((await quarantined('again/long')).rows).toMatchObject([{ code: 'column.unknown' }]);
  });

  it('answers 404 where there is no table', async () => {
    expect((await replay('again/missing')).status).toBe(404);
  });
});

describe('DELETE …/quarantine', () => {
  it('deletes rows up to one, and only when it is told which', async () => {
    await declare('again/delete', {});
    await ingest('again/delete', '{"n":"a"}\n{"n":"b"}\n{"n":"c"}');
    const drop = async (query: string) =>
      await call<{ deleted: number }>(`/tables/again/delete/quarantine${query}`, {
        method: 'DELETE',
      });
    expect((await drop('')).status).toBe(400);
    const [, second] = (await quarantined('again/delete')).rows;
    expect((await drop(`?through=${second?.id}`)).body).toEqual({ deleted: 2 });
    expect((await quarantined('again/delete')).rows).toMatchObject([{ raw: '{"n":"c"}' }]);
    expect((await drop(`?through=${second?.id}`)).body).toEqual({ deleted: 0 });
  });
});

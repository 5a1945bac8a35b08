/** Tables that are laid out by partition: one file each, found by every engine, and only where it is needed. */

import { expect, it } from 'vitest';
import type { Lake } from './rig/lake.ts';
import { describeWithEngines, sortedBy, useLake } from './rig/lake.ts';

async function declare(lake: Lake, table: string, columns: object[], fields: object[]) {
  const answer = await lake.request('PUT', `/tables/${table}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      schema: { type: 'struct', fields: columns.map((column) => ({ required: false, ...column })) },
      'partition-spec': { fields },
    }),
  });
  expect(answer.status, answer.text).toBe(201);
}

const filesOf = async (lake: Lake, table: string): Promise<number> => {
  const { body } = await lake.request('GET', `/tables/${table}`);
  return Number((body as { totals: { dataFiles: string } }).totals.dataFiles);
};

/** Engines print a timestamp each in their own way: with a blank or a T, with or without seconds. */
function asIsoSeconds(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.replace(' ', 'T');
  return text.length === 'yyyy-mm-ddThh:mm'.length ? `${text}:00` : text;
}

describeWithEngines('partitioned tables', () => {
  const lake = useLake();

  it('are read back equal by all engines, with nulls, odd texts and times before 1970', async () => {
    await declare(
      lake,
      'parts/events',
      [
        { id: 1, name: 'id', type: 'long' },
        { id: 2, name: 'ts', type: 'timestamp' },
        { id: 3, name: 'region', type: 'string' },
      ],
      [
        { 'source-id': 2, 'field-id': 1000, name: 'ts_day', transform: 'day' },
        { 'source-id': 1, 'field-id': 1001, name: 'id_bucket', transform: 'bucket[4]' },
        { 'source-id': 3, 'field-id': 1002, name: 'region', transform: 'identity' },
      ],
    );
    const regions = ['eu', 'a/b', '50%', 'x+y z', '#1?', 'k=v', 'é', '', 'null', null];
    const times = ['2031-03-04T23:30:00', '1969-12-31T23:59:59.999999', '1900-01-01T00:00:00'];
    const rows = regions.flatMap((region, i) =>
      times.map((ts, j) => ({ id: BigInt(i * times.length + j), ts, region })),
    );
    await lake.append('parts/events', rows);
    await lake.append('parts/events', [{ id: 99n, ts: null, region: 'eu' }]);
    const sent = [...rows, { id: 99n, ts: null, region: 'eu' }];
    const address = await lake.existing('parts/events');
    for (const [engine, read] of Object.entries(lake.engines.readers())) {
      const found = sortedBy('id', await read(address)).map((row) => ({
        ...row,
        ts: asIsoSeconds(row['ts']),
      }));
      expect(found, engine).toEqual(sent);
    }
    expect(await filesOf(lake, 'parts/events')).toBe(31);
  });

  it('get one file a partition and flush, and readers skip the others', async () => {
    await declare(
      lake,
      'parts/days',
      [
        { id: 1, name: 'id', type: 'long' },
        { id: 2, name: 'day', type: 'date' },
      ],
      [{ 'source-id': 2, 'field-id': 1000, name: 'day_month', transform: 'month' }],
    );
    const rows = Array.from({ length: 240 }, (_, id) => ({
      id: BigInt(id),
      day: `2031-${String((id % 12) + 1).padStart(2, '0')}-15`,
    }));
    await lake.append('parts/days', rows);
    expect(await filesOf(lake, 'parts/days')).toBe(12);
    const plan = await lake.engines.python('pyiceberg-plan', {
      ...(await lake.existing('parts/days')),
      filter: "day >= '2031-06-01' and day < '2031-07-01'",
    });
    expect(plan['files']).toHaveLength(1);
    expect(String((plan['files'] as unknown[])[0])).toContain('/day_month=2031-06/');
  });

  it('are sorted within each file when the table asks for it, and say so', async () => {
    const answer = await lake.request('PUT', '/tables/parts/sorted', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        schema: {
          type: 'struct',
          fields: [
            { id: 1, name: 'id', required: false, type: 'long' },
            { id: 2, name: 'name', required: false, type: 'string' },
          ],
        },
        'write-order': {
          'order-id': 1,
          fields: [
            {
              transform: 'identity',
              'source-id': 2,
              direction: 'desc',
              'null-order': 'nulls-last',
            },
          ],
        },
        properties: { 'write.parquet.bloom-filter-enabled.column.name': 'true' },
      }),
    });
    expect(answer.status, answer.text).toBe(201);
    const names = ['～', '😀', 'b', null, 'a', ''];
    await lake.append(
      'parts/sorted',
      names.map((name, id) => ({ id: BigInt(id), name })),
    );
    const inOrder = await lake.duckdb('parts/sorted', 'SELECT name FROM t');
    // By the bytes of UTF-8, in which the face comes after the tilde.
    expect(inOrder.map(({ name }) => name)).toEqual(['😀', '～', 'b', 'a', '', null]);
    const files = await lake.engines.python('pyiceberg-plan', {
      ...(await lake.existing('parts/sorted')),
      filter: "name == 'b'",
    });
    expect(files['sortOrderIds']).toEqual([1n]);
  });
});

/** Columns declared by type up front: the values posted as JSON are the values every engine reads. */

import { expect, it } from 'vitest';
import { describeWithEngines, useLake } from './rig/lake.ts';

const declared = [
  ['id', 'long'],
  ['flag', 'boolean'],
  ['small', 'int'],
  ['single', 'float'],
  ['exact', 'double'],
  ['text', 'string'],
  ['day', 'date'],
] as const;

describeWithEngines('declared types', () => {
  const lake = useLake();

  it('hold the extremes of each type, read equal by all engines', async () => {
    const answer = await lake.request('PUT', '/tables/types/simple', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        schema: {
          type: 'struct',
          fields: declared.map(([name, type], i) => ({ id: i + 1, name, required: false, type })),
        },
      }),
    });
    expect(answer.status, answer.text).toBe(201);
    const nothing = { flag: null, small: null, single: null, exact: null, text: null, day: null };
    const rows = [
      {
        id: 9223372036854775807n,
        flag: true,
        small: 2147483647n,
        single: 1.5,
        exact: 0.1,
        text: 'é😀',
        day: '2031-03-04',
      },
      {
        id: -9223372036854775808n,
        flag: false,
        small: -2147483648n,
        single: -0.25,
        exact: -2.5e-300,
        text: '',
        day: '1969-12-31',
      },
      { id: 0n, ...nothing },
    ];
    await lake.append('types/simple', rows);
    const address = await lake.existing('types/simple');
    for (const [engine, read] of Object.entries(lake.engines.readers())) {
      const found = await read(address);
      for (const row of rows) expect(found, engine).toContainEqual(row);
      expect(found, engine).toHaveLength(rows.length);
    }
  });

  it('hold decimals, times and uuids to the last digit', async () => {
    const types = [
      ['id', 'long'],
      ['d9', 'decimal(9, 2)'],
      ['d18', 'decimal(18, 6)'],
      ['d38', 'decimal(38, 10)'],
      ['clock', 'time'],
      ['local', 'timestamp'],
      ['key', 'uuid'],
    ];
    const answer = await lake.request('PUT', '/tables/types/exact', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        schema: {
          type: 'struct',
          fields: types.map(([name, type], i) => ({ id: i + 1, name, required: false, type })),
        },
      }),
    });
    expect(answer.status, answer.text).toBe(201);
    const row = {
      d9: '-9999999.99',
      d18: '999999999999.999999',
      d38: '9999999999999999999999999999.9999999999',
      clock: '23:59:59.999999',
      local: '1969-12-31T23:59:59.999999',
      key: 'f79c3e09-677c-4bbd-a479-3f349cb785e7',
    };
    await lake.append('types/exact', [{ id: 1n, ...row }]);
    const columns = Object.keys(row).map((name) => `CAST(${name} AS VARCHAR) AS ${name}`);
    const [found] = await lake.duckdb('types/exact', `SELECT ${columns.join(', ')} FROM t`);
    expect(found).toEqual({ ...row, local: row.local.replace('T', ' ') });
  });
});

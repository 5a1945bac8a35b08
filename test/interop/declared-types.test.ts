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
});

import { describe, expect, it } from 'vitest';
import { newTableMetadata } from '../../../src/iceberg/metadata/new-table.ts';
import { metricsModes } from '../../../src/iceberg/metrics-config.ts';
import type { InferredStruct } from '../../../src/iceberg/spec/inferred-type.ts';
import type { SortOrder } from '../../../src/iceberg/spec/sort-order.ts';
import { UNSORTED_ORDER } from '../../../src/iceberg/spec/sort-order.ts';
import { currentSchema } from '../../../src/iceberg/spec/table-metadata-rules.ts';
import { struct } from './fixtures.ts';

function modes(
  columns: InferredStruct,
  properties: Record<string, string> = {},
  order: SortOrder = UNSORTED_ORDER,
): string[] {
  const metadata = newTableMetadata({
    tableUuid: 'u',
    location: 's3://b/t',
    schema: columns,
    nowMs: 1,
  });
  const found = metricsModes(
    currentSchema(metadata),
    new Map(
      Object.entries(properties).map(([key, value]) => [`write.metadata.metrics.${key}`, value]),
    ),
    order,
  );
  return [...found].map(([id, mode]) =>
    mode.kind === 'truncate' ? `${id} truncate(${mode.length})` : `${id} ${mode.kind}`,
  );
}

const COLUMNS = struct(
  ['a', 'long'],
  ['o', struct(['x.y', 'string'])],
  ['l', { type: 'list', element: 'long' }],
);

describe('metrics of columns', () => {
  it('are counts and bounds of 16 code points, and none inside lists', () => {
    expect(modes(COLUMNS)).toEqual(['1 truncate(16)', '4 truncate(16)']);
  });

  it('follow the default and the column by its full name', () => {
    expect(
      modes(COLUMNS, { default: 'counts', 'column.o.x.y': 'Truncate(4)', 'column.l': 'full' }),
    ).toEqual(['1 counts', '4 truncate(4)']);
    expect(modes(COLUMNS, { default: 'truncate(0)', 'column.a': 'some' })).toEqual([
      '1 truncate(16)',
      '4 truncate(16)',
    ]);
  });

  it('are left out behind the first hundred columns, unless a default or the column asks', () => {
    const names = Array.from({ length: 102 }, (_, i) => [`c${i}`, 'long'] as [string, string]);
    const wide = struct(...names);
    expect(modes(wide).slice(99)).toEqual(['100 truncate(16)', '101 none', '102 none']);
    expect(modes(wide, { default: 'full' }).at(-1)).toBe('102 full');
    expect(modes(wide, { 'column.c101': 'counts' }).slice(100)).toEqual(['101 none', '102 counts']);
    expect(modes(wide, { 'max-inferred-column-defaults': '1' }).slice(0, 2)).toEqual([
      '1 truncate(16)',
      '2 none',
    ]);
  });

  it('of a sort column have bounds whatever is set', () => {
    const order: SortOrder = {
      orderId: 1,
      fields: [{ sourceId: 4, transform: 'identity', direction: 'asc', nullOrder: 'nulls-first' }],
    };
    expect(modes(COLUMNS, { default: 'none' }, order)).toEqual(['1 none', '4 truncate(16)']);
    expect(modes(COLUMNS, { default: 'full' }, order)).toEqual(['1 full', '4 full']);
  });
});

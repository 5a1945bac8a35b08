/** Short rows must not make large slices. */

import { describe, expect, it } from 'vitest';
import { decode, field, newKernel, schema } from './kernel-fixture.ts';

const MIB = 1024 * 1024;
const limits = { sliceBytes: 4 * MIB, rowBytesMax: 4 * MIB };

describe('a slice of short rows', () => {
  it.each([
    ['ndjson', '{}\n'.repeat(200_000)],
    ['json', `[${'{},'.repeat(200_000)}{}]`],
  ] as const)('ends after a number of rows, in %s, and loses none', (format, body) => {
    const { slices, received, accepted } = decode(body, schema(field(1, 'a', 'long')), {
      format,
      limits,
    });
    expect(received).toBe(format === 'json' ? 200_001 : 200_000);
    expect(accepted).toBe(received);
    expect(Math.max(...slices.map((slice) => slice.rowsReceived))).toBe(32_768);
  });

  it('stays small when every row is rejected', { timeout: 60_000 }, () => {
    const kernel = newKernel();
    const body = `[${'1,'.repeat(500_000)}{"a":1}]`;
    const format = 'json';
    const { rejected, accepted } = decode(body, schema(field(1, 'a', 'long')), {
      format,
      limits,
      kernel,
    });
    expect([rejected.length, accepted]).toEqual([500_000, 1]);
    expect(rejected.map(({ row }) => row)).toEqual(Array.from({ length: 500_000 }, (_, i) => i));
    expect(kernel.memoryBytes).toBeLessThan(64 * MIB);
  });

  it('stays small when the rows fill many columns', { timeout: 60_000 }, () => {
    const kernel = newKernel();
    const wide = schema(...Array.from({ length: 500 }, (_, i) => field(i + 1, `c${i}`, 'double')));
    const { slices, received } = decode('{"c1":1}\n'.repeat(100_000), wide, { limits, kernel });
    expect(received).toBe(100_000);
    expect(Math.max(...slices.map(({ ipc }) => ipc?.byteLength ?? 0))).toBeLessThan(12 * MIB);
    expect(kernel.memoryBytes).toBeLessThan(64 * MIB);
  });
});

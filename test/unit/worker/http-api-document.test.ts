import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STREAM_KERNELS } from '../../../src/worker/kernel-budgets.ts';
import { INGEST_LIMITS } from '../../../src/ingest/limits.ts';

const MIB = 1024 * 1024;
const DOCUMENT = readFileSync('docs/http-api.md', 'utf8');
const CODE = '[a-z]+(?:-[a-z]+)*\\.[a-z0-9]+(?:-[a-z0-9]+)*';
/** In TypeScript the code follows the kind; in Rust it is the only text of that shape. */
const IN_TYPESCRIPT = new RegExp(`new IcebergError\\(\\s*[^,]+,\\s*'(${CODE})'`, 'g');
const IN_RUST = new RegExp(
  `"((?:arrow|column|json|kernel|parquet|row|schema|value)\\.[a-z0-9-]+)"`,
  'g',
);

function thrownCodes(): Set<string> {
  const codes = new Set<string>();
  for (const [pattern, code] of [
    ['src/**/*.ts', IN_TYPESCRIPT],
    ['wasm/src/**/*.rs', IN_RUST],
  ] as const) {
    for (const file of globSync(pattern)) {
      for (const [, found = ''] of readFileSync(file, 'utf8').matchAll(code)) codes.add(found);
    }
  }
  return codes;
}

describe('docs/http-api.md', () => {
  it('lists every error code, or its family', () => {
    const codes = thrownCodes();
    expect(codes.size).toBeGreaterThan(80);
    const missing = [...codes].filter((code) => {
      const family = `${code.split('.')[0]}.*`;
      return !DOCUMENT.includes(`\`${code}\``) && !DOCUMENT.includes(`\`${family}\``);
    });
    expect(missing).toEqual([]);
  });

  it('states the limits that are enforced', () => {
    const row = (what: string): string =>
      DOCUMENT.split('\n').find((line) => line.startsWith(`| ${what}`)) ?? '';
    expect(row('body as sent')).toContain(`${INGEST_LIMITS.bodyBytesMax / MIB} MiB`);
    expect(row('body after inflating')).toContain(
      `${INGEST_LIMITS.decodedBytesMax / MIB / 1024} GiB`,
    );
    expect(row('body after inflating')).toContain(`${INGEST_LIMITS.inflateRatioMax} times`);
    expect(row('one row')).toContain(`${INGEST_LIMITS.rowBytesMax / MIB} MiB`);
    const { instancesMax, waitersMax } = STREAM_KERNELS;
    expect(row('bodies decoded at once')).toContain(`${instancesMax}, and ${waitersMax} waiting`);
    expect(row('time without')).toContain(`${INGEST_LIMITS.bodyIdleMsMax / 1000} s`);
  });
});

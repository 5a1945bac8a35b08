import { describe, expect, it } from 'vitest';
import { readSettings, type Env } from '../../../src/worker/config.ts';
import { createLogger, workerRandom } from '../../../src/worker/platform.ts';

const environment = (variables: Record<string, string>): Env => variables as unknown as Env;

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(readSettings(environment({}))).toMatchObject({
      bucketName: 'floe-lake',
      flushBytes: 33_554_432,
      flushAgeMs: 5000,
      pendingBytesMax: 268_435_456,
      logLevel: 'info',
    });
  });

  it.each([
    ['FLUSH_BYTES', '32MB'],
    ['FLUSH_AGE_MS', '10'],
    ['PENDING_BYTES_MAX', '-1'],
    ['LOG_LEVEL', 'verbose'],
  ])('refuse a value of %s that they do not understand', (name, value) => {
    expect(() => readSettings(environment({ [name]: value }))).toThrow(name);
  });
});

describe('the log', () => {
  it('writes one line an entry from its level on, with exact 64-bit numbers', () => {
    const lines: string[] = [];
    const logger = createLogger('info', (line) => lines.push(line));
    logger.debug('not-written');
    logger.info('flush.committed', { snapshotId: 9_007_199_254_740_993n, text: 'a\nb' });
    expect(lines).toEqual([
      '{"level":"info","event":"flush.committed","snapshotId":"9007199254740993","text":"a\\nb"}',
    ]);
  });

  it('cuts long texts', () => {
    const lines: string[] = [];
    createLogger('debug', (line) => lines.push(line)).error('x', { message: 'm'.repeat(10_000) });
    expect(lines[0]?.length).toBeLessThan(2100);
  });
});

it('makes ids that are positive 63-bit numbers', () => {
  for (let count = 0; count < 100; count += 1) {
    const id = workerRandom.int63();
    expect(id > 0n && id < 2n ** 63n).toBe(true);
  }
});

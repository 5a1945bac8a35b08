import { describe, expect, it } from 'vitest';
import {
  formatBatchId,
  parseBatchId,
  parseIdempotencyKey,
  parseTableIdentifier,
} from '../../../src/ingest/names.ts';

const UUID = '5b1f0000-0000-4000-8000-00000000000a';

describe('table names', () => {
  it.each(['events', 'A', '_x', '9', 'a-b_c', 'x'.repeat(128)])('allows %s', (name) => {
    expect(parseTableIdentifier('app', name)).toEqual({ namespace: ['app'], name });
  });

  it.each(['', '-a', 'a.b', 'a/b', '..', 'a b', 'é', 'x'.repeat(129), 'a\n', '%41'])(
    'refuses %j',
    (name) => {
      const refused = expect.objectContaining({ kind: 'invalid', code: 'name.invalid' });
      expect(() => parseTableIdentifier('app', name)).toThrow(refused);
      expect(() => parseTableIdentifier(name, 'events')).toThrow(refused);
    },
  );
});

describe('batch ids', () => {
  it('say where the batch lives', () => {
    const address = { identifier: { namespace: ['app'], name: 'ev-1' }, shard: 3 };
    const id = formatBatchId(address, UUID);
    expect(id).toBe(`app.ev-1.3.${UUID}`);
    expect(parseBatchId(id)).toEqual(address);
  });

  it.each([
    '',
    'x',
    `a.b.0`,
    `a.b.-1.${UUID}`,
    `a.b.00.${UUID}`,
    `a.b.0.${UUID}.c`,
    `../b.0.${UUID}`,
  ])('refuses %j', (id) => {
    expect(() => parseBatchId(id)).toThrow(expect.objectContaining({ code: 'batch.invalid-id' }));
  });
});

describe('idempotency keys', () => {
  it('are printable and of bounded length', () => {
    expect(parseIdempotencyKey(null, 10)).toBeNull();
    expect(parseIdempotencyKey('order 17', 10)).toBe('order 17');
    for (const key of ['', 'x'.repeat(11), 'a\u0007', 'ü']) {
      expect(() => parseIdempotencyKey(key, 10)).toThrow(
        expect.objectContaining({ code: 'idempotency.invalid-key' }),
      );
    }
  });
});

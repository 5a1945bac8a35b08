import { describe, expect, it } from 'vitest';
import type { Env } from '../../../src/worker/config.ts';
import { readHttpSettings } from '../../../src/worker/http-settings.ts';

type Variables = Omit<Partial<Env>, 'LAKE' | 'INGEST_SHARDS' | 'TABLE_COMMITTERS'>;

const read = (variables: Variables) => readHttpSettings(variables as Env);
const S3_KEYS = {
  FLOE_LOCAL_S3_ACCESS_KEY_ID: 'key',
  FLOE_LOCAL_S3_SECRET_ACCESS_KEY: 'secret',
};

describe('readHttpSettings', () => {
  it('is shut and knows no origin by default', () => {
    expect(read({})).toEqual({ token: null, isLocal: false, corsOrigins: [], localS3: null });
  });

  it('opens to every origin and hands out the storage keys in a local run only', () => {
    expect(read({ FLOE_LOCAL: '1', ...S3_KEYS })).toEqual({
      token: null,
      isLocal: true,
      corsOrigins: ['*'],
      localS3: { accessKeyId: 'key', secretAccessKey: 'secret' },
    });
    expect(read(S3_KEYS).localS3).toBeNull();
  });

  it('reads a list of origins', () => {
    const { corsOrigins } = read({ CORS_ORIGINS: 'https://a.example, http://localhost:3000' });
    expect(corsOrigins).toEqual(['https://a.example', 'http://localhost:3000']);
  });

  it.each([
    { CORS_ORIGINS: 'a.example' },
    { CORS_ORIGINS: 'https://a.example/path' },
    { FLOE_TOKEN: 'two words' },
  ])('refuses %o, and names the variable', (variables) => {
    const [name] = Object.keys(variables);
    expect(() => read(variables)).toThrow(
      expect.objectContaining({ code: 'config.invalid', context: { variable: name } }),
    );
  });

  it('keeps a token that cannot be used out of the error', () => {
    expect(() => read({ FLOE_TOKEN: 'se cret' })).toThrow(/^(?!.*se cret)/);
  });
});

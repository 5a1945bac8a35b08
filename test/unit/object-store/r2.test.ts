import { expect, it } from 'vitest';
import { translateR2Error } from '../../../src/object-store/r2.ts';

it.each([
  ['put: Unspecified error (10001)', 'unavailable'],
  ['get: Unauthorized (10002)', 'unauthorized'],
  ['get: Access denied (10003)', 'forbidden'],
  ['get: The specified bucket does not exist. (10006)', 'not-found'],
  ['put: Service is unavailable (10043)', 'unavailable'],
  ['put: Reduce your rate of simultaneous requests on the same object. (10058)', 'unavailable'],
  ['delete: Object locked by bucket policy (10069)', 'forbidden'],
  ['Network connection lost.', 'unavailable'],
])('reads the kind of "%s" as %s', (message, kind) => {
  const error = translateR2Error('put', 'a/b', new Error(message));
  expect(error.kind).toBe(kind);
  expect(error.code).toBe('store.put-failed');
  expect(error.context['key']).toBe('a/b');
});

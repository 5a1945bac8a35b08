/** The last handler of a path: says which methods it has instead of pretending it is not there. */

import type { Handler } from 'hono';
import { IcebergError } from '../../iceberg/errors.ts';

/** @throws invalid `request.method-not-allowed`, except to OPTIONS, which is answered */
export function methodNotAllowed(...methods: string[]): Handler {
  const allow = [...methods, 'OPTIONS'].join(', ');
  return (context) => {
    if (context.req.method === 'OPTIONS') {
      return context.body(null, 204, { allow });
    }
    throw new IcebergError(
      'invalid',
      'request.method-not-allowed',
      `${context.req.method} is not possible here; these are: ${allow}.`,
      { context: { method: context.req.method, allow } },
    );
  };
}

/**
 * The cron trigger: asks every table's shard how it is, which arms an alarm that was lost. The
 * platform gives an alarm up for good after six failed attempts; without this, batches of a table
 * that nobody writes to any more would wait for ever.
 */

import { isIcebergError } from '../iceberg/errors.ts';
import { fromOutcome } from '../table/protocol.ts';
import type { AppServices } from './services.ts';
import { FIRST_SHARD } from './services.ts';

export async function wakeTables(services: AppServices): Promise<void> {
  const { catalog, logger } = services;
  for (const namespace of await catalog.listNamespaces()) {
    for (const identifier of await catalog.listTables(namespace)) {
      try {
        fromOutcome(await services.shard(identifier, FIRST_SHARD).pending());
      } catch (error) {
        // One table's trouble is not the others'.
        logger.warn('table not woken', {
          table: [...identifier.namespace, identifier.name].join('.'),
          code: isIcebergError(error) ? error.code : 'internal.unexpected',
        });
      }
    }
  }
}

/** What every catalog must do, whatever it stands on. One short file per catalog runs it. */

import { describe, expect, it } from 'vitest';
import type {
  Catalog,
  CommitOutcome,
  LoadedTable,
  TableIdentifier,
} from '../../src/iceberg/ports.ts';
import { serializeTableMetadata } from '../../src/iceberg/spec/table-metadata-json.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { makeTable } from '../support/tables.ts';

export function describeCatalog(name: string, makeCatalog: () => Catalog): void {
  let count = 0;
  const setUp = (): {
    catalog: Catalog;
    identifier: TableIdentifier;
    create: (properties?: Record<string, string>) => Promise<LoadedTable>;
  } => {
    count += 1;
    const catalog = makeCatalog();
    const identifier = { namespace: [`suite_${count}`], name: 'orders' };
    const random = new SeededRandom(count);
    return {
      catalog,
      identifier,
      create: (properties = {}) =>
        catalog.createTable(
          identifier,
          makeTable(random, catalog.newTableLocation(identifier), properties),
        ),
    };
  };
  const setProperty = (
    catalog: Catalog,
    identifier: TableIdentifier,
    table: LoadedTable,
    key: string,
    value: string,
  ): Promise<CommitOutcome> =>
    catalog.commitTable({
      identifier,
      requirements: [{ type: 'assert-table-uuid', uuid: table.metadata.tableUuid }],
      updates: [{ action: 'set-properties', updates: new Map([[key, value]]) }],
    });

  describe(`catalog: ${name}`, () => {
    it('loads the table it created', async () => {
      const { catalog, identifier, create } = setUp();
      const created = await create();
      const loaded = await catalog.loadTable(identifier);
      expect(loaded.metadataLocation).toBe(created.metadataLocation);
      expect(serializeTableMetadata(loaded.metadata)).toBe(
        serializeTableMetadata(created.metadata),
      );
    });

    it('says not-found for a table that does not exist, on load and on commit', async () => {
      const { catalog, identifier } = setUp();
      await expect(catalog.loadTable(identifier)).rejects.toMatchObject({
        kind: 'not-found',
        code: 'table.not-found',
      });
      await expect(
        catalog.commitTable({ identifier, requirements: [], updates: [] }),
      ).rejects.toMatchObject({ kind: 'not-found' });
    });

    it('lets one of several creators win and tells the others', async () => {
      const { catalog, create } = setUp();
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => create()));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') {
          expect(result.reason).toMatchObject({ kind: 'already-exists' });
        }
      }
      expect(catalog).toBeDefined();
    });

    it('commits updates and logs the previous metadata file', async () => {
      const { catalog, identifier, create } = setUp();
      const created = await create();
      const outcome = await setProperty(catalog, identifier, created, 'owner', 'ann');
      if (outcome.status !== 'committed') throw new Error(`Unexpected ${outcome.status}`);
      const loaded = await catalog.loadTable(identifier);
      expect(loaded.metadataLocation).toBe(outcome.table.metadataLocation);
      expect(loaded.metadata.properties.get('owner')).toBe('ann');
      expect(loaded.metadata.metadataLog.map((entry) => entry.metadataFile)).toEqual([
        created.metadataLocation,
      ]);
      expect(loaded.metadata.lastUpdatedMs).toBeGreaterThanOrEqual(created.metadata.lastUpdatedMs);
    });

    it('answers conflict when a requirement fails, and changes nothing (C088)', async () => {
      const { catalog, identifier, create } = setUp();
      const created = await create();
      const outcome = await catalog.commitTable({
        identifier,
        requirements: [{ type: 'assert-table-uuid', uuid: '99999999-9999-4999-8999-999999999999' }],
        updates: [{ action: 'set-properties', updates: new Map([['owner', 'eve']]) }],
      });
      expect(outcome.status).toBe('conflict');
      const loaded = await catalog.loadTable(identifier);
      expect(loaded.metadataLocation).toBe(created.metadataLocation);
    });

    it('loses no update of concurrent writers that retry conflicts', async () => {
      const { catalog, identifier, create } = setUp();
      const created = await create();
      const writer = async (key: string): Promise<void> => {
        for (;;) {
          const outcome = await setProperty(catalog, identifier, created, key, 'yes');
          if (outcome.status === 'committed') return;
          expect(outcome.status).toBe('conflict');
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, index) => writer(`writer-${index}`)));
      const { metadata } = await catalog.loadTable(identifier);
      for (let index = 0; index < 6; index += 1) {
        expect(metadata.properties.get(`writer-${index}`)).toBe('yes');
      }
      expect(metadata.metadataLog).toHaveLength(6);
    });

    it('lists namespaces and tables, and not what was dropped', async () => {
      const { catalog, identifier, create } = setUp();
      await create();
      expect(await catalog.listNamespaces()).toContainEqual(identifier.namespace);
      expect(await catalog.listTables(identifier.namespace)).toEqual([identifier]);
      await catalog.dropTable(identifier, { purge: true });
      expect(await catalog.listTables(identifier.namespace)).toEqual([]);
      expect(await catalog.listTables(['never_made'])).toEqual([]);
    });

    it('drops repeatably, and makes a table of another identity afterwards', async () => {
      const { catalog, identifier, create } = setUp();
      const first = await create();
      await catalog.dropTable(identifier, { purge: true });
      await catalog.dropTable(identifier, { purge: true });
      await expect(catalog.loadTable(identifier)).rejects.toMatchObject({ kind: 'not-found' });
      const second = await create();
      expect(second.metadata.tableUuid).not.toBe(first.metadata.tableUuid);
      const outcome = await setProperty(catalog, identifier, first, 'owner', 'stale');
      expect(outcome.status).toBe('conflict');
    });

    it('gives a new table a location of its own, without a slash at the end', () => {
      const { catalog, identifier } = setUp();
      const location = catalog.newTableLocation(identifier);
      expect(location).toMatch(/^[a-z0-9]+:\/\/.*[^/]$/);
      expect(location).not.toBe(catalog.newTableLocation({ ...identifier, name: 'other' }));
    });
  });
}

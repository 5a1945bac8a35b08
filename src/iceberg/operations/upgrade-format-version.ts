/** The change that takes a table to a newer version of the format. There is no way back. Pure. */

import { IcebergError } from '../errors.ts';
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts';
import type { LayoutChange } from './update-partition-spec.ts';

/**
 * Null when the table has that version already. Files stay as they are: rows of before version 3 get
 * their ids with the next snapshot.
 * @throws invalid `table.format-version-downgrade`
 */
export function upgradeFormatVersion(
  metadata: TableMetadata,
  formatVersion: FormatVersion,
): LayoutChange | null {
  if (formatVersion === metadata.formatVersion) return null;
  if (formatVersion < metadata.formatVersion) {
    throw new IcebergError(
      'invalid',
      'table.format-version-downgrade',
      `A table of format version ${metadata.formatVersion} cannot go back to ${formatVersion}`,
    );
  }
  return {
    updates: [{ action: 'upgrade-format-version', formatVersion }],
    requirements: [{ type: 'assert-table-uuid', uuid: metadata.tableUuid }],
  };
}

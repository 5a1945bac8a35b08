/** Ids of rows in tables of version 3. Pure. Spec: "Row Lineage". */

import type { ManifestFile } from '../spec/manifest-file.ts';

export interface RowIdAssignment {
  readonly manifests: readonly ManifestFile[];
  /** Ids that were given, for `added-rows` of the snapshot; null before version 3. */
  readonly addedRows: bigint | null;
}

/**
 * Gives ids from `firstRowId` on to the data manifests that have none, in the order of the list:
 * existing rows get theirs anew here when they had none, as after an upgrade from version 2. Before
 * version 3 (`firstRowId` null) nothing is assigned. Spec: "First Row ID Assignment".
 */
export function assignRowIds(
  manifests: readonly ManifestFile[],
  firstRowId: bigint | null,
): RowIdAssignment {
  if (firstRowId === null) return { manifests, addedRows: null };
  let next = firstRowId;
  const assigned = manifests.map((manifest) => {
    if (manifest.content !== 'data' || manifest.firstRowId !== null) return manifest;
    const first = next;
    next += (manifest.addedRowsCount ?? 0n) + (manifest.existingRowsCount ?? 0n);
    return { ...manifest, firstRowId: first };
  });
  return { manifests: assigned, addedRows: next - firstRowId };
}

/**
 * How rows with unknown columns are set aside under the policy `strict`. The kernel accepts them and
 * leaves the unknown values out, so for one slice the schema gets the unknown columns as well, each
 * of a type that no value but null fits: a struct that requires a field nobody can know the name of.
 */

import type { RejectedRow } from '../columnar/kernel-port.ts';
import { foldedName } from '../iceberg/metadata/column-names.ts';
import { editStruct } from '../iceberg/metadata/schema-editor.ts';
import { unionByName } from '../iceberg/metadata/union-by-name.ts';
import { FIELD_ID_MAX } from '../iceberg/spec/data-types.ts';
import type { InferredStruct } from '../iceberg/spec/inferred-type.ts';
import type { NestedField, Schema } from '../iceberg/spec/schema.ts';
import { kernelPathText } from './column-text.ts';

export interface StrictSchema {
  /** Its additional fields have ids that no table reaches, so a flush takes no notice of them. */
  readonly schema: Schema;
  /** Says of rows that were rejected for an unknown column that this is why. */
  readonly explain: (rejected: readonly RejectedRow[]) => RejectedRow[];
}

/** `secret` is a text that nobody else knows. */
export function strictSchema(
  schema: Schema,
  unknown: InferredStruct,
  secret: string,
): StrictSchema {
  const paths = new Map<string, readonly string[]>();
  for (const path of unionByName(schema, unknown, 0, { policy: 'strict' }).missingColumns) {
    paths.set(foldedName(kernelPathText(path)), path);
  }
  let id = FIELD_ID_MAX;
  const nextId = (): number => (id -= 1);
  let { fields } = schema;
  for (const path of paths.values()) {
    const column = unfillable(path.at(-1) ?? '', secret, nextId);
    fields = editStruct(fields, path.slice(0, -1), (siblings) => [...siblings, column]);
  }
  const columns = [...paths.values()].map(kernelPathText);
  return {
    schema: { ...schema, fields },
    explain: (rejected) =>
      rejected.map((row) => {
        const column = columns.find(
          (text) => row.column === text || row.column.startsWith(`${text}.`),
        );
        return column === undefined ? row : { ...row, column, ...UNKNOWN_COLUMN };
      }),
  };
}

const UNKNOWN_COLUMN = {
  code: 'column.unknown',
  message: 'the table has no such column, and the schema policy is strict',
};

function unfillable(name: string, secret: string, nextId: () => number): NestedField {
  const id = nextId();
  const required: NestedField = {
    id: nextId(),
    name: secret,
    required: true,
    type: { type: 'boolean' },
  };
  return { id, name, required: false, type: { type: 'struct', fields: [required] } };
}

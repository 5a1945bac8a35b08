/** A schema as the kernel reads it: UTF-8 of the spec's JSON form, made once a schema, not once a slice. */

import { serializeSchema } from '../iceberg/spec/schema-json.ts';
import type { Schema } from '../iceberg/spec/schema.ts';

const encoder = new TextEncoder();
const encoded = new WeakMap<Schema, Uint8Array>();

/** The caller must not change the bytes. */
export function schemaBytes(schema: Schema): Uint8Array {
  let bytes = encoded.get(schema);
  if (bytes === undefined) {
    // A schema holds no integer beyond 2^53.
    bytes = encoder.encode(JSON.stringify(serializeSchema(schema)));
    encoded.set(schema, bytes);
  }
  return bytes;
}

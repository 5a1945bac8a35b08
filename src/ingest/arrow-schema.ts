/**
 * A table's schema as an Arrow IPC stream without batches: what every Arrow library reads, and made by
 * the kernel itself, so that it is, field id by field id, the schema of the rows it writes.
 *
 * The kernel says the Arrow schema only with rows, so it is given one that fits.
 * Source: Arrow columnar format, "Encapsulated message format", "IPC Streaming Format".
 */

import type { KernelInstance } from '../columnar/kernel-port.ts';
import { IcebergError, unreachable } from '../iceberg/errors.ts';
import type { JsonObject, JsonValue } from '../iceberg/json.ts';
import { serializeJson } from '../iceberg/json.ts';
import type { NestedField, Schema, Type } from '../iceberg/spec/schema.ts';

const CONTINUATION = 0xffffffff;
const PREFIX_BYTES = 8;
const END_OF_STREAM = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
const ROW_BYTES_MAX = 4 * 1024 * 1024;

/** @throws unsupported `schema.unsupported-type` for a type that has no Arrow form here */
export function arrowSchemaStream(kernel: KernelInstance, schema: Schema): Uint8Array<ArrayBuffer> {
  const decoder = kernel.createBodyDecoder('ndjson', {
    sliceBytes: ROW_BYTES_MAX,
    rowBytesMax: ROW_BYTES_MAX,
    rawBytesMax: 100,
  });
  try {
    decoder.push(new TextEncoder().encode(serializeJson(rowOf(schema.fields))));
    decoder.finish();
    const { ipc } = decoder.decode(schema);
    if (ipc === null) {
      throw new IcebergError(
        'internal',
        'ingest.no-arrow-schema',
        'The row made to fit the schema was not accepted',
      );
    }
    return schemaMessageOf(ipc);
  } finally {
    decoder.close();
  }
}

/** The first message of a stream, which has no body, and the end. */
function schemaMessageOf(ipc: Uint8Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(ipc.buffer, ipc.byteOffset, ipc.byteLength);
  if (view.getUint32(0, true) !== CONTINUATION) {
    throw new IcebergError('internal', 'ingest.no-arrow-schema', 'The stream has no first message');
  }
  const messageBytes = PREFIX_BYTES + view.getUint32(4, true);
  const stream = new Uint8Array(messageBytes + END_OF_STREAM.byteLength);
  stream.set(ipc.subarray(0, messageBytes));
  stream.set(END_OF_STREAM, messageBytes);
  return stream;
}

/** Only what must have a value has one. */
function rowOf(fields: readonly NestedField[]): JsonObject {
  return Object.fromEntries(
    fields.filter(({ required }) => required).map(({ name, type }) => [name, valueOf(type)]),
  );
}

function valueOf(type: Type): JsonValue {
  switch (type.type) {
    case 'boolean':
      return false;
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'decimal':
      return 0;
    case 'date':
      return '1970-01-01';
    case 'time':
      return '00:00:00';
    case 'timestamp':
    case 'timestamp_ns':
      return '1970-01-01T00:00:00';
    case 'timestamptz':
    case 'timestamptz_ns':
      return '1970-01-01T00:00:00Z';
    case 'string':
    case 'binary':
      return '';
    case 'uuid':
      return '00000000-0000-0000-0000-000000000000';
    case 'fixed':
      return btoa('\0'.repeat(type.length));
    case 'struct':
      return rowOf(type.fields);
    case 'list':
      return [];
    case 'map':
      return {};
    case 'unknown':
    case 'variant':
      // The kernel writes neither, and says so of the second.
      return null;
    default:
      return unreachable(type);
  }
}

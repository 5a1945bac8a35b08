/**
 * Avro object container files with the codecs every reader knows: `null` and `deflate`.
 * Spec: Avro 1.11 "Object Container Files".
 */

import { IcebergError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { JsonNode, parseJson, serializeJson } from '../json.ts';
import type { AvroType } from './avro-schema.ts';
import { parseAvroSchema } from './avro-schema.ts';
import type { AvroValue } from './avro-value.ts';
import { AvroDecoder, AvroEncoder } from './binary-encoding.ts';
import { deflateRaw, inflateRaw } from './deflate.ts';

const MAGIC = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01);
const SYNC_BYTES = 16;
/** A block is closed once it holds this much, before compression. */
const BLOCK_BYTES = 256 * 1024;

export type AvroCodec = 'null' | 'deflate';

export interface ContainerOptions {
  readonly schema: JsonObject;
  /** Header entries beside `avro.schema` and `avro.codec`. */
  readonly metadata: ReadonlyMap<string, string>;
  readonly codec: AvroCodec;
  /** 16 bytes that are unlikely to occur in the data. */
  readonly syncMarker: Uint8Array;
}

/** The header of a container and its records, still encoded. */
export interface ContainerFile {
  readonly schema: AvroType;
  readonly metadata: ReadonlyMap<string, string>;
  readonly records: AsyncIterable<AvroValue>;
}

export async function writeContainer(
  options: ContainerOptions,
  records: Iterable<AvroValue>,
): Promise<Uint8Array> {
  const type = parseAvroSchema(new JsonNode(options.schema));
  const file = new AvroEncoder();
  writeHeader(file, options);
  const block = new AvroEncoder();
  let count = 0;
  const closeBlock = async (): Promise<void> => {
    if (count === 0) return;
    const plain = block.toBytes();
    const data = options.codec === 'deflate' ? await deflateRaw(plain) : plain;
    file.int(count);
    file.bytes(data);
    file.raw(options.syncMarker);
    block.clear();
    count = 0;
  };
  for (const record of records) {
    block.value(type, record);
    count += 1;
    if (block.length >= BLOCK_BYTES) await closeBlock();
  }
  await closeBlock();
  return file.toBytes();
}

/**
 * Reads the header at once, the records as they are asked for.
 * @throws corrupt `avro.bad-magic`, `avro.sync`, …; unsupported `avro.codec`
 */
export function readContainer(bytes: Uint8Array): ContainerFile {
  if (!startsWith(bytes, MAGIC)) {
    throw new IcebergError('corrupt', 'avro.bad-magic', 'Not an Avro object container file');
  }
  const decoder = new AvroDecoder(bytes, MAGIC.length);
  const metadata = readHeader(decoder);
  const syncMarker = decoder.raw(SYNC_BYTES);
  const codec = metadata.get('avro.codec') ?? 'null';
  if (codec !== 'null' && codec !== 'deflate') {
    throw new IcebergError(
      'unsupported',
      'avro.codec',
      `Avro codec "${codec}" is not supported; set write.manifest.compression-codec=gzip`,
    );
  }
  const schemaText = metadata.get('avro.schema');
  if (schemaText === undefined) {
    throw new IcebergError('corrupt', 'avro.schema', 'The Avro header has no schema');
  }
  const schema = parseAvroSchema(new JsonNode(parseJson(schemaText), 'avro.schema'));
  return { schema, metadata, records: readBlocks(decoder, schema, codec, syncMarker) };
}

async function* readBlocks(
  decoder: AvroDecoder,
  schema: AvroType,
  codec: AvroCodec,
  syncMarker: Uint8Array,
): AsyncGenerator<AvroValue> {
  while (!decoder.isAtEnd) {
    const count = decoder.long();
    const stored = decoder.bytes();
    const block = new AvroDecoder(codec === 'deflate' ? await inflateRaw(stored) : stored);
    for (let i = 0n; i < count; i++) yield block.value(schema);
    if (!startsWith(decoder.raw(SYNC_BYTES), syncMarker)) {
      throw new IcebergError('corrupt', 'avro.sync', 'An Avro block lacks its sync marker');
    }
  }
}

function writeHeader(file: AvroEncoder, options: ContainerOptions): void {
  const entries: [string, string][] = [
    ['avro.schema', serializeJson(options.schema)],
    ['avro.codec', options.codec],
    ...options.metadata,
  ];
  file.raw(MAGIC);
  file.int(entries.length);
  for (const [key, value] of entries) {
    file.string(key);
    file.string(value);
  }
  file.int(0);
  file.raw(options.syncMarker);
}

function readHeader(decoder: AvroDecoder): Map<string, string> {
  const map = decoder.value({ kind: 'map', values: { kind: 'string', logicalType: null } });
  const metadata = new Map<string, string>();
  if (!(map instanceof Map)) return metadata;
  for (const [key, value] of map) metadata.set(key, String(value));
  return metadata;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, i) => bytes[i] === byte);
}

/**
 * One JavaScript peer of the kernel benchmark, in a process of its own so that its CPU time is its own.
 *
 * usage: kernel-peer.mjs PEER INPUT OUTPUT.parquet LEVEL
 *   PEER with INPUT.ndjson: floe, floePartitioned, floeThousand, parquetWasmBuilders, parquetWasmTyped
 *   PEER with INPUT.arrows: floeArrow
 *        kernel-peer.mjs toArrow INPUT.ndjson OUTPUT.arrows
 *
 * Prints a line of JSON: CPU seconds from the first byte read, of the working thread and of the process, rows,
 * output bytes, and the peak of the module's memory (linear memory never shrinks, so its last size is its peak).
 */

import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

import { EVENTS_SCHEMA } from './events.mjs';

/** parquet-wasm needs less memory and time with batches than with one table. */
const BATCH_ROWS = 50_000;
const CHUNK_BYTES = 64 * 1024;

const [peer, input, output, level] = process.argv.slice(2);
async function newKernel() {
  const { createKernel } = await import('../src/columnar/kernel.ts');
  const bytes = readFileSync(new URL('../wasm/kernel.wasm', import.meta.url));
  const module = new WebAssembly.Module(bytes);
  return () => createKernel(module);
}

const LIMITS = { sliceBytes: 256 * 1024, rowBytesMax: 1024 * 1024, rawBytesMax: 1024 };

const parquetOptions = () => ({
  codec: 'zstd',
  compressionLevel: Number(level),
  rowGroupBytes: 16 * 1024 * 1024,
  pageBytes: 1024 * 1024,
  dictionaryBytes: 1024 * 1024,
});

/** Reads the input through a decoder and has `take` called for each slice. */
function decodeInput(kernel, format, limits, take) {
  const decoder = kernel.createBodyDecoder(format, limits);
  const takeReady = () => {
    while (decoder.ready) {
      take(decoder);
      decoder.advance();
    }
  };
  for (const chunk of readChunks(input)) {
    decoder.push(chunk);
    takeReady();
  }
  decoder.finish();
  takeReady();
}

const floe = () => oneFile('ndjson');
const floeArrow = () => oneFile('arrow-stream');

async function oneFile(format) {
  const create = await newKernel();
  const start = startClock();
  const kernel = create();
  const parts = [];
  const encoder = kernel.createParquetEncoder(EVENTS_SCHEMA, parquetOptions(), (chunk) =>
    parts.push(chunk),
  );
  let rows = 0;
  decodeInput(kernel, format, LIMITS, (decoder) => {
    rows += decoder.decodeInto(EVENTS_SCHEMA, encoder).rowsAccepted;
  });
  const file = encoder.finish();
  const spent = cpuSince(start);
  writeFileSync(output, Buffer.concat(parts));
  return {
    ...spent,
    rows,
    outputBytes: Number(file.fileSizeInBytes),
    memoryBytes: kernel.memoryBytes,
  };
}

const TS_ID = 2;
const USER_ID = 3;
/** `day(ts), bucket(16, user_id)` */
const floePartitioned = () => filesByPartition([TS_ID, 'day'], [USER_ID, 'bucket[16]']);
/** All thousand partitions in each batch. */
const floeThousand = () => filesByPartition([USER_ID, 'bucket[1000]']);

async function filesByPartition(...transforms) {
  const create = await newKernel();
  const fields = transforms.map(([sourceId, transform], index) => ({
    sourceId,
    fieldId: 1000 + index,
    name: `p${index}`,
    transform,
  }));
  const start = startClock();
  const kernel = create();
  const encoder = kernel.createPartitionedEncoder(EVENTS_SCHEMA, parquetOptions(), {
    spec: { specId: 1, fields },
    bufferBytesMax: 16 * 1024 * 1024,
    partitionsMax: 10_000,
  });
  decodeInput(kernel, 'ndjson', LIMITS, (decoder) => decoder.decodeInto(EVENTS_SCHEMA, encoder));
  const files = [];
  for (;;) {
    const written = encoder.nextFile(() => {});
    if (written === null) break;
    files.push(written.file);
  }
  const sum = (part) => files.reduce((total, file) => total + Number(part(file)), 0);
  return {
    ...cpuSince(start),
    rows: sum((file) => file.recordCount),
    outputBytes: sum((file) => file.fileSizeInBytes),
    memoryBytes: kernel.memoryBytes,
    files: files.length,
  };
}

/** The events as one Arrow stream of larger batches, as clients send them; not measured. */
async function toArrow() {
  const arrow = await import('apache-arrow');
  const kernel = (await newKernel())();
  const batches = [];
  decodeInput(kernel, 'ndjson', { ...LIMITS, sliceBytes: 4 * 1024 * 1024 }, (decoder) => {
    batches.push(...arrow.tableFromIPC(decoder.decode(EVENTS_SCHEMA).ipc).batches);
  });
  writeFileSync(output, arrow.RecordBatchStreamWriter.writeAll(batches).toUint8Array(true));
  return {};
}

async function parquetWasmBuilders() {
  const arrow = await import('apache-arrow');
  const types = columnTypes(arrow);
  return await parquetWasm(arrow, (rows) => {
    const builders = Object.entries(types).map(([name, type]) => [
      name,
      arrow.makeBuilder({ type, nullValues: [null, undefined] }),
    ]);
    for (const row of rows) {
      for (const [name, builder] of builders) {
        const value = row[name];
        if (name === 'ts') builder.append(Date.parse(value));
        else if (name === 'user_id' || name === 'duration_ms') builder.append(BigInt(value));
        else builder.append(value);
      }
    }
    const vectors = builders.map(([name, builder]) => [name, builder.finish().toVector()]);
    return new arrow.Table(Object.fromEntries(vectors));
  });
}

async function parquetWasmTyped() {
  const arrow = await import('apache-arrow');
  const types = columnTypes(arrow);
  const makers = {
    event_id: textColumn,
    ts: (rows, name) => longColumn(rows, name, microseconds),
    user_id: longColumn,
    session: textColumn,
    event_type: textColumn,
    url: textColumn,
    referrer: textColumn,
    country: textColumn,
    device: textColumn,
    duration_ms: longColumn,
    price: doubleColumn,
    ok: booleanColumn,
  };
  return await parquetWasm(arrow, (rows) => {
    const columns = Object.entries(makers).map(([name, make]) => {
      const data = arrow.makeData({ type: types[name], length: rows.length, ...make(rows, name) });
      return [name, arrow.makeVector(data)];
    });
    return new arrow.Table(Object.fromEntries(columns));
  });
}

/** Parses the lines, has each batch turned into an Arrow table, and writes a file a batch. */
async function parquetWasm(arrow, toTable) {
  const parquet = await import('parquet-wasm/esm');
  const wasm = new URL('../node_modules/parquet-wasm/esm/parquet_wasm_bg.wasm', import.meta.url);
  const memory = parquet.initSync({ module: readFileSync(wasm) }).memory;
  const properties = () =>
    new parquet.WriterPropertiesBuilder().setCompression(parquet.Compression.ZSTD).build();
  const start = startClock();
  let outputBytes = 0;
  let rowCount = 0;
  let batch = [];
  let rest = '';
  const flush = () => {
    if (batch.length === 0) return;
    const ipc = arrow.tableToIPC(toTable(batch), 'stream');
    const bytes = parquet.writeParquet(parquet.Table.fromIPCStream(ipc), properties());
    outputBytes += bytes.length;
    rowCount += batch.length;
    batch = [];
  };
  const decoder = new StringDecoder('utf8');
  for (const bytes of readChunks(input)) {
    const chunk = decoder.write(bytes);
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      batch.push(JSON.parse(line));
      if (batch.length === BATCH_ROWS) flush();
    }
  }
  flush();
  return {
    ...cpuSince(start),
    rows: rowCount,
    outputBytes,
    memoryBytes: memory.buffer.byteLength,
  };
}

function columnTypes(arrow) {
  const text = new arrow.Utf8();
  return {
    event_id: text,
    ts: new arrow.TimestampMicrosecond('UTC'),
    user_id: new arrow.Int64(),
    session: text,
    event_type: text,
    url: text,
    referrer: text,
    country: text,
    device: text,
    duration_ms: new arrow.Int64(),
    price: new arrow.Float64(),
    ok: new arrow.Bool(),
  };
}

const textEncoder = new TextEncoder();

function textColumn(rows, name) {
  const valueOffsets = new Int32Array(rows.length + 1);
  const nulls = new Nulls(rows.length);
  let data = new Uint8Array(rows.length * 48);
  let end = 0;
  for (let index = 0; index < rows.length; index += 1) {
    const value = rows[index][name];
    if (value === null || value === undefined) {
      nulls.add(index);
    } else {
      if (end + value.length * 3 > data.length) {
        const larger = new Uint8Array(data.length * 2 + value.length * 3);
        larger.set(data);
        data = larger;
      }
      end += textEncoder.encodeInto(value, data.subarray(end)).written;
    }
    valueOffsets[index + 1] = end;
  }
  return { valueOffsets, data: data.subarray(0, end), ...nulls.parts() };
}

/** Without a BigInt a value: 64 bits as two halves. */
function longColumn(rows, name, convert = (value) => value) {
  const data = new BigInt64Array(rows.length);
  const halves = new Int32Array(data.buffer);
  for (let index = 0; index < rows.length; index += 1) {
    const value = convert(rows[index][name]);
    halves[index * 2] = value;
    halves[index * 2 + 1] = Math.floor(value / 4294967296);
  }
  return { data, nullCount: 0 };
}

function doubleColumn(rows, name) {
  const data = new Float64Array(rows.length);
  const nulls = new Nulls(rows.length);
  for (let index = 0; index < rows.length; index += 1) {
    const value = rows[index][name];
    if (value === null || value === undefined) nulls.add(index);
    else data[index] = value;
  }
  return { data, ...nulls.parts() };
}

function booleanColumn(rows, name) {
  const data = new Uint8Array((rows.length + 7) >> 3);
  for (let index = 0; index < rows.length; index += 1) {
    if (rows[index][name]) data[index >> 3] |= 1 << (index & 7);
  }
  return { data, nullCount: 0 };
}

class Nulls {
  #bits;
  #count = 0;

  constructor(length) {
    this.#bits = new Uint8Array((length + 7) >> 3).fill(255);
  }

  add(index) {
    this.#bits[index >> 3] &= ~(1 << (index & 7));
    this.#count += 1;
  }

  parts() {
    return { nullCount: this.#count, nullBitmap: this.#bits };
  }
}

/** `2026-01-01T00:00:00.013361Z` */
function microseconds(text) {
  return Date.parse(text) * 1000 + Number(text.slice(23, 26));
}

/** One chunk at a time in the same buffer, as a body comes; without the cost of Node's streams. */
function* readChunks(file) {
  const descriptor = openSync(file);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const length = readSync(descriptor, buffer);
    if (length === 0) break;
    yield buffer.subarray(0, length);
  }
  closeSync(descriptor);
}

function startClock() {
  return { thread: process.threadCpuUsage(), all: process.cpuUsage() };
}

/** Of the one thread that works, and with V8's own (compiling, collecting garbage) beside it. */
function cpuSince({ thread, all }) {
  const seconds = ({ user, system }) => (user + system) / 1e6;
  return {
    cpuSeconds: seconds(process.threadCpuUsage(thread)),
    processCpuSeconds: seconds(process.cpuUsage(all)),
  };
}

const run = {
  floe,
  floeArrow,
  floePartitioned,
  floeThousand,
  parquetWasmBuilders,
  parquetWasmTyped,
  toArrow,
}[peer];
if (run === undefined) throw new Error(`Unknown peer ${peer}`);
console.log(JSON.stringify(await run()));

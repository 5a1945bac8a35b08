/** What is in the files, as readers that nobody here wrote see it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { tableFromIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { initSync, readParquet } from 'parquet-wasm/esm';
import { beforeAll, describe, expect, it } from 'vitest';

import type { ParquetOptions } from '../../../src/columnar/kernel-port.ts';
import {
  decode,
  encode,
  field,
  LIMITS,
  ndjson,
  newKernel,
  OPTIONS,
  schema,
  write,
} from './kernel-fixture.ts';

beforeAll(() => {
  const wasm = 'node_modules/parquet-wasm/esm/parquet_wasm_bg.wasm';
  initSync({ module: readFileSync(path.join(import.meta.dirname, '../../..', wasm)) });
});

/** By parquet-rs and apache-arrow, as plain objects. */
function readArrow(bytes: Uint8Array): unknown[] {
  const table = tableFromIPC(readParquet(bytes).intoIPCStream());
  return JSON.parse(
    JSON.stringify(table.toArray(), (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    ),
  ) as unknown[];
}

describe('a Parquet file of the kernel', () => {
  it('is read back by hyparquet', async () => {
    const target = schema(field(1, 'id', 'long'), field(2, 'name', 'string'));
    const { bytes, file } = write(
      ndjson({ id: 1, name: 'żółw 🦊' }, { id: 2 }, { name: null, id: 3 }),
      target,
      { codec: 'snappy' },
    );
    expect(file.recordCount).toBe(3n);
    expect(file.fileSizeInBytes).toBe(BigInt(bytes.length));
    const rows = await parquetReadObjects({ file: bytes.buffer });
    expect(rows).toEqual([
      { id: 1n, name: 'żółw 🦊' },
      { id: 2n, name: null },
      { id: 3n, name: null },
    ]);
  });

  it('carries a field id on every column and the schema it was written under', () => {
    const target = schema(
      field(1, 's', { type: 'struct', fields: [field(3, 'x', 'int', true)] }),
      field(2, 'l', {
        type: 'list',
        elementId: 4,
        element: { type: 'string' },
        elementRequired: false,
      }),
      field(5, 'm', {
        type: 'map',
        keyId: 6,
        key: { type: 'string' },
        valueId: 7,
        value: { type: 'long' },
        valueRequired: false,
      }),
      field(8, 'u', 'uuid'),
      field(9, 'd', 'decimal(20,2)'),
      field(10, 't', 'timestamptz'),
    );
    const { bytes } = write(ndjson({ l: ['a', null], m: { k: 1 }, d: '1.50' }), target);
    const metadata = parquetMetadata(bytes.buffer);
    const ids = metadata.schema.map((node) => [node.name, node.field_id]);
    expect(ids).toEqual([
      ['table', undefined],
      ['s', 1],
      ['x', 3],
      ['l', 2],
      ['list', undefined],
      ['element', 4],
      ['m', 5],
      ['key_value', undefined],
      ['key', 6],
      ['value', 7],
      ['u', 8],
      ['d', 9],
      ['t', 10],
    ]);
    const node = (name: string) => metadata.schema.find((candidate) => candidate.name === name);
    expect(node('u')).toMatchObject({
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 16,
      logical_type: { type: 'UUID' },
    });
    expect(node('d')).toMatchObject({
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 9,
      scale: 2,
      precision: 20,
    });
    expect(node('t')?.logical_type).toMatchObject({
      type: 'TIMESTAMP',
      isAdjustedToUTC: true,
      unit: 'MICROS',
    });
    expect(node('x')?.repetition_type).toBe('REQUIRED');
    expect(metadata.key_value_metadata?.map(({ key }) => key)).toEqual(['iceberg.schema']);
  });
});

describe('reading back by parquet-wasm', () => {
  const list = (elementId: number, element: Parameters<typeof field>[2]) =>
    ({
      type: 'list',
      elementId,
      element: field(0, '', element).type,
      elementRequired: false,
    }) as const;

  it('gives nested values as they were, across pages (C125)', { timeout: 60_000 }, () => {
    const target = schema(
      field(1, 'id', 'long'),
      field(
        2,
        'l',
        list(3, {
          type: 'struct',
          fields: [field(4, 'a', 'long'), field(5, 'b', list(6, 'long'))],
        }),
      ),
    );
    const shapes = [
      null,
      [],
      [null],
      [
        { a: 1, b: [] },
        { a: null, b: [null, 2] },
      ],
      [{ a: 2, b: null }],
    ];
    const rows = Array.from({ length: 25_000 }, (_, id) => ({ id, l: shapes[id % shapes.length] }));
    const { bytes, file } = write(ndjson(...rows), target);
    const read = readArrow(bytes) as { id: string; l: unknown }[];
    expect(read).toHaveLength(rows.length);
    for (const at of [0, 1, 2, 3, 4, 19_999, 20_000, 20_001, 24_999]) {
      expect(read[at]?.id).toBe(String(at));
      const expected = JSON.stringify(shapes[at % shapes.length]).replaceAll(
        /(?<=[:[,])\d+/g,
        '"$&"',
      );
      expect(JSON.stringify(read[at]?.l)).toBe(expected);
    }
    expect(file.recordCount).toBe(25_000n);
  });

  it.each(['zstd', 'snappy', 'gzip', 'uncompressed'] satisfies ParquetOptions['codec'][])(
    'works with %s, for repeating and for distinct values',
    (codec) => {
      const target = schema(
        field(1, 'n', 'long'),
        field(2, 'same', 'string'),
        field(3, 'own', 'string'),
        field(4, 'd', 'double'),
        field(5, 'none', 'string'),
      );
      const rows = Array.from({ length: 10_000 }, (_, n) => ({
        n: n * 7919,
        same: `s${n % 5}`,
        own: `own-${n}-ż`,
        d: n / 4,
        none: null,
      }));
      const { bytes } = write(ndjson(...rows), target, { codec });
      expect(readArrow(bytes)).toEqual(rows.map((row) => ({ ...row, n: String(row.n) })));
      const columns = parquetMetadata(bytes.buffer).row_groups[0]?.columns ?? [];
      const encodings = columns.map((column) =>
        column.meta_data?.encodings.filter((name) => name !== 'RLE'),
      );
      expect(encodings[0]).toEqual(['DELTA_BINARY_PACKED']);
      expect(encodings[1]).toContain('RLE_DICTIONARY');
      expect(encodings[2]).toEqual(['PLAIN']);
      // An all-null chunk has no dictionary page (C124).
      expect(columns[4]?.meta_data?.dictionary_page_offset).toBeUndefined();
      for (const column of columns) {
        expect(column.column_index_offset).toBeGreaterThan(0);
        expect(column.offset_index_offset).toBeGreaterThan(0);
      }
    },
  );

  it('finds rows of earlier schemas under their ids, widened, and nulls for what they lack', () => {
    const before = schema(
      field(1, 'a', 'int'),
      field(2, 'f', 'float'),
      field(3, 's', { type: 'struct', fields: [field(4, 'x', 'int')] }),
      field(9, 'dropped', 'string'),
      field(10, 'p', 'decimal(5,2)'),
    );
    const after = schema(
      field(5, 'new', 'string'),
      field(3, 's', { type: 'struct', fields: [field(6, 'y', 'string'), field(4, 'x', 'long')] }),
      field(1, 'renamed', 'long'),
      field(2, 'f', 'double'),
      field(10, 'p', 'decimal(12,2)'),
    );
    const old = decode(
      ndjson({ a: 1, f: 0.5, s: { x: 2 }, dropped: 'z', p: '1.25' }, { a: 3 }),
      before,
    ).slices[0]?.ipc;
    const fresh = decode(ndjson({ new: 'n', renamed: 4, s: { y: 'y' }, p: 7 }), after).slices[0]
      ?.ipc;
    if (!old || !fresh) throw new Error('No rows');
    const { bytes, file } = encode(after, [old, fresh]);
    const read = readArrow(bytes) as Record<string, unknown>[];
    expect(read.map(({ p: _, ...row }) => row)).toEqual([
      { new: null, s: { y: null, x: '2' }, renamed: '1', f: 0.5 },
      { new: null, s: null, renamed: '3', f: null },
      { new: 'n', s: { y: 'y', x: null }, renamed: '4', f: null },
    ]);
    expect(Buffer.from(file.lowerBounds.get(10) ?? []).toString('hex')).toBe('7d');
    expect(file.nullValueCounts.get(5)).toBe(2n);
  });

  it('finds the same file whether rows came as IPC or straight from the decoder', () => {
    const target = schema(field(1, 'n', 'long'), field(2, 's', 'string'));
    const body = Buffer.from(
      ndjson(...Array.from({ length: 9000 }, (_, n) => ({ n, s: `x${n % 100}` })), { n: 'bad' }),
    );
    const kernel = newKernel();
    const chunks: Uint8Array[] = [];
    const decoder = kernel.createBodyDecoder('ndjson', LIMITS);
    const encoder = kernel.createParquetEncoder(target, OPTIONS, (chunk) => chunks.push(chunk));
    decoder.push(body);
    decoder.finish();
    expect(decoder.decodeInto(target, encoder)).toMatchObject({
      rowsAccepted: 9000,
      rejected: [{ row: 9000 }],
    });
    const direct = encoder.finish();
    const slices = decode(new Uint8Array(body), target).slices;
    const { file, bytes } = encode(
      target,
      slices.flatMap((slice) => slice.ipc ?? []),
    );
    expect(direct).toEqual(file);
    expect(Buffer.concat(chunks).equals(Buffer.from(bytes))).toBe(true);
    const foreign = newKernel().createParquetEncoder(target, OPTIONS, () => {});
    expect(() => decoder.decodeInto(target, foreign)).toThrow(/another kernel/);
  });
});

describe('memory', () => {
  it(
    'stays bounded and bytes leave early, however many rows one file takes',
    { timeout: 60_000 },
    () => {
      const target = schema(field(1, 'id', 'string'), field(2, 'n', 'long'));
      const kernel = newKernel();
      let handedOut = 0;
      let beforeFinish = 0;
      const decoder = kernel.createBodyDecoder('ndjson', { ...LIMITS, sliceBytes: 1 << 18 });
      const encoder = kernel.createParquetEncoder(
        target,
        { ...OPTIONS, rowGroupBytes: 4 << 20 },
        (chunk) => {
          handedOut += chunk.length;
        },
      );
      let seed = 1;
      const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
      for (let part = 0; part < 40; part += 1) {
        const rows = Array.from({ length: 5000 }, () => ({
          id: `${random()}-${random()}-${random()}-${random()}`,
          n: random(),
        }));
        decoder.push(Buffer.from(`${ndjson(...rows)}\n`));
        while (decoder.ready) {
          decoder.decodeInto(target, encoder);
          decoder.advance();
        }
        beforeFinish = handedOut;
        expect(encoder.encodedBytes).toBeGreaterThanOrEqual(handedOut);
      }
      decoder.finish();
      while (decoder.ready) {
        decoder.decodeInto(target, encoder);
        decoder.advance();
      }
      const file = encoder.finish();
      expect(file.recordCount).toBe(200_000n);
      expect(file.splitOffsets.length).toBeGreaterThan(1);
      expect(beforeFinish).toBeGreaterThan(0);
      expect(BigInt(handedOut)).toBe(file.fileSizeInBytes);
      expect(kernel.memoryBytes).toBeLessThan(32 << 20);
    },
  );
});

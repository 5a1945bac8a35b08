/** Arrow files, compressed Arrow messages and Parquet files as bodies. */

import { readFileSync } from 'node:fs';
import path from 'node:path';

import { tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import {
  Compression,
  initSync,
  Table as ParquetTable,
  WriterPropertiesBuilder,
  writeParquet,
} from 'parquet-wasm/esm';
import { beforeAll, describe, expect, it } from 'vitest';

import type { BodyFormat } from '../../../src/columnar/kernel-port.ts';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { DecodeOptions } from './kernel-fixture.ts';
import { decode, field, ndjson, schema, write } from './kernel-fixture.ts';

const root = path.join(import.meta.dirname, '../../..');
const target = schema(
  field(1, 'id', 'long'),
  field(2, 'word', 'string'),
  field(3, 'view', 'string'),
  field(4, 'large', 'string'),
);

beforeAll(() => {
  initSync({
    module: readFileSync(path.join(root, 'node_modules/parquet-wasm/esm/parquet_wasm_bg.wasm')),
  });
});

function rows(bytes: Uint8Array, options: DecodeOptions): unknown[] {
  const { slices, rejected } = decode(bytes, target, options);
  expect(rejected).toEqual([]);
  return slices.flatMap(({ ipc }) =>
    ipc === null
      ? []
      : tableFromIPC(ipc)
          .toArray()
          .map((row) => ({ ...row }) as unknown),
  );
}

function failure(bytes: Uint8Array, format: BodyFormat): IcebergError | null {
  try {
    decode(bytes, target, { format });
  } catch (error) {
    if (error instanceof IcebergError) return error;
    throw error;
  }
  return null;
}

/** Made by pyarrow 26.0.1: 300 rows in two batches, a dictionary, a string view, a large string. */
function golden(name: string): Uint8Array {
  return readFileSync(path.join(root, 'test/golden/arrow-ipc', name));
}

const expected = Array.from({ length: 300 }, (_, id) => ({
  id: BigInt(id),
  word: id % 5 === 0 ? null : `word ${id % 7}`,
  view: `a longer text of a view ${id % 3}`,
  large: `${id}`,
}));

describe('compressed Arrow', () => {
  it.each([
    ['lz4.arrows', 'arrow-stream'],
    ['zstd.arrows', 'arrow-stream'],
    ['lz4.arrow', 'arrow-file'],
    ['zstd.arrow', 'arrow-file'],
  ] as const)('is read, however it is cut: %s', (name, format) => {
    expect(rows(golden(name), { format })).toEqual(expected);
    expect(rows(golden(name), { format, chunkBytes: 7 })).toEqual(expected);
  });
});

describe('an Arrow file', () => {
  const table = tableFromArrays({ id: BigInt64Array.of(1n, 2n), word: ['a', 'b'] });
  const file = tableToIPC(table, 'file');

  it('of another writer is read', () => {
    expect(rows(file, { format: 'arrow-file' })).toMatchObject([
      { id: 1n, word: 'a' },
      { id: 2n, word: 'b' },
    ]);
  });

  it('is refused wherever it is cut', () => {
    for (let length = 1; length < file.length; length += 3) {
      expect(failure(file.subarray(0, length), 'arrow-file')?.code).toMatch(/^arrow\./);
    }
    expect(failure(Buffer.from('PAR1 and more'), 'arrow-file')?.code).toBe('arrow.malformed');
  });
});

describe('a Parquet file', () => {
  const body = ndjson(...expected.map((row) => ({ ...row, id: Number(row.id) })));

  it.each(['zstd', 'snappy', 'gzip', 'uncompressed'] as const)(
    'of the kernel itself, %s',
    (codec) => {
      const { bytes } = write(body, target, { codec });
      expect(rows(bytes, { format: 'parquet', chunkBytes: 1000 })).toEqual(expected);
    },
  );

  it('as parquet-wasm writes it in a browser', () => {
    const table = tableFromArrays({ id: BigInt64Array.of(1n, 2n), word: ['a', 'ż'] });
    const properties = new WriterPropertiesBuilder().setCompression(Compression.SNAPPY).build();
    const parquet = ParquetTable.fromIPCStream(tableToIPC(table, 'stream'));
    const bytes = writeParquet(parquet, properties);
    expect(rows(bytes, { format: 'parquet' })).toMatchObject([
      { id: 1n, word: 'a' },
      { id: 2n, word: 'ż' },
    ]);
    const { slices } = decode(bytes, schema(), { format: 'parquet' });
    expect(slices[0]?.unknown?.fields).toEqual([
      { name: 'id', type: 'long' },
      { name: 'word', type: 'string' },
    ]);
  });

  it('says which rows do not fit, counted over all of them', () => {
    const wide = schema(field(1, 'id', 'long'));
    const ids = Array.from({ length: 10_000 }, (_, id) => ({ id: id === 9000 ? 2 ** 40 : id }));
    const { bytes } = write(ndjson(...ids), wide);
    const narrow = schema(field(1, 'id', 'int'));
    const { rejected, accepted } = decode(bytes, narrow, { format: 'parquet' });
    expect(accepted).toBe(9999);
    expect(rejected).toMatchObject([{ row: 9000, column: 'id', code: 'value.out-of-range' }]);
  });

  it('is refused when it is cut or damaged', () => {
    const { bytes } = write(body, target);
    for (let length = 1; length < bytes.length; length += 97) {
      expect(failure(bytes.subarray(0, length), 'parquet')?.code).toBe('parquet.malformed');
    }
    for (let at = 4; at < bytes.length; at += 61) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      const error = failure(damaged, 'parquet');
      if (error !== null) expect(error.kind).toMatch(/^(invalid|too-large)$/);
    }
  });

  it.each(['parquet', 'arrow-file'] as const)(
    'larger than may be held is refused: %s',
    (format) => {
      expect(failure(new Uint8Array((16 << 20) + 1), format)).toMatchObject({
        kind: 'too-large',
        code: expect.stringMatching(/^(arrow|parquet)\.too-large$/) as unknown,
      });
    },
  );
});

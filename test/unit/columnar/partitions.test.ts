/** Rows into one file a partition, by transforms that the kernel computes. */

import { Float64, makeData, makeVector, Table, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';

import type {
  ParquetOptions,
  PartitionedFile,
  PartitioningOptions,
} from '../../../src/columnar/kernel-port.ts';
import { applyTransform } from '../../../src/iceberg/spec/apply-transform.ts';
import type { PartitionValue } from '../../../src/iceberg/spec/data-file.ts';
import { partitionKey } from '../../../src/iceberg/spec/partition-key.ts';
import type { PartitionSpec } from '../../../src/iceberg/spec/partition-spec.ts';
import type { PrimitiveType, Schema } from '../../../src/iceberg/spec/schema.ts';
import { knownTransform } from '../../../src/iceberg/spec/transform.ts';
import { decode, field, LIMITS, ndjson, newKernel, OPTIONS, schema } from './kernel-fixture.ts';

const PARTITIONING = { bufferBytesMax: 8 << 20, partitionsMax: 10_000 };

interface Written extends PartitionedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function spec(...fields: [sourceId: number, transform: string][]): PartitionSpec {
  return {
    specId: 1,
    fields: fields.map(([sourceId, transform], index) => ({
      sourceId,
      fieldId: 1000 + index,
      name: `p${index}`,
      transform,
    })),
  };
}

interface LayoutOptions extends Partial<Omit<PartitioningOptions, 'spec'>> {
  readonly parquet?: Partial<ParquetOptions>;
}

/** Streams of rows as files by partition. */
function layOut(
  ipcs: readonly Uint8Array[],
  target: Schema,
  by: PartitionSpec,
  { parquet = {}, ...limits }: LayoutOptions = {},
): { files: Written[]; memoryBytes: number } {
  const kernel = newKernel();
  const encoder = kernel.createPartitionedEncoder(
    target,
    { ...OPTIONS, ...parquet },
    { ...PARTITIONING, ...limits, spec: by },
  );
  for (const ipc of ipcs) encoder.append(ipc);
  const files: Written[] = [];
  for (;;) {
    const chunks: Uint8Array[] = [];
    const file = encoder.nextFile((chunk) => chunks.push(chunk));
    if (file === null) break;
    files.push({ ...file, bytes: new Uint8Array(Buffer.concat(chunks)) });
  }
  expect(encoder.waitingBytes).toBe(0);
  encoder.close();
  return { files, memoryBytes: kernel.memoryBytes };
}

function layOutJson(body: string, target: Schema, by: PartitionSpec, options?: LayoutOptions) {
  const { slices, rejected } = decode(body, target, { limits: { sliceBytes: 4096 } });
  expect(rejected).toEqual([]);
  return layOut(
    slices.flatMap((slice) => slice.ipc ?? []),
    target,
    by,
    options,
  );
}

/** The one partition value of each row, for a column `v` of the type. */
function valuesOf(type: string, transform: string, values: unknown[]): PartitionValue[] {
  const target = schema(field(1, 'v', type));
  return values.map((v) => {
    const { files } = layOutJson(ndjson({ v }), target, spec([1, transform]));
    expect(files).toHaveLength(1);
    return files[0]?.partition[0] ?? null;
  });
}

describe('a partition transform in the kernel', () => {
  it.each([
    ['day', [-1, -165, -25567, -672]],
    ['hour', [-1, -3940, -613608, -16116]],
    ['month', [-1, -6, -840, -23]],
    ['year', [-1, -1, -70, -2]],
  ])('rounds times before 1970 down: %s (C042)', (transform, expected) => {
    const times = [
      '1969-12-31T23:59:59.999999Z',
      '1969-07-20T20:17:40Z',
      '1900-01-01T00:00:00Z',
      '1968-02-29T12:00:00.000001Z',
    ];
    expect(valuesOf('timestamptz', transform, times)).toEqual(expected);
  });

  it('takes times with an offset in UTC (C043)', () => {
    expect(valuesOf('timestamptz', 'day', ['2031-03-04T23:30:00-05:00'])).toEqual([22343]);
    expect(valuesOf('timestamptz', 'hour', ['2031-03-04T23:30:00-05:00'])).toEqual([536236]);
  });

  it('truncates numbers downwards (C044)', () => {
    expect(valuesOf('int', 'truncate[10]', [-1, -10, -11, 9])).toEqual([-10, -10, -20, 0]);
    expect(valuesOf('decimal(9,2)', 'truncate[50]', ['-0.01', '10.65'])).toEqual([-50n, 1050n]);
  });

  it('truncates text by code points and hashes its UTF-8 (C045)', () => {
    expect(valuesOf('string', 'truncate[2]', ['🦊🦊🦊', 'e\u0301x'])).toEqual(['🦊🦊', 'e\u0301']);
    expect(valuesOf('string', 'bucket[16]', ['🦊', 'zürich', 'naïve café'])).toEqual([3, 9, 6]);
  });

  it('hashes the bytes of a uuid, and gives an int (C046)', () => {
    const uuid = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
    expect(valuesOf('uuid', 'bucket[16]', [uuid])).toEqual([10]);
    expect(valuesOf('uuid', 'identity', [uuid])).toEqual([uuid]);
  });

  it('hashes decimals in as few bytes as hold them (C047)', () => {
    const decimals = ['-1.28', '1.28', '-1.29', '0'];
    expect(valuesOf('decimal(9,2)', 'bucket[16]', decimals)).toEqual([13, 5, 1, 7]);
  });

  it('hashes ints and dates as longs, and longs exactly (C048)', () => {
    expect(valuesOf('int', 'bucket[16]', [7])).toEqual([3]);
    expect(valuesOf('long', 'bucket[16]', [7, -7])).toEqual([3, 5]);
    expect(valuesOf('date', 'bucket[16]', ['1970-01-08'])).toEqual([3]);
    const target = schema(field(1, 'v', 'long'));
    const { files } = layOutJson('{"v":9007199254740993}', target, spec([1, 'bucket[16]']));
    expect(files[0]?.partition).toEqual([6]);
  });

  it('hashes nanoseconds as the microseconds they lie in (C049)', () => {
    const time = '2031-03-04T05:06:07.123456789';
    const expected = [(-1716520331 & 0x7fff_ffff) % 1000];
    expect(valuesOf('timestamp_ns', 'bucket[1000]', [time])).toEqual(expected);
    expect(valuesOf('timestamp', 'bucket[1000]', [time])).toEqual(expected);
  });

  it('maps null to null, apart from empty text and the word (C050)', () => {
    const regions = ndjson({ region: null }, { region: '' }, { region: 'null' }, {});
    const target = schema(field(1, 'region', 'string'));
    const { files } = layOutJson(regions, target, spec([1, 'identity']));
    expect(files.map(({ partition, file }) => [partition[0], file.recordCount])).toEqual([
      [null, 2n],
      ['', 1n],
      ['null', 1n],
    ]);
    for (const transform of ['bucket[4]', 'day', 'year', 'identity', 'void']) {
      expect(valuesOf('timestamptz', transform, [null])).toEqual([null]);
    }
  });

  it('keeps NaN, and both zeros, as partitions of their own (C051)', () => {
    const values = new Float64Array([Number.NaN, 1.5, -0, 0, -Number.NaN]);
    const vector = makeVector(makeData({ type: new Float64(), data: values }));
    const target = schema(field(1, 'd', 'double'));
    const stream = tableToIPC(new Table({ d: vector }), 'stream');
    const { slices } = decode(stream, target, { format: 'arrow-stream' });
    const ipcs = slices.flatMap((slice) => slice.ipc ?? []);
    const { files } = layOut(ipcs, target, spec([1, 'identity']));
    expect(files.map(({ partition, file }) => [partition[0], file.recordCount])).toEqual([
      [Number.NaN, 2n],
      [1.5, 1n],
      [-0, 1n],
      [0, 1n],
    ]);
  });

  it('gives null for void, also when the column is gone (C055)', () => {
    const target = schema(field(2, 'v', 'long'));
    const { files } = layOutJson(ndjson({ v: 1 }), target, spec([1, 'void'], [2, 'identity']));
    expect(files.map(({ partition }) => partition)).toEqual([[null, 1n]]);
  });

  it('reads columns in structs, null where the struct is', () => {
    const target = schema(field(1, 's', { type: 'struct', fields: [field(2, 'x', 'long')] }));
    const rows = ndjson({ s: { x: 7 } }, { s: null }, { s: {} }, {});
    const { files } = layOutJson(rows, target, spec([2, 'identity']));
    expect(files.map(({ partition, file }) => [partition[0], file.recordCount])).toEqual([
      [7n, 1n],
      [null, 3n],
    ]);
  });

  it('is refused where it does not apply or is not known', () => {
    const target = schema(field(1, 'v', 'double'));
    expect(() => layOut([], target, spec([1, 'bucket[4]']))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'partition-spec.source-type' }),
    );
    expect(() => layOut([], target, spec([1, 'zorder[4]']))).toThrow(
      expect.objectContaining({ kind: 'unsupported', code: 'partition-spec.transform' }),
    );
  });
});

describe('files by partition', () => {
  const target = schema(
    field(1, 'id', 'long'),
    field(2, 'day', 'date'),
    field(3, 'tags', {
      type: 'list',
      elementId: 4,
      element: { type: 'string' },
      elementRequired: false,
    }),
  );
  const by = spec([2, 'identity'], [1, 'bucket[3]']);
  const rows = Array.from({ length: 5000 }, (_, id) => ({
    id,
    day: `2026-01-0${1 + (id % 3)}`,
    tags: id % 5 === 0 ? null : [`t${id}`, null],
  }));

  it.each([
    ['all waiting in memory', 8 << 20],
    ['handed out on the way', 10_000],
  ])('hold each row once and in order, %s', async (_, bufferBytesMax) => {
    const { files } = layOutJson(ndjson(...rows), target, by, { bufferBytesMax });
    expect(files).toHaveLength(9);
    const seen: unknown[] = [];
    for (const { bytes, file, partition } of files) {
      expect(file.fileSizeInBytes).toBe(BigInt(bytes.length));
      const read = await parquetReadObjects({
        file: bytes.buffer,
        compressors: await zstd(),
      });
      expect(BigInt(read.length)).toBe(file.recordCount);
      const ids = read.map((row) => Number(row['id']));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      const days = ids.map((id) => Date.parse(rows[id]?.day ?? '') / 86_400_000);
      expect(new Set(days)).toEqual(new Set([partition[0]]));
      seen.push(...read.map((row) => [Number(row['id']), row['tags'] ?? null]));
      const lowest = file.lowerBounds.get(1) ?? new Uint8Array(8);
      expect(Number(new DataView(lowest.buffer).getBigInt64(0, true))).toBe(Math.min(...ids));
    }
    expect(new Map(seen as [number, unknown][])).toEqual(
      new Map(rows.map(({ id, tags }) => [id, tags])),
    );
  });

  it('are a thousand in one batch within the memory of an instance', () => {
    const wide = schema(field(1, 'n', 'long'), field(2, 's', 'string'), field(3, 't', 'string'));
    const lines = Array.from(
      { length: 120_000 },
      (_, n) => `{"n":${n % 1000},"s":"${'x'.repeat(150)}${n}","t":"${n * 7}"}\n`,
    );
    const { files, memoryBytes } = layOutJson(lines.join(''), wide, spec([1, 'identity']));
    expect(files).toHaveLength(1000);
    expect(files.every(({ file }) => file.recordCount === 120n)).toBe(true);
    expect(memoryBytes).toBeLessThanOrEqual(64 << 20);
  });

  it('are refused beyond the limit of partitions', () => {
    expect(() => layOutJson(ndjson(...rows), target, by, { partitionsMax: 8 })).toThrow(
      expect.objectContaining({
        kind: 'too-large',
        code: 'partition.too-many',
        context: { limit: 8 },
      }),
    );
  });

  it('take rows of an earlier schema', () => {
    const earlier = schema(field(1, 'id', 'int'));
    const { slices } = decode(ndjson({ id: 5 }), earlier);
    const ipcs = slices.flatMap((slice) => slice.ipc ?? []);
    const { files } = layOut(ipcs, target, spec([1, 'identity'], [2, 'day']));
    expect(files.map(({ partition }) => partition)).toEqual([[5n, null]]);
  });

  it('can be fed straight from a body', () => {
    const kernel = newKernel();
    const decoder = kernel.createBodyDecoder('ndjson', LIMITS);
    const options = { ...PARTITIONING, spec: by };
    const encoder = kernel.createPartitionedEncoder(target, OPTIONS, options);
    decoder.push(Buffer.from(ndjson(...rows)));
    decoder.finish();
    while (decoder.ready) {
      decoder.decodeInto(target, encoder);
      decoder.advance();
    }
    expect(encoder.partitionCount).toBe(9);
    expect(encoder.waitingBytes).toBeGreaterThan(5000 * 8);
    expect(encoder.nextFile(() => undefined)?.file.recordCount).toBeGreaterThan(0n);
    expect(() => encoder.append(new Uint8Array())).toThrow(
      expect.objectContaining({ code: 'kernel.encoder-finishing' }),
    );
  });
});

/** Values as JSON takes them and as `applyTransform` does. */
interface Sample {
  readonly json: unknown;
  readonly value: PartitionValue;
}

const day = fc.integer({ min: -700_000, max: 2_900_000 });
const samples: readonly (readonly [string, PrimitiveType, fc.Arbitrary<Sample>])[] = [
  ['int', { type: 'int' }, fc.integer().map((n) => ({ json: n, value: n }))],
  ['long', { type: 'long' }, fc.maxSafeInteger().map((n) => ({ json: n, value: BigInt(n) }))],
  ['string', { type: 'string' }, fc.string({ unit: 'binary' }).map(same)],
  ['uuid', { type: 'uuid' }, fc.uuid().map(same)],
  ['boolean', { type: 'boolean' }, fc.boolean().map(same)],
  [
    'double',
    { type: 'double' },
    fc.double({ noNaN: true, noDefaultInfinity: true, max: 2 ** 53, min: -(2 ** 53) }).map(exact),
  ],
  [
    'decimal(30,3)',
    { type: 'decimal', precision: 30, scale: 3 },
    fc.bigInt({ min: -(10n ** 30n) + 1n, max: 10n ** 30n - 1n }).map((unscaled) => {
      const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(4, '0');
      const text = `${digits.slice(0, -3)}.${digits.slice(-3)}`;
      return { json: unscaled < 0n ? `-${text}` : text, value: unscaled };
    }),
  ],
  [
    'binary',
    { type: 'binary' },
    fc.uint8Array().map((bytes) => ({ json: Buffer.from(bytes).toString('base64'), value: bytes })),
  ],
  [
    'date',
    { type: 'date' },
    day.map((days) => ({ json: isoText(days * 86_400_000).slice(0, 10), value: days })),
  ],
  [
    'timestamptz',
    { type: 'timestamptz' },
    fc.tuple(day, fc.integer({ min: 0, max: 86_399_999 })).map(([days, ms]) => {
      const epochMs = days * 86_400_000 + ms;
      return { json: isoText(epochMs), value: BigInt(epochMs) * 1000n };
    }),
  ],
];

function same<T extends string | boolean>(value: T): Sample {
  return { json: value, value };
}

/** JSON has no negative zero of its own in `JSON.stringify`. */
function exact(value: number): Sample {
  return { json: value, value: Object.is(value, -0) ? 0 : value };
}

function isoText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

async function zstd() {
  const { zstdDecompressSync } = await import('node:zlib');
  return { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
}

describe('the kernel and applyTransform', () => {
  const transforms = ['identity', 'bucket[16]', 'truncate[7]', 'year', 'month', 'day', 'hour'];
  const applicable = samples.flatMap(([name, type, sample]) =>
    transforms
      .filter((transform) => applies(type, transform))
      .map((transform) => [name, transform, type, sample] as const),
  );

  it.each(applicable)('agree on %s, %s', (name, transform, type, sample) => {
    const target = schema(field(1, 'v', name));
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 40 }), (rows) => {
        const body = ndjson(...rows.map(({ json }) => ({ v: json })));
        const { files } = layOutJson(body, target, spec([1, transform]));
        const counts = new Map<string, bigint>();
        for (const { value } of rows) {
          const partition = [applyTransform(knownTransform(transform), type, value)];
          const key = partitionKey({ specId: 1, partition });
          counts.set(key, (counts.get(key) ?? 0n) + 1n);
        }
        const found = files.map(
          ({ partition, file }) =>
            [partitionKey({ specId: 1, partition }), file.recordCount] as const,
        );
        expect(new Map(found)).toEqual(counts);
        expect(found).toHaveLength(counts.size);
      }),
      { numRuns: 15 },
    );
  });
});

function applies(type: PrimitiveType, transform: string): boolean {
  try {
    applyTransform(knownTransform(transform), type, null);
    return true;
  } catch {
    return false;
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import type { JsonValue } from '../../../../src/iceberg/json.ts';
import { applyTransform, bucketHash } from '../../../../src/iceberg/spec/apply-transform.ts';
import type { PartitionValue } from '../../../../src/iceberg/spec/data-file.ts';
import { parsePrimitiveType } from '../../../../src/iceberg/spec/data-types.ts';
import { toHumanString } from '../../../../src/iceberg/spec/partition-path.ts';
import type { PrimitiveType } from '../../../../src/iceberg/spec/schema.ts';
import {
  parseSingleValue,
  serializeSingleValue,
} from '../../../../src/iceberg/spec/single-value-json.ts';
import {
  canTransform,
  knownTransform,
  parseTransform,
  partitionColumns,
  resultType,
} from '../../../../src/iceberg/spec/transform.ts';

const VECTORS = new JsonNode(
  parseJson(
    readFileSync(join(import.meta.dirname, '../../../golden/transforms/vectors.json'), 'utf8'),
  ),
)
  .items()
  .map((node) => ({
    id: node.member('id').string(),
    transform: node.member('transform').string(),
    type: node.member('type').string(),
    value: node.optional('value'),
    result: node.optional('result')?.value ?? null,
    hash: node.optional('hash')?.int() ?? null,
    path: node.optional('path')?.string() ?? null,
    name: JSON.stringify(node.value, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  }));

/** As the vectors write it: units of time as numbers, everything else in its JSON form. */
function written(transform: string, type: PrimitiveType, value: PartitionValue): JsonValue {
  if (value === null) return null;
  const isSourceTyped = /^(identity|truncate)/.test(transform);
  return isSourceTyped ? serializeSingleValue(type, value) : Number(value);
}

describe('transforms', () => {
  it.each(VECTORS)('$name', ({ transform, type, value, result, hash, path }) => {
    const parsed = knownTransform(transform);
    const source = parsePrimitiveType(type);
    const sourceValue = value === null ? null : parseSingleValue(value, source);
    const partition = applyTransform(parsed, source, sourceValue);
    expect(written(transform, source, partition)).toEqual(result);
    if (hash !== null && sourceValue !== null) expect(bucketHash(source, sourceValue)).toBe(hash);
    if (path !== null) {
      expect(toHumanString(parsed, resultType(transform, source), partition)).toBe(path);
    }
  });

  it('C048: keep a bucket when its source is promoted', () => {
    const bucket = knownTransform('bucket[16]');
    for (const value of [7, -7, 0, 2 ** 31 - 1]) {
      expect(applyTransform(bucket, { type: 'int' }, value)).toBe(
        applyTransform(bucket, { type: 'long' }, BigInt(value)),
      );
    }
  });

  it('C044: wrap around below the lowest int and long, as the Java library does', () => {
    const truncate = knownTransform('truncate[10]');
    expect(applyTransform(truncate, { type: 'int' }, -(2 ** 31))).toBe(2147483646);
    expect(applyTransform(truncate, { type: 'long' }, -(2n ** 63n))).toBe(2n ** 63n - 2n);
  });

  it('hold the years at the ends of a 32-bit day', () => {
    const year = knownTransform('year');
    expect(applyTransform(year, { type: 'date' }, 2 ** 31 - 1)).toBe(5_879_610);
    expect(applyTransform(year, { type: 'date' }, -(2 ** 31))).toBe(-5_879_611);
  });

  it('agree with the calendar of the runtime on every 97th day of 800 years', () => {
    for (let day = -146_097; day < 146_097; day += 97) {
      const date = new Date(day * 86_400_000);
      const months = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
      expect(applyTransform({ kind: 'month' }, { type: 'date' }, day)).toBe(months);
      expect(toHumanString({ kind: 'day' }, { type: 'date' }, day)).toBe(
        date.toISOString().slice(0, 10),
      );
    }
  });

  it('are known by their canonical text only', () => {
    expect(parseTransform('bucket[16]')).toEqual({ kind: 'bucket', bucketCount: 16 });
    for (const text of ['bucket', 'bucket[0]', 'bucket[-1]', 'truncate[99999999999]', 'zorder']) {
      expect(parseTransform(text)).toBeNull();
      expect(() => knownTransform(text)).toThrow(
        expect.objectContaining({ kind: 'unsupported', code: 'partition-spec.transform' }),
      );
    }
  });

  it('apply to the types the specification lists', () => {
    const sources = (text: string): string[] =>
      ['boolean', 'int', 'float', 'decimal(9,2)', 'date', 'time', 'timestamptz_ns', 'string']
        .concat(['uuid', 'fixed[4]', 'binary', 'unknown', 'variant'])
        .filter((type) => canTransform(knownTransform(text), parsePrimitiveType(type)));
    expect(sources('bucket[4]')).toEqual(
      ['int', 'decimal(9,2)', 'date', 'time', 'timestamptz_ns', 'string', 'uuid'].concat([
        'fixed[4]',
        'binary',
      ]),
    );
    expect(sources('truncate[4]')).toEqual(['int', 'decimal(9,2)', 'string', 'binary']);
    expect(sources('day')).toEqual(['date', 'timestamptz_ns']);
    expect(sources('hour')).toEqual(['timestamptz_ns']);
    expect(() => applyTransform({ kind: 'hour' }, { type: 'date' }, 1)).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'partition-spec.source-type' }),
    );
  });

  it('C055: a void field keeps the type of its source, and is an int once the source is gone', () => {
    const field = (sourceId: number, fieldId: number) => ({
      sourceId,
      fieldId,
      name: `f${fieldId}`,
      transform: 'void',
    });
    const spec = { specId: 0, fields: [field(1, 1000), field(9, 1001), field(1, 1002)] };
    const schema = {
      schemaId: 0,
      identifierFieldIds: [],
      fields: [{ id: 1, name: 'a', required: false, type: { type: 'string' as const } }],
    };
    expect(partitionColumns(spec, [schema]).map((column) => column.resultType.type)).toEqual([
      'string',
      'int',
      'string',
    ]);
  });
});

describe('JSON single values', () => {
  it.each([
    ['date', '2017-02-29'],
    ['date', '2017-11-31'],
    ['date', '2017-13-01'],
    ['time', '24:00:00'],
    ['time', '10:00:00.1234567'],
    ['timestamp', '2017-11-16T22:31:08+00:00'],
    ['timestamptz', '2017-11-16T22:31:08+01:00'],
    ['timestamptz', '2017-11-16T22:31:08'],
    ['decimal(4,2)', '100.00'],
    ['decimal(4,2)', '1.0'],
    ['int', 2147483648],
    ['long', 1.5],
    ['long', '1'],
    ['string', 1],
    ['uuid', 'f79c3e09677c4bbda4793f349cb785e7'],
    ['fixed[2]', '00'],
    ['binary', '0g'],
    ['float', 1e300],
    ['variant', 'x'],
  ])('%s refuses %s', (type, value) => {
    expect(() =>
      parseSingleValue(new JsonNode(value, 'd', 'invalid'), parsePrimitiveType(type)),
    ).toThrow(expect.objectContaining({ kind: 'invalid', code: 'single-value.malformed' }));
  });

  it.each([
    ['boolean', true],
    ['int', -5],
    ['double', 1.5],
    ['decimal(9,2)', '-0.05'],
    ['decimal(9,0)', '-5'],
    ['date', '1969-12-31'],
    ['timestamp', '1969-12-31T23:59:59.999999'],
    ['timestamptz_ns', '2017-11-16T22:31:08.000001001+00:00'],
    ['fixed[2]', '00ff'],
  ])('%s %s comes back as written', (text, value) => {
    const type = parsePrimitiveType(text);
    const parsed = parseSingleValue(new JsonNode(value), type);
    expect(serializeSingleValue(type, parsed)).toBe(value);
  });
});

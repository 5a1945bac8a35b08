import { describe, expect, it } from 'vitest';
import { parsePrimitiveType, primitiveTypeText } from '../../../../src/iceberg/spec/data-types.ts';
import type { PartitionValue } from '../../../../src/iceberg/spec/data-file.ts';
import {
  bytesToHex,
  compareValues,
  decimalRequiredBytes,
  fromBinary,
  hexToBytes,
  toBinary,
} from '../../../../src/iceberg/spec/single-value.ts';

const VECTORS: readonly [string, PartitionValue, string][] = [
  ['boolean', true, '01'],
  ['boolean', false, '00'],
  ['int', -1, 'ffffffff'],
  ['long', -(2n ** 63n), '0000000000000080'],
  ['float', 0.10000000149011612, 'cdcccc3d'],
  ['double', -0, '0000000000000080'],
  ['date', -1, 'ffffffff'],
  ['time', 1n, '0100000000000000'],
  ['timestamptz', -1n, 'ffffffffffffffff'],
  ['timestamp_ns', 2n ** 53n + 1n, '0100000000002000'],
  ['string', 'nä', '6ec3a4'],
  ['uuid', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', 'f79c3e09677c4bbda4793f349cb785e7'],
  ['fixed[2]', Uint8Array.of(1, 2), '0102'],
  ['binary', Uint8Array.of(255), 'ff'],
  ['decimal(9,2)', 1420n, '058c'],
  ['decimal(9,2)', 0n, '00'],
  ['decimal(9,2)', 128n, '0080'],
  ['decimal(9,2)', -128n, '80'],
  ['decimal(9,2)', -129n, 'ff7f'],
];

describe('binary single values', () => {
  it.each(VECTORS)('%s %s has the bytes of the specification', (type, value, hex) => {
    const parsed = parsePrimitiveType(type);
    expect(bytesToHex(toBinary(parsed, value))).toBe(hex);
    expect(fromBinary(parsed, hexToBytes(hex))).toEqual(value);
  });

  it('C025: bounds older than a promotion are read by their length', () => {
    expect(fromBinary({ type: 'long' }, hexToBytes('ffffffff'))).toBe(-1n);
    expect(fromBinary({ type: 'double' }, hexToBytes('cdcccc3d'))).toBe(0.10000000149011612);
    expect(fromBinary({ type: 'timestamp' }, hexToBytes('ffffffff'))).toBe(-86_400_000_000n);
    expect(() => fromBinary({ type: 'int' }, hexToBytes('00'))).toThrow(/takes 4 bytes/);
  });

  it('sort text by code points, bytes unsigned, and -0 before 0', () => {
    expect(compareValues('\uFFFF', '😎')).toBeLessThan(0);
    expect(compareValues(Uint8Array.of(0x80), Uint8Array.of(0x7f, 1))).toBeGreaterThan(0);
    expect(compareValues(-0, 0)).toBeLessThan(0);
    expect(compareValues(0, 0)).toBe(0);
    expect(compareValues(3n, 2n)).toBe(1);
  });

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 3],
    [9, 4],
    [10, 5],
    [18, 8],
    [19, 9],
    [28, 12],
    [38, 16],
  ])('a decimal of precision %i takes %i bytes', (precision, bytes) => {
    expect(decimalRequiredBytes(precision)).toBe(bytes);
  });
});

describe('type strings', () => {
  it.each([
    ['decimal( 9 , 2 )', 'decimal(9,2)'],
    ['fixed[ 16 ]', 'fixed[16]'],
    [' long', 'long'],
  ])('"%s" is read and written as %s', (text, canonical) => {
    expect(primitiveTypeText(parsePrimitiveType(text))).toBe(canonical);
  });

  it.each(['decimal(39,0)', 'decimal(2,3)', 'varchar(3)', 'fixed', ''])(
    '"%s" is refused',
    (text) => {
      expect(() => parsePrimitiveType(text)).toThrow(expect.objectContaining({ kind: 'invalid' }));
    },
  );

  it('of geometry are valid but not supported', () => {
    expect(() => parsePrimitiveType('geometry(EPSG:4326)')).toThrow(
      expect.objectContaining({ kind: 'unsupported' }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { createLocationProvider } from '../../../../src/iceberg/location-provider.ts';
import type { PartitionValue } from '../../../../src/iceberg/spec/data-file.ts';
import { partitionKey } from '../../../../src/iceberg/spec/partition-key.ts';
import { partitionPath } from '../../../../src/iceberg/spec/partition-path.ts';
import type { PartitionColumn } from '../../../../src/iceberg/spec/transform.ts';

function column(name: string): PartitionColumn {
  return {
    field: { sourceId: 1, fieldId: 1000, name, transform: 'identity' },
    resultType: { type: 'string' },
  };
}

describe('partition paths', () => {
  it.each([
    ['a/b', 'a%2Fb'],
    ['50%', '50%25'],
    ['x+y z', 'x%2By+z'],
    ['#1?', '%231%3F'],
    ['k=v', 'k%3Dv'],
    ['é', '%C3%A9'],
    ['..', '..'],
    ['', ''],
    ["!'()~", '%21%27%28%29%7E'],
    ['\uD800', '%EF%BF%BD'],
  ])('C052: encode the value %s once', (value, encoded) => {
    expect(partitionPath([column('data#1')], [value])).toBe(`data%231=${encoded}`);
  });

  it('C052: go into the recorded location verbatim, below the data folder', () => {
    const locations = createLocationProvider({ location: 's3://b/t', properties: new Map() });
    expect(locations.dataFile('id', 0, partitionPath([column('p')], ['a/b']))).toBe(
      's3://b/t/data/p=a%2Fb/00000-0-id.parquet',
    );
    expect(locations.dataFile('id', 0, partitionPath([], []))).toBe(
      's3://b/t/data/00000-0-id.parquet',
    );
  });

  it('C050: may collide for null and "null", and file names then differ by their own id', () => {
    expect(partitionPath([column('p')], [null])).toBe(partitionPath([column('p')], ['null']));
  });

  it('stay short enough for an object key whatever the value', () => {
    const long = partitionPath([column('p')], ['😎'.repeat(1000)]);
    expect(long).toBe(`p=${'%F0%9F%98%8E'.repeat(24)}`);
    const wide = Array.from({ length: 20 }, () => column('é'.repeat(200)));
    expect(partitionPath(wide, [])).toBe('');
  });
});

describe('partition keys', () => {
  it('C050, C051: tell null, empty text, "null", NaN, -0 and 0 apart', () => {
    const values: PartitionValue[] = [null, '', 'null', NaN, -0, 0, 0n, '0', false];
    const keys = values.map((value) => partitionKey({ specId: 0, partition: [value] }));
    expect(new Set(keys).size).toBe(values.length);
    expect(partitionKey({ specId: 1, partition: [null] })).not.toBe(keys[0]);
    expect(partitionKey({ specId: 0, partition: [Uint8Array.of(1)] })).toBe(
      partitionKey({ specId: 0, partition: [Uint8Array.of(1)] }),
    );
  });
});

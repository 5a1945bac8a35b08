import { describe, expect, it } from 'vitest';
import { TABLE_PROPERTIES, tableProperty } from '../../../src/iceberg/table-properties.ts';

describe('table properties', () => {
  it('fall back to the default when absent', () => {
    expect(tableProperty(new Map(), TABLE_PROPERTIES.commitRetryCount)).toBe(4);
    expect(tableProperty(new Map(), TABLE_PROPERTIES.parquetLevel)).toBeNull();
  });

  it('are read by type', () => {
    const properties = new Map([
      ['commit.retry.num-retries', ' 9 '],
      ['write.parquet.compression-codec', 'ZSTD'],
      ['commit.manifest-merge.enabled', 'False'],
    ]);
    expect(tableProperty(properties, TABLE_PROPERTIES.commitRetryCount)).toBe(9);
    expect(tableProperty(properties, TABLE_PROPERTIES.parquetCodec)).toBe('zstd');
    expect(tableProperty(properties, TABLE_PROPERTIES.manifestMergeEnabled)).toBe(false);
  });

  it('out of range are an error that names the property and the range', () => {
    const properties = new Map([['commit.retry.num-retries', '-1']]);
    expect(() => tableProperty(properties, TABLE_PROPERTIES.commitRetryCount)).toThrow(
      '"commit.retry.num-retries" must be an integer from 0 to 1000, not "-1"',
    );
  });
});

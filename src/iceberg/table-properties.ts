/**
 * The table properties Floe honours, each with default, unit and range.
 * Spec: "Table properties" of the Iceberg configuration page.
 */

import { IcebergError } from './errors.ts';

export interface TableProperty<T> {
  readonly key: string;
  readonly defaultValue: T;
  /** Null when the text is not a value of the property. */
  readonly parse: (text: string) => T | null;
  /** For messages, e.g. `an integer from 0 to 100`. */
  readonly range: string;
}

export const TABLE_PROPERTIES = {
  /** Attempts after the first. */
  commitRetryCount: integer('commit.retry.num-retries', 4, 0, 1000),
  commitRetryMinWaitMs: integer('commit.retry.min-wait-ms', 100, 0, 3_600_000),
  commitRetryMaxWaitMs: integer('commit.retry.max-wait-ms', 60_000, 0, 3_600_000),
  commitTotalTimeoutMs: integer('commit.retry.total-timeout-ms', 1_800_000, 0, 86_400_000),
  statusCheckCount: integer('commit.status-check.num-retries', 3, 0, 1000),
  statusCheckMinWaitMs: integer('commit.status-check.min-wait-ms', 1000, 0, 3_600_000),
  statusCheckMaxWaitMs: integer('commit.status-check.max-wait-ms', 60_000, 0, 3_600_000),
  manifestMergeEnabled: flag('commit.manifest-merge.enabled', true),
  manifestTargetBytes: integer('commit.manifest.target-size-bytes', 8_388_608, 1, 2 ** 31 - 1),
  manifestMinCountToMerge: integer('commit.manifest.min-count-to-merge', 100, 2, 100_000),
  /** Entries kept in the metadata log. */
  previousVersionsMax: integer('write.metadata.previous-versions-max', 100, 1, 100_000),
  deleteMetadataAfterCommit: flag('write.metadata.delete-after-commit.enabled', false),
  metadataCodec: choice('write.metadata.compression-codec', 'none', ['none', 'gzip']),
  manifestCodec: choice('write.manifest.compression-codec', 'gzip', ['gzip', 'uncompressed']),
  parquetCodec: choice('write.parquet.compression-codec', 'zstd', [
    'zstd',
    'snappy',
    'gzip',
    'uncompressed',
  ]),
  /** Null: the codec's own default. */
  parquetLevel: optionalInteger('write.parquet.compression-level', 0, 22),
  rowGroupBytes: integer('write.parquet.row-group-size-bytes', 134_217_728, 1, 2 ** 31 - 1),
  pageBytes: integer('write.parquet.page-size-bytes', 1_048_576, 1, 2 ** 31 - 1),
  /** Rows of a page at most. */
  pageRows: integer('write.parquet.page-row-limit', 20_000, 1, 2 ** 31 - 1),
  bloomFilterBytesMax: integer('write.parquet.bloom-filter-max-bytes', 1_048_576, 1, 2 ** 31 - 1),
  dictionaryBytes: integer('write.parquet.dict-size-bytes', 2_097_152, 1, 2 ** 31 - 1),
  /** What becomes of columns the table does not have; as `SchemaPolicy` of `union-by-name.ts`. */
  schemaPolicy: choice('schema-policy', 'add', ['strict', 'add', 'widen']),
  /** New columns one request may bring, nested ones, list elements and map entries included. */
  newColumnsMax: integer('schema-new-columns-max', 1000, 0, 5000),
  /** Columns the table may grow to by rows or requests, counted in the same way. */
  columnsMax: integer('schema-columns-max', 1000, 1, 5000),
  /** Columns that have metrics while no default is set. */
  metricsInferredColumnsMax: integer(
    'write.metadata.metrics.max-inferred-column-defaults',
    100,
    0,
    100_000,
  ),
  objectStorageEnabled: flag('write.object-storage.enabled', false),
  /** Whether the paths under a hash show partition values too. */
  objectStoragePartitionedPaths: flag('write.object-storage.partitioned-paths', true),
  targetFileBytes: integer('write.target-file-size-bytes', 536_870_912, 1, 2 ** 40),
} as const;

/** Settings that live elsewhere in the metadata and must not be kept as properties. */
export const RESERVED_PROPERTIES: ReadonlySet<string> = new Set([
  'uuid',
  'snapshot-count',
  'current-snapshot-summary',
  'current-snapshot-id',
  'current-snapshot-timestamp-ms',
  'current-schema',
  'default-partition-spec',
  'default-sort-order',
]);

/** In a request it chooses the version of the format, or upgrades to it; it is never kept. */
export const FORMAT_VERSION_PROPERTY = 'format-version';

/** If set, data must be encrypted, which Floe cannot do. */
const ENCRYPTION_KEY_PROPERTY = 'encryption.key-id';

/** @throws invalid `property.invalid` when the table holds a value out of range */
export function tableProperty<T>(
  properties: ReadonlyMap<string, string>,
  property: TableProperty<T>,
): T {
  const text = properties.get(property.key);
  if (text === undefined) return property.defaultValue;
  const value = property.parse(text.trim());
  if (value !== null) return value;
  throw new IcebergError(
    'invalid',
    'property.invalid',
    `Table property "${property.key}" must be ${property.range}, not "${text}"`,
    { context: { property: property.key } },
  );
}

/**
 * For properties that somebody sets: better refused now than at the first flush.
 * @throws invalid `property.reserved`, `property.invalid`; unsupported `table.encrypted`
 */
export function checkTableProperties(properties: ReadonlyMap<string, string>): void {
  for (const key of properties.keys()) {
    if (!RESERVED_PROPERTIES.has(key)) continue;
    throw new IcebergError('invalid', 'property.reserved', `The property "${key}" is reserved`, {
      context: { property: key },
    });
  }
  for (const property of Object.values(TABLE_PROPERTIES)) checkRange(properties, property);
  checkNotEncrypted(properties);
}

/** @throws unsupported `table.encrypted` */
export function checkNotEncrypted(properties: ReadonlyMap<string, string>): void {
  if (!properties.has(ENCRYPTION_KEY_PROPERTY)) return;
  throw new IcebergError(
    'unsupported',
    'table.encrypted',
    `The table sets "${ENCRYPTION_KEY_PROPERTY}", and encryption is not supported`,
  );
}

function checkRange(
  properties: ReadonlyMap<string, string>,
  property: TableProperty<unknown>,
): void {
  tableProperty(properties, property);
}

function parseInteger(text: string, min: number, max: number): number | null {
  const value = Number(text);
  return /^-?\d{1,16}$/.test(text) && value >= min && value <= max ? value : null;
}

function integer(
  key: string,
  defaultValue: number,
  min: number,
  max: number,
): TableProperty<number> {
  return {
    key,
    defaultValue,
    parse: (text) => parseInteger(text, min, max),
    range: `an integer from ${min} to ${max}`,
  };
}

function optionalInteger(key: string, min: number, max: number): TableProperty<number | null> {
  return {
    key,
    defaultValue: null,
    parse: (text) => parseInteger(text, min, max),
    range: `an integer from ${min} to ${max}`,
  };
}

function flag(key: string, defaultValue: boolean): TableProperty<boolean> {
  return {
    key,
    defaultValue,
    // Any other text reads as false in the Java library; that would hide a typing error.
    parse: (text) => {
      const folded = text.toLowerCase();
      if (folded === 'true') return true;
      return folded === 'false' ? false : null;
    },
    range: 'true or false',
  };
}

function choice<T extends string>(
  key: string,
  defaultValue: T,
  values: readonly T[],
): TableProperty<T> {
  return {
    key,
    defaultValue,
    parse: (text) => values.find((value) => value === text.toLowerCase()) ?? null,
    range: `one of ${values.join(', ')}`,
  };
}

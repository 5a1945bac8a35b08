/** Wire contract of `/tables`. 64-bit numbers are strings; times are milliseconds since 1970. */

export interface TableListBody {
  tables: { namespace: string; name: string }[];
}

export interface TableBody {
  namespace: string;
  name: string;
  tableUuid: string;
  formatVersion: number;
  location: string;
  metadataLocation: string;
  /** The current schema as the Iceberg specification writes it in JSON. */
  schema: unknown;
  /** The default partition spec, as the specification writes it. */
  partitionSpec: unknown;
  properties: Record<string, string>;
  currentSnapshot: SnapshotBody | null;
  /** Of the current snapshot. Null where the writer of the snapshot did not say. */
  totals: { rows: string | null; dataFiles: string | null; bytes: string | null };
  /** Durable, not yet committed. */
  pending: { rows: number; bytes: number; batches: number; oldestAtMs: number | null };
  quarantinedRows: number;
}

export interface SnapshotBody {
  snapshotId: string;
  parentSnapshotId: string | null;
  sequenceNumber: string;
  timestampMs: number;
  operation: string;
  schemaId: number | null;
  manifestList: string;
  summary: Record<string, string>;
}

export interface SnapshotListBody {
  currentSnapshotId: string | null;
  /** In the order they were committed. */
  snapshots: SnapshotBody[];
}

export interface QuarantineBody {
  rows: {
    id: number;
    batch: string;
    row: number;
    column: string;
    code: string;
    message: string;
    /** The row as it came, cut where it is long. */
    raw: string;
    atMs: number;
  }[];
  total: number;
  /** Pass as `after` for the next page; null on the last one. */
  next: number | null;
}

/** The answer of `POST /tables/{namespace}/{table}/schema`. */
export interface SchemaUpdateBody {
  /** As it is now; after a dry run as it would be, under the id of the present one. */
  schema: unknown;
  /** False after a dry run, and when the changes left everything as it was. */
  committed: boolean;
  differences: {
    /** `add`, `drop`, `rename`, `type`, `nullability`, `doc`, `write-default`, `order`, `identifier-fields` */
    change: string;
    /** Empty for the top level. */
    column: string;
    before: string | null;
    after: string | null;
    /** The same in one line. */
    text: string;
  }[];
}

/** The answer of `POST /tables/{namespace}/{table}/quarantine/replay`. */
export interface ReplayBody {
  /** The batch of the rows that landed; null when none did. */
  batch: string | null;
  status: 'durable' | 'committed' | null;
  snapshotId: string | null;
  /** `kept` rows are refused still, or cannot be sent again. */
  rows: { replayed: number; landed: number; kept: number };
  /** Rows in the quarantine now. */
  total: number;
  /** Pass as `after` to go on; null when every row has had its turn. */
  next: number | null;
}

export interface FlushBody {
  rows: number;
  files: number;
  snapshotId: string | null;
}

/** Wire contract of `POST /ingest/{namespace}/{table}` and `GET /batches/{id}`. 64-bit ids are strings. */

export interface IngestErrorBody {
  /** Index of the row in the body, from 0. */
  row: number;
  column: string;
  code: string;
  message: string;
}

export interface IngestResponseBody {
  batch: string;
  status: 'durable' | 'committed';
  rows: { received: number; accepted: number; quarantined: number };
  /** Null until committed. */
  snapshotId: string | null;
  errors: IngestErrorBody[];
}

/** Every answer of status 400 and above. */
export interface ErrorResponseBody {
  error: {
    kind: string;
    code: string;
    message: string;
    /** Values that help to find the place: `line`, `column`, `limit`, … */
    context: Record<string, string | number | boolean | null>;
  };
}

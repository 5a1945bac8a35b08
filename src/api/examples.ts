/**
 * The lines a newcomer copies: send rows, read them with DuckDB, read them with PyIceberg. `npm start`
 * and the Worker's own page print them, and the interoperability tests run them as they stand.
 */

export interface Examples {
  /** For a POSIX shell. */
  curl: string;
  /** SQL for DuckDB 1.4 or later. */
  duckdb: string;
  /** A Python script for PyIceberg with pyarrow. */
  pyiceberg: string;
}

/**
 * @param origin scheme, host and port of the Worker, e.g. `http://127.0.0.1:8787`
 * @param needsToken whether the Worker asks for the token; the lines then name a placeholder
 */
export function examplesFor(origin: string, needsToken: boolean): Examples {
  const header = needsToken ? `\n  -H 'authorization: Bearer <token>' \\` : '';
  const duckdbAuthorization = needsToken ? `TOKEN '<token>'` : `AUTHORIZATION_TYPE 'none'`;
  const pyicebergToken = needsToken ? `, token="<token>"` : '';
  return {
    curl: `curl -X POST '${origin}/ingest/demo/events?wait=committed' \\${header}
  -H 'content-type: application/json' \\
  -d '[{"id":1,"kind":"view","ms":12.5},{"id":2,"kind":"click","ms":3.25}]'`,
    duckdb: `INSTALL httpfs; LOAD httpfs; INSTALL iceberg; LOAD iceberg;
ATTACH 'floe' AS floe (TYPE iceberg, ENDPOINT '${origin}/iceberg', ${duckdbAuthorization});
SELECT * FROM floe.demo.events ORDER BY id;`,
    pyiceberg: `from pyiceberg.catalog import load_catalog
catalog = load_catalog("floe", type="rest", uri="${origin}/iceberg"${pyicebergToken})
print(catalog.load_table("demo.events").scan().to_arrow().to_pylist())`,
  };
}

"""One peer of the kernel benchmark: NDJSON -> zstd Parquet on one thread.

usage: peers.py pyarrow|duckdb INPUT.ndjson OUTPUT.parquet LEVEL

Prints a line of JSON: CPU seconds of the work (imports not counted), output bytes, version.
"""

import json
import os
import resource
import sys


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def with_pyarrow(source, target, level):
    import pyarrow
    import pyarrow.json
    import pyarrow.parquet

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    fields = [
        ("event_id", pyarrow.string()),
        ("ts", pyarrow.timestamp("us", tz="UTC")),
        ("user_id", pyarrow.int64()),
        ("session", pyarrow.string()),
        ("event_type", pyarrow.string()),
        ("url", pyarrow.string()),
        ("referrer", pyarrow.string()),
        ("country", pyarrow.string()),
        ("device", pyarrow.string()),
        ("duration_ms", pyarrow.int64()),
        ("price", pyarrow.float64()),
        ("ok", pyarrow.bool_()),
    ]
    start = cpu_seconds()
    table = pyarrow.json.read_json(
        source,
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=1 << 20),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=pyarrow.schema(fields), unexpected_field_behavior="error"
        ),
    )
    pyarrow.parquet.write_table(table, target, compression="zstd", compression_level=level)
    return cpu_seconds() - start, table.num_rows, pyarrow.__version__


def with_duckdb(source, target, level):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    columns = (
        "{event_id: 'VARCHAR', ts: 'TIMESTAMPTZ', user_id: 'BIGINT', session: 'VARCHAR',"
        " event_type: 'VARCHAR', url: 'VARCHAR', referrer: 'VARCHAR', country: 'VARCHAR',"
        " device: 'VARCHAR', duration_ms: 'BIGINT', price: 'DOUBLE', ok: 'BOOLEAN'}"
    )
    start = cpu_seconds()
    connection.execute(
        f"COPY (SELECT * FROM read_json('{source}', format = 'newline_delimited', columns = {columns}))"
        f" TO '{target}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level})"
    )
    spent = cpu_seconds() - start
    rows = connection.execute(f"SELECT count(*) FROM '{target}'").fetchone()[0]
    return spent, rows, duckdb.__version__


def main():
    peer, source, target, level = sys.argv[1:]
    run = {"pyarrow": with_pyarrow, "duckdb": with_duckdb}[peer]
    spent, rows, version = run(source, target, int(level))
    print(
        json.dumps(
            {"cpuSeconds": spent, "rows": rows, "outputBytes": os.path.getsize(target), "version": version}
        )
    )


main()

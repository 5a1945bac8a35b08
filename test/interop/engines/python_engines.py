"""DuckDB, PyIceberg and the validator behind one line protocol: a JSON request, a JSON answer."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "validator"))


def duckdb_connection():
    import duckdb

    packages = Path(duckdb.__file__).parent.parent
    connection = duckdb.connect()
    connection.execute(f"SET extension_directory = '{packages / 'duckdb_ext' / 'extensions'}'")
    for name in ("avro", "httpfs", "aws", "iceberg"):
        connection.execute(f"LOAD {name}")
    return connection


def duckdb_rows(connection, query: str) -> list[dict]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


def duckdb_scan(request: dict) -> dict:
    """`iceberg_scan` of the metadata file over the S3 protocol."""
    with duckdb_connection() as connection:
        scheme, _, endpoint = request["endpoint"].partition("://")
        connection.execute(
            f"CREATE SECRET (TYPE s3, KEY_ID '{request['accessKey']}', "
            f"SECRET '{request['secretKey']}', REGION '{request['region']}', "
            f"ENDPOINT '{endpoint}', URL_STYLE 'path', USE_SSL {str(scheme == 'https').lower()})"
        )
        query = request.get("query", "SELECT * FROM t")
        connection.execute(f"CREATE VIEW t AS FROM iceberg_scan('{request['metadata']}')")
        return {"rows": duckdb_rows(connection, query)}


def duckdb_attach(request: dict) -> dict:
    """`ATTACH` of the REST catalog."""
    with duckdb_connection() as connection:
        connection.execute(
            f"ATTACH 'floe' AS lake (TYPE iceberg, ENDPOINT '{request['catalog']}', "
            "AUTHORIZATION_TYPE 'none')"
        )
        name = f"lake.\"{request['namespace']}\".\"{request['table']}\""
        return {"rows": duckdb_rows(connection, f"SELECT * FROM {name}")}


def pyiceberg_table(request: dict):
    from pyiceberg.catalog.rest import RestCatalog

    catalog = RestCatalog("floe", uri=request["catalog"])
    return catalog.load_table((request["namespace"], request["table"]))


def pyiceberg_rows(request: dict) -> dict:
    table = pyiceberg_table(request)
    return {"rows": table.scan().to_arrow().to_pylist()}


def pyiceberg_plan(request: dict) -> dict:
    """The data files that PyIceberg would open for the rows of `filter`."""
    tasks = list(pyiceberg_table(request).scan(row_filter=request["filter"]).plan_files())
    tasks.sort(key=lambda task: task.file.file_path)
    return {
        "files": [task.file.file_path for task in tasks],
        "sortOrderIds": [task.file.sort_order_id for task in tasks],
    }


def pyiceberg_history(request: dict) -> dict:
    table = pyiceberg_table(request)
    return {
        "snapshots": [str(snapshot.snapshot_id) for snapshot in table.snapshots()],
        "parents": [str(snapshot.parent_snapshot_id) for snapshot in table.snapshots()],
        "fields": [f"{f.field_id} {f.name} {f.field_type}" for f in table.schema().fields],
    }


def validate_table(request: dict) -> dict:
    from floe_validator import validate
    from floe_validator.storage import S3Storage

    storage = S3Storage(request["endpoint"], request["accessKey"], request["secretKey"],
                        request["region"])
    report = validate(request["metadata"], storage)
    return {
        "findings": [f"{f.code}: {f.where}: {f.message}" for f in report.findings],
        "checks": report.checks,
        "snapshots": report.snapshots,
        "dataFiles": report.data_files,
        "rowGroups": report.row_groups,
        "rows": report.rows,
    }


def avro_header(request: dict) -> dict:
    """Key/value metadata, schema and records of an Avro file, bytes in hex."""
    from floe_validator.avro_file import read_avro
    from floe_validator.storage import S3Storage

    storage = S3Storage(request["endpoint"], request["accessKey"], request["secretKey"],
                        request["region"])
    file = read_avro(storage.read(request["uri"]))
    return {"metadata": file.metadata, "schema": file.schema, "records": file.records}


OPERATIONS = {
    "duckdb-scan": duckdb_scan,
    "duckdb-attach": duckdb_attach,
    "pyiceberg": pyiceberg_rows,
    "pyiceberg-plan": pyiceberg_plan,
    "pyiceberg-history": pyiceberg_history,
    "validate": validate_table,
    "avro": avro_header,
}


def as_json(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else str(value)


def main() -> None:
    # The answer's stream is kept apart from whatever a library prints.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = OPERATIONS[request["operation"]](request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer, default=as_json) + "\n")
        out.flush()


if __name__ == "__main__":
    main()

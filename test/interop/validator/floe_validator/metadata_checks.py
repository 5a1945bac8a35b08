"""The metadata file by itself: required fields, ids, logs and references."""

import re

from .report import Report
from .table_schema import check_evolution, check_schema

REQUIRED = {
    "format-version": int, "table-uuid": str, "location": str, "last-sequence-number": int,
    "last-updated-ms": int, "last-column-id": int, "schemas": list, "current-schema-id": int,
    "partition-specs": list, "default-spec-id": int, "last-partition-id": int,
    "sort-orders": list, "default-sort-order-id": int,
}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CLOCK_SKEW_MS_MAX = 60_000
"""The reference implementation tolerates entries that are out of order by a minute."""


def check_metadata(report: Report, metadata: dict, uri: str) -> bool:
    """False when so much is missing that the walk cannot go on."""
    whole = True
    for name, type_ in REQUIRED.items():
        value = metadata.get(name)
        ok = isinstance(value, type_) and not isinstance(value, bool)
        whole &= report.check(
            "metadata.required-field", ok, uri, f"{name} is {value!r}, expected {type_.__name__}"
        )
    if not whole:
        return False
    report.equal("metadata.format-version", metadata["format-version"], 2, uri, "format-version")
    report.check("metadata.table-uuid", bool(UUID.fullmatch(metadata["table-uuid"])), uri,
                 f"table-uuid is {metadata['table-uuid']!r}")
    location = metadata["location"]
    report.check("metadata.location", not location.endswith("/") and "//" not in _path(location),
                 uri, f"location is {location!r}")
    _check_schemas(report, metadata, uri)
    _check_specs_and_orders(report, metadata, uri)
    _check_snapshots(report, metadata, uri)
    _check_references(report, metadata, uri)
    _check_logs(report, metadata, uri)
    properties = metadata.get("properties", {})
    report.check(
        "metadata.properties", all(isinstance(v, str) for v in properties.values()), uri,
        "Properties are strings",
    )
    return True


def _path(uri: str) -> str:
    return uri.partition("://")[2] or uri


def _check_schemas(report: Report, metadata: dict, uri: str) -> None:
    ids = [schema.get("schema-id") for schema in metadata["schemas"]]
    report.check("metadata.schema-ids", len(ids) == len(set(ids)) and None not in ids, uri,
                 f"Schema ids are {ids}")
    report.check("metadata.current-schema-id", metadata["current-schema-id"] in ids, uri,
                 f"current-schema-id {metadata['current-schema-id']} is not among {ids}")
    for schema in metadata["schemas"]:
        check_schema(report, schema, metadata["last-column-id"],
                     f"{uri}#schema-{schema.get('schema-id')}")
    if None not in ids:
        check_evolution(report, metadata["schemas"], uri)


def _check_specs_and_orders(report: Report, metadata: dict, uri: str) -> None:
    specs = metadata["partition-specs"]
    spec_ids = [spec.get("spec-id") for spec in specs]
    report.check("metadata.default-spec-id", metadata["default-spec-id"] in spec_ids, uri,
                 f"default-spec-id is not among {spec_ids}")
    field_ids = [field["field-id"] for spec in specs for field in spec["fields"]]
    report.check("metadata.partition-field-id", all(i >= 1000 for i in field_ids), uri,
                 f"Partition field ids start at 1000: {field_ids}")
    report.check(
        "metadata.last-partition-id", metadata["last-partition-id"] >= max(field_ids, default=999),
        uri, f"last-partition-id is {metadata['last-partition-id']}",
    )
    orders = {order["order-id"]: order for order in metadata["sort-orders"]}
    report.check("metadata.default-sort-order-id", metadata["default-sort-order-id"] in orders, uri,
                 "default-sort-order-id is unknown")
    report.check(
        "metadata.unsorted-order", all((order_id == 0) == (not order["fields"])
                                       for order_id, order in orders.items()),
        uri, "Order 0, and only it, has no fields",
    )


def _check_snapshots(report: Report, metadata: dict, uri: str) -> None:
    snapshots = metadata.get("snapshots", [])
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in snapshots}
    report.check("metadata.snapshot-id-unique", len(by_id) == len(snapshots), uri,
                 "Snapshot ids repeat")
    schema_ids = {schema.get("schema-id") for schema in metadata["schemas"]}
    sequences = [snapshot.get("sequence-number") for snapshot in snapshots]
    report.check("metadata.sequence-number-unique", len(set(sequences)) == len(sequences), uri,
                 f"Sequence numbers are {sequences}")
    for snapshot in snapshots:
        where = f"{uri}#snapshot-{snapshot['snapshot-id']}"
        for name, type_ in (("snapshot-id", int), ("sequence-number", int), ("timestamp-ms", int),
                            ("manifest-list", str), ("summary", dict)):
            report.check("snapshot.required-field", isinstance(snapshot.get(name), type_), where,
                         f"{name} is {snapshot.get(name)!r}")
        report.check("snapshot.id-range", 0 < snapshot["snapshot-id"] < 2**63, where,
                     "Snapshot ids are positive 63-bit numbers")
        report.check("snapshot.schema-id", snapshot.get("schema-id") in schema_ids, where,
                     f"schema-id is {snapshot.get('schema-id')!r}")
        summary = snapshot.get("summary") or {}
        report.check("snapshot.operation", summary.get("operation") in
                     ("append", "replace", "overwrite", "delete"), where,
                     f"operation is {summary.get('operation')!r}")
        report.check("snapshot.summary-strings", all(isinstance(v, str) for v in summary.values()),
                     where, "Summary values are strings")
        sequence = snapshot.get("sequence-number", 0)
        report.check("snapshot.sequence-number", 0 < sequence <= metadata["last-sequence-number"],
                     where, f"sequence-number {sequence} is beyond last-sequence-number")
        report.check(
            "snapshot.timestamp",
            snapshot["timestamp-ms"] <= metadata["last-updated-ms"] + CLOCK_SKEW_MS_MAX, where,
            "The snapshot is younger than the metadata",
        )
        parent = by_id.get(snapshot.get("parent-snapshot-id"))
        if parent is not None:
            report.check("snapshot.sequence-order", parent["sequence-number"] < sequence, where,
                         "The sequence number is not above the parent's")
            report.check("snapshot.time-order", parent["timestamp-ms"] <= snapshot["timestamp-ms"],
                         where, "The snapshot is older than its parent")


def _check_references(report: Report, metadata: dict, uri: str) -> None:
    ids = {snapshot["snapshot-id"] for snapshot in metadata.get("snapshots", [])}
    current = metadata.get("current-snapshot-id")
    current = None if current == -1 else current
    refs = metadata.get("refs", {})
    report.check("metadata.current-snapshot-id", current is None or current in ids, uri,
                 f"current-snapshot-id {current} is not a snapshot")
    main = refs.get("main", {}).get("snapshot-id")
    report.equal("metadata.refs-main", main, current, uri, "refs.main")
    for name, ref in refs.items():
        report.check("metadata.ref-snapshot", ref.get("snapshot-id") in ids, uri,
                     f"Reference {name} points at a snapshot that is not there")
        report.check("metadata.ref-type", ref.get("type") in ("branch", "tag"), uri,
                     f"Reference {name} is of type {ref.get('type')!r}")


def _check_logs(report: Report, metadata: dict, uri: str) -> None:
    log = metadata.get("snapshot-log", [])
    times = [entry["timestamp-ms"] for entry in log]
    report.check("metadata.snapshot-log-order", times == sorted(times), uri,
                 f"snapshot-log times are {times}")
    current = metadata.get("current-snapshot-id")
    if current not in (None, -1):
        last = log[-1]["snapshot-id"] if log else None
        report.equal("metadata.snapshot-log-last", last, current, uri, "last entry of snapshot-log")
    ids = {snapshot["snapshot-id"] for snapshot in metadata.get("snapshots", [])}
    report.check("metadata.snapshot-log-known", all(e["snapshot-id"] in ids for e in log), uri,
                 "snapshot-log names a snapshot that is not there")
    previous = metadata.get("metadata-log", [])
    times = [entry["timestamp-ms"] for entry in previous]
    report.check("metadata.metadata-log-order", times == sorted(times), uri,
                 f"metadata-log times are {times}")
    report.check("metadata.metadata-log-last", not times or
                 times[-1] <= metadata["last-updated-ms"], uri,
                 "metadata-log is younger than last-updated-ms")
    files = [entry["metadata-file"] for entry in previous]
    report.check("metadata.metadata-log-self", uri not in files and len(set(files)) == len(files),
                 uri, "metadata-log names this file, or one file twice")

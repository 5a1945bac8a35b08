"""Manifest lists and manifests: Avro shape, header keys, and counts against the entries."""

import json
from dataclasses import dataclass

from .avro_file import AvroFile, Expected, check_record, field_type, read_avro
from .report import Report

MANIFEST_FILE = [
    Expected(500, "manifest_path", "string", True),
    Expected(501, "manifest_length", "long", True),
    Expected(502, "partition_spec_id", "int", True),
    Expected(517, "content", "int", True),
    Expected(515, "sequence_number", "long", True),
    Expected(516, "min_sequence_number", "long", True),
    Expected(503, "added_snapshot_id", "long", True),
    Expected(504, "added_files_count", "int", True),
    Expected(505, "existing_files_count", "int", True),
    Expected(506, "deleted_files_count", "int", True),
    Expected(512, "added_rows_count", "long", True),
    Expected(513, "existing_rows_count", "long", True),
    Expected(514, "deleted_rows_count", "long", True),
    Expected(507, "partitions", "list", False, element_id=508),
    Expected(519, "key_metadata", "bytes", False),
]
FIELD_SUMMARY = [
    Expected(509, "contains_null", "boolean", True),
    Expected(518, "contains_nan", "boolean", False),
    Expected(510, "lower_bound", "bytes", False),
    Expected(511, "upper_bound", "bytes", False),
]
MANIFEST_ENTRY = [
    Expected(0, "status", "int", True),
    Expected(1, "snapshot_id", "long", False),
    Expected(3, "sequence_number", "long", False),
    Expected(4, "file_sequence_number", "long", False),
    Expected(2, "data_file", "record", True),
]
DATA_FILE = [
    Expected(134, "content", "int", True),
    Expected(100, "file_path", "string", True),
    Expected(101, "file_format", "string", True),
    Expected(102, "partition", "record", True),
    Expected(103, "record_count", "long", True),
    Expected(104, "file_size_in_bytes", "long", True),
    Expected(108, "column_sizes", "map", False, 117, 118),
    Expected(109, "value_counts", "map", False, 119, 120),
    Expected(110, "null_value_counts", "map", False, 121, 122),
    Expected(137, "nan_value_counts", "map", False, 138, 139),
    Expected(125, "lower_bounds", "map", False, 126, 127),
    Expected(128, "upper_bounds", "map", False, 129, 130),
    Expected(131, "key_metadata", "bytes", False),
    Expected(132, "split_offsets", "list", False, element_id=133),
    Expected(135, "equality_ids", "list", False, element_id=136),
    Expected(140, "sort_order_id", "int", False),
]
STATUSES = {0: "existing", 1: "added", 2: "deleted"}


@dataclass(frozen=True)
class Entry:
    """A manifest entry with everything inherited filled in."""

    status: str
    snapshot_id: int
    sequence_number: int
    data_file: dict
    schema: dict


def read_object(report: Report, storage, uri: str, code: str, where: str) -> AvroFile | None:
    if not report.check(f"{code}.exists", storage.size(uri) is not None, where, f"{uri} is missing"):
        return None
    try:
        return read_avro(storage.read(uri))
    except ValueError as error:
        report.check(f"{code}.readable", False, uri, str(error))
        return None


def check_manifest_list(report: Report, file: AvroFile, snapshot: dict, uri: str) -> bool:
    """False when the rows lack what the walk reads from them."""
    report.equal("avro.record-name", file.schema["name"], "manifest_file", uri, "record name")
    whole = check_record(report, file.schema, MANIFEST_FILE, uri)
    partitions = field_type(file.schema, 507)
    if partitions and isinstance(partitions.get("items"), dict):
        report.equal("avro.record-name", partitions["items"].get("name"), "r508", uri,
                     "name of the field summary")
        check_record(report, partitions["items"], FIELD_SUMMARY, f"{uri}/partitions")
    parent = snapshot.get("parent-snapshot-id")
    expected = {
        "snapshot-id": str(snapshot["snapshot-id"]),
        "parent-snapshot-id": "null" if parent is None else str(parent),
        "sequence-number": str(snapshot["sequence-number"]),
        "format-version": "2",
    }
    for key, value in expected.items():
        report.equal(f"manifest-list.header.{key}", file.metadata.get(key), value, uri, key)
    return whole


def check_manifest(report: Report, storage, row: dict, metadata: dict, where: str) -> list[Entry]:
    """One row of a manifest list against the manifest it names. Returns the entries."""
    uri = row["manifest_path"]
    report.equal("manifest-list.length", row["manifest_length"], storage.size(uri), uri,
                 "manifest_length against the object's size")
    file = read_object(report, storage, uri, "manifest", where)
    if file is None:
        return []
    schema = _check_header(report, file, row, metadata, uri)
    if not _check_shape(report, file, uri):
        return []
    entries = [_inherit(report, record, row, schema, uri) for record in file.records]
    _check_row(report, row, entries, metadata, uri)
    return entries


def _check_shape(report: Report, file: AvroFile, uri: str) -> bool:
    report.equal("avro.record-name", file.schema["name"], "manifest_entry", uri, "record name")
    whole = check_record(report, file.schema, MANIFEST_ENTRY, uri)
    data_file = field_type(file.schema, 2)
    if data_file is None:
        return False
    report.equal("avro.record-name", data_file.get("name"), "r2", uri, "name of data_file")
    whole &= check_record(report, data_file, DATA_FILE, f"{uri}/data_file")
    partition = field_type(data_file, 102)
    if partition is not None:
        report.equal("avro.record-name", partition.get("name"), "r102", uri, "name of partition")
    return whole


def _check_header(report: Report, file: AvroFile, row: dict, metadata: dict, uri: str) -> dict:
    """The header's keys; returns the schema the manifest was written with."""
    header = file.metadata
    schemas = {schema["schema-id"]: schema for schema in metadata["schemas"]}
    specs = {spec["spec-id"]: spec for spec in metadata["partition-specs"]}
    schema = None
    try:
        schema = json.loads(header["schema"])
    except (KeyError, ValueError):
        pass
    report.check("manifest.header.schema", isinstance(schema, dict), uri,
                 "schema is not the JSON of a schema")
    report.check("manifest.header.schema-id", header.get("schema-id", "").isdigit(), uri,
                 f"schema-id is {header.get('schema-id')!r}")
    known = schemas.get(int(header["schema-id"])) if header.get("schema-id", "").isdigit() else None
    if known is not None and schema is not None:
        report.check("manifest.header.schema", schema["fields"] == known["fields"], uri,
                     "schema differs from the table's schema of that id")
    spec_id = header.get("partition-spec-id")
    report.equal("manifest.header.partition-spec-id", spec_id, str(row["partition_spec_id"]), uri,
                 "partition-spec-id")
    spec = specs.get(row["partition_spec_id"])
    if report.check("manifest-list.partition-spec-id", spec is not None, uri, "unknown spec"):
        fields = None
        try:
            fields = json.loads(header["partition-spec"])
        except (KeyError, ValueError):
            pass
        report.equal("manifest.header.partition-spec", fields, spec["fields"], uri,
                     "partition-spec")
    report.equal("manifest.header.format-version", header.get("format-version"), "2", uri,
                 "format-version")
    report.equal("manifest.header.content", header.get("content"),
                 {0: "data", 1: "deletes"}[row["content"]], uri, "content")
    return schema if isinstance(schema, dict) else schemas[metadata["current-schema-id"]]


def _inherit(report: Report, record: dict, row: dict, schema: dict, uri: str) -> Entry:
    status = STATUSES.get(record["status"])
    report.check("manifest.status", status is not None, uri, f"status is {record['status']}")
    added = record["status"] == 1
    for name in ("snapshot_id", "sequence_number", "file_sequence_number"):
        report.check("manifest.inheritance", record[name] is not None or added, uri,
                     f"{name} is null in an entry that is not ADDED")
    if added and record["sequence_number"] is not None:
        report.equal("manifest.sequence-number", record["sequence_number"],
                     row["sequence_number"], uri, "sequence_number of an ADDED entry")
    inherited = row["sequence_number"]
    return Entry(
        status or "existing",
        record["snapshot_id"] if record["snapshot_id"] is not None else row["added_snapshot_id"],
        record["sequence_number"] if record["sequence_number"] is not None else inherited,
        record["data_file"],
        schema,
    )


def _check_row(report: Report, row: dict, entries: list[Entry], metadata: dict,
               uri: str) -> None:
    for status in STATUSES.values():
        of_status = [entry for entry in entries if entry.status == status]
        report.equal("manifest-list.files-count", row[f"{status}_files_count"], len(of_status), uri,
                     f"{status}_files_count")
        rows = sum(entry.data_file["record_count"] for entry in of_status)
        report.equal("manifest-list.rows-count", row[f"{status}_rows_count"], rows, uri,
                     f"{status}_rows_count")
    live = [entry.sequence_number for entry in entries if entry.status != "deleted"]
    if live:
        report.equal("manifest-list.min-sequence-number", row["min_sequence_number"], min(live),
                     uri, "min_sequence_number")
    specs = {spec["spec-id"]: spec for spec in metadata["partition-specs"]}
    fields = specs.get(row["partition_spec_id"], {"fields": []})["fields"]
    partitions = row.get("partitions")
    report.check("manifest-list.partitions",
                 partitions is not None and len(partitions) == len(fields), uri,
                 f"partitions is {partitions!r} for {len(fields)} partition fields")


def check_row_in_snapshot(report: Report, row: dict, entries: list[Entry], snapshot: dict) -> None:
    """What depends on the snapshot that lists the manifest, which may be a later one."""
    uri = row["manifest_path"]
    report.check("manifest-list.no-live-entries", not entries or
                 any(entry.status != "deleted" for entry in entries) or
                 row["added_snapshot_id"] == snapshot["snapshot-id"], uri,
                 "a carried manifest has no live entry")
    report.check("manifest-list.sequence-number",
                 row["sequence_number"] <= snapshot["sequence-number"], uri,
                 "sequence_number is above the snapshot's")
    if row["added_snapshot_id"] == snapshot["snapshot-id"]:
        report.equal("manifest-list.sequence-number", row["sequence_number"],
                     snapshot["sequence-number"], uri, "sequence_number of a new manifest")

"""One way to break a table for every code of the validator."""

import io
import json
import struct
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from .foreign_table import METADATA, BreakableTable

Break = Callable[[BreakableTable], object]


def _schema(table: BreakableTable) -> dict:
    return table.metadata["schemas"][-1]


def _field(table: BreakableTable, name: str) -> dict:
    return next(field for field in _schema(table)["fields"] if field["name"] == name)


def _avro_field(record: dict, name: str) -> dict:
    return next(field for field in record["fields"] if field["name"] == name)


def _data_file_schema(table: BreakableTable) -> dict:
    return _avro_field(table.added_manifest["schema"], "data_file")["type"]


def _map_of(table: BreakableTable, name: str) -> dict:
    return _avro_field(_data_file_schema(table), name)["type"][1]


def _set(container: object, key: object, value: object) -> None:
    container[key] = value


def _parquet(change: Callable[[pa.Table], pa.Table], **options) -> Break:
    def rewrite(data: bytes) -> bytes:
        out = io.BytesIO()
        pq.write_table(change(pq.read_table(io.BytesIO(data))), out, store_schema=False, **options)
        return out.getvalue()

    return lambda table: table.replace_data(rewrite)


def _with_field(name: str, change: Callable[[pa.Field], pa.Field]) -> Callable[[pa.Table], pa.Table]:
    def apply(table: pa.Table) -> pa.Table:
        index = table.schema.get_field_index(name)
        field = change(table.schema.field(index))
        return table.set_column(index, field, table.column(index).cast(field.type))

    return apply


def _nan_prices(table: pa.Table) -> pa.Table:
    index = table.schema.get_field_index("price")
    prices = pa.array([float("nan")] * table.num_rows, pa.float64())
    return table.set_column(index, table.schema.field(index), prices)


def _set_nan_count(count: int, field_id: int = 3) -> Break:
    return lambda t: _set(t.data_file, "nan_value_counts", [{"key": field_id, "value": count}])


def _declare(table: BreakableTable, name: str, type_: object) -> None:
    """Gives a column another type, in the metadata and in the manifest's header."""
    _field(table, name)["type"] = type_
    table.added_manifest["header"]["schema"] = json.dumps(_schema(table))


def _add_second_snapshot_ref(table: BreakableTable) -> None:
    table.metadata["refs"]["old"] = {"snapshot-id": 4711, "type": "branch"}


def _drop_record_field(table: BreakableTable) -> None:
    _data_file_schema(table)["fields"].remove(_avro_field(_data_file_schema(table), "record_count"))


def _map_as_strings(table: BreakableTable) -> None:
    field = _avro_field(_data_file_schema(table), "value_counts")
    field["type"] = ["null", {"type": "array", "items": "string", "element-id": 1}]
    table.data_file["value_counts"] = ["x"]


def _required_snapshot_id(table: BreakableTable) -> None:
    field = _avro_field(table.added_manifest["schema"], "snapshot_id")
    field["type"] = "long"
    del field["default"]
    table.added_manifest["records"][0]["snapshot_id"] = table.newest["snapshot-id"]


def _second_column(table: BreakableTable, name: str, field_id: int) -> None:
    fields = _schema(table)["fields"]
    fields.append({"id": field_id, "name": name, "required": False, "type": "string"})
    table.metadata["last-column-id"] = max(field_id, table.metadata["last-column-id"])


def _list_twice(table: BreakableTable) -> None:
    table.newest_list["records"].append(dict(table.added_row))


def _file_twice(table: BreakableTable) -> None:
    records = table.added_manifest["records"]
    records.append(dict(records[0]))


def _carried_row(table: BreakableTable) -> dict:
    return next(row for row in table.newest_list["records"] if row is not table.added_row)


def _delete_carried(table: BreakableTable) -> None:
    for record in table.manifests[_carried_row(table)["manifest_path"]]["records"]:
        record.update(status=2, sequence_number=1, file_sequence_number=1,
                      snapshot_id=table.newest["snapshot-id"])


def _status(table: BreakableTable, **fields: object) -> None:
    table.added_manifest["records"][0].update(fields)


def _renumbered(**fields: object) -> Break:
    return lambda table: table.newest.update(fields)


def _negative_snapshot_id(table: BreakableTable) -> None:
    first = table.metadata["snapshots"][0]
    table.lists[-3] = table.lists[first["snapshot-id"]]
    first["snapshot-id"] = -3


def _empty_file(table: pa.Table) -> pa.Table:
    return table.slice(0, 0)


def _summary(key: str, value: object) -> Break:
    return lambda t: _set(t.newest["summary"], key, value)


def _meta(key: str, value: object) -> Break:
    return lambda t: _set(t.metadata, key, value)


def _list_schema_without_null_default(table: BreakableTable) -> None:
    del _avro_field(table.newest_list["schema"], "key_metadata")["default"]


BREAKS: dict[str, list[Break]] = {
    # the metadata file
    "metadata.required-field": [lambda t: t.metadata.pop("last-column-id"),
                                _meta("last-updated-ms", "1")],
    "metadata.format-version": [_meta("format-version", 7)],
    "metadata.table-uuid": [_meta("table-uuid", "42")],
    "metadata.table-uuid-kept": [_meta("table-uuid", "00000000-0000-4000-8000-000000000000")],
    "metadata.location": [lambda t: _set(t.metadata, "location", t.metadata["location"] + "/")],
    "metadata.schema-ids": [lambda t: _set(_schema(t), "schema-id", 0)],
    "metadata.current-schema-id": [_meta("current-schema-id", 9)],
    "metadata.default-spec-id": [_meta("default-spec-id", 9)],
    "metadata.partition-field-id": [lambda t: t.metadata["partition-specs"].append(
        {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 9, "name": "p",
                                   "transform": "identity"}]})],
    "metadata.last-partition-id": [_meta("last-partition-id", 12)],
    "metadata.default-sort-order-id": [_meta("default-sort-order-id", 3)],
    "metadata.unsorted-order": [lambda t: t.metadata["sort-orders"].append(
        {"order-id": 1, "fields": []})],
    "metadata.snapshot-id-unique": [lambda t: t.metadata["snapshots"].append(dict(t.newest))],
    "metadata.sequence-number-unique": [lambda t: _set(t.newest, "sequence-number", 1)],
    "metadata.current-snapshot-id": [_meta("current-snapshot-id", 4711)],
    "metadata.refs-main": [lambda t: t.metadata["refs"].clear()],
    "metadata.ref-snapshot": [_add_second_snapshot_ref],
    "metadata.ref-type": [lambda t: _set(t.metadata["refs"]["main"], "type", "trunk")],
    "metadata.snapshot-log-order": [lambda t: t.metadata["snapshot-log"].reverse()],
    "metadata.snapshot-log-last": [lambda t: t.metadata["snapshot-log"].pop()],
    "metadata.snapshot-log-known": [lambda t: _set(t.metadata["snapshot-log"][0], "snapshot-id", 5)],
    "metadata.metadata-log-order": [lambda t: t.metadata["metadata-log"].reverse()],
    "metadata.metadata-log-last": [lambda t: _set(
        t.metadata["metadata-log"][-1], "timestamp-ms", 2**45)],
    "metadata.metadata-log-self": [lambda t: t.metadata["metadata-log"].append(
        t.metadata["metadata-log"][-1])],
    "metadata.metadata-log-file": [lambda t: _set(
        t.metadata["metadata-log"][0], "metadata-file", "/nowhere.json")],
    "metadata.metadata-log-time": [lambda t: _set(
        t.metadata["metadata-log"][0], "timestamp-ms", 1)],
    "metadata.counter-order": [_meta("last-sequence-number", 1)],
    "metadata.properties": [lambda t: _set(t.metadata["properties"], "a", 1)],
    # schemas
    "schema.type": [lambda t: _set(_schema(t), "type", "record")],
    "schema.no-fields": [lambda t: _set(t.metadata["schemas"][0], "fields", [])],
    "schema.field-id-unique": [lambda t: _set(_field(t, "note"), "id", 2)],
    "schema.field-id-positive": [lambda t: _set(_field(t, "note"), "id", 0)],
    "schema.last-column-id": [_meta("last-column-id", 9)],
    "schema.reserved-id": [lambda t: _second_column(t, "file", 2147483646)],
    "schema.known-type": [lambda t: _set(_field(t, "note"), "type", "text")],
    "schema.identifier-field": [lambda t: _set(_schema(t), "identifier-field-ids", [2])],
    "schema.name-unique": [lambda t: _second_column(t, "NAME", 50)],
    "schema.name-empty": [lambda t: _second_column(t, "", 50)],
    "schema.empty-struct": [lambda t: _set(_field(t, "place")["type"], "fields", [])],
    "schema.illegal-promotion": [lambda t: _set(_field(t, "id"), "type", "double")],
    "schema.moved": [lambda t: (_field(t, "tags")["type"].update({"element-id": 51}),
                                _second_column(t, "loose", 10))],
    # snapshots
    "snapshot.required-field": [_renumbered(**{"timestamp-ms": 1.5})],
    "snapshot.id-range": [_negative_snapshot_id],
    "snapshot.schema-id": [lambda t: _set(t.newest, "schema-id", 12)],
    "snapshot.operation": [_summary("operation", "insert")],
    "snapshot.summary-strings": [_summary("total-records", 120)],
    "snapshot.sequence-number": [lambda t: _set(t.newest, "sequence-number", 99)],
    "snapshot.timestamp": [_renumbered(**{"timestamp-ms": 2**45})],
    "snapshot.sequence-order": [lambda t: _set(t.metadata["snapshots"][0], "sequence-number", 3)],
    "snapshot.time-order": [_renumbered(**{"timestamp-ms": 1})],
    "snapshot.file-unique": [_file_twice],
    "snapshot.append-keeps": [lambda t: t.newest_list["records"].remove(_carried_row(t))],
    "snapshot.sequence-kept": [lambda t: _set(_carried_row(t), "sequence_number", 3)],
    "snapshot.new-file": [lambda t: _status(t, status=0, sequence_number=3, file_sequence_number=3,
                                            snapshot_id=t.newest["snapshot-id"])],
    "summary.counts": [_summary("total-records", "121"), _summary("added-files-size", "1"),
                       _summary("added-data-files", "2")],
    "summary.running-total": [_summary("total-data-files", "9")],
    "summary.delete-totals": [lambda t: t.newest["summary"].pop("total-delete-files")],
    # manifest lists
    "manifest-list.exists": [lambda t: t.missing.add(t.newest["manifest-list"])],
    "manifest-list.readable": [lambda t: t.damaged.add(t.newest["manifest-list"])],
    "manifest-list.header.snapshot-id": [lambda t: _set(t.newest_list["header"], "snapshot-id", "1")],
    "manifest-list.header.parent-snapshot-id": [
        lambda t: t.newest_list["header"].pop("parent-snapshot-id")],
    "manifest-list.header.sequence-number": [
        lambda t: _set(t.newest_list["header"], "sequence-number", "8")],
    "manifest-list.header.format-version": [
        lambda t: _set(t.newest_list["header"], "format-version", "1")],
    "manifest-list.manifest-unique": [_list_twice],
    "manifest-list.length": [lambda t: setattr(t, "length_delta", 1)],
    "manifest-list.files-count": [lambda t: _set(t.added_row, "added_files_count", 2)],
    "manifest-list.rows-count": [lambda t: _set(t.added_row, "added_rows_count", 41)],
    "manifest-list.no-live-entries": [_delete_carried],
    "manifest-list.min-sequence-number": [lambda t: _set(t.added_row, "min_sequence_number", 1)],
    "manifest-list.sequence-number": [lambda t: _set(t.added_row, "sequence_number", 77)],
    "manifest-list.partition-spec-id": [lambda t: _set(t.added_row, "partition_spec_id", 5)],
    "manifest-list.partitions": [lambda t: _set(t.added_row, "partitions", None)],
    # manifests
    "manifest.exists": [lambda t: t.missing.add(t.added_row["manifest_path"])],
    "manifest.readable": [lambda t: t.damaged.add(t.added_row["manifest_path"])],
    "manifest.header.schema": [lambda t: _set(t.added_manifest["header"], "schema", "{")],
    "manifest.header.partition-spec-id": [
        lambda t: _set(t.added_manifest["header"], "partition-spec-id", "3")],
    "manifest.header.partition-spec": [
        lambda t: _set(t.added_manifest["header"], "partition-spec", '{"spec-id":0,"fields":[]}')],
    "manifest.header.format-version": [
        lambda t: _set(t.added_manifest["header"], "format-version", "1")],
    "manifest.header.content": [lambda t: t.added_manifest["header"].pop("content")],
    "manifest.header.schema-id": [lambda t: _set(t.added_manifest["header"], "schema-id", "one")],
    "manifest.status": [lambda t: _status(t, status=7)],
    "manifest.inheritance": [lambda t: _status(t, status=0, sequence_number=None)],
    "manifest.sequence-number": [lambda t: _status(t, sequence_number=2)],
    # Avro shapes
    "avro.record-name": [lambda t: _set(_data_file_schema(t), "name", "data_file"),
                         lambda t: _set(t.newest_list["schema"], "name", "row"),
                         lambda t: _set(_map_of(t, "value_counts")["items"], "name", "pair")],
    "avro.field-id": [lambda t: _avro_field(_data_file_schema(t), "file_path").pop("field-id")],
    "avro.field-missing": [_drop_record_field],
    "avro.field-name": [lambda t: (_set(_avro_field(t.newest_list["schema"], "added_files_count"),
                                        "name", "added_data_files_count"),
                                   [_set(r, "added_data_files_count", r["added_files_count"])
                                    for r in t.newest_list["records"]])],
    "avro.nullability": [_required_snapshot_id],
    "avro.null-default": [_list_schema_without_null_default],
    "avro.type": [_map_as_strings],
    "avro.map-logical-type": [lambda t: _map_of(t, "value_counts").pop("logicalType")],
    "avro.map-ids": [lambda t: _map_of(t, "value_counts")["items"]["fields"][0].pop("field-id")],
    "avro.element-id": [lambda t: _map_of(t, "split_offsets").pop("element-id")],
    # data files
    "data-file.exists": [lambda t: _set(t.data_file, "file_path", "/nowhere.parquet")],
    "data-file.size": [lambda t: _set(t.data_file, "file_size_in_bytes", 12)],
    "data-file.path": [lambda t: _set(t.data_file, "file_path", "s3://lake//a.parquet")],
    "data-file.content": [lambda t: _set(t.data_file, "content", 1)],
    "data-file.format": [lambda t: _set(t.data_file, "file_format", "ORC")],
    "data-file.sort-order-id": [lambda t: _set(t.data_file, "sort_order_id", 4)],
    "parquet.readable": [lambda t: t.replace_data(lambda data: data[:-10] + b"0123456789")],
    "parquet.record-count": [lambda t: _set(t.data_file, "record_count", 41)],
    "parquet.empty-file": [_parquet(_empty_file)],
    "parquet.field-id": [
        _parquet(_with_field("name", lambda f: f.remove_metadata())),
        _parquet(_with_field("name", lambda f: f.with_metadata({"PARQUET:field_id": "1"}))),
        _parquet(_with_field("tags", lambda f: f.with_type(
            pa.list_(f.type.value_field.remove_metadata())))),
        _parquet(_with_field("place", lambda f: f.with_type(
            pa.struct([child.remove_metadata() for child in f.type])))),
    ],
    "parquet.required-column-missing": [_parquet(lambda table: table.drop_columns(["id"]))],
    "parquet.repetition": [_parquet(_with_field("id", lambda f: f.with_nullable(True)))],
    "parquet.type": [_parquet(_with_field("id", lambda f: f.with_type(pa.float64()))),
                     _parquet(_with_field("at", lambda f: f.with_type(pa.timestamp("us"))))],
    "parquet.annotation": [lambda t: _declare(t, "tags", {
        "type": "map", "key-id": 10, "key": "string", "value-id": 52, "value": "string",
        "value-required": False})],
    "parquet.three-levels": [lambda t: _declare(t, "place", {
        "type": "list", "element-id": 7, "element": "string", "element-required": False})],
    # metrics
    "metrics.split-offsets-present": [lambda t: _set(t.data_file, "split_offsets", None)],
    "metrics.split-offsets": [lambda t: _set(t.data_file, "split_offsets", [5])],
    "metrics.keys": [lambda t: _set(t.metric("value_counts", 2), "key", 77)],
    "metrics.nan-counts-type": [_set_nan_count(0, field_id=1)],
    "metrics.nan-counts-present": [lambda t: _set(t.data_file, "nan_value_counts", [])],
    "metrics.nan-count": [_set_nan_count(3)],
    "metrics.counts-present": [lambda t: _set(t.data_file, "value_counts", [])],
    "metrics.column-sizes": [lambda t: _set(t.metric("column_sizes", 2), "value", 1)],
    "metrics.value-count": [lambda t: _set(t.metric("value_counts", 2), "value", 39),
                            lambda t: _set(t.metric("value_counts", 10), "value", 7)],
    "metrics.null-count": [lambda t: _set(t.metric("null_value_counts", 2), "value", 0)],
    "bounds.present": [lambda t: _set(t.data_file, "lower_bounds", [])],
    "bounds.decodable": [lambda t: _set(t.metric("lower_bounds", 1), "value", b"\x01")],
    "bounds.without-values": [lambda t: (_parquet(_nan_prices)(t), _set_nan_count(32)(t))],
    "bounds.contain": [
        lambda t: _set(t.metric("lower_bounds", 1), "value", struct.pack("<q", 201)),
        lambda t: _set(t.metric("upper_bounds", 1), "value", struct.pack("<q", 238)),
        lambda t: _set(t.metric("upper_bounds", 2), "value", b"name of a rather"),
    ],
    "bounds.zero-sign": [lambda t: _set(t.metric("lower_bounds", 3), "value",
                                        struct.pack("<d", 0.0))],
    "metadata.exists": [lambda t: t.missing.add(METADATA)],
    "metadata.readable": [lambda t: t.damaged.add(METADATA)],
}


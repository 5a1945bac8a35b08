"""Avro object container files with their header: key/value metadata and the writer's schema."""

import io
import json
from dataclasses import dataclass

import fastavro

from .report import Report


@dataclass(frozen=True)
class AvroFile:
    metadata: dict[str, str]
    schema: dict
    records: list[dict]


def read_avro(data: bytes) -> AvroFile:
    """Raises ValueError when the bytes are not a readable container file."""
    if data[:4] != b"Obj\x01":
        raise ValueError("no Avro magic")
    try:
        reader = fastavro.reader(io.BytesIO(data))
        metadata = {key: value for key, value in reader.metadata.items()}
        schema = json.loads(metadata["avro.schema"])
        # The schema is parsed strictly: names must be Avro identifiers.
        fastavro.parse_schema(schema)
        return AvroFile(metadata, schema, list(reader))
    except Exception as error:
        raise ValueError(f"not a readable Avro file: {error}") from error


@dataclass(frozen=True)
class Expected:
    """A field as the specification's table has it. `type` is None when it has a test of its own."""

    field_id: int
    name: str
    type: str | None
    required: bool
    key_id: int | None = None
    value_id: int | None = None
    element_id: int | None = None


def check_record(report: Report, schema: dict, expected: list[Expected], where: str) -> bool:
    """The record's fields by id: name, type, nullability, and the ids inside maps and lists.

    False when a reader by name would not find or understand a field.
    """
    whole = True
    by_id: dict[int, dict] = {}
    for field in schema["fields"]:
        field_id = field.get("field-id")
        report.check(
            "avro.field-id", isinstance(field_id, int), where, f"{field['name']} has no field-id"
        )
        if isinstance(field_id, int):
            report.check("avro.field-id", field_id not in by_id, where, f"{field_id} repeats")
            by_id[field_id] = field
    for want in expected:
        field = by_id.get(want.field_id)
        if field is None:
            whole &= report.check(
                "avro.field-missing", not want.required, where,
                f"{want.name} ({want.field_id}) is missing",
            )
            continue
        whole &= _check_field(report, field, want, f"{where}/{want.name}")
    return whole


def _check_field(report: Report, field: dict, want: Expected, where: str) -> bool:
    whole = report.equal("avro.field-name", field["name"], want.name, where, "name")
    type_, nullable = _unwrap(field["type"])
    report.check(
        "avro.nullability", nullable != want.required, where,
        "must not be a union with null" if want.required else "must be a union with null",
    )
    if nullable:
        report.check(
            "avro.null-default", "default" in field and field["default"] is None, where,
            "an optional field has the default null",
        )
    if want.type == "map":
        return _check_map(report, type_, want, where) and whole
    if want.type == "list":
        ok = isinstance(type_, dict) and type_.get("type") == "array"
        report.check("avro.type", ok, where, f"type is {type_!r}, expected an array")
        if ok:
            report.equal("avro.element-id", type_.get("element-id"), want.element_id, where,
                         "element-id")
        return ok and whole
    if want.type is not None:
        plain = type_["type"] if isinstance(type_, dict) else type_
        whole &= report.equal("avro.type", plain, want.type, where, "type")
    return whole


def _check_map(report: Report, type_: object, want: Expected, where: str) -> bool:
    ok = (
        isinstance(type_, dict) and type_.get("type") == "array"
        and isinstance(type_.get("items"), dict)
    )
    if not report.check("avro.type", ok, where, f"type is {type_!r}, expected an array of records"):
        return False
    report.equal("avro.map-logical-type", type_.get("logicalType"), "map", where, "logicalType")
    items = type_["items"]
    report.equal("avro.record-name", items.get("name"), f"k{want.key_id}_v{want.value_id}", where,
                 "record name")
    ids = {field["name"]: field.get("field-id") for field in items["fields"]}
    report.equal("avro.map-ids", ids, {"key": want.key_id, "value": want.value_id}, where, "ids")
    return set(ids) == {"key", "value"}


def _unwrap(type_: object) -> tuple[object, bool]:
    """A union of null and one type becomes that type."""
    if isinstance(type_, list):
        others = [branch for branch in type_ if branch != "null"]
        return (others[0] if len(others) == 1 else type_), "null" in type_
    return type_, False


def field_type(schema: dict, field_id: int) -> dict | None:
    """The type of a record's field by its id, without the union with null."""
    for field in schema["fields"]:
        if field.get("field-id") == field_id:
            type_, _ = _unwrap(field["type"])
            return type_ if isinstance(type_, dict) else None
    return None

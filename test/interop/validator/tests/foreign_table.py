"""A table written by PyIceberg, and a way to break one thing in a copy of it."""

import copy
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import fastavro
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DecimalType, DoubleType, ListType, LongType, NestedField, StringType, StructType,
    TimestamptzType,
)

KNOWN_ABSENCES = (
    "manifest.header.schema-id",  # demanded by the specification; PyIceberg and Java leave it out
    "metrics.nan-counts-present",  # Parquet statistics have no NaN count to take it from
    "bounds.present",  # PyIceberg computes none for columns inside structs
)
"""Codes that a table of PyIceberg cannot pass, each for a reason."""

METADATA = "metadata"
"""Names the metadata file in `missing` and `damaged`."""

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType()),
    NestedField(3, "price", DoubleType()),
    NestedField(4, "amount", DecimalType(12, 2)),
    NestedField(5, "at", TimestamptzType()),
    NestedField(6, "place", StructType(
        NestedField(7, "city", StringType()), NestedField(8, "floor", LongType()))),
    NestedField(9, "tags", ListType(10, StringType(), element_required=False)),
)


def write_table(folder: Path) -> Path:
    """Three appends, with a new column before the last one. Returns the newest metadata file."""
    catalog = SqlCatalog("local", uri=f"sqlite:///{folder}/catalog.db",
                         warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.events", SCHEMA)
    for start in (0, 100):
        table.append(_rows(table.schema().as_arrow(), start))
    with table.update_schema() as update:
        update.add_column("note", StringType())
    table.append(_rows(table.schema().as_arrow(), 200))
    return Path(table.metadata_location.removeprefix("file://"))


def _rows(schema: pa.Schema, start: int) -> pa.Table:
    rows = [
        {
            "id": start + i,
            "name": None if i % 7 == 0 else f"name of a rather long kind {start + i} żółw 🦊",
            "price": (start + i) / 4 if i % 5 else None,
            "amount": None,
            "at": None,
            "place": None if i % 4 == 0 else {"city": "Łódź", "floor": i},
            "tags": [None, "x"] if i % 3 == 0 else ([] if i % 3 == 1 else None),
            "note": "later",
        }
        for i in range(40)
    ]
    return pa.Table.from_pylist(rows, schema=schema)


class BreakableTable:
    """Metadata, manifest lists and manifests in memory; written anew with all links mended.

    What a break leaves alone stays consistent: paths and lengths are filled in on `write`, so that
    a finding comes from the break and not from having copied.
    """

    def __init__(self, metadata_path: Path, target: Path):
        self.metadata = json.loads(metadata_path.read_text())
        self.target = target
        self.lists = {}
        self.manifests = {}
        self.length_delta = 0
        """Added to every recorded manifest length."""
        self.missing: set[str] = set()
        self.damaged: set[str] = set()
        """Original paths of files that are not written, or written with a wrong first byte."""
        for snapshot in self.metadata["snapshots"]:
            self.lists[snapshot["snapshot-id"]] = _read(snapshot["manifest-list"])
            for row in self.lists[snapshot["snapshot-id"]]["records"]:
                self.manifests.setdefault(row["manifest_path"], _read(row["manifest_path"]))

    @property
    def newest(self) -> dict:
        current = self.metadata["current-snapshot-id"]
        return next(s for s in self.metadata["snapshots"] if s["snapshot-id"] == current)

    @property
    def newest_list(self) -> dict:
        return self.lists[self.newest["snapshot-id"]]

    @property
    def added_row(self) -> dict:
        """The newest list's row of the manifest that its own snapshot added."""
        return next(row for row in self.newest_list["records"]
                    if row["added_snapshot_id"] == self.newest["snapshot-id"])

    @property
    def added_manifest(self) -> dict:
        return self.manifests[self.added_row["manifest_path"]]

    @property
    def data_file(self) -> dict:
        return self.added_manifest["records"][0]["data_file"]

    def metric(self, name: str, field_id: int) -> dict:
        return next(pair for pair in self.data_file[name] if pair["key"] == field_id)

    def replace_data(self, change: Callable[[bytes], bytes]) -> None:
        """Stores changed bytes of the newest data file as a new file, with its size mended."""
        data = change(Path(_local(self.data_file["file_path"])).read_bytes())
        self.target.mkdir(parents=True, exist_ok=True)
        path = self.target / "changed.parquet"
        path.write_bytes(data)
        self._add_to_size_totals(len(data) - self.data_file["file_size_in_bytes"])
        self.data_file["file_path"] = str(path)
        self.data_file["file_size_in_bytes"] = len(data)

    def _add_to_size_totals(self, delta: int) -> None:
        summary = self.newest["summary"]
        for key in ("added-files-size", "total-files-size"):
            summary[key] = str(int(summary[key]) + delta)

    def write(self) -> str:
        self.target.mkdir(parents=True, exist_ok=True)
        sizes = {}
        for path, content in self.manifests.items():
            moved = str(self.target / os.path.basename(path))
            sizes[path] = (moved, self._store(path, moved, _encode(content)))
        for snapshot in self.metadata["snapshots"]:
            content = copy.deepcopy(self.lists[snapshot["snapshot-id"]])
            for row in content["records"]:
                row["manifest_path"], length = sizes.get(
                    row["manifest_path"], (row["manifest_path"], 0))
                row["manifest_length"] = length + self.length_delta
            moved = str(self.target / os.path.basename(snapshot["manifest-list"]))
            self._store(snapshot["manifest-list"], moved, _encode(content))
            snapshot["manifest-list"] = moved
        path = str(self.target / "broken.metadata.json")
        self._store(METADATA, path, json.dumps(self.metadata).encode())
        return path

    def _store(self, original: str, path: str, data: bytes) -> int:
        if original in self.damaged:
            data = b"?" + data[1:]
        if original not in self.missing:
            Path(path).write_bytes(data)
        return len(data)


def _local(uri: str) -> str:
    return uri.removeprefix("file://")


def _read(uri: str) -> dict:
    with open(_local(uri), "rb") as file:
        reader = fastavro.reader(file)
        schema = json.loads(reader.metadata["avro.schema"])
        header = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        return {"schema": schema, "header": header, "records": list(reader)}


def _encode(content: dict) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(content["schema"]), content["records"],
                    codec="deflate", metadata=content["header"])
    return out.getvalue()

"""The walk: metadata file, snapshots, manifest lists, manifests, data files, and back by sums."""

import json
from collections.abc import Iterable

from .manifest_checks import (
    Entry, check_manifest, check_manifest_list, check_row_in_snapshot, read_object,
)
from .metadata_checks import check_metadata
from .parquet_checks import check_data_file
from .report import Report


def validate(uri: str, storage, allowed: Iterable[str] = ()) -> Report:
    """Checks the table whose metadata file is `uri`. Findings with an allowed code are left out."""
    report = Report(allowed=frozenset(allowed))
    if not report.check("metadata.exists", storage.size(uri) is not None, uri, "no such object"):
        return report
    try:
        metadata = json.loads(storage.read(uri))
    except ValueError as error:
        report.check("metadata.readable", False, uri, f"not JSON: {error}")
        return report
    if not check_metadata(report, metadata, uri):
        return report
    _check_previous_metadata(report, storage, metadata, uri)
    snapshots = sorted(metadata.get("snapshots", []), key=lambda s: s["sequence-number"])
    live_of: dict[int, list[Entry]] = {}
    checked: dict[str, list[Entry]] = {}
    seen_files: set[str] = set()
    for snapshot in snapshots:
        where = f"{uri}#snapshot-{snapshot['snapshot-id']}"
        report.snapshots += 1
        entries = _walk_snapshot(report, storage, metadata, snapshot, checked, where)
        live = [entry for entry in entries if entry.status != "deleted"]
        live_of[snapshot["snapshot-id"]] = live
        for entry in live:
            if entry.data_file["file_path"] not in seen_files:
                seen_files.add(entry.data_file["file_path"])
                _check_file(report, storage, entry, metadata)
        _check_live(report, live, where)
        parent = next((s for s in snapshots
                       if s["snapshot-id"] == snapshot.get("parent-snapshot-id")), None)
        _check_summary(report, snapshot, parent, entries, where)
        if parent is not None and snapshot["summary"].get("operation") == "append":
            _check_append(report, live_of.get(parent["snapshot-id"], []), live, snapshot, where)
    return report


def _check_previous_metadata(report: Report, storage, metadata: dict, uri: str) -> None:
    """Files of the log that still exist belong to this table and are as old as the log says."""
    deletes = metadata.get("properties", {}).get("write.metadata.delete-after-commit.enabled")
    for entry in metadata.get("metadata-log", []):
        location = entry["metadata-file"]
        exists = storage.size(location) is not None
        report.check("metadata.metadata-log-file", exists or deletes == "true", uri,
                     f"{location} is missing")
        if not exists:
            continue
        previous = json.loads(storage.read(location))
        report.equal("metadata.table-uuid-kept", previous["table-uuid"], metadata["table-uuid"],
                     location, "table-uuid")
        report.equal("metadata.metadata-log-time", entry["timestamp-ms"],
                     previous["last-updated-ms"], location, "the log's time")
        for counter in ("last-column-id", "last-sequence-number", "last-partition-id"):
            report.check("metadata.counter-order", previous[counter] <= metadata[counter], location,
                         f"{counter} went down")


def _walk_snapshot(report: Report, storage, metadata: dict, snapshot: dict,
                   checked: dict[str, list[Entry]], where: str) -> list[Entry]:
    """`checked` keeps the entries of manifests that were carried with an unchanged row."""
    uri = snapshot["manifest-list"]
    file = read_object(report, storage, uri, "manifest-list", where)
    if file is None:
        return []
    if not check_manifest_list(report, file, snapshot, uri):
        return []
    paths = [row["manifest_path"] for row in file.records]
    report.check("manifest-list.manifest-unique", len(paths) == len(set(paths)), uri,
                 "a manifest is listed twice")
    entries: list[Entry] = []
    for row in file.records:
        known = checked.get(repr(row))
        if known is None:
            report.manifests += 1
            known = check_manifest(report, storage, row, metadata, uri)
            checked[repr(row)] = known
        check_row_in_snapshot(report, row, known, snapshot)
        entries += known
    return entries


def _check_file(report: Report, storage, entry: Entry, metadata: dict) -> None:
    data_file = entry.data_file
    uri = data_file["file_path"]
    report.data_files += 1
    report.check("data-file.path", "//" not in uri.partition("://")[2], uri, "an empty path part")
    report.equal("data-file.content", data_file["content"], 0, uri, "content")
    report.equal("data-file.format", data_file["file_format"].upper(), "PARQUET", uri,
                 "file_format")
    orders = {order["order-id"] for order in metadata["sort-orders"]}
    report.check("data-file.sort-order-id", data_file["sort_order_id"] in orders | {None}, uri,
                 f"sort_order_id is {data_file['sort_order_id']}")
    size = storage.size(uri)
    if report.check("data-file.exists", size is not None, uri, "no such object"):
        report.equal("data-file.size", data_file["file_size_in_bytes"], size, uri,
                     "file_size_in_bytes")
        check_data_file(report, storage.read(uri), data_file, entry.schema, uri)


def _check_live(report: Report, live: list[Entry], where: str) -> None:
    paths = [entry.data_file["file_path"] for entry in live]
    report.check("snapshot.file-unique", len(paths) == len(set(paths)), where,
                 "a data file is live twice")


def _check_append(report: Report, before: list[Entry], live: list[Entry], snapshot: dict,
                  where: str) -> None:
    """An append keeps every file of its parent, with its sequence number, and adds the others."""
    now = {entry.data_file["file_path"]: entry for entry in live}
    for entry in before:
        kept = now.pop(entry.data_file["file_path"], None)
        if report.check("snapshot.append-keeps", kept is not None, where,
                        f"{entry.data_file['file_path']} is gone"):
            report.equal("snapshot.sequence-kept", kept.sequence_number, entry.sequence_number,
                         where, "data sequence number of a carried file")
    for path, entry in now.items():
        report.equal("snapshot.new-file", (entry.status, entry.snapshot_id),
                     ("added", snapshot["snapshot-id"]), where, f"status and snapshot of {path}")


def _check_summary(report: Report, snapshot: dict, parent: dict | None, entries: list[Entry],
                   where: str) -> None:
    summary = snapshot["summary"]
    mine = [entry for entry in entries if entry.snapshot_id == snapshot["snapshot-id"]]
    groups = {
        "total": [entry for entry in entries if entry.status != "deleted"],
        "added": [entry for entry in mine if entry.status == "added"],
        "deleted": [entry for entry in mine if entry.status == "deleted"],
    }
    for group, members in groups.items():
        size_key = "removed-files-size" if group == "deleted" else f"{group}-files-size"
        counted = {
            f"{group}-data-files": len(members),
            f"{group}-records": sum(e.data_file["record_count"] for e in members),
            size_key: sum(e.data_file["file_size_in_bytes"] for e in members),
        }
        for key, value in counted.items():
            absent_ok = group != "total" and value == 0
            if key in summary or not absent_ok:
                report.equal("summary.counts", summary.get(key), str(value), where, key)
    before = parent["summary"] if parent else {}
    for what, removed_key in (("data-files", "deleted-data-files"), ("records", "deleted-records"),
                              ("files-size", "removed-files-size")):
        if parent is None and snapshot.get("parent-snapshot-id") is not None:
            continue
        total = (int(before.get(f"total-{what}", 0)) + int(summary.get(f"added-{what}", 0))
                 - int(summary.get(removed_key, 0)))
        report.equal("summary.running-total", summary.get(f"total-{what}"), str(total), where,
                     f"total-{what}")
    for key in ("total-delete-files", "total-position-deletes", "total-equality-deletes"):
        report.check("summary.delete-totals", summary.get(key, "").isdigit(), where,
                     f"{key} is {summary.get(key)!r}")

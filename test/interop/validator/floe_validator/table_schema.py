"""Iceberg schemas as read from JSON: a flat view by field id, and their own rules."""

import re
from dataclasses import dataclass

from .report import Report

PRIMITIVES = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp|timestamptz|string|uuid|binary"
    r"|fixed\[\d+\]|decimal\(\d+, ?\d+\)"
)
FIRST_RESERVED_ID = 2147483447
PROMOTIONS = {("int", "long"), ("float", "double")}


@dataclass(frozen=True)
class Node:
    """One field of a schema, at any depth. `kind` is the primitive, or struct, list, map."""

    field_id: int
    path: str
    kind: str
    required: bool
    """False under an optional parent or in a list or map, too."""
    always_present: bool
    in_repeated: bool


def flatten(schema: dict) -> list[Node]:
    """Every field with an id, parents before children."""
    nodes: list[Node] = []

    def visit(field_id, path, type_, required, always, repeated):
        kind = type_ if isinstance(type_, str) else type_["type"]
        present = always and required
        nodes.append(Node(field_id, path, kind.replace(" ", ""), required, present, repeated))
        if kind == "struct":
            for child in type_["fields"]:
                visit(child["id"], f"{path}.{child['name']}", child["type"], child["required"],
                      present, repeated)
        elif kind == "list":
            visit(type_["element-id"], f"{path}.element", type_["element"],
                  type_["element-required"], False, True)
        elif kind == "map":
            visit(type_["key-id"], f"{path}.key", type_["key"], True, False, True)
            visit(type_["value-id"], f"{path}.value", type_["value"], type_["value-required"],
                  False, True)

    for child in schema["fields"]:
        visit(child["id"], child["name"], child["type"], child["required"], True, False)
    return nodes


def check_schema(report: Report, schema: dict, last_column_id: int, where: str) -> None:
    report.equal("schema.type", schema.get("type"), "struct", where, "type")
    report.check("schema.no-fields", len(schema["fields"]) > 0, where, "A schema has columns")
    nodes = flatten(schema)
    ids = [node.field_id for node in nodes]
    report.check("schema.field-id-unique", len(ids) == len(set(ids)), where, f"Ids repeat: {ids}")
    report.check("schema.field-id-positive", all(i > 0 for i in ids), where, f"Ids from 1: {ids}")
    report.check(
        "schema.last-column-id", max(ids, default=0) <= last_column_id, where,
        f"Field id {max(ids, default=0)} is above last-column-id {last_column_id}",
    )
    report.check(
        "schema.reserved-id", all(i < FIRST_RESERVED_ID for i in ids), where, "A reserved id is used"
    )
    for node in nodes:
        known = node.kind in ("struct", "list", "map") or PRIMITIVES.fullmatch(node.kind)
        report.check("schema.known-type", bool(known), where, f"{node.path} is {node.kind}")
    _check_names(report, schema, where)
    by_id = {node.field_id: node for node in nodes}
    for field_id in schema.get("identifier-field-ids", []):
        node = by_id.get(field_id)
        report.check(
            "schema.identifier-field",
            node is not None and node.always_present and not node.in_repeated
            and node.kind not in ("struct", "list", "map", "float", "double"),
            where, f"Identifier field {field_id} must be a required primitive",
        )


def _check_names(report: Report, struct: dict, where: str) -> None:
    names = [child["name"] for child in struct["fields"]]
    folded = {name.lower() for name in names}
    report.check(
        "schema.name-unique", len(folded) == len(names), where,
        f"Names are equal, or differ only by case: {names}",
    )
    for child in struct["fields"]:
        place = f"{where}/{child['name']}"
        report.check("schema.name-empty", child["name"] != "", place, "A name is empty")
        _check_nested(report, child["type"], place)


def _check_nested(report: Report, type_: object, where: str) -> None:
    if isinstance(type_, str):
        return
    if type_["type"] == "struct":
        report.check("schema.empty-struct", len(type_["fields"]) > 0, where, "A struct is empty")
        _check_names(report, type_, where)
    elif type_["type"] == "list":
        _check_nested(report, type_["element"], f"{where}/element")
    elif type_["type"] == "map":
        _check_nested(report, type_["key"], f"{where}/key")
        _check_nested(report, type_["value"], f"{where}/value")


def may_become(older: str, newer: str) -> bool:
    """Whether the specification lets a column of type `older` become `newer`."""
    if older == newer or (older, newer) in PROMOTIONS:
        return True
    decimal = re.compile(r"decimal\((\d+),(\d+)\)")
    old, new = decimal.fullmatch(older), decimal.fullmatch(newer)
    return bool(old and new and old[2] == new[2] and int(old[1]) <= int(new[1]))


def check_evolution(report: Report, schemas: list[dict], where: str) -> None:
    """One field id keeps its type over all schemas, promotions aside."""
    seen: dict[int, Node] = {}
    for schema in sorted(schemas, key=lambda s: s["schema-id"]):
        for node in flatten(schema):
            before = seen.get(node.field_id)
            if before is not None:
                report.check(
                    "schema.illegal-promotion", may_become(before.kind, node.kind), where,
                    f"Field {node.field_id} went from {before.kind} to {node.kind}",
                )
                report.check(
                    "schema.moved", before.in_repeated == node.in_repeated, where,
                    f"Field {node.field_id} moved from {before.path} to {node.path}",
                )
            seen[node.field_id] = node

"""One Parquet data file against its schema and against its manifest entry's metrics."""

import io
import math
from decimal import Context

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .parquet_footer import Element, read_schema
from .report import Report
from .single_value import decode
from .table_schema import Node, flatten, may_become

METRIC_MAPS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts",
               "lower_bounds", "upper_bounds")

# Python rounds to 28 digits unless told, and a decimal of Iceberg has up to 38.
ALL_DIGITS = Context(prec=38)


def expected_physical(kind: str) -> tuple[str, tuple | None]:
    """Physical type and annotation that the specification maps a primitive to."""
    plain = {"boolean": "BOOLEAN", "int": "INT32", "long": "INT64", "float": "FLOAT",
             "double": "DOUBLE", "binary": "BYTE_ARRAY"}
    if kind in plain:
        return plain[kind], None
    annotated = {
        "string": ("BYTE_ARRAY", ("STRING",)),
        "date": ("INT32", ("DATE",)),
        "time": ("INT64", ("TIME", "MICROS", False)),
        "timestamp": ("INT64", ("TIMESTAMP", "MICROS", False)),
        "timestamptz": ("INT64", ("TIMESTAMP", "MICROS", True)),
        "uuid": ("FIXED_LEN_BYTE_ARRAY", ("UUID",)),
    }
    if kind in annotated:
        return annotated[kind]
    if kind.startswith("decimal"):
        precision, scale = (int(part) for part in kind[8:-1].split(","))
        physical = ("INT32" if precision <= 9 else "INT64" if precision <= 18
                    else "FIXED_LEN_BYTE_ARRAY")
        return physical, ("DECIMAL", precision, scale)
    return "FIXED_LEN_BYTE_ARRAY", None


def check_data_file(report: Report, data: bytes, entry: dict, schema: dict, where: str) -> None:
    """`entry` is the manifest's data_file record, `schema` the one the manifest was written with."""
    try:
        root = read_schema(data)
        file = pq.ParquetFile(io.BytesIO(data))
    except Exception as error:
        report.check("parquet.readable", False, where, f"not readable as Parquet: {error}")
        return
    nodes = {node.field_id: node for node in flatten(schema)}
    _check_layout(report, root, nodes, where)
    rows = file.metadata.num_rows
    report.equal("parquet.record-count", entry["record_count"], rows, where, "record_count")
    report.check("parquet.empty-file", rows > 0, where, "A data file has no rows")
    _check_row_groups(report, file, entry, where)
    leaves = _leaves(root, file)
    _check_metric_keys(report, entry, nodes, leaves, where)
    _check_column_sizes(report, file, entry, leaves, where)
    table = file.read()
    report.rows += table.num_rows
    for leaf in leaves:
        node = nodes.get(leaf.field_id)
        if node is None:
            continue
        if leaf.repeated:
            _check_repeated(report, file, entry, leaf, where)
        else:
            _check_values(report, entry, node, _column(table, leaf.path), where)


class _Leaf:
    def __init__(self, index: int, path: list[str], field_id: int | None, repeated: bool):
        self.index, self.path, self.field_id, self.repeated = index, path, field_id, repeated


def _leaves(root: Element, file: pq.ParquetFile) -> list[_Leaf]:
    """Leaves in column order; a struct's path holds only struct names when nothing repeats."""
    leaves: list[_Leaf] = []

    def visit(element: Element, path: list[str], repeated: bool) -> None:
        repeated = repeated or element.repetition == "REPEATED"
        if not element.children:
            leaves.append(_Leaf(len(leaves), path, element.field_id, repeated))
        for child in element.children:
            visit(child, [*path, child.name], repeated)

    for child in root.children:
        visit(child, [child.name], False)
    assert len(leaves) == file.metadata.num_columns
    return leaves


def _check_layout(report: Report, root: Element, nodes: dict[int, Node], where: str) -> None:
    seen: set[int] = set()

    def visit(element: Element, path: str, is_wrapper: bool) -> None:
        """A wrapper is the repeated group inside a list or map: it carries no id."""
        if not is_wrapper:
            node = nodes.get(element.field_id) if element.field_id is not None else None
            if report.check("parquet.field-id", node is not None, f"{where}#{path}",
                            f"field id is {element.field_id!r}, not one of the schema's"):
                report.check("parquet.field-id", element.field_id not in seen, f"{where}#{path}",
                             "the field id is used twice")
                seen.add(element.field_id)
                _check_element(report, element, node, f"{where}#{path}")
        kind = element.logical[0] if element.logical else None
        for child in element.children:
            visit(child, f"{path}.{child.name}", kind in ("LIST", "MAP") and not is_wrapper)

    for child in root.children:
        visit(child, child.name, False)
    for node in nodes.values():
        report.check("parquet.required-column-missing", node.field_id in seen or not node.required,
                     where, f"{node.path} is required and not in the file")


def _check_element(report: Report, element: Element, node: Node, where: str) -> None:
    report.equal("parquet.repetition", element.repetition,
                 "REQUIRED" if node.required else "OPTIONAL", where, "repetition")
    if node.kind == "struct":
        report.check("parquet.type", bool(element.children) and element.logical is None, where,
                     "a struct is a plain group")
    elif node.kind in ("list", "map"):
        _check_wrapper(report, element, node, where)
    else:
        physical, logical = expected_physical(node.kind)
        actual = (element.physical, element.logical)
        narrower = [older for older in ("int", "float") if may_become(older, node.kind)]
        allowed = [(physical, logical), *(expected_physical(older) for older in narrower)]
        report.check("parquet.type", actual in allowed, where, f"{node.kind} is stored as {actual}")
        if node.kind.startswith("fixed"):
            report.equal("parquet.type", element.length, int(node.kind[6:-1]), where, "length")


def _check_wrapper(report: Report, element: Element, node: Node, where: str) -> None:
    report.equal("parquet.annotation", element.logical, (node.kind.upper(),), where, "annotation")
    inner = element.children[0] if element.children else None
    children = {"list": 1, "map": 2}[node.kind]
    report.check(
        "parquet.three-levels",
        len(element.children) == 1 and inner.repetition == "REPEATED"
        and len(inner.children) == children and inner.field_id is None,
        where, f"A {node.kind} has one repeated group without id and {children} fields in it",
    )


def _check_row_groups(report: Report, file: pq.ParquetFile, entry: dict, where: str) -> None:
    report.row_groups += file.metadata.num_row_groups
    starts = []
    for index in range(file.metadata.num_row_groups):
        chunk = file.metadata.row_group(index).column(0)
        offsets = [chunk.data_page_offset]
        if chunk.has_dictionary_page:
            offsets.append(chunk.dictionary_page_offset)
        starts.append(min(offsets))
    split_offsets = entry.get("split_offsets")
    report.check("metrics.split-offsets-present", split_offsets is not None, where,
                 "split_offsets is missing")
    if split_offsets is not None:
        report.equal("metrics.split-offsets", split_offsets, starts, where, "split_offsets")


def _metric(entry: dict, name: str) -> dict[int, object]:
    return {pair["key"]: pair["value"] for pair in entry.get(name) or []}


def _check_metric_keys(report: Report, entry: dict, nodes: dict[int, Node],
                       leaves: list[_Leaf], where: str) -> None:
    leaf_ids = {leaf.field_id for leaf in leaves}
    for name in METRIC_MAPS:
        pairs = entry.get(name) or []
        ids = [pair["key"] for pair in pairs]
        report.check("metrics.keys", len(ids) == len(set(ids)) and set(ids) <= leaf_ids, where,
                     f"{name} has keys {ids}, the leaves are {sorted(leaf_ids, key=str)}")
    for field_id in _metric(entry, "nan_value_counts"):
        kind = nodes[field_id].kind if field_id in nodes else None
        report.check("metrics.nan-counts-type", kind in ("float", "double"), where,
                     f"nan_value_counts for field {field_id} of type {kind}")
    plain = {leaf.field_id for leaf in leaves if not leaf.repeated}
    for name in ("value_counts", "null_value_counts"):
        missing = plain - set(_metric(entry, name))
        report.check("metrics.counts-present", not missing, where, f"{name} lacks {missing}")


def _check_column_sizes(report: Report, file: pq.ParquetFile, entry: dict,
                        leaves: list[_Leaf], where: str) -> None:
    sizes = {}
    for leaf in leaves:
        sizes[leaf.field_id] = sum(
            file.metadata.row_group(group).column(leaf.index).total_compressed_size
            for group in range(file.metadata.num_row_groups)
        )
    report.equal("metrics.column-sizes", _metric(entry, "column_sizes"), sizes, where,
                 "column_sizes")


def _check_repeated(report: Report, file: pq.ParquetFile, entry: dict, leaf: _Leaf,
                    where: str) -> None:
    """Counts of repeated leaves are optional; when there, they are the Parquet value counts."""
    stored = _metric(entry, "value_counts").get(leaf.field_id)
    if stored is not None:
        values = sum(file.metadata.row_group(group).column(leaf.index).num_values
                     for group in range(file.metadata.num_row_groups))
        report.equal("metrics.value-count", stored, values, where, f"value count {leaf.path}")


def _column(table: pa.Table, path: list[str]) -> pa.Array:
    """A leaf below structs only; a null parent makes it null."""
    array = table.column(path[0]).combine_chunks()
    for name in path[1:]:
        array = pc.struct_field(array, name)
    return array


def _check_values(report: Report, entry: dict, node: Node, column: pa.Array, where: str) -> None:
    place = f"{where}#{node.path}"
    values = _metric(entry, "value_counts").get(node.field_id)
    nulls = _metric(entry, "null_value_counts").get(node.field_id)
    if values is not None:
        report.equal("metrics.value-count", values, len(column), place, "value count")
    if nulls is not None:
        report.equal("metrics.null-count", nulls, column.null_count, place, "null count")
    try:
        present = [value for value in comparable(node.kind, column) if value is not None]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        report.check("parquet.type", False, place, f"not readable as {node.kind}: {error}")
        return
    if node.kind in ("float", "double"):
        nans = sum(1 for value in present if math.isnan(value))
        stored = _metric(entry, "nan_value_counts").get(node.field_id)
        report.check("metrics.nan-counts-present", stored is not None, place,
                     "nan_value_counts lacks the column")
        if stored is not None:
            report.equal("metrics.nan-count", stored, nans, place, "NaN count")
        present = [value for value in present if not math.isnan(value)]
    _check_bounds(report, entry, node, present, place)


def _check_bounds(report: Report, entry: dict, node: Node, present: list, where: str) -> None:
    for name, is_lower in (("lower_bounds", True), ("upper_bounds", False)):
        raw = _metric(entry, name).get(node.field_id)
        if raw is None:
            report.check("bounds.present", not present or not is_lower, where, f"no {name}")
            continue
        try:
            bound = decode(node.kind, raw)
        except ValueError as error:
            report.check("bounds.decodable", False, where, f"{name}: {error}")
            continue
        if not report.check("bounds.without-values", bool(present), where,
                            f"{name} of a column that has only nulls and NaNs"):
            continue
        extreme = min(present) if is_lower else max(present)
        report.check("bounds.contain", bound <= extreme if is_lower else bound >= extreme, where,
                     f"{name} is {bound!r}, the data reaches {extreme!r}")
        if isinstance(bound, float):
            wrong_sign = 1.0 if is_lower else -1.0
            report.check(
                "bounds.zero-sign",
                bound != 0 or math.copysign(1.0, bound) != wrong_sign, where,
                "a zero bound is -0.0 below and +0.0 above",
            )


def comparable(kind: str, column: pa.Array) -> list:
    """Values in the form `single_value.decode` gives, None for null."""
    if kind in ("date", "int"):
        return column.cast(pa.int32()).to_pylist()
    if kind in ("time", "timestamp", "timestamptz", "long"):
        return column.cast(pa.int64()).to_pylist()
    if kind in ("string", "binary", "uuid") or kind.startswith("fixed"):
        storage = column.storage if isinstance(column, pa.ExtensionArray) else column
        if pa.types.is_dictionary(storage.type):
            storage = storage.dictionary_decode()
        target = pa.large_binary() if not pa.types.is_fixed_size_binary(storage.type) else None
        return (storage.cast(target) if target else storage).to_pylist()
    if kind.startswith("decimal"):
        scale = column.type.scale
        return [None if v is None else int(v.scaleb(scale, ALL_DIGITS)) for v in column.to_pylist()]
    return column.to_pylist()

"""The schema of a Parquet footer as stored, read with a small Thrift compact decoder.

pyarrow shows columns in its own types and hides field ids of inner groups; ids, repetition and
annotations are what the checks are about, so they are read from the bytes.
"""

import struct
from dataclasses import dataclass, field

PHYSICAL = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY",
            "FIXED_LEN_BYTE_ARRAY"]
REPETITION = ["REQUIRED", "OPTIONAL", "REPEATED"]
LOGICAL = {1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", 7: "TIME",
           8: "TIMESTAMP", 10: "INTEGER", 11: "NULL", 12: "JSON", 13: "BSON", 14: "UUID"}
UNITS = {1: "MILLIS", 2: "MICROS", 3: "NANOS"}


@dataclass
class Element:
    """One node of the schema; `logical` is the annotation's name and its parameters."""

    name: str
    physical: str | None
    length: int | None
    repetition: str | None
    field_id: int | None
    logical: tuple | None
    children: list["Element"] = field(default_factory=list)


class _Compact:
    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int) -> object:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("<b", bytes([self._byte()]))[0]
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            self._at += 8
            return struct.unpack("<d", self._data[self._at - 8 : self._at])[0]
        if kind == 8:
            length = self._varint()
            self._at += length
            return self._data[self._at - length : self._at]
        if kind in (9, 10):
            return self._list()
        if kind == 12:
            return self.struct()
        raise ValueError(f"unexpected Thrift type {kind}")

    def _list(self) -> list:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        if kind in (1, 2):
            return [self._byte() == 1 for _ in range(size)]
        return [self._value(kind) for _ in range(size)]

    def struct(self) -> dict[int, object]:
        fields, last = {}, 0
        while True:
            head = self._byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self._zigzag()
            fields[last] = self._value(head & 15)


def read_schema(data: bytes) -> Element:
    """The root of the schema. Raises ValueError when the file has no Parquet footer."""
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise ValueError("no Parquet magic")
    length = int.from_bytes(data[-8:-4], "little")
    elements = iter(_Compact(data[-8 - length : -8]).struct()[2])

    def build() -> Element:
        raw = next(elements)
        node = Element(
            name=raw[4].decode(),
            physical=PHYSICAL[raw[1]] if 1 in raw else None,
            length=raw.get(2),
            repetition=REPETITION[raw[3]] if 3 in raw else None,
            field_id=raw.get(9),
            logical=_logical(raw),
        )
        node.children = [build() for _ in range(raw.get(5, 0))]
        return node

    return build()


def _logical(raw: dict) -> tuple | None:
    if 10 not in raw:
        return None
    kind, parameters = next(iter(raw[10].items()))
    name = LOGICAL.get(kind, f"#{kind}")
    if name == "DECIMAL":
        return (name, parameters[2], parameters[1])
    if name in ("TIME", "TIMESTAMP"):
        return (name, UNITS[next(iter(parameters[2]))], parameters[1])
    return (name,)

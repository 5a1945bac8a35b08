"""Binary single-value serialisation: how bounds are stored."""

import re
import struct

FORMATS = {
    "int": "<i", "date": "<i", "long": "<q", "time": "<q", "timestamp": "<q", "timestamptz": "<q",
    "float": "<f", "double": "<d",
}
"""A bound of an older file may have the width of the type before its promotion."""
NARROWER = {"long": "<i", "double": "<f"}


def decode(kind: str, data: bytes) -> object:
    """The value in an order-comparable form. Raises ValueError when the bytes do not fit."""
    if kind in FORMATS:
        form = FORMATS[kind]
        if len(data) != struct.calcsize(form) and kind in NARROWER:
            form = NARROWER[kind]
        if len(data) != struct.calcsize(form):
            raise ValueError(f"{len(data)} bytes for {kind}")
        return struct.unpack(form, data)[0]
    if kind == "boolean":
        if data not in (b"\x00", b"\x01"):
            raise ValueError(f"{data!r} for boolean")
        return data == b"\x01"
    if kind == "string":
        data.decode("utf-8")
        return data
    if kind == "binary":
        return data
    if kind == "uuid":
        if len(data) != 16:
            raise ValueError(f"{len(data)} bytes for uuid")
        return data
    fixed = re.fullmatch(r"fixed\[(\d+)\]", kind)
    if fixed:
        if len(data) > int(fixed[1]):
            raise ValueError(f"{len(data)} bytes for {kind}")
        return data
    if kind.startswith("decimal"):
        value = int.from_bytes(data, "big", signed=True)
        shortest = max(1, ((value if value >= 0 else ~value).bit_length() + 8) // 8)
        if len(data) != shortest:
            raise ValueError(f"{len(data)} bytes for a decimal that needs {shortest}")
        return value
    raise ValueError(f"No bound for {kind}")

"""Walks an Iceberg table from its metadata file and checks it against the bytes it refers to.

Written from the table specification (versions 2) with fastavro and pyarrow only, and without any
code of the writer under test. `validate(uri, storage)` is the entry.
"""

from .walk import validate

__all__ = ["validate"]

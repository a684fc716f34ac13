"""From a record to its shape on the wire: the fields that both have by the same name."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from storage.records.times import rfc3339


def mirrored(record: Struct, shape: type[Struct]) -> dict[str, Any]:
    """Return what a shape has from a record, by name; moments, whose names end in `_at`, as RFC 3339 or None."""
    pairs = ((name, getattr(record, name)) for name in shape.__struct_fields__ if name in record.__struct_fields__)
    return {name: _moment(value) if name.endswith("_at") else value for name, value in pairs}


def _moment(at: Any) -> str | None:
    return None if at is None else rfc3339(at)

"""From a record to its wire shape: the fields that both share by name."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from storage.records.identity import rfc3339


def mirrored(record: Struct, shape: type[Struct]) -> dict[str, Any]:
    """Return a shape's fields from a record, by name. Fields ending in `_at` become RFC 3339 or None."""
    pairs = ((name, getattr(record, name)) for name in shape.__struct_fields__ if name in record.__struct_fields__)
    return {name: _moment(value) if name.endswith("_at") else value for name, value in pairs}


def _moment(at: Any) -> str | None:
    return None if at is None else rfc3339(at)

"""From a request to a record: the fields of one that the other has by the same name. Pure."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct


def given(request: Struct, record: type[Struct]) -> dict[str, Any]:
    """Return what a request sets of a record, by name; what is UNSET, and what the record has not, is left out."""
    pairs = ((name, getattr(request, name)) for name in request.__struct_fields__ if name in record.__struct_fields__)
    return {name: value for name, value in pairs if value is not UNSET}

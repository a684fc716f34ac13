"""Copying from a request the fields that a record has under the same name. Pure."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct


def given(request: Struct, record: type[Struct]) -> dict[str, Any]:
    """Return the fields that a request sets, by name, without UNSET ones and those that the record lacks."""
    pairs = ((name, getattr(request, name)) for name in request.__struct_fields__ if name in record.__struct_fields__)
    return {name: value for name, value in pairs if value is not UNSET}

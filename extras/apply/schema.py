"""The files' JSON Schema for editors, generated from the same tables that the reader uses."""

from __future__ import annotations

from typing import Any

import msgspec

from extras.apply.reading import TABLES
from storage.records.identity import Workspace


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one file."""
    tables = {kind.id: kind.table for kind in TABLES.values()}
    found, components = msgspec.json.schema_components([*tables.values(), Workspace], ref_template="#/$defs/{name}")
    properties: dict[str, Any] = {"workspace": found[-1]}
    for kind, of in zip(TABLES.values(), found, strict=False):
        says = f"Each {kind.noun}, by its name."
        properties[kind.id] = {"type": "object", "description": says, "additionalProperties": of}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of Sanderling",
        "description": "One of the TOML files of a folder that `sanderling apply` reads.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": dict(sorted(components.items())),
    }


def as_text() -> str:
    """Return the schema as shipped."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"

"""The JSON Schema (2020-12) of an export's lines, generated from their types; shipped as docs/schemas/export.json."""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from extras.migrate.whole.lines import EventLine, Line
from storage.records.event import Event

_REF: Final = "#/$defs/{name}"


def schema() -> dict[str, Any]:
    types: tuple[type[Struct], ...] = (*get_args(Line), Event)
    _, components = msgspec.json.schema_components(types, ref_template=_REF)
    components[EventLine.__name__]["properties"]["event"] = {"$ref": _REF.format(name=Event.__name__)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an export of a whole Sanderling instance",
        "oneOf": [{"$ref": _REF.format(name=line.__name__)} for line in get_args(Line)],
        "$defs": components,
    }


def as_text() -> bytes:
    return msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=2) + b"\n"

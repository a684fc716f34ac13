"""One example of every answer, made of the types themselves, so a new field must be added here.

They belong together: one source, its events, an alert over it, that alert's destination.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

from msgspec import Struct, to_builtins

from api.openapi import (
    example_admin,
    example_alerts,
    example_bins,
    example_practice,
    example_previews,
    example_publications,
    example_reasons,
    example_records,
    example_secrets,
    example_tags,
    example_templates,
)

_ALL = (
    *example_records.ALL,
    *example_bins.ALL,
    *example_publications.ALL,
    *example_tags.ALL,
    *example_admin.ALL,
    *example_alerts.ALL,
    *example_practice.ALL,
    *example_previews.ALL,
    *example_reasons.ALL,
    *example_secrets.ALL,
    *example_templates.ALL,
)
_BY_TYPE: dict[type, Struct] = {type(record): record for record in _ALL}


def example_of(kind: Any) -> Any:
    """Return an example of a type as plain JSON, or None. Of a list: one item; of a union: its first type.

    >>> example_of(list[example_records.wire.Breaker])
    [{'state': 'closed', 'retry_at': None}]
    """
    if isinstance(kind, tuple):
        return example_of(kind[0])
    if hasattr(kind, "__metadata__"):
        return example_of(kind.__origin__)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        example = example_of(item)
        return None if example is None else [example]
    record = _BY_TYPE.get(kind) if isinstance(kind, type) else None
    return None if record is None else to_builtins(record)

"""Defaults of a tag: settings for the sources with the tag that lack their own."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis
from storage.records.managed import Managed

Inheritable = Literal["schedule", "hours", "bar", "selector", "ignore"]
"""The settings that a source can get from its tags."""
MOST_TAGGED = 1000
"""Most tags with defaults."""


class TagDefaults(Struct, frozen=True):
    """The fields mean what they do in `Source`; None or () says nothing of a setting.

    destinations: ids of those of which a new alert over the tag gets a copy each.
    """

    tag: str
    updated_at: Millis
    schedule: int | None = None
    hours: str | None = None
    bar: float | None = None
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    updated_by: str = ""
    """The last editor: a key's name, the dashboard, this machine; "" for the service itself."""
    managed: Managed | None = None

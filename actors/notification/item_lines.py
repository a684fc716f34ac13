"""The two lines of an event in a list: whose it is and its title, then what it says. Every list asks here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from msgspec import Raw, Struct

from actors.notification.inert import cut, one_line

LONGEST: Final = 120
"""Characters of the beginning of a text."""


class ListedEvent(Struct):
    """The part of an event that a list shows; whatever another version left out is empty."""

    id: str = ""
    source_id: str = ""
    source_type: str = ""
    source_url: str = ""
    url: str = ""
    title: str = ""
    summary: str = ""
    content: str = ""
    emitted_at: str = ""
    alert_type: str = ""
    diff: Raw = Raw()

    @property
    def kind(self) -> str:
        """Its tier, or the notice that it is."""
        return self.alert_type.replace("_", " ") or self.source_type

    @property
    def is_change(self) -> bool:
        return len(self.diff) > 0


class ItemLines(NamedTuple):
    """source: its name, else its host. summary: of a page's change the change, of other events the beginning of their
    text; "" where that is the title.
    """

    source: str
    title: str
    summary: str


def lines_of(event: ListedEvent, name: str = "") -> ItemLines:
    """Return the two lines of an event. name: what its source is called; its host stands where that is the title."""
    text = cut(one_line(event.content[: 4 * LONGEST]), LONGEST)
    title = event.title or text or event.url or "(no title)"
    summary = event.summary if event.is_change else text
    host = host_of(event.url) or host_of(event.source_url)
    return ItemLines(host if name in ("", title) else name, title, "" if summary == title else summary)


def listed(event: Mapping[str, Any]) -> ListedEvent:
    """Return what a list shows of an event that is decoded already; a field of another type counts as empty."""
    texts = {name: value for name in ListedEvent.__struct_fields__ if isinstance(value := event.get(name), str)}
    return ListedEvent(**texts, diff=Raw(b"{}") if event.get("diff") else Raw())


def host_of(url: str) -> str:
    """Return host and port.

    >>> host_of("http://me@127.0.0.1:9100/a"), host_of("https://[::1]:8443/"), host_of("http://[")
    ('127.0.0.1:9100', '[::1]:8443', '')
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""

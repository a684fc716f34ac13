"""The two lines of an event in a list: source and title, then the summary. All lists use this. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from msgspec import Raw, Struct

from actors.notification.inert import cut, one_line

LONGEST: Final = 120
"""Characters of the beginning of a text."""


class ListedEvent(Struct):
    """The part of an event that a list shows; fields missing in another version are empty."""

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
        """Its tier, or its notice type."""
        return self.alert_type.replace("_", " ") or self.source_type

    @property
    def is_change(self) -> bool:
        return len(self.diff) > 0


class ItemLines(NamedTuple):
    """source: its name, else its host. summary: for a page the change, for other events the beginning of the text; ""
    if equal to the title.
    """

    source: str
    title: str
    summary: str


def lines_of(event: ListedEvent, name: str = "") -> ItemLines:
    """Return the two lines of an event. name: its source's; replaced by the host if it equals the title."""
    text = cut(one_line(event.content[: 4 * LONGEST]), LONGEST)
    title = event.title or text or event.url or "(no title)"
    summary = event.summary if event.is_change else text
    host = host_of(event.url) or host_of(event.source_url)
    return ItemLines(host if name in ("", title) else name, title, "" if summary == title else summary)


def listed(event: Mapping[str, Any]) -> ListedEvent:
    """Return a list's fields of a decoded event; a field of another type counts as empty."""
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

"""Events as the items of a list: what `ui.items` shows, and the module makes of a live event. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

EXCERPT = 120


class _Seen(Struct):
    id: str
    source_type: str = ""
    url: str = ""
    title: str = ""
    summary: str = ""
    content: str = ""
    emitted_at: str = ""
    alert_type: str = ""
    diff: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Seen).decode


class Item(NamedTuple):
    """One event of a list. kind: its tier, or the notice that it is. at: when it was emitted (RFC 3339).

    says: of a page's change its summary, of an entry or a notice the beginning of its text; "" where that is the title.
    """

    id: str
    title: str
    kind: str
    host: str
    at: str
    says: str = ""


def item_of(body: bytes) -> Item:
    seen = _decode(body)
    text = excerpt(seen.content)
    title = seen.title or text or seen.url or "(no title)"
    kind = seen.alert_type.replace("_", " ") or seen.source_type
    says = seen.summary if len(seen.diff) else "" if text == title else text
    return Item(seen.id, title, kind, _host(seen.url), seen.emitted_at, says)


def excerpt(text: str) -> str:
    """Return the beginning of a text, on one line.

    >>> excerpt("one\\ntwo")
    'one two'
    """
    words = " ".join(text[: 2 * EXCERPT].split())
    return words if len(words) <= EXCERPT else f"{words[:EXCERPT].rsplit(' ', 1)[0]}…"


def items_of(bodies: Iterable[bytes]) -> list[Item]:
    return [item_of(body) for body in bodies]


def _host(url: str) -> str:
    """Return host and port, as the module writes them.

    >>> _host("http://me@127.0.0.1:9100/a"), _host("https://[::1]:8443/"), _host("http://[")
    ('127.0.0.1:9100', '[::1]:8443', '')
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""

"""An entry of a feed from an event, and the feed around it. Pure. Texts are inert."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from actors.notification.dialects import cut, one_line, paragraphs
from actors.notification.fitting import difference_of
from actors.notification.reading import notification_of
from storage.records.event import CONTENT_CAP
from storage.records.identity import parse_rfc3339, rfc3339
from storage.records.source import OWN_NAMESPACES

LONGEST_TAG: Final = 100
MOST_TAGS: Final = 30


class FeedEntry(NamedTuple):
    """link: http(s), or "". html: difference or text. published, updated: RFC 3339; of the source, and the event."""

    id: str
    title: str
    link: str
    author: str
    summary: str
    html: str
    tags: tuple[str, ...]
    published: str
    updated: str


class DeletedEntry(NamedTuple):
    """An event that was retracted (RFC 6721): its id, and when."""

    id: str
    when: str


class FeedPage(NamedTuple):
    """A page (RFC 5005, 3), newest first. id: constant. here, first, older: URLs. hub: WebSub's, "" without."""

    id: str
    title: str
    page: str
    here: str
    first: str
    older: str
    updated: str
    entries: Sequence[FeedEntry]
    deleted: Sequence[DeletedEntry] = ()
    hub: str = ""


class _Event(msgspec.Struct, frozen=True):
    """Further fields of an event for its entry. All may be missing: the log has events of other versions."""

    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: str | None = None
    emitted_at: str = ""
    content: str = ""
    diff: msgspec.Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Event).decode


def entry_of(id: str, body: bytes) -> FeedEntry:
    """Return the entry of an event, given as its wire JSON. Raises msgspec.MsgspecError if it is invalid."""
    event = _decode(body)
    (item,) = notification_of(id, body).items
    told = _moment(event.emitted_at)
    return FeedEntry(
        id=item.id or id,
        title=item.headline,
        link=item.link,
        author=cut(one_line(event.author), 200),
        summary=item.summary,
        html=difference_of(item) if item.lines else _html(event.content) or f"<p>{escape(item.title)}</p>",
        tags=tuple(dict.fromkeys(filter(None, map(_shown, event.tags[:MOST_TAGS])))),
        published=_moment(event.published_at) or told,
        updated=told,
    )


def _html(content: str) -> str:
    blocks = paragraphs(content.encode()[:CONTENT_CAP].decode("utf-8", "ignore")).split("\n\n")
    return "".join(f"<p>{escape(block, quote=False).replace(chr(10), '<br>')}</p>" for block in blocks if block)


def _shown(tag: str) -> str:
    """Return a tag as readers know it: labels and categories as bare words; "" for the service's own."""
    space, _, value = tag.partition(":")
    if space in OWN_NAMESPACES:
        return ""
    return cut(one_line(value if space in ("label", "category") else tag), LONGEST_TAG)


def _moment(text: str | None) -> str:
    """Return a moment in the one spelling, "" if missing or invalid."""
    try:
        return rfc3339(parse_rfc3339(text)) if text else ""
    except (ValueError, OverflowError):
        return ""

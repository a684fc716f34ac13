"""A notification: the readable content of a delivery, as plain text. Pure.

Every text in it is inert, one line each except `content`; a dialect need only escape its own marks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from actors.notification.dialects import cut, one_line, paragraphs
from actors.notification.headline import ListedEvent, headline, part_of
from actors.notification.message_language import ENGLISH, MessageLanguage, MessageTexts
from storage.records.alert import Alert
from storage.records.event import Diff, TypedChange

TEST: Final = "kind:test"
"""The tag of a test delivery's event."""
LONGEST_TITLE: Final = 300
LONGEST_LINE: Final = 2_000
LONGEST_CONTENT: Final = 8_000
MOST_LINES: Final = 60
"""Lines of a difference; a service's own limit mostly cuts earlier."""
S = TypeVar("S", bound=msgspec.Struct)
Sign = Literal["+", "-", "~"]


class DiffLine(NamedTuple):
    """One text that was inserted (+), deleted (-) or altered (~, from `before` to `after`); `place` is its location."""

    sign: Sign
    before: str
    after: str
    place: str = ""


class KindLine(NamedTuple):
    """A change by its kind, with its label, as on the page; "" for a missing side."""

    kind: str
    label: str
    before: str
    after: str


class NotificationItem(NamedTuple):
    """One event. content: the beginning of an entry's text, if there is no difference to show. source: its id. more:
    lines of the difference that are missing here. link: an absolute http(s) URL or "".
    """

    id: str
    headline: str
    title: str
    summary: str
    host: str
    link: str
    at: str
    content: str = ""
    lines: tuple[DiffLine, ...] = ()
    more: int = 0
    notice: str = ""
    source: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    published: str = ""
    kinds: tuple[KindLine, ...] = ()


class Notification(NamedTuple):
    """One delivery. total: its events, possibly more than `items`. service: this service's URL, "" if unknown. written:
    the text from the destination's message template, in its dialect, or "". remark: a note on the message itself.
    """

    id: str
    title: str
    items: tuple[NotificationItem, ...]
    total: int
    service: str = ""
    is_digest: bool = False
    written: str = ""
    remark: str = ""
    texts: MessageTexts = MessageTexts()
    alert: Alert | None = None


class _Event(ListedEvent):
    """The readable fields of an event. All may be missing: a row of another version must not stop a delivery."""

    schema: str = msgspec.field(name="$schema", default="")
    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: str | None = None


class _Digest(msgspec.Struct, frozen=True):
    destination_id: str = ""
    count: int = 0
    events: list[msgspec.Raw] = []


def notification_of(
    id: str, body: bytes, language: MessageLanguage = ENGLISH, alert: Alert | None = None
) -> Notification:
    """Return the notification of an event, a notice or a digest, from its wire JSON. A page's text stays."""
    digest = _read(body, _Digest)
    if not digest.destination_id:
        event = _read(body, _Event)
        item = _item(event, language)
        alert = None if TEST in item.tags else alert
        return Notification(id, item.headline, (item,), 1, _service(event), texts=language.texts, alert=alert)
    return digest_of(id, digest.events, digest.count, language, alert)


def digest_of(
    id: str,
    bodies: Iterable[bytes | msgspec.Raw],
    count: int,
    language: MessageLanguage = ENGLISH,
    alert: Alert | None = None,
) -> Notification:
    """Return the notification of many events; `count`: their number, possibly more than these."""
    events = [_read(raw, _Event) for raw in bodies]
    items = tuple(_item(event, language) for event in events)
    count = max(count, len(items))
    title = language.texts.title_of(count, sorted({item.host for item in items if item.host}))
    service = _service(events[0]) if events else ""
    return Notification(id, title, items, count, service, is_digest=True, texts=language.texts, alert=alert)


def _read(body: bytes | msgspec.Raw, shape: type[S]) -> S:
    """Decode a body, or return an empty one for another version's shape, which must not stop a delivery."""
    return part_of(msgspec.Raw(body), shape) or shape()


def _item(event: _Event, language: MessageLanguage) -> NotificationItem:
    if event.alert_type or TEST in event.tags:  # the service's own texts
        translations = {name: language.translate(getattr(event, name)) for name in ("title", "summary", "content")}
        event = msgspec.structs.replace(event, **translations)
    host = urlsplit(event.source_url).hostname or "" if _is_web(event.source_url) else ""
    title = cut(one_line(event.title), LONGEST_TITLE) or cut(one_line(event.summary), LONGEST_TITLE) or host
    diff = part_of(event.diff, Diff)
    lines, more = ((), 0) if diff is None else _lines(diff)
    summary = cut(one_line(event.summary), LONGEST_LINE)
    headline_text = headline(event, host or language.texts.nameless)
    return NotificationItem(
        id=event.id,
        headline=headline_text,
        title=title or language.texts.nameless,
        summary="" if summary == headline_text else summary,
        host=one_line(host),
        link=event.url if _is_web(event.url) else event.source_url if _is_web(event.source_url) else "",
        at=event.emitted_at,
        content="" if lines else cut(paragraphs(event.content), LONGEST_CONTENT),
        lines=lines,
        more=more,
        notice=event.alert_type,
        source=event.source_id,
        author=cut(one_line(event.author), LONGEST_TITLE),
        tags=tuple(one_line(tag) for tag in event.tags),
        published=one_line(event.published_at or ""),
        kinds=tuple(map(_kind_line, part_of(event.changes, tuple[TypedChange, ...]) or ())),
    )


def _kind_line(change: TypedChange) -> KindLine:
    before, after = (one_line(side.text) if side else "" for side in (change.before, change.after))
    return KindLine(change.kind, one_line(change.label), before, after)


def _lines(diff: Diff) -> tuple[tuple[DiffLine, ...], int]:
    """Return the lines of a difference, alterations first, and how many are left out."""
    lines = [
        DiffLine("~", _clean(change.before), _clean(change.after), one_line(str(change.context or "")))
        for change in diff.changed
    ]
    for is_insertion, text, context in diff.singles():
        cleaned, place = _clean(text), one_line(str(context))
        lines.append(DiffLine("+", "", cleaned, place) if is_insertion else DiffLine("-", cleaned, "", place))
    return tuple(lines[:MOST_LINES]), max(0, len(lines) - MOST_LINES)


def _clean(text: str) -> str:
    return cut(one_line(text), LONGEST_LINE)


def _is_web(url: str) -> bool:
    return url.startswith(("https://", "http://")) and one_line(url) == url and " " not in url


def _service(event: _Event) -> str:
    """Return the service's URL, which every event has in its schema."""
    return event.schema.partition("/schemas/")[0] if "/schemas/" in event.schema and _is_web(event.schema) else ""

"""A notification: the readable content of a delivery, as plain text. Pure.

Every text in it is inert, one line each except `content`; a dialect need only escape its own marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from actors.notification.dialects import cut, one_line, paragraphs
from actors.notification.speech import ENGLISH, Voice, Words
from storage.records.event import Change, Context, Contexts

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
    """One event. content: the beginning of an entry's text, if there is no difference to show.

    source: its id. more: lines of the difference that are missing here. link: an absolute http(s) URL or "".
    """

    id: str
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
    """One delivery. total: its number of events, possibly more than `items`. service: this service's URL, "" if
    unknown. written: the text from the destination's message template, in its dialect; "" without one. remark: a note
    on the message itself. words: our texts, in the reader's language.
    """

    id: str
    title: str
    items: tuple[NotificationItem, ...]
    total: int
    service: str = ""
    is_digest: bool = False
    written: str = ""
    remark: str = ""
    words: Words = Words()


class _Event(msgspec.Struct, frozen=True):
    """The readable fields of an event. All may be missing: a row of another version must not stop a delivery."""

    schema: str = msgspec.field(name="$schema", default="")
    id: str = ""
    source_id: str = ""
    source_url: str = ""
    url: str = ""
    title: str = ""
    summary: str = ""
    content: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: str | None = None
    emitted_at: str = ""
    alert_type: str = ""
    diff: msgspec.Raw | UnsetType = UNSET
    changes: msgspec.Raw | UnsetType = UNSET


class _Value(msgspec.Struct, frozen=True):
    text: str = ""


class _TypedChange(msgspec.Struct, frozen=True):
    kind: str = ""
    label: str = ""
    before: _Value = _Value()
    after: _Value = _Value()


class _Diff(msgspec.Struct, frozen=True):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()
    context: Contexts | UnsetType = UNSET


class _Digest(msgspec.Struct, frozen=True):
    destination_id: str = ""
    count: int = 0
    events: list[msgspec.Raw] = []


def notification_of(id: str, body: bytes, voice: Voice = ENGLISH) -> Notification:
    """Return the notification of an event, a notice or a digest, given as its wire JSON.

    A page's text stays as it is; `voice` translates the rest.
    """
    digest = _read(body, _Digest)
    if not digest.destination_id:
        event = _read(body, _Event)
        item = _item(event, voice)
        return Notification(id, item.title, (item,), 1, _service(event), words=voice.words)
    return digest_of(id, digest.events, digest.count, voice)


def digest_of(id: str, bodies: Iterable[bytes | msgspec.Raw], count: int, voice: Voice = ENGLISH) -> Notification:
    """Return the notification of many events; `count`: their number, possibly more than these."""
    events = [_read(raw, _Event) for raw in bodies]
    items = tuple(_item(event, voice) for event in events)
    count = max(count, len(items))
    title = voice.words.title_of(count, sorted({item.host for item in items if item.host}))
    service = _service(events[0]) if events else ""
    return Notification(id, title, items, count, service, is_digest=True, words=voice.words)


def _read(body: bytes | msgspec.Raw, shape: type[S]) -> S:
    """Decode a body, or return an empty one for another version's shape, which must not stop a delivery."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return shape()


def _item(event: _Event, voice: Voice) -> NotificationItem:
    if event.alert_type or TEST in event.tags:  # the service's own texts
        ours = {name: voice.say(getattr(event, name)) for name in ("title", "summary", "content")}
        event = msgspec.structs.replace(event, **ours)
    host = urlsplit(event.source_url).hostname or "" if _is_web(event.source_url) else ""
    title = cut(one_line(event.title), LONGEST_TITLE) or cut(one_line(event.summary), LONGEST_TITLE) or host
    lines, more = ((), 0) if isinstance(event.diff, UnsetType) else _lines(_read(event.diff, _Diff))
    summary = cut(one_line(event.summary), LONGEST_LINE)
    return NotificationItem(
        id=event.id,
        title=title or voice.words.nameless,
        summary="" if summary == title else summary,
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
        kinds=() if isinstance(event.changes, UnsetType) else _kinds(event.changes),
    )


def _kinds(raw: msgspec.Raw) -> tuple[KindLine, ...]:
    """Return changes by kind, none for another version's shape."""
    try:
        changes = msgspec.json.decode(raw, type=list[_TypedChange])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ()
    return tuple(
        KindLine(one_line(one.kind), one_line(one.label), one_line(one.before.text), one_line(one.after.text))
        for one in changes[:MOST_LINES]
    )


def _lines(diff: _Diff) -> tuple[tuple[DiffLine, ...], int]:
    """Return the lines of a difference, alterations first, and how many are left out."""
    found = [
        DiffLine("~", _told(change.before), _told(change.after), _place(change.context)) for change in diff.changed
    ]
    contexts = diff.context
    added = () if contexts is UNSET else contexts.added
    removed = () if contexts is UNSET else contexts.removed
    found += [DiffLine("+", "", _told(text), _place(_at(added, at))) for at, text in enumerate(diff.added)]
    found += [DiffLine("-", _told(text), "", _place(_at(removed, at))) for at, text in enumerate(diff.removed)]
    return tuple(found[:MOST_LINES]), max(0, len(found) - MOST_LINES)


def _at(contexts: tuple[Context, ...], at: int) -> Context | UnsetType:
    return contexts[at] if at < len(contexts) else UNSET


def _place(context: Context | UnsetType) -> str:
    """Return a text's location, in the page's own words."""
    if context is UNSET:
        return ""
    return one_line(" › ".join(filter(None, (context.heading, context.row, context.column))))


def _told(text: str) -> str:
    return cut(one_line(text), LONGEST_LINE)


def _is_web(url: str) -> bool:
    return url.startswith(("https://", "http://")) and one_line(url) == url and " " not in url


def _service(event: _Event) -> str:
    """Return the service's URL, which every event has in its schema."""
    return event.schema.partition("/schemas/")[0] if "/schemas/" in event.schema and _is_web(event.schema) else ""


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

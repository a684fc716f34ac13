"""The headline of an event: the change, then the page or source, the same on every face. Pure.

A page's headline is the change that weighed most, by its value if it has one: "£349 → £289 · Copper kettle". Signs
instead of words, and isolates around text from right to left, as in a summary. Other events have their title.

A notification: the readable content of a delivery, as plain text. Pure. Every text in it is inert, one line each
except `content`; a dialect need only escape its own marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw, Struct

from actors.content.changes.diff import RIGHT_TO_LEFT, SummaryCandidate, isolated, summarised
from actors.content.wording.words import CUT, line, word_lists
from actors.notification.dialects import cut, one_line, paragraphs
from actors.notification.message_language import ENGLISH, MessageLanguage, MessageTexts
from storage.records.alert import Alert
from storage.records.event import CHANGE_KINDS, Context, Diff, TypedChange

MOST: Final = 60  # characters of a headline
LONGEST: Final = 120  # characters of the beginning of a text
_READ, _DOT = 1_000, " · "
_NAME: Final = 14  # characters that a long change leaves for the name of the page
_TAIL: Final = re.compile(r"\s+[|·–—-]\s+")  # before the site in a page's title
_PRICE: Final = re.compile(word_lists("values")["labels"]["price"], re.I)
S = TypeVar("S")


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
    changes: Raw = Raw()

    @property
    def kind(self) -> str:
        return self.alert_type.replace("_", " ") or self.source_type


class ItemLines(NamedTuple):
    """source: its name, else its host. summary: the rest (other changes, a long title, an entry's text) or ""."""

    source: str
    headline: str
    summary: str


def headline(event: ListedEvent, name: str = "") -> str:
    """Return an event in one line of 1 to `MOST` characters. name: replaces a missing title of a page."""
    diff = part_of(event.diff, Diff)
    texts = (event.title, event.summary, event.content, name, event.url, event.source_url, event.kind)
    if not (event.diff and _line(event.summary)) or event.alert_type:
        return next((shown for text in texts if (shown := cut(_line(text), MOST))), CUT)
    candidate = summarised(event.summary, diff, event.title) if diff else None
    entry, label = _with_value(event, candidate) if candidate else (SummaryCandidate(None, event.summary), "")
    names = [text for text in (label, _line(event.title) or _line(name) or host_of(event.source_url)) if text]
    isolates = RIGHT_TO_LEFT.search("".join((entry.before or "", entry.after or "", *names))) is not None
    most = MOST - 6 * isolates - (_NAME + len(_DOT) if names else 0)
    line = entry.said(most, isolates=isolates) if candidate else isolated(cut(_line(event.summary), most), isolates)
    for text in names:
        room = MOST - len(line) - len(_DOT) - 2 * isolates
        shown = text if len(text) <= room else cut(_TAIL.split(text)[0], room)
        if room >= min(_NAME, len(text)) and text not in line:
            line += f"{_DOT}{isolated(shown, isolates)}"
    return one_line(line)


def _with_value(event: ListedEvent, entry: SummaryCandidate) -> tuple[SummaryCandidate, str]:
    """Return a change as that of its value, if it has any, else a change of price or availability of the event; and its
    place, "" if the title says as much.
    """
    here: list[tuple[TypedChange, SummaryCandidate]] = []
    elsewhere: list[tuple[TypedChange, SummaryCandidate]] = []
    for change in part_of(event.changes, tuple[TypedChange, ...]) or ():
        before, after = (side.text if side else None for side in (change.before, change.after))
        is_value = change.kind == "name" or any(side and side.type for side in (change.before, change.after))
        if not is_value or not (before or after):
            continue
        if (before or "") in (entry.before or "") and (after or "") in (entry.after or ""):
            here.append((change, SummaryCandidate(before, after)))
        elif before and after and change.kind in ("price", "availability"):  # outranks the heaviest text
            elsewhere.append((change, SummaryCandidate(before, after)))
    candidates = here or elsewhere
    if not candidates:
        at = entry.context or Context()
        place = _line(_DOT.join(filter(None, (at.row, at.column))) or at.heading)
        return entry, "" if place in event.title else place
    change, entry = min(candidates, key=lambda each: CHANGE_KINDS.index(each[0].kind))
    place = _line(change.path or change.label).removeprefix("$.")
    if change.kind == "price" and _PRICE.fullmatch(place.rpartition(_DOT)[2]):
        place = place.rpartition(_DOT)[0]
    return entry, "" if place in event.title else place


def _line(text: str) -> str:
    return line(one_line(text[:_READ]))


def part_of(raw: Raw, shape: type[S]) -> S | None:
    """Decode a part of an event; None without one, or for the shape of another version."""
    try:
        return msgspec.json.decode(raw, type=shape) if len(raw) else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def lines_of(event: ListedEvent, name: str = "") -> ItemLines:
    """Return the lines of an event. name: its source's; replaced by the host if it equals the title."""
    shown, title = headline(event, name), _line(event.title)
    diff = part_of(event.diff, Diff)
    summary = event.summary.removeprefix(f"{title}: ")  # the line above names the page
    if not event.diff:
        summary = cut(one_line(event.content[: 4 * LONGEST]), LONGEST) if title in ("", shown) else title
    elif diff and CUT not in shown and len(diff.changed) + len([*diff.singles()]) < 2:
        summary = ""
    host = host_of(event.url) or host_of(event.source_url)
    return ItemLines(host if name in ("", title) else name, shown, "" if summary == shown else summary)


def listed_event(event: Mapping[str, Any]) -> ListedEvent:
    """Return a list's fields of a decoded event; a field of another type counts as empty."""
    names = ListedEvent.__struct_fields__
    fields: dict[str, Any] = {name: value for name in names if isinstance(value := event.get(name), str)}
    fields |= {name: Raw(msgspec.json.encode(event[name])) for name in ("diff", "changes") if event.get(name)}
    return ListedEvent(**fields)


def host_of(url: str) -> str:
    """Return host and port.

    >>> host_of("http://me@127.0.0.1:9100/a"), host_of("https://[::1]:8443/"), host_of("http://[")
    ('127.0.0.1:9100', '[::1]:8443', '')
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


TEST: Final = "kind:test"  # the tag of a test delivery's event
LONGEST_TITLE, LONGEST_LINE, LONGEST_CONTENT = 300, 2_000, 8_000
MOST_LINES: Final = 60  # lines of a difference; a service's own limit mostly cuts earlier
Read = TypeVar("Read", bound=msgspec.Struct)
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


def _read(body: bytes | msgspec.Raw, shape: type[Read]) -> Read:
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
    changed = ((block.before, block.after, str(block.context or "")) for block in diff.changed)
    lines = [DiffLine("~", _clean(before), _clean(after), one_line(place)) for before, after, place in changed]
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

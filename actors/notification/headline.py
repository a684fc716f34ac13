"""The headline of an event: the change, then the page or source, the same on every face. Pure.

A page's headline is the change that weighed most, by its value if it has one: "£349 → £289 · Copper kettle". Signs
instead of words, and isolates around text from right to left, as in a summary. Other events have their title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw, Struct

from actors.content.changes.diff import RIGHT_TO_LEFT, SummaryCandidate, isolated, summarised
from actors.content.wording.spans import CUT, line
from actors.content.wording.words import word_lists
from actors.notification.dialects import cut, one_line
from storage.records.event import CHANGE_KINDS, Context, Diff, TypedChange

MOST: Final = 60
"""Characters of a headline."""
LONGEST: Final = 120
"""Characters of the beginning of a text."""
_READ: Final = 1_000
_DOT: Final = " · "
_NAME: Final = 14
"""Characters that a long change leaves for the name of the page."""
_TAIL: Final = re.compile(r"\s+[|·–—-]\s+")
"""Before the site in a page's title."""
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
    """Return a change as that of its value, if it has any, and its place; "" if the title says as much."""
    candidates: list[tuple[TypedChange, SummaryCandidate]] = []
    for one in part_of(event.changes, tuple[TypedChange, ...]) or ():
        before, after = (side.text if side else None for side in (one.before, one.after))
        is_here = (before or "") in (entry.before or "") and (after or "") in (entry.after or "")
        is_value = one.kind == "name" or any(side and side.type for side in (one.before, one.after))
        if (before or after) and is_here and is_value:
            candidates.append((one, SummaryCandidate(before, after)))
    if not candidates:
        at = entry.context or Context()
        place = _line(_DOT.join(filter(None, (at.row, at.column))) or at.heading)
        return entry, "" if place in event.title else place
    one, entry = min(candidates, key=lambda each: CHANGE_KINDS.index(each[0].kind))
    place = _line(one.path or one.label).removeprefix("$.")
    says_price = one.kind == "price" and _PRICE.fullmatch(place)
    return entry, "" if place in event.title or says_price else place


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
    summary = event.summary
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

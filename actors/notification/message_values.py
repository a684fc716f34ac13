"""The values of a message template: names for the parts of a notification. Pure.

A page's text is plain here, and escaped when it enters the output. `Marked` is already marked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from actors.notification.dialects import DIALECTS, Dialect
from actors.notification.fitting import difference_lines, text_of
from actors.notification.inert import cut
from actors.notification.limits import TextLimits
from actors.notification.reading import Notification, NotificationItem
from actors.notification.speech import Words

T = TypeVar("T")


class Marked(str):
    """Text in the dialect of its service. Anything derived from it (a part, a sum) is plain text again."""

    __slots__ = ()


OF_EVENTS: Final[dict[str, str]] = {
    "title": "the title, in plain words",
    "summary": "what changed in one sentence, or the beginning of an entry",
    "content": "the text of an entry of a feed",
    "difference": "the lines of the difference, marked up",
    "added": "list of the texts that came",
    "removed": "list of the texts that went",
    "changed": "list of the texts that were altered; each has `before`, `after` and `place`",
    "kinds": "list of the changes by kind; each has `kind`, `label`, `before` and `after`",
    "link": "the address of the page or entry",
    "host": "the site, such as `example.com`",
    "source": "the id of the source",
    "author": "who wrote it, if the feed says so",
    "tags": "list of the tags",
    "published": "when the feed says that it was published",
    "at": "when Sanderling told it",
    "id": "the id of the event",
    "notice": "of a notice of the service its type, such as `source_failing`; empty of other events",
}
"""Each value of one event, with its description. For a digest: of its first event."""
OF_MESSAGES: Final[dict[str, str]] = {
    "text": "the whole text that is sent without a message template, marked up",
    "count": "how many events the message is of: 1, more of a digest",
    "events": "list of these events, each with the values above (of a large digest not all of them)",
    "service": "the address of this Sanderling",
}
"""Each value of the message as a whole."""
NAMES: Final = frozenset(OF_EVENTS) | frozenset(OF_MESSAGES)
PARTS: Final = frozenset({"before", "after", "place", "kind", "label"})


def values_of(notification: Notification, limits: TextLimits, room: int) -> dict[str, Any]:
    """Return the values of a notification by name. No text is longer than `room`, nor a whole list."""
    events = [_event(item, limits, room, notification.words) for item in notification.items]
    first = events[0] if events else dict.fromkeys(OF_EVENTS, "")
    return first | {
        "title": cut(notification.title, room),
        "text": Marked(text_of(notification, limits.dialect, room, limits.unit, titled=limits.titled)),
        "count": notification.total,
        "events": _as_many(events, room, lambda event: sum(len(event[name]) for name in ("title", "summary", "link"))),
        "service": _address(notification.service, DIALECTS[limits.dialect]),
    }


def _event(item: NotificationItem, limits: TextLimits, room: int, words: Words) -> dict[str, Any]:
    dialect = DIALECTS[limits.dialect]
    lines = {sign: [line for line in item.lines if line.sign == sign] for sign in "+-~"}
    return {
        "title": cut(item.title, room),
        "summary": cut(item.summary, room),
        "content": cut(item.content, room),
        "difference": Marked(dialect.line.join(_as_many(difference_lines(item, dialect, room, words), room, len))),
        "added": _as_many((cut(line.after, room) for line in lines["+"]), room, len),
        "removed": _as_many((cut(line.before, room) for line in lines["-"]), room, len),
        "changed": [
            {"before": cut(line.before, room), "after": cut(line.after, room), "place": cut(line.place, room)}
            for line in _as_many(lines["~"], room, lambda line: len(line.before) + len(line.after))
        ],
        "kinds": [
            {name: cut(text, room) for name, text in one._asdict().items()}
            for one in _as_many(item.kinds, room, lambda one: sum(map(len, one)))
        ],
        "link": _address(item.link, dialect),
        "host": item.host,
        "source": item.source,
        "author": cut(item.author, room),
        "tags": _as_many(item.tags, room, len),
        "published": item.published,
        "at": item.at,
        "id": item.id,
        "notice": item.notice,
    }


def _address(url: str, dialect: Dialect) -> Marked:
    return Marked(dialect.address(url))


def _as_many(texts: Iterable[T], room: int, size: Callable[[T], int]) -> list[T]:
    """Return the first items that fit together; at least one."""
    found: list[T] = []
    for text in texts:
        room -= size(text)
        if room < 0 and found:
            break
        found.append(text)
    return found

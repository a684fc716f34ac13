"""The text of a notification in a dialect, within a service's limit. Pure.

It is made line by line. Longer text is cut at a word, and a last line says how much is left out and links to the rest.
Space for that line is reserved from the start, so a text never exceeds its limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import NamedTuple

from actors.notification.dialects import DIALECTS, MEASURES, Dialect, DialectName, TextLimits, Unit, cut, one_line
from actors.notification.headline import LONGEST_LINE, DiffLine, Notification, NotificationItem
from actors.notification.message_language import ENGLISH, MessageTexts

_SHORTEST = 24  # shortest part of a line worth keeping, in characters; shorter ones are dropped
_LONGEST_NAME = 60  # characters of an alert's name
_ARROW = " → "
_BREAK = re.compile(r"<br ?/?>|</p>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


class _MessageLine(NamedTuple):
    """One line: its plain text, its markup after escaping, and whether it begins an event."""

    text: str
    markup: Callable[[str], str]
    starts_event: bool = False


def title_of(notification: Notification, most: int) -> str:
    return cut(notification.title, most)


def message_of(notification: Notification, limits: TextLimits) -> str:
    if notification.written:
        return notification.written
    return text_of(notification, limits.dialect, limits.text, limits.unit, titled=limits.titled)


def plain_of(notification: Notification, limits: TextLimits) -> str:
    """Return the text to send without markup, for services that show none."""
    if notification.written and limits.dialect in ("html", "telegram", "card"):
        return unescape(_TAG.sub("", _BREAK.sub("\n", notification.written)))
    if notification.written:
        return notification.written
    return text_of(notification, "plain", limits.text, limits.unit, titled=limits.titled)


def difference_of(item: NotificationItem) -> str:
    return "".join(f"<p>{line}</p>" for line in difference_lines(item, DIALECTS["html"]))


def difference_lines(
    item: NotificationItem, dialect: Dialect, longest: int = LONGEST_LINE * 2, texts: MessageTexts = ENGLISH.texts
) -> list[str]:
    """Return an event's difference as marked-up lines, at most `longest` characters each, and the number left out."""
    parts = [_difference(line, dialect) for line in item.lines]
    lines = [part.markup(dialect.escape(cut(part.text, longest))) for part in parts]
    if item.more:
        lines.append(dialect.escape(texts.left_out(item.more, events=False)))
    return lines


def text_of(
    notification: Notification, name: DialectName, most: int, unit: Unit = "characters", *, titled: bool = False
) -> str:
    """Return the text of a notification, at most `most` units long. titled: with its title as the first line."""
    dialect, measure = DIALECTS[name], MEASURES[unit]
    if measure(dialect.line_break.join(_alert_lines(notification, dialect))) * 2 > most:
        notification = notification._replace(alert=None)
    footer = _footer(notification, dialect, omitted=0)
    parts = list(_message_lines(notification, dialect, titled=titled))
    whole = dialect.line_break.join([*(part.markup(dialect.escape(part.text)) for part in parts), *footer])
    if measure(whole) <= most:
        return whole
    # The line about omissions is never longer than this one.
    longest_footer = _footer(notification, dialect, omitted=10**9)
    room = most - measure(dialect.line_break.join(["", *longest_footer]))
    if room < 0:  # not even the link fits
        return _truncated(notification.title, most, measure, dialect.escape)
    lines, used = list[str](), 0
    for part in parts:
        separator = measure(dialect.line_break) if lines else 0

        def markup(text: str, part: _MessageLine = part) -> str:
            return part.markup(dialect.escape(text))

        line = markup(part.text)
        if used + separator + measure(line) > room:
            if line := _truncated(part.text, room - used - separator, measure, markup):
                lines.append(line)
            break
        lines.append(line)
        used += separator + measure(line)
    omitted = _omitted(notification, parts[len(lines) :])
    return dialect.line_break.join([*lines, *_footer(notification, dialect, omitted)])


def _truncated(text: str, room: int, measure: Callable[[str], int], markup: Callable[[str], str]) -> str:
    """Return the longest beginning of a text, cut at a word, that fits once marked up; "" if too little does."""
    low, high = 0, min(len(text), max(0, room))
    while low < high:
        middle = (low + high + 1) // 2
        if measure(markup(cut(text, middle))) <= room:
            low = middle
        else:
            high = middle - 1
    marked_up = markup(cut(text, low))
    return marked_up if low >= min(_SHORTEST, len(text)) and measure(marked_up) <= room else ""


def _omitted(notification: Notification, omitted: list[_MessageLine]) -> int:
    if notification.is_digest:
        return sum(part.starts_event for part in omitted) + notification.total - len(notification.items)
    return len(omitted) + sum(item.more for item in notification.items)


def _message_lines(notification: Notification, dialect: Dialect, *, titled: bool) -> Iterator[_MessageLine]:
    if titled:
        yield _MessageLine(notification.title, dialect.strong)
    if notification.is_digest:
        for item in notification.items:
            yield _entry(item, dialect, notification.texts)
        return
    (item,) = notification.items
    if item.summary and not item.lines and not item.content.startswith(item.summary.rstrip("…")):
        yield _MessageLine(item.summary, str)
    for line in item.lines:
        yield _difference(line, dialect)
    if len(item.content) > min(len(item.headline), max(len(item.summary), len(item.title))):
        yield from (_MessageLine(line, str) for line in item.content.split("\n") if line.strip())


def _entry(item: NotificationItem, dialect: Dialect, texts: MessageTexts) -> _MessageLine:
    if not item.link:
        return _MessageLine(item.headline, dialect.inserted, starts_event=True)
    link = dialect.link(texts.page.lower(), item.link)  # the URL is never cut: a cut link leads elsewhere
    return _MessageLine(item.headline, lambda text: f"{text} {link}", starts_event=True)


def _difference(line: DiffLine, dialect: Dialect) -> _MessageLine:
    place = f"{line.place}: " if line.place else ""
    if line.sign == "~":
        return _MessageLine(f"{place}{line.before}{_ARROW}{line.after}", str)
    markup = dialect.inserted if line.sign == "+" else dialect.deleted
    return _MessageLine(f"{place}{line.after or line.before}", markup)


def _footer(notification: Notification, dialect: Dialect, omitted: int) -> list[str]:
    lines, digest = [], notification.is_digest
    more = notification.total - len(notification.items) if digest else sum(item.more for item in notification.items)
    if omitted or more:
        lines.append(dialect.escape(notification.texts.left_out(max(omitted, more), events=digest)))
    item = notification.items[0] if notification.items else None
    if digest and notification.service:
        lines.append(dialect.link(notification.texts.all_events, f"{notification.service}/stream"))
    elif item is not None and item.link and not digest:
        lines.append(dialect.link(item.host or notification.texts.page, item.link))
    lines += _alert_lines(notification, dialect)
    if notification.remark:
        lines.append(dialect.escape(f"({notification.remark})"))
    return lines


def _alert_lines(notification: Notification, dialect: Dialect) -> list[str]:
    """Return the line of the alert with its links, without its query, which may change before a retry."""
    alert, texts, service = notification.alert, notification.texts, notification.service
    if alert is None:
        return []
    links = [(texts.mute, f"{service}/alerts/{alert.id}#mute")]
    if not notification.is_digest:
        event = f"{service}/events/{notification.items[0].id}"
        links = [(texts.about, event), (texts.why, f"{event}#why"), *links]
    parts = [dialect.escape(texts.alert % {"name": cut(one_line(alert.name), _LONGEST_NAME)})]
    parts += [dialect.link(label, url) for label, url in links if service]
    return parts if dialect.shows_url else [" · ".join(parts)]

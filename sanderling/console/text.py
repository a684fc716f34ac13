"""Terminal lines and tables: styled pieces of text, cut and padded in Textual's cell widths; the widgets that show
them; the figures at the top of every screen and the questions at the foot. Colour never carries meaning alone.

All foreign text passes `safe` first: control characters become escapes, and zero-width characters are removed because
terminals disagree on them. Widgets draw only visible rows, so a list of 100,000 costs no more than one screen. A
question owns the keyboard until it is answered. It is no screen and takes no focus, so keys typed ahead, pasted or sent
in one packet arrive in order.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from sanderling.client.lines import apart, by_state, largest, span
from storage.records.secrecy import plain
from storage.records.source import LOOKS, PARTS, Mood, State

Piece = tuple[str, str]  # text and style
Line = Sequence[Piece]
_FAR = 4  # characters examined per available cell, so that most of a hostile megabyte is never touched
_PLAIN = re.compile("[ -~…─├└▸▾]*")  # characters of exactly one cell; most lines contain no others
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    r"""Return text as one harmless line.

    >>> safe('a\x1b[31m b\u200d\n')
    'a\\x1b[31m b\\n'
    """
    return _INVISIBLE.sub("", plain(text))


def cells(text: str) -> int:
    """Return the width of a text in cells.

    >>> cells('abc'), cells('日本')
    (3, 4)
    """
    return len(text) if _PLAIN.fullmatch(text) else Content(text).cell_length


def fit(text: str, width: int) -> str:
    """Make text safe, and cut or pad it to exactly so many cells.

    >>> fit('a long title', 8), fit('日本語', 5), fit('ab', 4), fit('ab', 0)
    ('a long …', '日本…', 'ab  ', '')
    """
    if width <= 0:
        return ""
    text = safe(text[: _FAR * width])
    if _PLAIN.fullmatch(text):
        return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
    return Content(text).truncate(width, ellipsis=True, pad=True).plain


def middle(text: str, width: int) -> str:
    """Like `fit`, but cut in the middle: both ends of a URL matter.

    >>> middle('shop.test/a/long/way/prices', 16), middle('log', 5)
    ('shop.te…y/prices', 'log  ')
    """
    whole = safe(text[: _FAR * width] if len(text) < _FAR * width else text[: 2 * width] + text[-2 * width :])
    if width <= 2 or cells(whole) <= width:
        return fit(whole, width)
    left = (width - 1) // 2
    end = whole[-(width - 1 - left) :]
    while cells(end) > width - 1 - left:
        end = end[1:]
    return fit(fit(whole, left + 1).rstrip("… ") + "…" + end, width)


def right(text: str, width: int) -> str:
    """Align trusted text to the right.

    >>> right('9m', 4)
    '  9m'
    """
    return text.rjust(width)[:width] if width > 0 else ""


def between(left: str, told: str, width: int) -> str:
    """Put one text at each end of a line; the left one is cut if needed.

    >>> between('path', '1/9', 12)
    'path     1/9'
    """
    told = safe(told)
    room = width - cells(told)
    return fit(left, room) + told if room > 0 else fit(told, width)


def joined(line: Line) -> Line:
    """Merge neighbouring pieces of the same style: each piece costs drawing time.

    >>> joined([("a", ""), ("b", ""), ("", "dim"), ("c", "dim")])
    [('ab', ''), ('c', 'dim')]
    """
    found: list[Piece] = []
    for text, style in line:
        if found and found[-1][1] == style:
            found[-1] = (found[-1][0] + text, style)
        elif text:
            found.append((text, style))
    return found


def as_content(lines: Sequence[Line]) -> Content:
    pieces: list[Piece] = []
    for number, line in enumerate(lines):
        if number:
            pieces.append(("\n", ""))
        pieces.extend(line)
    return Content.assemble(*pieces)


def line_of(text: str, width: int, style: str = "") -> Line:
    return [(fit(f" {text}", width), style)]


class Column(NamedTuple):
    """cell: draws a row at the service's time (or in another context), as text, as text with a style, or as pieces of
    the column's width. width: 0 is the rest of the line. sort: the service's name for this order. from_width: minimum
    width of the screen.
    """

    head: str
    width: int
    cell: Callable[[Any, Any], str | Piece | list[Piece]]
    right: bool = False
    sort: str = ""
    from_width: int = 0


class Table:
    """Columns, a cell apart, the last one as wide as the line allows."""

    def __init__(self, *columns: Column) -> None:
        self._columns = columns

    def heading(self, width: int) -> Line:
        heads = ((right if column.right else fit)(column.head, column.width) for column in self._columns[:-1])
        return line_of(f"{' '.join(heads)} {self._columns[-1].head}", width, "bold")

    def line(self, row: Any, width: int, now: Any, mark: Piece = (" ", "")) -> Line:
        """Return a row as a line of exactly so many cells. mark: its first cell."""
        line: list[Piece] = [mark]
        left = width - 1
        for column in self._columns:
            found, wide = column.cell(row, now), column.width or left
            if isinstance(found, list):
                line += found
            else:
                text, style = (found, "") if isinstance(found, str) else found
                line.append(((right if column.right else fit)(text, wide), style))
            line.append((" " if column.width else "", ""))
            left -= wide + 1
        return joined(line)


GOOD, POOR, BAD, CALM, FAINT = "ansi_green", "ansi_yellow", "ansi_red", "ansi_cyan", "dim"
STYLES: dict[Mood, str] = {"good": GOOD, "calm": CALM, "warn": POOR, "bad": BAD}
GONE = State("gone", "gone", "calm", "It is not there any more.")  # for a fetched row that has since disappeared
MARKS = {state.short: "" if state.mood == "calm" else STYLES[state.mood] for state in LOOKS.values()}
"""Styles of check marks in a row; routine ones are plain."""
VERDICTS = {verdict.name.lower(): state for verdict, state in LOOKS.items()}  # outcomes of checks by their API names


def state_of(row: Mapping[str, Any]) -> State:
    return PARTS.get(row["state"], GONE)


def piece(state: State) -> Piece:
    return state.short, STYLES[state.mood]


def short(seconds: float) -> str:
    """Return a duration in at most four cells.

    >>> [short(s) for s in (-3, 0.4, 59, 61, 7200, 1e6, 9e8)]
    ['now', 'now', '59s', '1m', '2h', '11d', '9999']
    """
    if seconds < 1:
        return "now"
    return largest(seconds) if seconds < 1000 * 86_400 else "9999"


def until(moment: str | None, now: str) -> str:
    return "-" if moment is None or not now else short(apart(now, moment))


def age(moment: str | None, now: str) -> str:
    return "-" if moment is None or not now else short(apart(moment, now))


def ago(moment: str | None, now: str) -> str:
    return "never" if moment is None else f"{short(apart(moment, now))} ago".replace("now ago", "just now")


def clock(moment: str, zone: tzinfo | None = None, form: str = "%H:%M:%S") -> str:
    """Return a moment (RFC 3339) as time of day, in local time by default.

    >>> from datetime import UTC
    >>> clock('2026-04-21T12:00:41.120Z', UTC), clock('soon')
    ('12:00:41', 'soon')
    """
    try:
        return datetime.fromisoformat(moment).astimezone(zone).strftime(form)
    except (ValueError, OverflowError):
        return moment


def day_and_clock(moment: str, zone: tzinfo | None = None) -> str:
    """Return a moment as date and time of day.

    >>> from datetime import UTC
    >>> day_and_clock('2026-04-21T12:00:41.120Z', UTC)
    '2026-04-21 12:00:41'
    """
    return clock(moment, zone, "%Y-%m-%d %H:%M:%S")


def bare(url: str) -> str:
    """Strip http:// or https://.

    >>> bare('https://shop.test/p'), bare('wss://feed.test')
    ('shop.test/p', 'wss://feed.test')
    """
    return url.removeprefix("https://").removeprefix("http://")


def named(path: str, letters: int = 3) -> str:
    """Shorten the id in a tree path to its end, the distinctive part.

    >>> named('sources/019db0a4-5c00-7000-8000-0000000003f2'), named('log')
    ('sources/…3f2', 'log')
    """
    kind, slash, id = path.partition("/")
    return f"{kind}/…{id[-letters:]}" if slash else kind


Draw = Callable[[int, int], Sequence[Line]]  # takes width and height; returns at most so many lines
NOTICE_FOR = 6.0  # seconds that a notice replaces the keys


def key(keys: str, action: str, word: str, says: str, *, foot: bool = True, shown: str | None = None) -> Binding:
    """Make a binding. word: at the foot. says: in the help."""
    return Binding(keys, action, word, show=foot, key_display=shown, tooltip=says)


class Lines(Widget):
    """Shows the lines that `draw` makes for its size."""

    def __init__(self, draw: Draw, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.draw = draw

    def render(self) -> Content:
        width, height = self.size
        return as_content(self.draw(width, height)[:height])


MOVING: list[BindingType] = [
    key("down,j", "move(1)", "down", "a line down", foot=False, shown="↓ j"),
    key("up,k", "move(-1)", "up", "a line up", foot=False, shown="↑ k"),
    key("pagedown,ctrl+f", "leap(1)", "page down", "a page down", foot=False, shown="PgDn ^f"),
    key("pageup,ctrl+b", "leap(-1)", "page up", "a page up", foot=False, shown="PgUp ^b"),
    key("g,home", "edge(0)", "top", "the first line", foot=False, shown="g Home"),
    key("G,end", "edge(1)", "bottom", "the last line", foot=False, shown="G End"),
]


class Picks(Lines, can_focus=True):
    """A list with a cursor. line: draws a position. seen: gets visible ones. shy: hides the cursor without focus."""

    BINDINGS: ClassVar[list[BindingType]] = MOVING

    def __init__(
        self,
        line: Callable[[int, int], Line],
        seen: Callable[[int, int], None] = lambda _first, _last: None,
        *,
        empty: Callable[[], str] = lambda: "",
        shy: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(self._drawn, id=id)
        self._shy = shy
        self._line, self._seen, self._empty = line, seen, empty
        self.count = 0
        self.cursor = 0
        self.top = 0

    @property
    def window(self) -> tuple[int, int]:
        return self.top, max(self.top, min(self.count, self.top + self.size.height) - 1)

    def resize_to(self, count: int) -> None:
        self.count = count
        self.go(self.cursor)

    def go(self, position: int) -> None:
        self.cursor = max(0, min(position, self.count - 1))
        height = max(1, self.size.height)
        self.top = max(0, min(self.top, self.count - height))
        if self.cursor < self.top:
            self.top = self.cursor
        elif self.cursor >= self.top + height:
            self.top = self.cursor - height + 1
        self._seen(*self.window)
        self.refresh()

    def _drawn(self, width: int, height: int) -> list[Line]:
        if not self.count:
            return [[(f" {self._empty()}"[:width], "dim")]]
        lines = []
        for position in range(self.top, min(self.count, self.top + height)):
            line = self._line(position, width)
            if position == self.cursor and (self.has_focus or not self._shy):  # reversed, with ">" for a leading space
                (text, style), *rest = [(text, f"{style} reverse".strip()) for text, style in line]
                line = [(">" + text[1:] if text.startswith(" ") else text, style), *rest]
            lines.append(line)
        return lines

    def on_resize(self, event: events.Resize) -> None:
        self.go(self.cursor)

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_leap(self, by: int) -> None:
        self.go(self.cursor + by * max(1, self.size.height - 1))

    def action_edge(self, last: int) -> None:
        self.go(self.count - 1 if last else 0)


class Reading(Lines, can_focus=True):
    """Lines to scroll. whole: makes all of them for a width."""

    BINDINGS: ClassVar[list[BindingType]] = MOVING

    def __init__(self, whole: Callable[[int], Sequence[Line]], *, id: str | None = None) -> None:
        super().__init__(self._drawn, id=id)
        self._whole = whole
        self.top = 0

    def _drawn(self, width: int, height: int) -> Sequence[Line]:
        lines = self._whole(width)
        self.top = max(0, min(self.top, len(lines) - height))
        shown = list(lines[self.top : self.top + height])
        if len(lines) > self.top + height and shown:
            shown[-1] = [(f" … {len(lines) - self.top - height + 1} more lines below", "dim")]
        return shown

    def action_move(self, by: int) -> None:
        self.top = max(0, self.top + by)
        self.refresh()

    def action_leap(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 2))

    def action_edge(self, last: int) -> None:
        self.top = 10**6 if last else 0
        self.refresh()


def bindings_of(screen: Screen[object]) -> list[Binding]:
    """Return this program's active bindings, each once, the screen's before the program's."""
    found: dict[tuple[str, str], Binding] = {}
    active = list(screen.active_bindings.values())
    for node in (screen.focused, screen, screen.app):
        for shown in active:
            if shown.node is node and shown.binding.tooltip and shown.enabled and not shown.binding.priority:
                found.setdefault((shown.binding.action, shown.binding.tooltip), shown.binding)
    return list(found.values())


def shown_key(binding: Binding) -> str:
    return binding.key_display or {"slash": "/", "colon": ":", "question_mark": "?"}.get(binding.key, binding.key)


class Foot(Lines):
    """The bottom line. A notice replaces the keys for a while."""

    def __init__(self) -> None:
        super().__init__(self._drawn, id="foot")
        self._notice: tuple[str, str] | None = None

    def notice(self, text: str, style: str = "bold") -> None:
        self._notice = notice = (text, style)
        self.refresh()

        def over() -> None:
            if self._notice is notice:
                self._notice = None
                self.refresh()

        self.set_timer(NOTICE_FOR, over)

    def clear(self) -> None:
        self._notice = None
        self.refresh()

    def _drawn(self, width: int, height: int) -> Sequence[Line]:
        if (question := getattr(self.app, "question", None)) is not None:
            return [question.line(width)]
        if self._notice is not None:
            text, style = self._notice
            return [[(fit(f" {text}", width), style)]]
        bindings = [binding for binding in bindings_of(self.screen) if binding.show]
        return [_keys(bindings, width)]


def _keys(bindings: Sequence[Binding], width: int) -> Line:
    """Return as many keys as fit; the last two (help, quit) always do."""
    line: list[tuple[str, str]] = []
    kept = sum(_length(binding) for binding in bindings[-2:])
    left = width - 1
    for number, binding in enumerate(bindings):
        needed = _length(binding)
        if number < len(bindings) - 2 and needed + kept > left:
            continue
        left -= needed
        line += [(f" {shown_key(binding)}", "bold"), (f" {binding.description}", "dim")]
    return line


def _length(binding: Binding) -> int:
    return cells(shown_key(binding)) + cells(binding.description) + 2


WINDOW = 60  # ticks of one second each that rates cover
KEPT = 500  # events kept in memory
_PAUSED = "FROZEN, space resumes"


class Figures:
    """The newest figures and those of the last minute. lost: why none arrive, empty while they do."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.now: Mapping[str, Any] | None = None
        self.lost = "connecting"
        self._past: deque[Mapping[str, Any]] = deque(maxlen=WINDOW)

    @property
    def at(self) -> str:
        """The service's time of the newest figures, empty before the first."""
        return "" if self.now is None else str(self.now["at"])

    def take(self, figures: Mapping[str, Any]) -> bool:
        another = self.now is not None and self.now["started_at"] != figures["started_at"]
        if another or self.lost:
            self._past.clear()
        self.now, self.lost = figures, ""
        self._past.append(figures)
        return another

    def rate(self, name: str) -> str:
        """Return a total's growth per minute as text; empty before two figures."""
        if len(self._past) < 2:
            return ""
        first, last = self._past[0], self._past[-1]
        seconds = apart(first["at"], last["at"])
        grown = last["totals"].get(name, 0) - first["totals"].get(name, 0)
        return f"{60 * grown / seconds:,.0f}/m" if seconds > 0 else ""

    def lines(self, width: int, age: float, *, frozen: bool) -> list[Line]:
        """age: seconds since the connection was lost."""
        told = _PAUSED if frozen else ""
        if self.lost:
            told = f"NO CONNECTION {short(age)}" if self.now is not None else "NOT CONNECTED"
        if self.now is None:
            title = between(" Sanderling", f" {told} ", width)
            return [[(title, "bold")], line_of(f"{self.where}: {self.lost}", width, POOR)]
        now, sources = self.now, self.now["sources"]
        state = " DRAINED" if now["draining"] else ""
        title = f" Sanderling {now['version']}  up {span(apart(now['started_at'], now['at']))}{state}"
        counts = f" {told} " if told else f" sources {sources['total']:,}  {by_state(sources)} "
        return [[(between(title, counts, width), "reverse" if told else "bold")], self._second(now, width)]

    def _second(self, now: Mapping[str, Any], width: int) -> Line:
        if self.lost:
            return line_of(f"{self.where}: {self.lost.rstrip('.')}; trying again", width, BAD)
        if now["failing"]:
            says = "; ".join(f"{part}: {why}" for part, why in now["failing"].items())
            return line_of(f"NOT READY  {says}", width, BAD)
        if late := now.get("matching", {}).get("says"):
            return line_of(f"MATCHING LATE  {late}", width, BAD)
        totals, hooks = now["totals"], now["destinations"]
        parts = [
            f"events {totals.get('events', 0):,}" + (f" +{grown}" if (grown := self.rate("events")) else ""),
            f"checks {self.rate('looks') or '-'}",
            f"sent {self.rate('attempts') or '-'}",
            f"overdue {now['sources']['overdue']:,}",
            f"queued {sum(now['queues'].values()):,}",
            f"loop {now['loop_lag_s'] * 1000:.0f}ms",
            f"streams {now['streams']:,}",
        ]
        if hooks["backoff"] or hooks["quarantined"]:
            parts.insert(3, f"hooks down {hooks['backoff'] + hooks['quarantined']:,}")
        if now.get("looks", {}).get("says"):
            parts.insert(2, f"OVER BUDGET {now['looks']['budget']:g}/s for {now['looks']['passed_for_s']:.0f} s")
        return [(fit(_as_many_as_fit(parts, width), width), "")]


def _as_many_as_fit(parts: Sequence[str], width: int) -> str:
    """Join as many parts as fit whole.

    >>> _as_many_as_fit(["ab", "cd", "ef"], 8)
    ' ab  cd'
    """
    line = ""
    for part in parts:
        further = f"{line}{'  ' if line else ' '}{part}"
        if len(further) > width:
            break
        line = further
    return line


class EventTail:
    """The newest events; while paused, it collects and counts but does not show new ones."""

    def __init__(self) -> None:
        self.paused = False
        self.held = 0
        self._events: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._shown: Sequence[Mapping[str, Any]] = ()

    @property
    def shown(self) -> Sequence[Mapping[str, Any]]:
        return self._shown if self.paused else self._events

    def fill(self, past: Sequence[Mapping[str, Any]]) -> None:
        known = {event.get("id") for event in self._events}
        older = [event for event in past if event["id"] not in known]
        self._events.extendleft(reversed(older[-(KEPT - len(self._events)) :] if len(self._events) < KEPT else ()))
        if self.paused and not self.held:
            self._shown = tuple(self._events)

    def take(self, event: Mapping[str, Any]) -> None:
        self._events.append(event)
        self.held += self.paused

    def pause(self, on: bool) -> None:
        self._shown = tuple(self._events)
        self.paused, self.held = on, 0


LONGEST = 500


class Confirm:
    """Asks once; only `y` means yes, every other key no."""

    def __init__(self, question: str, answered: Callable[[bool], None]) -> None:
        self._question, self._answered = question, answered

    def press(self, key: str, sign: str) -> bool:
        self._answered(key == "y")
        return True

    def line(self, width: int) -> Line:
        says = "y yes, else no "
        return [(fit(f" {self._question}", width - len(says) - 1) + " ", "bold reverse"), (says, "reverse")]


class Ask:
    """Asks for a line of text. answered: receives it, or None on Escape. changed: receives every edit."""

    def __init__(
        self,
        label: str,
        text: str,
        hint: str,
        answered: Callable[[str | None], None],
        *,
        changed: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._label, self._hint = label, hint
        self._answered, self._changed = answered, changed
        self.text = text

    def press(self, key: str, sign: str) -> bool:
        if key in ("enter", "escape"):
            self._answered(self.text.strip() if key == "enter" else None)
            return True
        before = self.text
        match key:
            case "ctrl+u":
                self.text = ""
            case "ctrl+w":
                self.text = before[: before.rstrip().rfind(" ") + 1]
            case "backspace":
                self.text = before[:-1]
            case _ if sign.isprintable():
                self.text = (before + sign)[:LONGEST]
        if self.text != before:
            self._changed(self.text.strip())
        return False

    def line(self, width: int) -> Line:
        shown = self.text
        while cells(self._label) + cells(shown) >= width:
            shown = shown[1:]
        left = width - cells(self._label) - cells(shown) - 1
        hint = fit("" if self.text else f" {self._hint}", left)
        return [(self._label, "bold"), (shown, ""), (" ", "reverse"), (hint, "dim")]


Question = Confirm | Ask
"""The owner of the keyboard: `press` returns whether it is answered, `line` is its line for the foot."""

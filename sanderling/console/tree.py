"""The first screen: the supervision tree, or a flat list with the worst first, and the newest events.

Rows arrive in pages, visible ones refresh every second by path, and the order changes only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from sanderling.console import rows
from sanderling.console.lists import DeliveriesScreen, EventScreen, LogScreen, StreamsScreen, event_line
from sanderling.console.parts import ACT_KEYS, ActingView, PartScreen, row_lines
from sanderling.console.rows import SIZE, Fold, Row, RowCache
from sanderling.console.text import Ask, Line, Lines, Picks, between, key
from sanderling.exits import CommandFailed
from storage.records.tiers import TIERS

TREE = "/v1/admin/tree"
TROUBLE = "state:quar state:back state:fail state:rest state:rotten state:degraded"
TYPING = 0.15  # seconds of silence before a typed filter is sent
_LOW, _HIGH = 18, 34  # minimum screen heights for a small and a large tail


class TreeScreen(ActingView):
    """The supervision tree or list, above the event tail."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("slash", "filter", "filter", "show rows with these words, or state: host: tag: kind:"),
        key("colon", "jump", "go", "to a row by its number, into a part by its path, id or URL, to streams, log, ..."),
        key("t", "shape", "list", "the list, worst first; again: the tree"),
        key("s", "sort", "sort", "sort the rows again"),
        key("S", "order", "by", "sort by the next column", foot=False),
        key("enter", "enter", "detail", "details", shown="⏎"),
        key("right,l", "unfold", "unfold", "show the unhealthy rows of this part, then all; else details", foot=False),
        key("left,h", "fold", "fold", "show less of this part; from below it: go to it", foot=False),
        *ACT_KEYS[:2],
        key("d", "deliveries", "deliveries", "destinations and attempts"),
        *ACT_KEYS[2:],
        key("L", "log", "log", "the log lines of the service"),
        key("D", "drain", "drain", "pause or resume all checks", foot=False),
        key("space", "freeze", "freeze", "freeze or resume the display", foot=False),
        key("tab", "other", "events", "between the rows and the events", foot=False, shown="Tab"),
        key("p", "hold(True)", "hold", "hold the event tail", foot=False),
        key("f", "hold(False)", "follow", "resume the event tail", foot=False),
        key("0", "filtered('')", "all", "all rows", foot=False),
        key("1", f"filtered('{TROUBLE}')", "trouble", "only unhealthy rows", foot=False),
        key("2", "filtered('kind:part')", "system", "only the fixed parts", foot=False),
        key("escape", "back", "back", "all rows again", foot=False, shown="esc"),
    ]

    def __init__(self, *, flat: bool = False) -> None:
        super().__init__()
        self.book = RowCache()
        self.sort, self.words, self.flat = "worst", "", flat
        self.fold = Fold()
        self.picks = Picks(self._line, self._seen, empty=self._empty, id="rows")
        self.tail_picks = Picks(self._tail_line, empty=lambda: "No event yet.", shy=True, id="tail")
        self._typing = ""

    def middle(self) -> Sequence[Widget]:
        def tail_title(width: int, height: int) -> Sequence[Line]:
            tail = self.console_app.tail
            told = f" held, {tail.held:,} more, f follow ──" if tail.paused else " p hold ── tab ⏎ read ──"
            return [[(between("── events " + "─" * width, told, width).replace("…", "─"), "dim")]]

        def detail(width: int, height: int) -> Sequence[Line]:
            rule = [(between("── selected " + "─" * width, " ⏎ details ──", width).replace("…", "─"), "dim")]
            row = self.subject()
            return [rule] if row is None else [rule, *row_lines(row, self.now, width)]

        tail = (Lines(tail_title, id="tail-title"), self.tail_picks)
        return (Lines(self._heading, id="heading"), self.picks, Lines(detail, id="detail"), *tail)

    def on_mount(self) -> None:
        self.call_after_refresh(self.show_events)

    def on_resize(self, event: events.Resize) -> None:
        height = event.size.height
        self.tail_picks.styles.height = 0 if height < _LOW else 4 if height < _HIGH else 10
        self.tail_picks.display = self.query_one("#tail-title").display = height >= _LOW
        self.query_one("#detail").display = height >= _HIGH

    # --- drawing -------------------------------------------------------------------------------------------------

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        place = f"{self.picks.cursor + 1:,}/{self.book.total:,}" if self.book.total else "0"
        moved = f"{len(self.book.changed):,} changed, s sorts  " if self.book.changed else ""
        by = "worst first" if self.sort == "worst" else f"by {self.sort}"
        words = f" {'' if self.flat else 'tree, '}{by}"
        words = f" filter {self.words}  {words}" if self.words else words
        return [[(between(words, f" {moved}{place} ", width), "dim")], rows.table_at(width, self.sort).heading(width)]

    def _line(self, position: int, width: int) -> Line:
        if (row := self.book.row(position)) is None:
            return rows.line_of(None, width, rows.Context(self.now))
        path, below = str(row["path"]), self.book.row(position + 1)
        at = rows.Context(
            self.now,
            changed=path in self.book.changed,
            fold="" if self.words else self.fold.of(path),
            last="/" in path and (below is None or "/" not in below["path"]),
            tree=not self.flat,
        )
        return rows.line_of(row, width, at)

    def _empty(self) -> str:
        if self.book.stale:
            return "…"
        return "No row matches; esc shows all." if self.words else "There is nothing yet."

    def _tail_line(self, position: int, width: int) -> Line:
        shown = self.console_app.tail.shown
        return event_line(shown[position], width) if position < len(shown) else [(" " * width, "")]

    def show_events(self) -> None:
        """Follow the newest event unless the user is reading the tail."""
        if not self.is_mounted:
            return
        tail, picks = self.console_app.tail, self.tail_picks
        picks.count = len(tail.shown)
        picks.go(picks.cursor if tail.paused else picks.count - 1)

    # --- rows ----------------------------------------------------------------------------------------------------

    def connected(self) -> None:
        self._renew(self._here())

    def change(self, path: str) -> None:
        self.book.mark(path)

    def beat(self) -> None:
        if self.console_app.frozen:
            return
        self.redraw()
        first, last = self.picks.window
        paths = self.book.paths(first, last)
        if self.book.stale:
            self._seen(first, last)
        elif paths:
            self.ask_for("rows", partial(self._update, first, paths))

    async def _update(self, first: int, paths: list[str]) -> None:
        edition = self.book.edition
        found = await self.console_app.link.get(TREE, paths=paths)
        if edition == self.book.edition and not self.console_app.frozen:
            self.book.update(first, paths, found["rows"])
            self.redraw()

    def _seen(self, first: int, last: int) -> None:
        if not self.is_mounted or self.console_app.figures.lost:
            return
        for page in self.book.missing(first, last):
            self.run_worker(self._read(page), group="pages")
        self.query("#heading, #detail").refresh()
        self.offer()

    async def _read(self, page: int, keep: str = "") -> None:
        book = self.book
        edition = book.edition
        query = {**({} if self.flat else self.fold.query), "sort": self.sort, "filter": self.words}
        try:
            found = await self.console_app.link.get(TREE, start=page * SIZE, limit=SIZE, **query)
        except CommandFailed as error:
            book.unasked(page)
            self.failed(error)
            return
        first = book.put(edition, page, found["rows"], found["total"])
        if edition != book.edition:
            return
        self.picks.resize_to(book.total)
        if first and keep:
            self.picks.go(book.find(keep) or 0)
        self.redraw()

    def _renew(self, keep: str = "") -> None:
        """Request a new order; put the cursor on `keep` if it is near the top, else at the top."""
        self.book.renew()
        for page in self.book.missing(0, 0):
            self.run_worker(self._read(page, keep), group="pages")

    def _here(self) -> str:
        row = self.book.row(self.picks.cursor)
        return "" if row is None else str(row["path"])

    def subject(self) -> Row | None:
        return self.book.row(self.picks.cursor)

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_sort(self) -> None:
        self.picks.go(0)
        self._renew()

    def action_order(self) -> None:
        self.sort = rows.SORTS[(rows.SORTS.index(self.sort) + 1) % len(rows.SORTS)]
        self.action_sort()

    def action_shape(self) -> None:
        self.flat = not self.flat
        if self.flat:
            self.picks.go(0)
        self._renew("" if self.flat else self._here())

    def action_unfold(self) -> None:
        if self.flat or not self.fold.of(self._here()) or not self.fold.turn(self._here(), wider=True):
            self.action_enter()
        else:
            self._renew(self._here())

    def action_fold(self) -> None:
        path = self._here().partition("/")[0]
        if self.flat or self.words:
            self.action_back()
        elif "/" in self._here() and (place := self.book.find(path)) is not None:
            self.picks.go(place)
        elif "/" in self._here() or self.fold.of(path):
            self.fold.turn(path, wider=False)
            self._renew(path)

    def action_filter(self) -> None:
        hint = "words, state:quar host:shop tag:x kind:feed"
        before = self.words

        def answered(words: str | None) -> None:
            self.action_filtered(before if words is None else words)

        self.console_app.ask(Ask(" /", before, hint, answered, changed=self._typed))

    def _typed(self, words: str) -> None:
        self._typing = words

        def ripe() -> None:
            if self.console_app.question is not None and self._typing == words:
                self.action_filtered(words)

        self.set_timer(TYPING, ripe)

    def action_filtered(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.action_sort()

    def action_back(self) -> None:
        if self.tail_picks.has_focus:
            self.action_other()
        else:
            self.action_filtered("")

    def action_other(self) -> None:
        """Switch focus between rows and events; events are held while focused."""
        reading = self.tail_picks.has_focus
        self.console_app.tail.pause(not reading)
        (self.picks if reading or not self.tail_picks.display else self.tail_picks).focus()
        self.show_events()
        self.redraw()

    def action_jump(self) -> None:
        hint = "row number, path, id, part of a URL; destinations, streams, log, trouble, ..."
        self.console_app.ask(Ask(" :", "", hint, self._jumped))

    def _jumped(self, words: str | None) -> None:
        to: Mapping[str | None, Callable[[], None]] = {
            "destinations": self.action_deliveries,
            "log": self.action_log,
            "streams": lambda: self._go(StreamsScreen()),
            "sources": lambda: self.action_filtered(" ".join(f"kind:{tier}" for tier in TIERS)),
            "parts": lambda: self.action_filtered("kind:part"),
            "trouble": lambda: self.action_filtered(TROUBLE),
            "all": lambda: self.action_filtered(""),
        }
        if words in to:
            to[words]()
        elif words and words.replace(",", "").isdigit():
            self.picks.go(int(words.replace(",", "")) - 1)
        elif words:
            self.ask_for("jump", partial(self._find, words))

    async def _find(self, words: str) -> None:
        found = await self.console_app.link.get(TREE, filter=words[:500], sort="path", limit=1)
        exact: list[Any] = (await self.console_app.link.get(TREE, paths=[words[:60]]))["rows"]
        hits = exact or found["rows"]
        if not hits:
            self.notice(f"Nothing has {words} in its path, name, URL or error.")
        else:
            self._go(PartScreen(hits[0]["path"]))

    def _go(self, screen: Screen[None]) -> None:
        self.app.push_screen(screen)

    def action_enter(self) -> None:
        shown = self.console_app.tail.shown
        if not self.tail_picks.has_focus:
            if self._here():
                self._go(PartScreen(self._here()))
        elif self.tail_picks.cursor < len(shown) and "id" in (event := shown[self.tail_picks.cursor]):
            self._go(EventScreen(event))

    def action_deliveries(self) -> None:
        self._go(DeliveriesScreen())

    def action_log(self) -> None:
        self._go(LogScreen())

    def action_drain(self) -> None:
        figures = self.console_app.figures.now
        on = figures is None or not figures["draining"]
        question = "Pause all checks?" if on else "Resume all checks?"
        done = "All checks are paused; D resumes them." if on else "Checks are resumed."
        self.send(question, f"/v1/admin/{'drain' if on else 'resume'}", done)

    def action_freeze(self) -> None:
        self.console_app.freeze()
        self.redraw()
        self.beat()

    def action_hold(self, on: bool) -> None:
        self.console_app.tail.pause(on)
        self.show_events()
        self.redraw()

"""The first screen: the tree, worst first, and the newest events under it.

Rows come a page at a time, those in view are brought up to date each second by their paths, and the order changes only
when that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console import rows
from sanderling.console.lines import Lines, Picks, key
from sanderling.console.prompts import Ask
from sanderling.console.row_cache import SIZE, RowCache
from sanderling.console.text import Line, between
from sanderling.console.view import ACT_KEYS, View
from sanderling.exits import CommandFailed

TREE = "/v1/admin/tree"
SORTS = ("worst", "path", "next")
TROUBLE = "state:quar state:back state:fail state:rest state:rotten state:degraded"
_LOW, _HIGH = 18, 34
"""Heights of the screen from which on there is a small tail, and a large one."""


class TreeScreen(View):
    """The tree."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("slash", "filter", "filter", "only rows with these words, or state: host: tag: kind:"),
        key("colon", "jump", "go", "to a row by its number, or into a part by its path, id or URL"),
        key("s", "sort", "sort", "make the order anew"),
        key("S", "order", "order", "worst first, by path, or by what is next", foot=False),
        key("enter,l,right", "enter", "detail", "details", shown="⏎"),
        *ACT_KEYS[:2],
        key("d", "deliveries", "deliveries", "destinations and attempts"),
        key("o", "log", "log", "the log lines of the service"),
        *ACT_KEYS[2:],
        key("D", "drain", "drain", "make no more looks, or make them again", foot=False),
        key("space", "freeze", "freeze", "hold the picture, or let it go on", foot=False),
        key("p", "pause", "hold", "hold the event tail", foot=False),
        key("f", "follow", "follow", "let the event tail go on", foot=False),
        key("0", "preset('')", "all", "all rows", foot=False),
        key("1", f"preset('{TROUBLE}')", "trouble", "only what is not well", foot=False),
        key("2", "preset('kind:part')", "system", "only the fixed parts", foot=False),
        key("escape", "back", "back", "the whole tree again", foot=False, shown="esc"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.book = RowCache()
        self.sort, self.words = "worst", ""
        self.picks = Picks(self._line, self._seen, empty=self._empty, id="rows")

    def middle(self) -> Sequence[Widget]:
        """Return the rows with their heading, and the tail with its title."""
        return (
            Lines(self._heading, id="heading"),
            self.picks,
            Lines(self._tail_title, id="tail-title"),
            Lines(self._tail, id="tail"),
        )

    def on_mount(self) -> None:
        """Begin with the rows."""
        self.picks.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Give the tail a part of the room."""
        height = event.size.height
        self.query_one("#tail").styles.height = 0 if height < _LOW else 4 if height < _HIGH else 10
        self.query_one("#tail-title").display = height >= _LOW

    # --- drawing -------------------------------------------------------------------------------------------------

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        place = f"{self.picks.cursor + 1:,}/{self.book.total:,}" if self.book.total else "0"
        moved = f"{len(self.book.changed):,} changed, s sorts  " if self.book.changed else ""
        words = (
            f" filter {self.words}"
            if self.words
            else f" {self.sort} first"
            if self.sort == "worst"
            else f" by {self.sort}"
        )
        return [[(between(words, f" {moved}{place} ", width), "dim")], rows.heading(width)]

    def _line(self, position: int, width: int) -> Line:
        row = self.book.row(position)
        return rows.line_of(row, width, self.now, changed=row is not None and row["path"] in self.book.changed)

    def _empty(self) -> str:
        if self.book.stale:
            return "…"
        return "Nothing is like that; esc shows all." if self.words else "There is nothing yet."

    def _tail_title(self, width: int, height: int) -> Sequence[Line]:
        tail = self.console_app.tail
        told = f" held, {tail.held:,} more, f follow ──" if tail.paused else " p hold ──"
        return [[(between("── events " + "─" * width, told, width).replace("…", "─"), "dim")]]

    def _tail(self, width: int, height: int) -> Sequence[Line]:
        return self.console_app.tail.lines(width, height)

    # --- rows ----------------------------------------------------------------------------------------------------

    def connected(self) -> None:
        """Want the order of this life of the service; the cursor stays on its part."""
        self._renew(self._here())

    def change(self, path: str) -> None:
        self.book.mark(path)

    def beat(self) -> None:
        """Bring what is in view up to date."""
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
        self.query_one("#heading").refresh()

    async def _read(self, page: int, keep: str = "") -> None:
        book = self.book
        edition, query = book.edition, {"sort": self.sort, "filter": self.words}
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
        """Want a new order, with the cursor on a part that is near its top, else at the top."""
        self.book.renew()
        for page in self.book.missing(0, 0):
            self.run_worker(self._read(page, keep), group="pages")

    def _here(self) -> str:
        row = self.book.row(self.picks.cursor)
        return "" if row is None else str(row["path"])

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_sort(self) -> None:
        """Make the order anew, and go to its top."""
        self.picks.go(0)
        self._renew()

    def action_order(self) -> None:
        """Take the next of the orders."""
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        self.action_sort()

    def action_filter(self) -> None:
        hint = "words, state:quar host:shop tag:x kind:feed"
        self.app.push_screen(Ask(" /", self.words, hint), self._filtered)

    def _filtered(self, words: str | None) -> None:
        if words is not None and words != self.words:
            self.words = words
            self.action_sort()

    def action_preset(self, words: str) -> None:
        """Take a filter that is often wanted."""
        self._filtered(words)

    def action_back(self) -> None:
        """Show the whole tree again."""
        self._filtered("")

    def action_jump(self) -> None:
        """Ask where to go."""
        self.app.push_screen(Ask(" :", "", "row number, path, id, a name or a part of a URL"), self._jumped)

    def _jumped(self, words: str | None) -> None:
        if words and words.replace(",", "").isdigit():
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
            self.console_app.show_part(hits[0]["path"])

    def action_enter(self) -> None:
        """Show the part under the cursor."""
        if self._here():
            self.console_app.show_part(self._here())

    def action_act(self, name: str) -> None:
        """Do something to the part under the cursor."""
        self.act(self.book.row(self.picks.cursor), name)

    def action_deliveries(self) -> None:
        self.console_app.show_deliveries()

    def action_log(self) -> None:
        self.console_app.show_log("")

    def action_drain(self) -> None:
        """Drain the service, or let it go on."""
        figures = self.console_app.figures.now
        on = figures is None or not figures["draining"]
        question = "Make no more looks until told otherwise?" if on else "Make looks again?"

        async def run() -> str:
            await self.console_app.link.post(f"/v1/admin/{'drain' if on else 'resume'}")
            return "No more looks are made; D lets them go on." if on else "Looks are made again."

        self.confirmed(question, run)

    def action_freeze(self) -> None:
        """Hold the picture, or let it go on."""
        self.console_app.freeze()
        self.redraw()
        self.beat()

    def action_pause(self) -> None:
        """Hold the event tail."""
        self.console_app.tail.pause(True)
        self.redraw()

    def action_follow(self) -> None:
        """Let the event tail go on."""
        self.console_app.tail.pause(False)
        self.redraw()

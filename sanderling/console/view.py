"""The connection to the service (on asyncio), and the base of all screens: figures at the top, keys at the foot, a way
back, requests, and confirmed actions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, cast

import msgspec
from httpx_sse import ServerSentEvent
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from sanderling.client.api import Client
from sanderling.console import text as ui
from sanderling.exits import CommandFailed

FEED = "/v1/admin/feed"
SILENCE = 6.0  # the feed counts as cut after so many seconds without a byte; it ticks every second
FIRST_WAIT, LONGEST_WAIT = 0.5, 5.0


class Link:
    """A client and a connection per request. take: gets the feed's names, `connected`, and `lost` with the reason."""

    def __init__(self, client: Client, take: Callable[[str, Any], None]) -> None:
        self._client, self._take = client, take

    async def follow(self) -> None:
        wait = FIRST_WAIT
        while True:
            heard = False

            def take(event: ServerSentEvent) -> None:
                nonlocal heard
                if not heard:
                    self._take("connected", None)
                heard = True
                self._take(event.event, msgspec.json.decode(event.data))

            try:
                await self._client.listen(FEED, take, SILENCE)
                why = "the service closed the connection"
            except CommandFailed as error:
                why = reason(error)
            self._take("lost", why)
            wait = FIRST_WAIT if heard else min(LONGEST_WAIT, 2 * wait)
            await asyncio.sleep(wait)

    async def get(self, path: str, **query: Any) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("GET", path, params=query)).json()

    async def send(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("POST", path, json=body)).json()

    async def aclose(self) -> None:
        await self._client.aclose()


def reason(error: CommandFailed) -> str:
    """Return why a request failed, without the address and the command line's advice."""
    line = error.message.partition(" Start it:")[0].partition("\n")[0]
    head, told, rest = line.partition(" can't be reached: ")
    return rest if told and head.startswith("http") else line


BACK = ui.key("escape,left,h", "back", "back", "go back", shown="esc")


class Console(Protocol):
    """The part of the program that screens share. age: seconds since the connection was lost, 0 while connected."""

    link: Link
    figures: ui.Figures
    tail: ui.EventTail
    frozen: bool
    question: ui.Question | None

    @property
    def age(self) -> float: ...
    def ask(self, question: ui.Question) -> None: ...
    def freeze(self) -> None: ...


class View(Screen[None]):
    """A screen. EVERY: beats between two reads while visible; 0: it reads only when opened, and when reconnected."""

    EVERY: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self._asking: set[str] = set()
        self._beats = 0

    @property
    def console_app(self) -> Console:
        return cast("Console", self.app)

    @property
    def now(self) -> str:
        return self.console_app.figures.at

    def compose(self) -> ComposeResult:
        def figures(width: int, height: int) -> Sequence[ui.Line]:
            return self.console_app.figures.lines(width, self.console_app.age, frozen=self.console_app.frozen)

        yield ui.Lines(figures, id="figures")
        yield from self.middle()
        yield ui.Foot()

    def middle(self) -> Sequence[Widget]:
        raise NotImplementedError

    async def read(self) -> None:
        """Raises CommandFailed."""

    def on_mount(self) -> None:
        self.query("Picks, Reading").first().focus()
        self.ask_for("read", self.read)

    def on_screen_suspend(self) -> None:
        """Remove the notice: it was about this screen."""
        for foot in self.query(ui.Foot):
            foot.clear()

    def connected(self) -> None:
        self.ask_for("read", self.read)

    def beat(self) -> None:
        """Show new data: every second, and whenever there is something new. Not called while disconnected."""
        if self.EVERY:
            self.redraw()
            if self._beats % self.EVERY == 0:
                self.ask_for("read", self.read)
            self._beats += 1

    def change(self, path: str) -> None:
        """A part changed its state."""

    def show_events(self) -> None:
        """The tail has other events."""

    def redraw(self) -> None:
        for lines in self.query(ui.Lines):
            lines.refresh()

    def offer(self) -> None:
        for foot in self.query(ui.Foot):
            foot.refresh()

    def notice(self, text: str, style: str = "bold") -> None:
        self.query_one(ui.Foot).notice(text, style)

    # --- requests and actions ------------------------------------------------------------------------------------

    def ask_for(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start a request unless one of that name is running, so that a slow service is not flooded."""
        if name in self._asking:
            return
        self._asking.add(name)

        async def run() -> None:
            try:
                await self._tried(work)
            finally:
                self._asking.discard(name)

        self.run_worker(run())

    async def _tried(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except CommandFailed as error:
            self.failed(error)

    def failed(self, error: CommandFailed) -> None:
        """Show an error, unless the connection is lost: the figures already report that."""
        if not self.console_app.figures.lost:
            self.notice(reason(error), ui.BAD)

    def confirmed(self, question: str, work: Callable[[], Awaitable[str]]) -> None:
        async def run() -> None:
            self.notice(await work())

        def answered(yes: bool) -> None:
            if yes:
                self.run_worker(self._tried(run))

        self.console_app.ask(ui.Confirm(question, answered))

    def send(self, question: str, path: str, done: str) -> None:
        async def run() -> str:
            await self.console_app.link.send(path)
            await self.read()
            self.beat()
            return done

        self.confirmed(question, run)

    def action_back(self) -> None:
        self.app.pop_screen()

    # --- the subject ---------------------------------------------------------------------------------------------

    def subject(self) -> Mapping[str, Any] | None:
        return None


class ReadingView(View):
    """A screen of lines to scroll."""

    def middle(self) -> Sequence[Widget]:
        return (ui.Reading(self.whole, id="reading"),)

    def whole(self, width: int) -> Sequence[ui.Line]:
        raise NotImplementedError


class PageScreen(ReadingView):
    """A page made from one answer of the service. name: shown until it arrives."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def __init__(self, name: str, path: str, page: Callable[[Any, int], Sequence[ui.Line]], **query: Any) -> None:
        super().__init__()
        self._name, self._path, self._page, self._query = name, path, page, query
        self.answer: Any = None

    async def read(self) -> None:
        self.answer = await self.console_app.link.get(self._path, **self._query)
        self.redraw()

    def whole(self, width: int) -> Sequence[ui.Line]:
        if self.answer is None:
            return [ui.line_of(f"{self._name} …", width, "dim")]
        return self._page(self.answer, width)


class ListView(View):
    """A screen with a row per thing under a title and a heading. NONE: shown without rows."""

    TABLE: ClassVar[ui.Table] = ui.Table()
    HEADLINE: ClassVar[str] = ""
    NONE: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Mapping[str, Any]] | None = None
        self.picks = ui.Picks(self._line, self._seen, empty=lambda: "…" if self.rows is None else self.NONE, id="rows")

    def middle(self) -> Sequence[Widget]:
        return (ui.Lines(self._heading, id="heading"), self.picks)

    def show(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows
        self.picks.resize_to(len(rows))
        self.redraw()

    def here(self) -> Mapping[str, Any] | None:
        return self.rows[self.picks.cursor] if self.rows and self.picks.cursor < len(self.rows) else None

    def table(self, width: int) -> ui.Table:
        return self.TABLE

    def headline(self) -> str:
        return self.HEADLINE

    def place(self) -> str:
        return f"{self.picks.cursor + 1}/{len(self.rows)} " if self.rows else "0 "

    def _heading(self, width: int, height: int) -> Sequence[ui.Line]:
        return [[(ui.between(f" {self.headline()}", self.place(), width), "dim")], self.table(width).heading(width)]

    def _line(self, position: int, width: int) -> ui.Line:
        return self.table(width).line((self.rows or ())[position], width, self.now)

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.offer()

"""The base of all screens: figures at the top, keys at the foot, a way back, and confirmed actions."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from sanderling.console.acts import ACTS, OF_A_PART, is_source, possible
from sanderling.console.foot import Foot
from sanderling.console.lines import Lines, key
from sanderling.console.link import reason
from sanderling.console.prompts import Confirm
from sanderling.console.text import Line
from sanderling.console.words import BAD
from sanderling.environment import environ
from sanderling.exits import CommandFailed

if TYPE_CHECKING:
    from sanderling.console.app import Console

BACK = key("escape,left,h", "back", "back", "back to where you came from", shown="esc")
COPY_KEYS: list[BindingType] = [
    key("y", "copy('name')", "copy", "copy its URL (OSC 52: the terminal must allow it)"),
    key("Y", "copy('id')", "copy id", "copy its id, or its path", foot=False),
    key("o", "open", "open", "open its URL in the browser, or show it where there is none"),
]
ACT_KEYS: list[BindingType] = [
    key("r", "act('restart')", "restart", "restart it"),
    key("c", "act('check')", "check", "look at a source now, within what politeness allows"),
    key("u", "act('release')", "release", "end a quarantine, or the wait after a crash"),
    key("e", "act('disable')", "pause", "pause a source"),
    key("e", "act('enable')", "resume", "resume a source"),
    key("x", "why", "why", "why a source told something, or nothing"),
    *COPY_KEYS,
]
WEB = ("https://", "http://")


class View(Screen[None]):
    """A screen. `beat` runs every second and whenever there is something new."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self._asking: set[str] = set()

    def on_screen_suspend(self) -> None:
        """Remove the notice: it was about this screen."""
        for foot in self.query(Foot):
            foot.clear()

    @property
    def console_app(self) -> Console:
        return cast("Console", self.app)

    def compose(self) -> ComposeResult:
        yield Lines(self._figures, id="figures")
        yield from self.middle()
        yield Foot()

    def middle(self) -> Sequence[Widget]:
        """Return the widgets between figures and foot."""
        raise NotImplementedError

    def beat(self) -> None:
        """Show new data. Not called while the connection is lost."""

    def change(self, path: str) -> None:
        """A part changed its state."""

    def told(self) -> None:
        """The tail has other events."""

    def connected(self) -> None:
        """The feed is connected, for the first time or again."""

    def redraw(self) -> None:
        for lines in self.query(Lines):
            lines.refresh()

    def _figures(self, width: int, height: int) -> Sequence[Line]:
        app = self.console_app
        return app.figures.lines(width, app.age, frozen=app.frozen)

    @property
    def now(self) -> str:
        """The service's time."""
        return self.console_app.figures.at

    def notice(self, text: str, style: str = "bold") -> None:
        self.query_one(Foot).notice(text, style)

    def action_back(self) -> None:
        self.app.pop_screen()

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
            self.notice(reason(error), BAD)

    def confirmed(self, question: str, work: Callable[[], Awaitable[str]]) -> None:
        """Ask for confirmation, do the work, and show the result."""

        async def run() -> None:
            self.notice(await work())

        def answered(yes: bool) -> None:
            if yes:
                self.run_worker(self._tried(run))

        self.console_app.ask(Confirm(question, answered))

    def offer(self) -> None:
        """Refresh the keys at the foot."""
        for foot in self.query(Foot):
            foot.refresh()

    def subject(self) -> Mapping[str, Any] | None:
        """Return the row to act on; None without one."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable an action only if it is possible now."""
        row = self.subject()
        match action:
            case "act":
                return parameters[0] in possible(row)
            case "why":
                return row is not None and is_source(row)
            case "open":
                return row is not None and bool(row["name"])
            case "copy":
                return row is not None
        return True

    def action_act(self, name: str) -> None:
        """Run one of ACTS on the subject after confirmation."""
        row = self.subject()
        if row is None:
            return
        question, done = ACTS[name]
        if name == "restart" and row["kind"] == "part":
            question = OF_A_PART
        path, who = row["path"], row.get("title") or row["name"] or row["path"]

        async def run() -> str:
            await self.console_app.link.post(f"/v1/admin/tree/{path}/{name}")
            self.beat()
            return f"{who}: {done}"

        self.confirmed(f"{question}?  {who}", run)

    def action_why(self) -> None:
        row = self.subject()
        if row is not None:
            self.console_app.show_why(row)

    def action_copy(self, what: str) -> None:
        """Copy the URL or id through the terminal's clipboard."""
        row = self.subject()
        if row is not None:
            id = str(row["path"]).rpartition("/")[2]
            text = str(row["name"] or id) if what == "name" else id
            self.app.copy_to_clipboard(text)
            self.notice(f"Copied {text}")

    def action_open(self) -> None:
        """Open the URL if there is a graphical browser; a text browser would overwrite this screen."""
        row = self.subject()
        if row is None:
            return
        url = str(row["name"])
        if has_browser(environ()) and url.startswith(WEB):
            self.app.open_url(url)
            self.notice(f"Opened {url}")
        else:
            self.notice(f"{url}  (there is no browser here; y copies it)")


def has_browser(variables: Mapping[str, str]) -> bool:
    """Return whether a browser would open its own window."""
    return sys.platform == "darwin" or bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))

"""The base of all screens: the figures at the top, the keys at the foot, a way back, and acts that ask first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from sanderling.console.foot import Foot
from sanderling.console.lines import Lines, key
from sanderling.console.link import reason
from sanderling.console.prompts import Confirm
from sanderling.console.text import Line
from sanderling.console.words import BAD
from sanderling.exits import CommandFailed

if TYPE_CHECKING:
    from sanderling.console.app import Console

BACK = key("escape,left,h", "back", "back", "back to where you came from", shown="esc")
ACTS: dict[str, tuple[str, str]] = {
    "check": ("Look at it now", "a look is on its way"),
    "restart": ("Restart it", "it was restarted"),
    "release": ("Let it try again at once", "released"),
    "disable": ("Pause it", "paused"),
    "enable": ("Resume it", "resumed"),
}
"""What can be done to a part: the question, and what is said afterwards."""
OF_A_PART = "Restart it, and all that was started after it"
ACT_KEYS: list[BindingType] = [
    key("r", "act('restart')", "restart", "restart it"),
    key("c", "act('check')", "check", "look at a source now, within what politeness allows"),
    key("u", "act('release')", "release", "end a quarantine, or the wait after a crash"),
    key("e", "act('able')", "pause", "pause a source, or resume it"),
]


class View(Screen[None]):
    """A screen. `beat` comes once a second, and whenever something is new."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self._asking: set[str] = set()

    @property
    def console_app(self) -> Console:
        return cast("Console", self.app)

    def compose(self) -> ComposeResult:
        """Make the lines at the top, what is between, and the foot."""
        yield Lines(self._figures, id="figures")
        yield from self.middle()
        yield Foot()

    def middle(self) -> Sequence[Widget]:
        """Return what is between the figures and the foot."""
        raise NotImplementedError

    def beat(self) -> None:
        """Show what is new. Not called while the connection is lost, but for the figures' age."""

    def change(self, path: str) -> None:
        """Hear that a part has changed its state."""

    def connected(self) -> None:
        """Hear that the feed stands, for the first time or again."""

    def redraw(self) -> None:
        """Draw anew what is there."""
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
        """Say something at the foot."""
        self.query_one(Foot).notice(text, style)

    def action_back(self) -> None:
        self.app.pop_screen()

    # --- asking and acting ---------------------------------------------------------------------------------------

    def ask_for(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Ask the service for something, unless that is being asked already: who is slow is not asked ever anew."""
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
        """Say what went wrong. While the connection is lost the figures say it already."""
        if not self.console_app.figures.lost:
            self.notice(reason(error), BAD)

    def confirmed(self, question: str, work: Callable[[], Awaitable[str]]) -> None:
        """Ask whether it is meant, do it, and say what came of it."""

        async def run() -> None:
            self.notice(await work())

        def answered(yes: bool | None) -> None:
            if yes:
                self.run_worker(self._tried(run))

        self.app.push_screen(Confirm(question), answered)

    def act(self, row: Mapping[str, Any] | None, name: str) -> None:
        """Ask for, and do, one of ACTS to the part of a row; `able`: whichever of disable and enable changes it."""
        if row is None:
            return
        if name == "able":
            name = "enable" if row["state"] == "paused" else "disable"
        question, done = ACTS[name]
        if name == "restart" and row["kind"] == "part":
            question = OF_A_PART
        path, who = row["path"], row.get("title") or row["name"] or row["path"]

        async def run() -> str:
            await self.console_app.link.post(f"/v1/admin/tree/{path}/{name}")
            self.beat()
            return f"{who}: {done}"

        self.confirmed(f"{question}?  {who}", run)

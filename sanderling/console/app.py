"""The program: one connection, one set of figures, and the screens over them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from sanderling.client.api import Client
from sanderling.console.delivery_screens import DeliveriesScreen
from sanderling.console.event_lines import EventTail
from sanderling.console.figures import Figures
from sanderling.console.foot import bindings_of
from sanderling.console.help_screen import HelpScreen
from sanderling.console.lines import key
from sanderling.console.link import Link
from sanderling.console.log_screen import LogScreen
from sanderling.console.part_screen import PartScreen
from sanderling.console.tree_screen import TreeScreen
from sanderling.console.view import View

STYLE = """
Screen { background: ansi_default; color: ansi_default; overflow: hidden; }
Lines { height: 1fr; width: 1fr; text-wrap: nowrap; text-overflow: clip; pointer: default; }
#figures { height: 2; }
#heading { height: 2; }
#title, #tail-title, #foot { height: 1; }
#tail { height: 4; }
#attempt { height: 4; }
.lost #rows, .lost #reading, .lost #tail, .lost #attempt { text-style: dim; }
ModalScreen { background: transparent; }
#ask { dock: bottom; height: 1; background: ansi_default; }
#label { height: 1; }
#field, #field:focus { width: 1fr; height: 1; background: ansi_default; color: ansi_default; }
#confirm { dock: bottom; height: 1; }
"""


class Console(App[int]):
    """where: what the client is connected to, in words."""

    CSS = STYLE
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        key("question_mark", "help", "help", "this help", shown="?"),
        key("q", "quit", "quit", "leave; the service goes on"),
    ]

    def __init__(self, client: Client, where: str) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.figures = Figures(where)
        self.tail = EventTail()
        self.frozen = False
        self._missed = False
        self.link = Link(client, self)
        self._lost_at: float | None = None

    @property
    def age(self) -> float:
        """Seconds since the connection was lost, 0 while it stands."""
        return 0.0 if self._lost_at is None else asyncio.get_running_loop().time() - self._lost_at

    def get_default_screen(self) -> Screen[None]:
        """Begin with the tree."""
        return TreeScreen()

    def on_mount(self) -> None:
        self.run_worker(self.link.follow(), name="feed", group="feed")
        self.set_interval(1.0, self._grow_old)

    async def on_unmount(self) -> None:
        """Close the connections."""
        await self.link.aclose()

    def views(self) -> list[View]:
        """Return the screens of the stack that show the service, the top one last."""
        return [screen for screen in self.screen_stack if isinstance(screen, View)]

    def _grow_old(self) -> None:
        if self.figures.lost and self.views():
            self.views()[-1].query_one("#figures").refresh()

    # --- what the feed says --------------------------------------------------------------------------------------

    def connected(self) -> None:
        """Have every screen read anew what it shows."""
        self._lost_at, self.figures.lost = None, ""
        for view in self.views():
            view.remove_class("lost")
            view.redraw()
        self._missed = self.frozen
        if not self.frozen:
            self.call_later(self._renew)

    def freeze(self) -> None:
        """Hold the picture, or let it go on: anew, when the service has been away meanwhile."""
        self.frozen = not self.frozen
        self.tail.pause(self.frozen)
        if not self.frozen and self._missed:
            self._missed = False
            self._renew()

    def _renew(self) -> None:
        for view in self.views():
            view.connected()

    def lost(self, why: str) -> None:
        """Keep the picture, dimmed, and say how old it is."""
        if self._lost_at is None:
            self._lost_at = asyncio.get_running_loop().time()
        self.figures.lost = why
        for view in self.views():
            view.add_class("lost")
            view.redraw()

    def counts(self, figures: Mapping[str, Any]) -> None:
        """Take a second's figures; unless frozen, the top screen shows what is new."""
        if self.frozen:
            return
        self.figures.take(figures)
        if self.views():
            self.views()[-1].beat()

    def change(self, path: str) -> None:
        for view in self.views():
            view.change(path)

    def event(self, told: Mapping[str, Any]) -> None:
        """Take an event into the tail."""
        self.tail.take(told)

    # --- where to go ---------------------------------------------------------------------------------------------

    def show_part(self, path: str) -> None:
        self.push_screen(PartScreen(path))

    def show_log(self, path: str) -> None:
        """Show the log lines of a part, or of all."""
        self.push_screen(LogScreen(path))

    def show_deliveries(self) -> None:
        self.push_screen(DeliveriesScreen())

    def action_help(self) -> None:
        """Show what the keys of this screen do."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(bindings_of(self.screen)))


def run(client: Client, where: str) -> int:
    """Run the console on this terminal until it is left; return the exit code."""
    return Console(client, where).run(mouse=False) or 0

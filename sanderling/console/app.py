"""The program: one connection, one set of figures, and the screens over them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from sanderling.client.api import Client
from sanderling.console.alert_screens import AlertsScreen
from sanderling.console.delivery_screens import DeliveriesScreen
from sanderling.console.event_lines import EventTail
from sanderling.console.event_screen import EventScreen
from sanderling.console.figures import Figures
from sanderling.console.foot import bindings_of
from sanderling.console.help_screen import HelpScreen
from sanderling.console.lines import key
from sanderling.console.link import Link
from sanderling.console.log_screen import LogScreen
from sanderling.console.open_screens import KeysScreen, StreamsScreen
from sanderling.console.part_screen import PartScreen
from sanderling.console.prompts import LONGEST, Question
from sanderling.console.tree_screen import TreeScreen
from sanderling.console.view import View
from sanderling.console.why_screen import WhyScreen
from sanderling.exits import CommandFailed

STYLE = """
Screen { background: ansi_default; color: ansi_default; overflow: hidden; }
Lines { height: 1fr; width: 1fr; text-wrap: nowrap; text-overflow: clip; pointer: default; }
#figures { height: 2; }
#heading { height: 2; }
#title, #tail-title, #foot { height: 1; }
#tail { height: 4; }
#attempt { height: 4; }
.lost #rows, .lost #reading, .lost #tail, .lost #attempt { text-style: dim; }
"""
PAST = 10
"""Events from before that the tail begins with."""
PASTED = {"/": "filter", ":": "jump"}
"""Signs at the beginning of a pasted text that ask for something. No other letter of it is run as a command."""


class Console(App[int]):
    """where: what the client is connected to, in words. flat: begin with the list, worst first, not with the tree."""

    CSS = STYLE
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        key("question_mark", "help", "help", "this help", shown="?"),
        key("q", "quit", "quit", "leave; the service goes on"),
    ]

    def __init__(self, client: Client, where: str, *, flat: bool = False) -> None:
        super().__init__(ansi_color=True)
        self._flat = flat
        self.theme = "ansi-dark"
        self.figures = Figures(where)
        self.tail = EventTail()
        self.frozen = False
        self.question: Question | None = None
        self._missed = False
        self.link = Link(client, self)
        self._lost_at: float | None = None

    @property
    def age(self) -> float:
        """Seconds since the connection was lost, 0 while it stands."""
        return 0.0 if self._lost_at is None else asyncio.get_running_loop().time() - self._lost_at

    def get_default_screen(self) -> Screen[None]:
        """Begin with the tree."""
        return TreeScreen(flat=self._flat)

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

    # --- the keyboard --------------------------------------------------------------------------------------------

    def ask(self, question: Question) -> None:
        """Give the keyboard to a question until it is answered."""
        self.question = question
        self._foot()

    def on_key(self, event: events.Key) -> None:
        """Hand a key to the question that is asked; without one it does what it is bound to."""
        if self.question is not None:
            event.prevent_default()
            self._typed(event.key, event.character or "")

    async def on_paste(self, event: events.Paste) -> None:
        """Take what is pasted as if it were typed where something is asked, and else only what begins a question."""
        text = event.text[:LONGEST]
        if self.question is None and text[:1] in PASTED:
            await self.run_action(f"screen.{PASTED[text[0]]}")
            text = text[1:]
        for sign in text:
            if self.question is not None:
                self._typed("enter" if sign in "\r\n" else sign, sign)

    def _typed(self, key: str, sign: str) -> None:
        asked = self.question
        if asked is not None and asked.press(key, sign) and self.question is asked:
            self.question = None
        self._foot()

    def _foot(self) -> None:
        for view in self.views()[-1:]:
            view.offer()

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
        self.run_worker(self._past(), group="past", exclusive=True)

    async def _past(self) -> None:
        """Fill the tail with the newest events from before; whose key may not read them begins with none."""
        try:
            found = await self.link.get("/v1/events", order="desc", limit=PAST)
        except CommandFailed:
            return
        self.tail.fill(found["events"][::-1])
        for view in self.views():
            view.told()

    def freeze(self) -> None:
        """Hold the picture, or let it go on: anew, when the service has been away meanwhile."""
        self.frozen = not self.frozen
        self.tail.pause(self.frozen)
        for view in self.views():
            view.told()
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
        for view in self.views()[-1:]:
            view.told()

    # --- where to go ---------------------------------------------------------------------------------------------

    def show_part(self, path: str) -> None:
        self.push_screen(PartScreen(path))

    def show_log(self, path: str) -> None:
        """Show the log lines of a part, or of all."""
        self.push_screen(LogScreen(path))

    def show_deliveries(self) -> None:
        self.push_screen(DeliveriesScreen())

    def show_why(self, row: Mapping[str, Any]) -> None:
        self.push_screen(WhyScreen(row))

    def show_event(self, event: Mapping[str, Any]) -> None:
        self.push_screen(EventScreen(event))

    def show_alerts(self) -> None:
        self.push_screen(AlertsScreen())

    def show_streams(self) -> None:
        """Show the open streams of this node."""
        self.push_screen(StreamsScreen())

    def show_keys(self) -> None:
        """Show the API keys."""
        self.push_screen(KeysScreen())

    def action_help(self) -> None:
        """Show what the keys of this screen do."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(bindings_of(self.screen)))


def run(client: Client, where: str, *, flat: bool = False) -> int:
    """Run the console on this terminal until it is left; return the exit code."""
    return Console(client, where, flat=flat).run(mouse=False) or 0

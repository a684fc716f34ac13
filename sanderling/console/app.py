"""The program: one connection, one set of figures, and the screens over them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sanderling.client.api import Client
from sanderling.console import text as ui
from sanderling.console.tree import TreeScreen
from sanderling.console.view import BACK, Link, ReadingView, View
from sanderling.exits import CommandFailed
from storage.records.source import HEALTH, LOOKS, PARTS, State

PAST = 10  # past events that the tail begins with
PASTED = {"/": "filter", ":": "jump"}
"""First characters of pasted text that open a prompt. No other pasted character runs as a command."""


class ConsoleApp(App[int]):
    """where: a label for the connection. flat: begin with the list, worst first, instead of the tree."""

    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ui.key("question_mark", "help", "help", "this help", shown="?"),
        ui.key("q", "quit", "quit", "quit; the service keeps running"),
    ]

    def __init__(self, client: Client, where: str, *, flat: bool = False) -> None:
        super().__init__(ansi_color=True)
        self._flat = flat
        self.theme = "ansi-dark"
        self.figures = ui.Figures(where)
        self.tail = ui.EventTail()
        self.frozen = False
        self.question: ui.Question | None = None
        self._missed = False
        self.link = Link(client, self._take)
        self._lost_at: float | None = None

    @property
    def age(self) -> float:
        """Seconds since the connection was lost, 0 while connected."""
        return 0.0 if self._lost_at is None else asyncio.get_running_loop().time() - self._lost_at

    def get_default_screen(self) -> Screen[None]:
        return TreeScreen(flat=self._flat)

    def on_mount(self) -> None:
        self.run_worker(self.link.follow(), name="feed", group="feed")

        def grow_old() -> None:
            if self.figures.lost and self.views():
                self.views()[-1].query_one("#figures").refresh()

        self.set_interval(1.0, grow_old)

    async def on_unmount(self) -> None:
        await self.link.aclose()

    def views(self) -> list[View]:
        return [screen for screen in self.screen_stack if isinstance(screen, View)]

    # --- the keyboard --------------------------------------------------------------------------------------------

    def ask(self, question: ui.Question) -> None:
        self.question = question
        self._foot()

    def on_key(self, event: events.Key) -> None:
        """Pass a key to the open question; otherwise its binding runs."""
        if self.question is not None:
            event.prevent_default()
            self._typed(event.key, event.character or "")

    async def on_paste(self, event: events.Paste) -> None:
        """Type pasted text into the open question; otherwise only a first character may open one."""
        text = event.text[: ui.LONGEST]
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

    # --- the feed ------------------------------------------------------------------------------------------------

    def _connected(self) -> None:
        self._lost_at, self.figures.lost = None, ""
        for view in self.views():
            view.remove_class("lost")
            view.redraw()
        self._missed = self.frozen
        if not self.frozen:
            self.call_later(self._renew)
        self.run_worker(self._past(), group="past", exclusive=True)

    async def _past(self) -> None:
        """Fill the tail with past events; leave it empty if the key may not read them."""
        try:
            found = await self.link.get("/v1/events", order="desc", limit=PAST)
        except CommandFailed:
            return
        self.tail.fill(found["events"][::-1])
        for view in self.views():
            view.show_events()

    def freeze(self) -> None:
        """Freeze or resume the display; reload if the service was away in between."""
        self.frozen = not self.frozen
        self.tail.pause(self.frozen)
        for view in self.views():
            view.show_events()
        if not self.frozen and self._missed:
            self._missed = False
            self._renew()

    def _renew(self) -> None:
        for view in self.views():
            view.connected()

    def _take(self, name: str, told: Any) -> None:
        views = self.views()
        match name:
            case "connected":
                self._connected()
            case "lost":
                if self._lost_at is None:
                    self._lost_at = asyncio.get_running_loop().time()
                self.figures.lost = told
                for view in views:
                    view.add_class("lost")
                    view.redraw()
            case "counts" if not self.frozen:
                self.figures.take(told)
                for view in views[-1:]:
                    view.beat()
            case "change":
                for view in views:
                    view.change(str(told["path"]))
            case "event" | "skipped" if name == "event" or told["of"] == "event":
                self.tail.take(told)
                for view in views[-1:]:
                    view.show_events()

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(ui.bindings_of(self.screen)))


class HelpScreen(ReadingView):
    """Every key of the screen below, from its real bindings, and the meaning of letters and marks."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def __init__(self, bindings: Sequence[Binding]) -> None:
        super().__init__()
        self._told = bindings

    def whole(self, width: int) -> Sequence[ui.Line]:
        lines: list[ui.Line] = []
        for title, often in (("Keys", True), ("More keys", False)):
            rows = [_row(ui.shown_key(key), key.tooltip, width) for key in self._told if key.show is often]
            lines += [ui.line_of(title, width, "bold"), *rows, [("", "")]]
        lines += _legend("States", PARTS, width)[1:]
        lines += [_row("*", "its state changed since the rows were sorted; s sorts again", width)]
        return [*lines, *_legend("Health, the score over days", HEALTH, width), *_legend("Checks", LOOKS, width)]


def _legend(title: str, states: Mapping[Any, State], width: int) -> Sequence[ui.Line]:
    rows = [_row(state.short, f"{state.word}: {state.says}", width) for state in states.values()]
    return [[("", "")], ui.line_of(title, width, "bold"), *rows]


def _row(name: str, says: str, width: int) -> ui.Line:
    return [(f" {ui.fit(name, 10)} ", "bold"), (ui.fit(says, width - 12), "")]


def run(client: Client, where: str, *, flat: bool = False) -> int:
    return ConsoleApp(client, where, flat=flat).run(mouse=False) or 0

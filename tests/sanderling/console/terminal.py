"""The console on an in-memory terminal of any size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from textual._context import visible_screen_stack
from textual.pilot import Pilot

from sanderling.client.api import Client
from sanderling.console.app import ConsoleApp
from tests.sanderling.console.fake_service import FakeService
from tests.support.waiting import HANG


@contextmanager
def in_utc() -> Iterator[None]:
    """Show times of day in UTC, wherever the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


class Terminal:
    """A person's view of the console, and input."""

    def __init__(self, pilot: Pilot[Any], app: ConsoleApp, service: FakeService) -> None:
        self.pilot, self.app, self.service = pilot, app, service

    def lines(self) -> list[str]:
        """Return the screen's lines, each as wide as the screen."""
        visible_screen_stack.set(self.app._background_screens)
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines()) + "\n"

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(
            *(sign if sign.isalnum() else {":": "colon", "/": "slash", "-": "minus"}.get(sign, sign) for sign in text)
        )

    async def wait_for(self, *words: str) -> None:
        """Return when all words are on the screen."""
        await self.wait_until(lambda: all(word in self.text for word in words), lambda: f"{words} in\n{self.text}")

    async def wait_until(self, holds: Callable[[], bool], says: Callable[[], str] = lambda: "") -> None:
        end = asyncio.get_running_loop().time() + HANG
        while not holds():
            assert asyncio.get_running_loop().time() < end, says()
            await self.pilot.pause(0.01)

    async def grow_old(self, seconds: float) -> None:
        """Pretend that the connection has been lost for this long."""
        self.app._lost_at = asyncio.get_running_loop().time() - seconds - 0.1
        self.app.screen.query_one("#figures").refresh()
        await self.pilot.pause()

    async def tick(self, *told: tuple[str, dict[str, Any]]) -> None:
        """Let a second pass at the service."""
        self.service.tick(*told)
        now = self.service.now
        await self.wait_until(lambda: self.app.figures.at == now or self.app.frozen)
        await self.pilot.pause()


def on_terminal(
    play: Callable[[Terminal], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
    service: FakeService | None = None,
    *,
    flat: bool = True,
) -> None:
    """Run the console at a size, let `play` use it, and end it. Textual runs on asyncio, so in its own loop."""

    async def run() -> None:
        fake = service or FakeService()
        app = ConsoleApp(Client("http://console.test", "key", fake), "data/admin.sock", flat=flat)
        async with app.run_test(size=size) as pilot:
            await play(Terminal(pilot, app, fake))

    with in_utc():
        asyncio.run(run())

"""The browser that renders pages: which one, what holds it, or why there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import trio

from actors.browser.address import SCHEMES
from actors.browser.held import SOCKET, Walls
from actors.browser.pool import ChromiumPool, walls_in_words
from actors.errors import UrlRefused
from actors.world import RenderFailed, RenderRequest
from sanderling.browsers import OFF
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.operations.installing.layout import SYSTEM
from sanderling.real_world import real_browser

PAGE: Final = "docs/rendered-pages.md"
TIGHT: Final = ("MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes")
"""Walls of a unit within which no browser lives."""
WITHIN: Final = 30.0


async def browser(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Whether a browser starts, and its walls hold."""
    pool = real_browser(patient.settings)
    if pool.lacks():  # nobody needs one to watch what is no such page
        yield Finding("ok", "browser", f"pages are not rendered: {pool.lacks()}")
        return
    if trouble := await _tried(pool):
        yield Finding("warn", "browser", f"pages are not rendered: {trouble}", f"{PAGE}; or browser = {OFF}.")
        return
    yield held(pool.statistics().name, pool.walls)
    if not patient.settings.browser.startswith((SOCKET, *SCHEMES)) and (tight := walls_of(_unit())):
        yield from_unit(tight)


def held(name: str, walls: Walls | None) -> Finding:
    """Return what it means that these walls hold a browser."""
    says = f"{name} renders pages, held by {walls_in_words(walls)}"
    if walls is not None and (walls.sandbox or walls.remote):
        return Finding("ok", "browser", says)
    do = f"{PAGE} says what its sandbox needs; browser_sandbox = demanded renders nothing without."
    return Finding("warn", "browser", says, do)


def from_unit(tight: tuple[str, ...]) -> Finding:
    """Return what it means that the service's unit has these walls."""
    do = f"`sudo sanderling install --browser` gives it a unit of its own ({PAGE}); or browser = {OFF}."
    return Finding("warn", "browser", f"{SYSTEM.unit} holds the service too tightly for it: {', '.join(tight)}", do)


def walls_of(unit: str) -> tuple[str, ...]:
    """Return the walls of a unit that no browser can live within.

    >>> walls_of("[Service]\\nMemoryDenyWriteExecute=yes\\n")
    ('MemoryDenyWriteExecute=yes',)
    """
    lines = {line.strip() for line in unit.splitlines()}
    return tuple(wall for wall in TIGHT if wall in lines)


def _unit() -> str:
    """Return the service's unit; "" where there is none."""
    unit = Path(SYSTEM.unit)
    return unit.read_text("utf-8", "replace") if unit.is_file() else ""


class _Patient:
    """A child of no tree."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None:
        """Nobody waits for it."""


async def _nowhere(host: str, port: int, judge: object) -> NoReturn:
    raise UrlRefused("doctor", "the doctor lets no page out")


async def _tried(pool: ChromiumPool) -> str:
    """Have the browser start, show that its walls hold, and ask for a page that it does not get.

    Returns what is wrong.
    """
    patient, says = _Patient(), "it did not start in time"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(pool.run, patient, connect=_nowhere))
        with trio.move_on_after(WITHIN):
            try:
                await pool.render(RenderRequest("http://doctor.invalid/", ""))
                says = "a page came from nowhere"
            except RenderFailed as failure:
                says = "" if failure.blame == "refused" else failure.reason
        patient.stopping.set()
    return says

"""The doctor's check of the browser: it starts, and its walls hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import trio

from actors.errors import UrlRefused
from actors.world import RenderFailed, RenderRequest
from extras.browser.held import Walls
from extras.browser.pool import ChromiumPool, walls_in_words
from extras.browser.real import real_browser
from extras.browser.remote import SCHEMES
from extras.browser.settings import BrowserSettings
from sanderling.operations.findings import DoctorContext, Finding
from sanderling.program import OFF, SOCKET

UNIT: Final = Path("/etc/systemd/system/sanderling.service")
PAGE: Final = "docs/rendered-pages.md"
TIGHT: Final = ("MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes")
"""Settings of a unit that no browser can run under."""
WITHIN: Final = 30.0


async def browser(patient: DoctorContext) -> AsyncIterator[Finding]:
    pool = real_browser(patient.settings)
    if pool.lacks():  # a browser is optional
        yield Finding("ok", "browser", f"pages are not rendered: {pool.lacks()}")
        return
    if trouble := await _tried(pool):
        yield Finding("warn", "browser", f"pages are not rendered: {trouble}", f"{PAGE}; or browser = {OFF}.")
        return
    yield held(pool.statistics().name, pool.walls)
    if not patient.settings.of(BrowserSettings).browser.startswith((SOCKET, *SCHEMES)) and (tight := walls_of(_unit())):
        yield from_unit(tight)


def held(name: str, walls: Walls | None) -> Finding:
    says = f"{name} renders pages, held by {walls_in_words(walls)}"
    if walls is not None and (walls.sandbox or walls.remote):
        return Finding("ok", "browser", says)
    do = f"{PAGE} says what its sandbox needs; browser_sandbox = demanded renders nothing without."
    return Finding("warn", "browser", says, do)


def from_unit(tight: tuple[str, ...]) -> Finding:
    do = f"`sudo sanderling install --browser` gives it a unit of its own ({PAGE}); or browser = {OFF}."
    return Finding("warn", "browser", f"{UNIT} restricts the service too much for a browser: {', '.join(tight)}", do)


def walls_of(unit: str) -> tuple[str, ...]:
    """Return the restrictions in a unit that no browser can run under.

    >>> walls_of("[Service]\\nMemoryDenyWriteExecute=yes\\n")
    ('MemoryDenyWriteExecute=yes',)
    """
    lines = {line.strip() for line in unit.splitlines()}
    return tuple(wall for wall in TIGHT if wall in lines)


def _unit() -> str:
    return UNIT.read_text("utf-8", "replace") if UNIT.is_file() else ""


class _Patient:
    """Replaces a child of the tree."""

    def __init__(self) -> None:
        self.stopping = trio.Event()

    def ready(self) -> None:
        """Needs no signal."""


async def _nowhere(host: str, port: int, judge: object) -> NoReturn:
    raise UrlRefused("doctor", "the doctor lets no page out")


async def _tried(pool: ChromiumPool) -> str:
    """Start the browser, let it check its sandbox, and request a page that is refused. Returns the problem, or ""."""
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

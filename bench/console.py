"""The console beside a service of 100,000 sources.

The service is the tests' fake one, in the same process: what it costs to make its answers is in the figures, a socket
is not. There is no bare peer to measure beside: Textual's own table takes seconds to fill with as many rows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from sanderling.console.tree_screen import TreeScreen
from tests.sanderling.console.fake_service import FakeService
from tests.sanderling.console.terminal import Terminal, on_terminal

SOURCES = 100_000
JUMPS, MOVES, SECONDS = 20, 200, 10
SIZES = ((80, 24), (200, 60))


async def _jump(terminal: Terminal, last: bool) -> float:
    """Return the seconds from a jump to an end until its row is on the screen."""
    screen = terminal.app.screen
    assert isinstance(screen, TreeScreen)
    began = time.perf_counter()
    screen.picks.action_edge(last)
    while screen.book.row(screen.picks.cursor) is None:  # noqa: ASYNC110  # nobody tells when a page has come
        await asyncio.sleep(0)
    assert ("site99999.test" if last else "site0.test") in terminal.text, "it is drawn once here, in full"
    return time.perf_counter() - began


def _measured(size: tuple[int, int]) -> Sequence[float]:
    """Return seconds: to the first rows, of a jump to rows not read; of CPU: of a line down, of a second."""
    found: list[float] = []
    started = time.perf_counter()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("1/100,005", "site0.test")
        found.append(time.perf_counter() - started)
        jumps = []
        for _ in range(JUMPS):
            jumps.append(await _jump(terminal, True))
            await _jump(terminal, False)
            screen = terminal.app.screen
            assert isinstance(screen, TreeScreen)
            screen.action_sort()
            await terminal.wait_until(lambda: not screen.book.stale)  # noqa: B023  # over before the next round
        found.append(sorted(jumps)[JUMPS // 2])
        began = time.process_time()
        for _ in range(MOVES):
            await terminal.pilot.press("j")
        found.append((time.process_time() - began) / MOVES)
        began = time.process_time()
        for _ in range(SECONDS):
            terminal.service.tick()
            await asyncio.sleep(1)
        found.append((time.process_time() - began) / SECONDS)

    on_terminal(play, size, FakeService(SOURCES))
    return found


def rows() -> list[dict[str, Any]]:
    """Return the rows of the table."""
    table = []
    for size in SIZES:
        start, jump, move, live = _measured(size)
        at = f"console {size[0]}x{size[1]}, 100,000 sources:"
        for figure, goal, ours, met in (
            ("start to first rows", "<= 500 ms", f"{1000 * start:.0f} ms", start <= 0.5),
            ("jump to the last row, not read yet", "<= 20 ms", f"{1000 * jump:.0f} ms", jump <= 0.02),
            ("CPU of a line down", "<= 10 ms", f"{1000 * move:.1f} ms", move <= 0.01),
            ("CPU while live", "<= 2 %", f"{100 * live:.1f} %", live <= 0.02),
        ):
            row = {"figure": f"{at} {figure}", "goal": goal, "limit": "", "ours": ours, "ratio": None, "met": met}
            table.append(row)
    return table

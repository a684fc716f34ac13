"""The console with a service of 100,000 sources.

There is no bare program to compare with: Textual's own table takes seconds to fill with as many rows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence

from bench.topic import Figure, Row, Topic, size
from sanderling.console.tree import TreeScreen
from tests.sanderling.console.fake_service import FakeService
from tests.sanderling.console.terminal import Terminal, on_terminal

SOURCES = 100_000
JUMPS, MOVES, SECONDS = size(20, 1), size(200, 5), size(10, 1)
SIZES = ((80, 24), (200, 60))
FIGURES = {
    "start": Figure("start to first rows", "ms", "<= 500 ms"),
    "jump": Figure("jump to the last row, not read yet", "ms", "<= 20 ms"),
    "move": Figure("CPU of a line down", "ms", "<= 10 ms"),
    "live": Figure("CPU while live, of a core", "%", "<= 2 %"),
}
TOPIC = Topic(
    "The console",
    "100,000 sources of a fake service in the same process, so the figures include its answers and no socket.",
    ("sanderling/console",),
    {
        f"{key}{width}": figure._replace(name=f"{width}x{height}: {figure.name}")
        for width, height in SIZES
        for key, figure in FIGURES.items()
    },
)


async def _jump(terminal: Terminal, last: bool) -> float:
    """Return the seconds from a jump to an end until its row is on the screen."""
    screen = terminal.app.screen
    assert isinstance(screen, TreeScreen)
    began = time.perf_counter()
    screen.picks.action_edge(last)
    while screen.book.row(screen.picks.cursor) is None:  # noqa: ASYNC110  # no event reports a page's arrival
        await asyncio.sleep(0)
    assert ("site99999.test" if last else "site0.test") in terminal.text, "it is drawn once here, in full"
    return time.perf_counter() - began


def _measured(size: tuple[int, int]) -> Sequence[float]:
    """Return seconds until the first rows and of a jump; CPU seconds of a line down, and per second live."""
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


def rows() -> Iterator[Row]:
    for width, height in SIZES:
        start, jump, move, live = _measured((width, height))
        yield Row(f"start{width}", 1000 * start)
        yield Row(f"jump{width}", 1000 * jump)
        yield Row(f"move{width}", 1000 * move)
        yield Row(f"live{width}", 100 * live)

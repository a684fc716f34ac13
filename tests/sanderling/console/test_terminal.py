"""The command itself in a real pseudo-terminal, with a real service that stops and starts while it runs."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import trio

from sanderling.exits import Exit
from tests.e2e.service import a_service
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

LEAVES = b"\x1b[?1049l"
"""The sequence that restores the terminal."""


class Seen:
    """A program's output on its terminal. `master`: our end of it."""

    def __init__(self, master: int) -> None:
        self._master = master
        self.all = b""
        self._from = 0

    async def wait_for(self, words: bytes) -> None:
        """Return when the words have been written after those of the previous wait."""
        with trio.fail_after(HANG):
            while (place := self.all.find(words, self._from)) < 0:
                await trio.lowlevel.wait_readable(self._master)
                self.all += os.read(self._master, 65_536)
        self._from = place + len(words)

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)


@asynccontextmanager
async def a_console(folder: Path) -> AsyncIterator[tuple[trio.Process, Seen]]:
    """Run `sanderling console` on a terminal of 80x24."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = await trio.lowlevel.open_process(
        [sys.executable, "-P", "-m", "sanderling", "console", "--data", str(folder)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    try:
        yield process, Seen(master)
    finally:
        process.kill()
        os.close(master)


@pytest.mark.real
async def test_the_console_outlives_the_service_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        async with a_service(tmp_path) as service:
            process, seen = await stack.enter_async_context(a_console(tmp_path))
            await seen.wait_for(b"registry")
            seen.type(b"D")
            await seen.wait_for(b"Pause all checks")
            seen.type(b"y")
            await seen.wait_for(b"DRAINED")
            seen.type(b"\r")
            await seen.wait_for(b"waits at")
            seen.type(b"h")
            await service.end(signal.SIGTERM)
            await seen.wait_for(b"NO CONNECTION")
        async with a_service(tmp_path):
            await seen.wait_for(b" sources 0 ")
            seen.type(b"q")
            await seen.wait_for(LEAVES)
            with trio.fail_after(HANG):
                assert await process.wait() == 0
    assert b"Traceback" not in seen.all


@pytest.mark.real
async def test_without_a_service_the_console_fails_and_takes_no_screen(tmp_path: Path) -> None:
    async with a_console(tmp_path) as (process, seen):
        await seen.wait_for(b"No service runs on the data folder")
        with trio.fail_after(HANG):
            assert await process.wait() == Exit.UNREACHABLE
    assert b"\x1b[?1049h" not in seen.all

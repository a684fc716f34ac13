"""A real service in its own process, as a user starts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from actors.settings import Settings
from sanderling import keyring
from sanderling.client.api import Client
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

SETTINGS = {
    "SANDERLING_ALLOW_NETWORKS": "127.0.0.0/8",
    "SANDERLING_CADENCE_FLOOR": "1",
    "SANDERLING_HOST_RATE": "100",
    "SANDERLING_WORKERS": "1",
}
SCOPES = (
    *("sources:read", "sources:write", "stream:read", "alerts:read", "alerts:write"),
    *("publications:read", "publications:write"),
)


class Service:
    """One life of the service on a data folder."""

    def __init__(self, process: trio.Process, nursery: trio.Nursery) -> None:
        self.process = process
        self.log: list[str] = []
        self.url = ""
        self._ready = trio.Event()
        nursery.start_soon(self._read_log)

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        rest = b""
        async for chunk in self.process.stderr:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.log.append(line.decode(errors="replace"))
                if '"serve.ready"' in self.log[-1]:
                    self.url = json.loads(self.log[-1])["url"]
                    self._ready.set()
        self._ready.set()

    async def wait_ready(self) -> None:
        """Return when the service answers; otherwise fail with its log."""
        with trio.move_on_after(HANG):
            await self._ready.wait()
        assert self.url, "\n".join(self.log)

    async def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        with trio.fail_after(HANG):
            return await self.process.wait()


@asynccontextmanager
async def a_service(
    folder: Path, *, wait: bool = True, under: Sequence[str] = (), **settings: str
) -> AsyncIterator[Service]:
    """Run a service on a data folder and wait for it unless `wait` is false; kills it at the end.

    under: the command to run it under, if any. settings: variables in addition to SETTINGS.
    """
    process = await trio.lowlevel.open_process(
        [*under, sys.executable, "-P", "-m", "sanderling", "serve", "--port", "0", "--data", str(folder)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"} | SETTINGS | settings,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    try:
        async with trio.open_nursery() as nursery:
            service = Service(process, nursery)
            if wait:
                await service.wait_ready()
            yield service
            process.kill()
            nursery.cancel_scope.cancel()
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()


def a_key(folder: Path) -> str:
    return keyring.create(Settings(data=str(folder)), "e2e", SCOPES)[1]


async def run_command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of the program to its end, without this process's environment."""
    return await trio.run_process(
        [sys.executable, "-P", "-m", "sanderling", *arguments],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"} | variables,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
    )


async def add(client: Client, url: str, **more: object) -> dict[str, object]:
    answer = await client.ask("POST", "/v1/sources", json={"url": url} | more)
    return dict(answer.json())

"""A command's private service, in a separate process and folder, started as a user would.

`try` uses it like any client, and removes it when it ends.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import click
import trio

from sanderling.exits import CommandFailed
from sanderling.program import service_command

START_WITHIN, STOP_WITHIN = 30.0, 20.0


@contextmanager
def own_folder(name: str, *, keep: bool = False) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end unless `keep`."""
    folder = Path(tempfile.mkdtemp(prefix=f"sanderling-{name}-"))
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def own_service(variables: Mapping[str, str], folder: Path) -> AsyncIterator[str]:
    """Run `sanderling serve` on a data folder and a free port; yield its address, stop it in order."""
    command, environment = service_command(variables)
    process = await trio.lowlevel.open_process(
        [*command, "serve", "--data", str(folder)],
        env=environment | {"SANDERLING_PORT": "0"},
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        lines = _lines(process.stderr)
        url = await _address(lines)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_drain, lines)
            yield url
            nursery.cancel_scope.cancel()
    finally:
        with trio.move_on_after(STOP_WITHIN, shield=True):
            process.terminate()
            await process.wait()
        process.kill()


async def _lines(stream: trio.abc.ReceiveStream) -> AsyncIterator[str]:
    rest = b""
    async for chunk in stream:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")


async def _address(lines: AsyncIterator[str]) -> str:
    """Return the address from the service's log. Raises CommandFailed with the log if it does not start."""
    said = []
    with trio.move_on_after(START_WITHIN):
        async for line in lines:
            said.append(line)
            if '"serve.ready"' in line:
                return str(json.loads(line)["url"])
    raise CommandFailed("The service did not start:\n" + "\n".join(said[-20:]))


async def _drain(lines: AsyncIterator[str]) -> None:
    """Keep reading the log so that its pipe never fills; print errors."""
    async for line in lines:
        if '"level": "error"' in line:
            click.echo(line, err=True)


async def end_on_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            scope.cancel()

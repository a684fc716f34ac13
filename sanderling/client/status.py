"""`sanderling status`: the service on one screen, once or repeatedly, over the admin API."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

import click
import trio

from sanderling.client.api import Client
from sanderling.client.status_screen import WORST, screen
from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json

EVERY = 2.0
TROUBLED = ("quarantined", "backoff", "failing", "resting", "stopping", "ended", "starting")
HOME = "\x1b[H\x1b[J"
"""Move the cursor to the top and clear below."""


def status(make: Callable[[], Client], *, as_json: bool, watch: bool, rounds: int | None = None) -> int:
    """Show the service; return 0 if it was last ready, else 1. rounds: ends a watch."""
    return trio.run(_status, make, as_json, watch, rounds)


async def _status(make: Callable[[], Client], as_json: bool, watch: bool, rounds: int | None) -> int:
    shown, code = 0, Exit.WELL
    while True:
        try:
            async with make() as client:
                code = _show(await _read(client), as_json=as_json, watch=watch)
        except CommandFailed as error:
            if not watch or error.code not in (Exit.UNREACHABLE, Exit.TRY_AGAIN):
                raise
            click.echo(f"{error.message.partition('. ')[0]}; trying again", err=True)
        shown += 1
        if not watch or shown == rounds:
            return code
        await trio.sleep(EVERY)


async def _read(client: Client) -> dict[str, Any]:
    overview = (await client.ask("GET", "/v1/admin/overview")).json()
    tree = (await client.ask("GET", "/v1/admin/tree", params={"limit": WORST})).json()
    return {**overview, "worst": [row for row in tree["rows"] if _troubled(row)]}


def _troubled(row: Mapping[str, Any]) -> bool:
    return row["state"] in TROUBLED or (row["state"] == "ok" and row["flag"] in ("rotten", "degraded"))


def _show(found: Mapping[str, Any], *, as_json: bool, watch: bool) -> Exit:
    if as_json:
        print_json(found)
    else:
        width, height = shutil.get_terminal_size((100, 24))
        lines = list(screen(found, found["worst"], width))
        if watch and on_terminal(1):
            click.echo(HOME + "\n".join(lines[: height - 1]))
        else:
            click.echo("\n".join(lines) + ("\n" if watch else ""))
    return Exit.WELL if found["ready"] else Exit.FAILED

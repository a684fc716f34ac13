"""Run one command against a service, and ask for confirmation before destructive ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click
import trio

from sanderling.client.api import Client
from sanderling.environment import on_terminal
from sanderling.exits import CommandFailed, Exit

T = TypeVar("T")


def asked(client: Client, act: Callable[[], Awaitable[T]]) -> T:
    """Run `act` with the client open and return its result."""

    async def run() -> T:
        async with client:
            return await act()

    return trio.run(run)


def agree(question: str, *, sure: bool) -> None:
    """Ask for confirmation unless sure. Raises CommandFailed for a no, or without a terminal."""
    if sure:
        return
    if not on_terminal(0):
        raise CommandFailed(f"{question} Nobody is there to say yes: add --yes.", Exit.USAGE)
    if not click.confirm(question, err=True):
        raise CommandFailed("Nothing was deleted.")

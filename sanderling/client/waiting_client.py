"""Requests that are made again while what is in the way passes by itself: a restart, a limit, a line that is cut."""

from __future__ import annotations

from typing import Any, Final

import httpx
import trio

from sanderling.client.api import Client
from sanderling.client.refusals import ServiceRefused
from sanderling.exits import CommandFailed, Exit

GIVES_UP: Final = 120.0
"""Seconds without one answer after which a service is taken for gone."""
LONGEST: Final = 15.0
"""Seconds between two tries at most."""


def why_refused(error: CommandFailed) -> str:
    """Return why one thing was refused. Raises the error when it is about all of them: the key, or no service."""
    if error.code is not Exit.FAILED or _status(error) in (401, 403):
        raise error
    return error.message


def too_large(error: CommandFailed) -> bool:
    """Return whether a request was refused because its body is larger than the service reads."""
    return _status(error) == 413


def _status(error: CommandFailed) -> int:
    return error.status if isinstance(error, ServiceRefused) else 0


class WaitingClient:
    """A client that waits. One whose service was never met does not: most likely its address is wrong."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._met = False

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Ask until there is an answer. Raises CommandFailed when it is a refusal, or when none comes for long."""
        wait, until = 1.0, trio.current_time() + GIVES_UP
        while True:
            try:
                answer = await self._client.ask(method, path, **request)
            except CommandFailed as error:
                passing = error.code is Exit.TRY_AGAIN or (error.code is Exit.UNREACHABLE and self._met)
                if not passing or trio.current_time() + wait > until:
                    raise
            else:
                self._met = True
                return answer
            await trio.sleep(wait)
            wait = min(LONGEST, wait * 2)

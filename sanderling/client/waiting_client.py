"""Retry requests through temporary problems: a restart, a rate limit, a disconnect."""

from __future__ import annotations

from typing import Any, Final

import httpx
import trio

from sanderling.client.api import Client
from sanderling.client.refusals import ServiceRefused
from sanderling.exits import CommandFailed, Exit

GIVES_UP: Final = 120.0
"""Seconds without a response until the service counts as gone."""
LONGEST: Final = 15.0
"""Maximum seconds between two tries."""


def why_refused(error: CommandFailed) -> str:
    """Return the reason of a single refusal. Raises the error if it affects all requests: the key, or no service."""
    if error.code is not Exit.FAILED or _status(error) in (401, 403):
        raise error
    return error.message


def too_large(error: CommandFailed) -> bool:
    """Return whether the request body was too large for the service."""
    return _status(error) == 413


def _status(error: CommandFailed) -> int:
    return error.status if isinstance(error, ServiceRefused) else 0


class WaitingClient:
    """A client that retries. It fails at once if it never connected: the address is probably wrong."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._met = False

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Retry until there is a response. Raises CommandFailed for a refusal, or after GIVES_UP seconds."""
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

"""The refusal for each exception, and the log of calls refused for lack of a key or scope.

A line per call would let a client flood the log; no line would hide someone guessing keys or probing scopes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import asdict
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from actors import errors
from actors.notices import RESTORE
from api.problems import KINDS, FieldError, Refusal, later, shown
from storage.errors import Corrupt, DiskFull, Fenced, Unavailable
from supervision import Stopping, Unanswered


def _of_http(error: HTTPException) -> Refusal:
    slugs = {kind.status: slug for slug, kind in reversed(KINDS.items())}
    slug = slugs.get(error.code or 500, "invalid-request" if (error.code or 500) < 500 else "internal")
    headers = {}
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    if slug in ("request-timeout", "body-too-large"):
        headers["Connection"] = "close"  # the rest of the body stays unread
    return Refusal(slug, KINDS[slug].says if slug != "not-found" else "There is nothing at this path.", headers=headers)


_BUSY = "The service is busy; nothing is known about whether it was done."
TABLE: tuple[tuple[type[BaseException], Callable[[Any], Refusal]], ...] = (
    (Refusal, lambda e: e),
    (errors.UrlRefused, lambda e: Refusal("url-refused", e.words)),
    (
        errors.Unprocessable,
        lambda e: Refusal("unprocessable", e.detail, [FieldError(e.location, e.detail, shown(e.value))]),
    ),
    (errors.NotFound, lambda e: Refusal("not-found", e.detail)),
    (errors.LibraryFull, lambda e: Refusal("library-full", e.detail)),
    (errors.Conflict, lambda e: Refusal("conflict", e.detail)),
    (errors.Stale, lambda e: Refusal("precondition-failed", e.detail)),
    (errors.TooSoon, lambda e: later("rate-limited", e.detail, e.retry_after)),
    (errors.Overloaded, lambda e: later("unavailable", e.detail, e.retry_after)),
    (Unanswered, lambda e: later("unavailable", _BUSY, 5)),
    (Stopping, lambda e: later("unavailable", "The service is stopping.", 5)),
    (trio.TooSlowError, lambda e: later("unavailable", _BUSY, 5)),
    (DiskFull, lambda e: later("unavailable", "There is no room to write; nothing was written.", 60)),
    (Unavailable, lambda e: later("unavailable", "The storage does not answer now.", 5)),
    (Corrupt, lambda e: Refusal("internal", f"The database is damaged. {RESTORE}")),
    (Fenced, lambda e: later("unavailable", "Another life of the service has taken over.", 5)),
    (HTTPException, _of_http),
)


def refusal_of(error: BaseException, *, owner: bool = False) -> Refusal | None:
    """Return the Refusal for an exception, None for our own bug. owner: may see the address of a refused name."""
    if owner and isinstance(error, errors.UrlRefused):
        return Refusal("url-refused", error.words_inside)
    for kind, make in TABLE:
        if isinstance(error, kind):
            return make(error)
    return None


EVERY = 60.0  # seconds of calls per line
MOST = 500  # keys and addresses with a line each per minute; the rest share one
REST = "others"
_SHOWN = 200


class Tally(Struct):
    """The calls of one key or address in a minute. path, says: of the first one."""

    key: str | None
    address: str
    path: str
    says: str
    unauthorized: int = 0
    forbidden: int = 0


class RefusedCalls:
    """The refused calls since the last lines. Sleeps while there are none."""

    def __init__(self, log: Callable[..., None]) -> None:
        self._log = log
        self._tallies: dict[str, Tally] = {}
        self._some = trio.Event()

    def count(self, status: int, path: str, says: str, *, key: str | None, address: str) -> None:
        """Count a call that got 401 or 403. key: the prefix of a known key."""
        who = f"key {key}" if key else f"address {address}"
        if who not in self._tallies and len(self._tallies) >= MOST:
            who, key, address = REST, None, REST
        tally = self._tallies.setdefault(who, Tally(key, address, path[:_SHOWN], says))
        tally.unauthorized += status == 401
        tally.forbidden += status == 403
        self._some.set()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await trio.sleep(EVERY)
            self.tell()

    def tell(self) -> None:
        tallies, self._tallies, self._some = self._tallies, {}, trio.Event()
        for tally in tallies.values():
            self._log("http.refused", level="warning", **asdict(tally))

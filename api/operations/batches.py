"""Many URLs in one request: a few at a time, in the order of the request, each isolated.

A URL that hangs or fails does not affect the others. Duplicates of a URL run one after the other, so it is added once.
The answer comes before a proxy would time out: unfinished URLs get `timeout`, and may still finish.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import trio

from actors.egress.url import parse_url
from actors.errors import DomainError, Unprocessable, UrlRefused
from api.operations.context import OperationContext
from api.problems import INTERNAL, Refusal
from api.refusals import refusal_of

AT_ONCE = 8
"""Concurrent URLs per request: a quarter of the registry's concurrency."""
WITHIN = 55.0
"""Seconds for a whole request."""
LATE = Refusal(
    "unavailable",
    "It was not known in time what this URL is. It may be added yet: send it again, and see.",
    headers={"Retry-After": "5"},
)

R = TypeVar("R")


class Failed(NamedTuple):
    """A URL that failed. late: it may still finish. may_pass: see `DomainError`."""

    refusal: Refusal
    late: bool
    may_pass: bool = False


def place_of(number: int) -> str:
    """Return the location of a URL in the request's body."""
    return f"body.sources[{number}]"


async def for_each(
    call: OperationContext, urls: Sequence[str], act: Callable[[int], Awaitable[R]]
) -> Sequence[R | Failed]:
    """Run `act` with each URL's number; return the outcomes in order.

    Errors name the URL's `place_of`.
    """
    outcomes: list[R | Failed] = [Failed(LATE, late=True)] * len(urls)
    deadline = trio.current_time() + WITHIN
    slots = trio.CapacityLimiter(AT_ONCE)

    async def run(numbers: Sequence[int], token: object) -> None:
        try:
            for number in numbers:
                outcomes[number] = await _outcome(call, partial(act, number), place_of(number))
        finally:
            slots.release_on_behalf_of(token)

    with trio.CancelScope(deadline=deadline):
        async with trio.open_nursery() as nursery:
            for numbers in _by_url(urls):
                token = object()
                await slots.acquire_on_behalf_of(token)
                nursery.start_soon(run, numbers, token)
    return outcomes


def _by_url(urls: Sequence[str]) -> Sequence[Sequence[int]]:
    """Group the numbers by normalised URL. A group runs in order, so that its first adds the source."""
    found: dict[str, list[int]] = {}
    for number, text in enumerate(urls):
        try:
            url = parse_url(text).text
        except UrlRefused:
            url = text
        found.setdefault(url, []).append(number)
    return tuple(found.values())


async def _outcome(call: OperationContext, act: Callable[[], Awaitable[R]], where: str) -> R | Failed:
    try:
        return await act()
    except trio.TooSlowError:
        return Failed(LATE, late=True)
    except Exception as error:  # any error belongs to this URL only; bugs are logged
        may_pass = isinstance(error, DomainError) and error.may_pass
        return Failed(_refusal(call, error, where), late=False, may_pass=may_pass)


def _refusal(call: OperationContext, error: Exception, where: str) -> Refusal:
    if isinstance(error, Unprocessable) and not error.location.startswith(where):
        location = error.location
        error.location = where + location.removeprefix("body")
        error.detail = error.detail.replace(f"{location}:", f"{error.location}:")
    refusal = refusal_of(error)
    if refusal is None:
        said = f"{type(error).__name__}: {error}"[:500]
        call.context.world.log("http.fault", level="error", request_id=call.request_id, where=where, error=said)
        return INTERNAL
    return refusal

"""Many URLs in one request: a few at a time, in the order of the request, each by itself.

What one URL does, hangs or fails in is its own: the others are answered as if it were not there. One spelt twice is
added once, by the first that names it. The answer comes before a proxy between us would give up: what is not done by
then is `timeout`, and may be done yet.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple

import trio

from actors.egress.url import parse_url
from actors.errors import Unprocessable, UrlRefused
from actors.messages import Added
from api.problems import INTERNAL, Refusal, refusal_of
from api.route import Call
from api.v1.schemas import NewSource

AT_ONCE = 8
"""URLs of one request that are under way at once: a quarter of what the registry handles at once for all."""
WITHIN = 55.0
"""Seconds for a whole request."""
LATE = Refusal(
    "unavailable",
    "It was not known in time what this URL is. It may be added yet: send it again, and see.",
    headers={"Retry-After": "5"},
)

AddOne = Callable[[NewSource, str], Awaitable[Added]]
"""Adds a source; the text is its place in the body, for what is wrong with it."""


class Failed(NamedTuple):
    """A URL that was not added, and why; `late`: as far as one knows."""

    refusal: Refusal
    late: bool


async def add_all(call: Call, sources: Sequence[NewSource], add: AddOne) -> Sequence[Added | Failed]:
    """Add sources and return what became of each, in their order."""
    outcomes: list[Added | Failed] = [Failed(LATE, late=True)] * len(sources)
    deadline = trio.current_time() + WITHIN
    slots = trio.CapacityLimiter(AT_ONCE)

    async def run(indexes: Sequence[int], token: object) -> None:
        try:
            for index in indexes:
                one = partial(add, sources[index], f"body.sources[{index}]")
                outcomes[index] = await _outcome(call, one, f"body.sources[{index}]")
        finally:
            slots.release_on_behalf_of(token)

    with trio.CancelScope(deadline=deadline):
        async with trio.open_nursery() as nursery:
            for indexes in _by_url(sources):
                token = object()
                await slots.acquire_on_behalf_of(token)
                nursery.start_soon(run, indexes, token)
    return outcomes


def _by_url(sources: Sequence[NewSource]) -> Sequence[Sequence[int]]:
    """Return the indexes of each URL: spellings of one go one after the other, so that the first is who adds it."""
    found: dict[str, list[int]] = {}
    for index, new in enumerate(sources):
        try:
            url = parse_url(new.url).text
        except UrlRefused:
            url = new.url
        found.setdefault(url, []).append(index)
    return tuple(found.values())


async def _outcome(call: Call, add: Callable[[], Awaitable[Added]], where: str) -> Added | Failed:
    try:
        return await add()
    except trio.TooSlowError:
        return Failed(LATE, late=True)
    except Exception as error:  # whatever it is, it is this URL's; a fault of ours is logged and told as one
        return Failed(_refusal(call, error, where), late=False)


def _refusal(call: Call, error: Exception, where: str) -> Refusal:
    if isinstance(error, Unprocessable) and not error.location.startswith(where):
        location = error.location
        error.location = where + location.removeprefix("body")
        error.detail = error.detail.replace(f"{location}:", f"{error.location}:")
    refusal = refusal_of(error)
    if refusal is None:
        said = f"{type(error).__name__}: {error}"[:500]
        call.doors.world.log("http.fault", level="error", request_id=call.request_id, where=where, error=said)
        return INTERNAL
    return refusal

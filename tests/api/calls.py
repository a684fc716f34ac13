"""Direct calls of handlers, without a server, for tests with hundreds of requests."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from werkzeug.datastructures import Headers

from api.ratelimit import Limiter
from api.route import Call
from api.streams.streams import Streams
from api.validation import read_query
from tests.api.house import House


def a_call(house: House, target: str, query: type[Struct], **path: str) -> Call:
    """Return a request as its handler gets it, with the query validated by `query`."""
    context = house.context
    return Call(
        context=context,
        streams=Streams(context.storage, context.settings),
        path=path,
        query=read_query(target.partition("?")[2].encode(), query),
        body=None,
        key=None,
        headers=Headers(),
        request_id="test",
        limiter=Limiter(),
        address="192.0.2.1",
        target=target,
    )


def next_target(headers: dict[str, str]) -> str:
    """Return the target of the Link header, or ""."""
    return headers.get("Link", "").partition("<http://sanderling.test")[2].partition(">")[0]


class BusyLog:
    """A log that awaits a callback before every read."""

    def __init__(self, inner: Any, meanwhile: Any) -> None:
        self._inner, self._meanwhile = inner, meanwhile

    async def read(self, *args: Any) -> Any:
        await self._meanwhile()
        return await self._inner.read(*args)

    async def read_back(self, *args: Any) -> Any:
        await self._meanwhile()
        return await self._inner.read_back(*args)

    async def bounds(self) -> Any:
        await self._meanwhile()
        return await self._inner.bounds()

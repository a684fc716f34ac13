"""The service for tools, and a tool as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from extras.agents.protocol import Refused, Result
from extras.agents.quoting import quoted
from extras.agents.within import Reply
from storage.records.identity import Millis

_NAMED: Final = 5
Text = Annotated[str, Meta(max_length=500)]

Ask = Callable[[str, str, Mapping[str, Any] | None, Any], Awaitable[Reply]]
"""A request to the service: method, path, query, body."""


class Service:
    """The service, for tools. Its refusals are text for the model.

    mark: makes unpredictable letters. is_private: whether a source must be named before it is shown.
    """

    def __init__(
        self, ask: Ask, now: Callable[[], Millis], mark: Callable[[], str], is_private: Callable[[str], bool]
    ) -> None:
        self._ask, self.now, self.mark, self.is_private = ask, now, mark, is_private

    async def get(self, path: str, **query: Any) -> Any:
        """Return the answer to a GET. Raises Refused."""
        asked = {name: value for name, value in query.items() if value not in ("", None)}
        return _told(await self._ask("GET", path, asked, None))

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the answer to a POST. Raises Refused."""
        return _told(await self._ask("POST", path, None, body))

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the answer to a PATCH. Raises Refused."""
        return _told(await self._ask("PATCH", path, None, body))

    async def delete(self, path: str) -> None:
        """Delete a record. Raises Refused."""
        _told(await self._ask("DELETE", path, None, None))

    async def named(self, path: str, name: str) -> dict[str, Any]:
        """Return an alert or a destination by its id, its name, or a part of it. Raises Refused."""
        found = await self.get(path, limit=1_000)
        names = [(one, one.get("name") or one.get("label", "")) for one in found]
        exact = [one for one, called in names if name in (one["id"], called)]
        near = exact or [one for one, called in names if name.casefold() in called.casefold()]
        if len(near) == 1:
            return dict(near[0])
        what = path.rpartition("/")[2]
        if not near:
            raise Refused(f"None of the {what} is called {name!r}; the tool `{what}` lists them.")
        raise Refused(f"Several {what} are called {name!r}; name one by its id: {[one['id'] for one in near[:_NAMED]]}")

    async def source(self, name: str) -> str:
        """Return a source's id, given the id or words of its URL, names or tags. Raises Refused."""
        try:
            return str(UUID(name))
        except ValueError:
            found = await self.get("/v1/sources", q=name, limit=_NAMED + 1)
        exact = [one for one in found if name in (one["url"], one["title"], one["found_title"])]
        found = exact or found
        if len(found) == 1:
            return str(found[0]["id"])
        if not found:
            raise Refused(f"No source has {name!r} in it; `sources` lists them.")
        names = "".join(f"\n{one['id']} {quoted('', one['url'], 400)}" for one in found[:_NAMED])
        raise Refused(f"Several sources have {name!r} in them; name one by its id:{names}")


def _told(reply: Reply) -> Any:
    if reply.status < HTTPStatus.BAD_REQUEST:
        return reply.body
    problem = reply.body or {}
    says = problem.get("detail") or problem.get("title") or f"The service answers {reply.status}."
    at = [f"{one['location']}: {one['message']}" for one in problem.get("errors", ()) if one["message"] not in says]
    raise Refused(" ".join([says, *at]))


@dataclass(frozen=True)
class Tool:
    """One tool. says: its purpose, and when to use it. example: its arguments. looks: it fetches a URL, or changes
    records. ends: it deletes something, so that clients ask the user first.
    """

    name: str
    title: str
    says: str
    takes: type[Struct]
    run: Callable[[Service, Any], Awaitable[Result]]
    example: Mapping[str, Any]
    looks: bool = False
    ends: bool = False

    def described(self) -> dict[str, Any]:
        """Return the tool as the protocol lists it."""
        hints = {
            "title": self.title,
            "readOnlyHint": not (self.looks or self.ends),
            "destructiveHint": self.ends,
            "openWorldHint": True,
        }
        shape = msgspec.json.schema(self.takes)
        shown = f" Example: {msgspec.json.encode(self.example).decode()}." if self.example else ""
        schema = shape["$defs"][self.takes.__name__]
        return {
            "name": self.name,
            "title": self.title,
            "description": self.says + shown,
            "inputSchema": schema,
            "annotations": hints,
        }

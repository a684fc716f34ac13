"""A route as data, what its handler is given, and what it gives back.

Nothing is reachable that is not such a record, and a record without a known scope cannot be built: so access is denied
unless someone wrote down to whom it is granted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, json
from werkzeug.datastructures import Headers

from api.problems import KINDS
from storage.records.key import ApiKey

if TYPE_CHECKING:
    from actors.app_context import AppContext
    from api.feed import Feed
    from api.ratelimit import Limiter
    from api.streams.export import Export
    from api.streams.reader import Reader
    from api.streams.streams import Streams
    from api.within import Within

PUBLIC = "public"
"""The scope of a route that needs no key."""
SCOPES = frozenset(
    (
        PUBLIC,
        "stream:read",
        "sources:read",
        "sources:write",
        "alerts:read",
        "alerts:write",
        "bins:read",
        "bins:write",
        "publications:read",
        "publications:write",
        "admin",
    )
)
LETS_OUT = ("stream:read",)
"""What else a key must have for what makes events leave by another way than the streams: alerts, destinations."""
JSON = "application/json"


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """No query parameter is understood."""


@dataclass(slots=True)
class Call:
    """One request that has passed the hooks: who asks, and what was validated."""

    context: AppContext
    streams: Streams
    path: Mapping[str, str]
    query: Any
    body: Any
    key: ApiKey | None
    headers: Headers
    request_id: str
    limiter: Limiter
    """Buckets for what has a rate of its own beside the key's."""
    address: str
    """Of whom asks: the connection's, or the one that trusted proxies name."""
    target: str
    """Path and query as they were sent, for links."""
    within: Within | None = None
    """For requests to the API itself, as the same caller."""
    planned: str | None = None
    """The id for what this call makes, if it has an Idempotency-Key: an attempt before may have made it already."""

    @property
    def by(self) -> str:
        """Who asks: the name of the key."""
        return "" if self.key is None else self.key.name

    def may(self, scope: str) -> bool:
        """Return whether the key has a scope."""
        return self.key is not None and scope in self.key.scopes


@dataclass(slots=True)
class Answer:
    """What a handler gives back. `body`: bytes as they are, None for none, anything else is encoded as JSON.

    `stream` replaces the body: the connection is then fed by this reader for as long as it lasts, or by this export to
    its end.
    """

    body: Any = None
    status: int = 200
    media: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    stream: Reader | Export | Feed | None = None
    settled: bool = True
    """Whether that is the end of it: else a repeat (Idempotency-Key) runs anew, to find out."""

    def encoded(self) -> bytes:
        """Return the body's bytes."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body or b""
        return json.encode(self.body) + b"\n"  # or the next line of a terminal begins behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path. `path` has `{name}` for its parameters.

    scope: of SCOPES. narrower: another scope that is enough in its place, with the path's parameters filled in.
    beside: further scopes, all of which the key must have too.
    query: the struct of its parameters. body: the structs that the body may be, told apart by their fields.
    answers: status to the type of the body, or to several (None: no body).
    refuses: the problems that it answers with beside those of every route (`api.openapi.answers`), by slug.
    headers: those of its successes beside those of every answer. also: other media types that it speaks.
    repeatable: it makes something, and takes an Idempotency-Key.
    """

    method: str
    path: str
    scope: str
    run: Callable[[Call], Awaitable[Answer]]
    says: str
    answers: Mapping[int, Any]
    query: type[Struct] = NoQuery
    body: tuple[type[Struct], ...] = ()
    narrower: str = ""
    beside: tuple[str, ...] = ()
    media: str = JSON
    also: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    repeatable: bool = False

    def __post_init__(self) -> None:
        for scope in self.scopes:
            if scope not in SCOPES:
                raise ValueError(f"{self.label}: {scope!r} is no scope")
        if self.beside and PUBLIC in self.scopes:
            raise ValueError(f"{self.label}: what is public needs no scope")
        if unknown := [slug for slug in self.refuses if slug not in KINDS]:
            raise ValueError(f"{self.label}: {unknown} are no problems")

    @property
    def label(self) -> str:
        """Its method and path, which name it."""
        return f"{self.method} {self.path}"

    async def answer(self, call: Call) -> Answer:
        """Answer a call. A key that may change records and not read them learns which they are, and nothing else."""
        answer = await self.run(call)
        if call.key is not None and self.unread and not call.may(self.unread):
            answer.body = _unread(answer.body)
        return answer

    @property
    def unread(self) -> str:
        """The scope without which the records of an answer are cut down; "" where the call needs it anyway."""
        room, _, act = self.scope.partition(":")
        return f"{room}:read" if act == "write" and f"{room}:read" not in self.scopes else ""

    @property
    def scopes(self) -> tuple[str, ...]:
        """All scopes that a key must have."""
        return (self.scope, *self.beside)

    def granted_to(self, key: ApiKey, path: Mapping[str, str]) -> bool:
        """Return whether a key may call this route with these path parameters."""
        return self.scope == PUBLIC or not self.lacking(key, path)

    def lacking(self, key: ApiKey, path: Mapping[str, str]) -> tuple[str, ...]:
        """Return the scopes that a key would need too, to call this route with these path parameters."""
        missing = tuple(scope for scope in self.scopes if scope not in key.scopes)
        if self.narrower and self.narrower.format_map(path) in key.scopes:
            return tuple(scope for scope in missing if scope != self.scope)
        return missing


_UNREAD = ("id", "tag", "revision", "secret")
"""What is left of a record. A secret that a call has made is in its answer only."""


def _unread(body: Any) -> Any:
    """Return an answer with its records, all that have a revision, cut down to what tells which they are."""
    if isinstance(body, (list, tuple)):
        each = [_unread(one) for one in body]
        return body if all(one is was for one, was in zip(each, body, strict=True)) else each
    if not isinstance(body, Struct):
        return body
    values = {name: getattr(body, name) for name in body.__struct_fields__}
    if "revision" in values:
        return {name: values[name] for name in _UNREAD if values.get(name, UNSET) is not UNSET}
    cut = {name: _unread(value) for name, value in values.items() if value is not UNSET}
    return body if all(cut[name] is values[name] for name in cut) else cut


def routes_below(path: str, room: str) -> Callable[..., Route]:
    """Return what makes the routes below a path: to read takes the scope `{room}:read`, all else `{room}:write`."""

    def route(method: str, rest: str, run: Any, says: str, answers: Mapping[int, Any], **more: Any) -> Route:
        scope = f"{room}:{'read' if method == 'GET' else 'write'}"
        return Route(method=method, path=path + rest, scope=scope, run=run, says=says, answers=answers, **more)

    return route

"""A route as data, its handler's arguments, and its answer.

Only such records are reachable, and a record without a known scope cannot be built. So access is denied unless a route
grants it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, Struct, json
from werkzeug.datastructures import Headers

from api.problems import KINDS
from storage.records.access import ApiKey

if TYPE_CHECKING:
    from actors.app_context import AppContext
    from api.ratelimit import Limiter
    from api.streams.export import Export
    from api.streams.reader import Reader
    from api.streams.streams import Feed, Streams

PUBLIC = "public"  # the scope of a route that needs no key
_ROOMS = ("sources", "alerts", "bins", "publications")
SCOPES = frozenset((PUBLIC, "stream:read", "admin", *(f"{room}:{act}" for room in _ROOMS for act in ("read", "write"))))
LETS_OUT = ("stream:read",)
"""The extra scope for calls that send events out by another way than streams: alerts, destinations."""
JSON = "application/json"


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """No query parameters."""


@dataclass(slots=True)
class Call:
    """A request that passed the hooks: its caller and the validated input."""

    context: AppContext
    streams: Streams
    path: Mapping[str, str]
    query: Any
    body: Any
    key: ApiKey | None
    headers: Headers
    request_id: str
    limiter: Limiter
    """Buckets for operations with a rate limit in addition to the key's."""
    address: str
    """The client's address: the connection's, or the one that trusted proxies name."""
    target: str
    """Path and query as sent, for links."""
    app: Callable[[Any, Any, Any], Awaitable[None]] | None = None
    """The application, for requests to the API itself."""
    planned: str | None = None
    """The id for the record that this call creates, if it has an Idempotency-Key. An earlier attempt may have created
    it.
    """

    @property
    def by(self) -> str:
        return "" if self.key is None else self.key.name

    def may(self, scope: str) -> bool:
        return self.key is not None and scope in self.key.scopes


@dataclass(slots=True)
class Answer:
    """A handler's result. body: bytes as they are, None for none, else JSON. stream: feeds the connection instead."""

    body: Any = None
    status: int = 200
    media: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    stream: Reader | Export | Feed | None = None
    settled: bool = True
    """Whether the answer is final. If not, a repeat (Idempotency-Key) runs again to find out."""

    def encoded(self) -> bytes:
        if self.body is None or isinstance(self.body, bytes):
            return self.body or b""
        return json.encode(self.body) + b"\n"  # else a terminal's prompt follows on the same line


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path. `path` has `{name}` for its parameters.

    scope: of SCOPES. narrower: another sufficient scope, with the path's parameters filled in.
    beside: further scopes that the key must have.
    query: the struct of the parameters. body: the structs that the body may be, chosen by their fields.
    answers: status to the body's type or types (None: no body).
    refuses: slugs of its problems, in addition to those of every route (`api.openapi.document`) and in `problems`.
    headers: those of its successes, in addition to those in `sends`. also: other media types that it speaks.
    repeatable: it creates something, and takes an Idempotency-Key.
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
            raise ValueError(f"{self.label}: a public route needs no scope")
        if unknown := [slug for slug in self.refuses if slug not in KINDS]:
            raise ValueError(f"{self.label}: {unknown} are no problems")

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.refuses, *(("not-found",) if "{" in self.path else ()))

    @property
    def sends(self) -> tuple[str, ...]:
        is_paged = "cursor" in self.query.__struct_fields__
        found = {"Location": 201 in self.answers, "ETag": self.shows_record, "Link": is_paged}
        return (*(name for name, is_sent in found.items() if is_sent), *self.headers)

    @property
    def shows_record(self) -> bool:
        answers = [answer if isinstance(answer, tuple) else (answer,) for answer in self.answers.values()]
        return any("revision" in getattr(kind, "__struct_fields__", ()) for kinds in answers for kind in kinds)

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"

    async def answer(self, call: Call) -> Answer:
        """Answer a call. A key that may change records but not read them gets only their ids."""
        answer = await self.run(call)
        if call.key is not None and self.unread and not call.may(self.unread):
            answer.body = _unread(answer.body)
        return answer

    @property
    def unread(self) -> str:
        """The scope needed to see full records in the answer; "" if the call needs it anyway."""
        room, _, act = self.scope.partition(":")
        return f"{room}:read" if act == "write" and f"{room}:read" not in self.scopes else ""

    @property
    def scopes(self) -> tuple[str, ...]:
        return (self.scope, *self.beside)

    def granted_to(self, key: ApiKey, path: Mapping[str, str]) -> bool:
        return self.scope == PUBLIC or not self.lacking(key, path)

    def lacking(self, key: ApiKey, path: Mapping[str, str]) -> tuple[str, ...]:
        missing = tuple(scope for scope in self.scopes if scope not in key.scopes)
        if self.narrower and self.narrower.format_map(path) in key.scopes:
            return tuple(scope for scope in missing if scope != self.scope)
        return missing


_UNREAD = ("id", "tag", "revision", "secret")
"""The fields left of a record. Only the call that creates a secret shows it."""


def _unread(body: Any) -> Any:
    """Return an answer with its records (all structs that have a revision) cut to their identifying fields."""
    if isinstance(body, (list, tuple)):
        each = [_unread(item) for item in body]
        return body if all(item is was for item, was in zip(each, body, strict=True)) else each
    if not isinstance(body, Struct):
        return body
    values = {name: getattr(body, name) for name in body.__struct_fields__}
    if "revision" in values:
        return {name: values[name] for name in _UNREAD if values.get(name, UNSET) is not UNSET}
    cut = {name: _unread(value) for name, value in values.items() if value is not UNSET}
    return body if all(cut[name] is values[name] for name in cut) else cut


Run = TypeVar("Run", bound=Callable[[Call], Awaitable[Answer]])
Recorder = Callable[[Any, Any, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs a change by a route or a screen (with its Call or Visit), and returns its result."""
READS = ("GET", "HEAD")


async def unrecorded(of: Any, by: Any, act: Callable[[], Awaitable[Any]]) -> Any:
    return await act()


class Routes(list[Route]):
    """The routes of a noun, declared at their handlers, in the order of the description. The first line of a handler's
    docstring is its summary there.

    path: the beginning of theirs. room: GET needs the scope `{room}:read`, all else `{room}:write`, unless `scope` says
    otherwise.
    """

    def __init__(self, path: str, room: str = "") -> None:
        self._path, self._room = path, room

    def __call__(self, method: str, rest: str, answers: Mapping[int, Any], **more: Any) -> Callable[[Run], Run]:
        def declare(run: Run) -> Run:
            says = (run.__doc__ or "").partition("\n")[0]
            usual = {"scope": f"{self._room}:{'read' if method == 'GET' else 'write'}", "says": says}
            self.append(Route(method=method, path=self._path + rest, run=run, answers=answers, **usual | more))
            return run

        return declare

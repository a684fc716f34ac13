"""The application that its faces share: limits, streams, counts, registered paths. `app.py` adds the faces.

A face is access control and the form of refusals, one for programs and one for people. `app.py` does their common part:
request id, client address, common headers, log line, faults.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from quart import Response
from quart.routing import QuartRule
from quart_trio import QuartTrio

from actors.app_context import AppContext
from actors.extras import always_on
from api.auth import LastUsed
from api.idempotency import Repeats
from api.peers import only_https
from api.problems import Refusal
from api.ratelimit import Limiter
from api.refusals import RefusedCalls
from api.route import Recorder, Route, unrecorded
from api.streams.streams import Streams
from api.unsent import Unsent
from storage.records.access import ApiKey


class Face(Protocol):
    """Called in a request's context, after the application has set `g.request_id` and `g.address`."""

    limit: int
    """The longest body, in bytes."""
    owner: bool
    """Whether refusals may reveal details that only the service's owner should know."""

    async def admit(self) -> Response | None:
        """Identify and admit the caller, or return an answer. Raises Refusal, StorageError, HTTPException."""

    def refused(self, refusal: Refusal, error: Exception) -> Response: ...

    def sign_off(self, response: Response) -> None: ...

    def asker(self) -> str | None: ...


class Rule(QuartRule):
    """A rule that only matches: compiling two URL builders per rule would dominate start-up. Applications share it."""

    def bind(self, map: Any, rebind: bool = False) -> None:
        if not self._parts:  # else another application has bound it, with the same converters and options
            super().bind(map)

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        def build(rule: Rule, **values: object) -> tuple[str, str]:
            raise NotImplementedError(f"{rule.rule}: URLs are written out where they are needed")

        return build


class Application(QuartTrio):
    """The parts that faces, bins and connections use. owner: the key of all calls. alone: no dashboard, no bins."""

    _parsed = staticmethod(cache(Rule))
    url_rule_class = staticmethod(  # type: ignore[assignment]
        lambda path, methods, **more: Application._parsed(path, methods=frozenset(methods), **more)
    )

    def __init__(self, context: AppContext, owner: ApiKey | None = None, *, alone: bool = False) -> None:
        super().__init__("api", static_folder=None, template_folder=None, root_path="/", instance_path="/")
        self.context, self.owner, self.alone = context, owner, alone
        self.base_url = context.settings.public_url()
        self.only_https = only_https(self.base_url)
        world = context.world
        self.streams = Streams(context.storage, context.settings, world.metrics.streams, world.jail, world.now)
        self.limiter, self.unsent = Limiter(context.storage.ownership), Unsent()
        self.recorder: Recorder = next((extra.recorder(self) for extra in always_on() if extra.recorder), unrecorded)
        self.repeats = Repeats(context, self.recorder)
        self.proxies = context.settings.proxies()
        self.origins = context.settings.cors_origins
        self.routes: dict[str, Route] = {}
        self.fixed: dict[str, list[str]] = {}
        """The methods of each path without parameters. Some also match a parameter: `detect` is not an `{id}`."""
        self.declared: dict[str, Face] = {}
        """The face of each endpoint."""
        self.sections: dict[str, Face] = {}
        """The face of each section (the first part of a path)."""
        self.metadata_of: Callable[[str], str] = lambda path: ""
        """Returns the URL of a path's protected-resource metadata (RFC 9728), "" without. An extra may set it."""
        self._chance = context.world.chance("api/request")
        self.used, self.seen = LastUsed(context.storage.keys.touch), LastUsed(context.storage.people.touch)
        self.refused = RefusedCalls(context.world.log)

    def add_url_rule(self, rule: str, endpoint: str | None = None, *args: Any, **options: Any) -> None:
        """Register a rule. Raises ValueError unless a Route or Screen declares its endpoint."""
        if endpoint not in self.declared:
            raise ValueError(f"{rule}: every view needs a Route with a scope, every page a Screen")
        super().add_url_rule(rule, endpoint, *args, **options)

    def claim(self, section: str, face: Face) -> None:
        """Give a section of paths to a face. Raises ValueError if another face has it."""
        if self.sections.setdefault(section, face) is not face:
            raise ValueError(f"/{section} is another face's already")

    def declare(self, face: Face, label: str, path: str, method: str, view: Callable[..., Any]) -> None:
        """Register a face's view at a path. Raises ValueError."""
        if label in self.declared:
            raise ValueError(f"{label} is there already")
        self.claim(path.split("/", 2)[1], face)
        self.declared[label] = face
        rule = path.replace("{path}", "<part:path>").replace("{tag}", "<path:tag>").replace("{", "<").replace("}", ">")
        self.add_url_rule(rule, label, view, methods=[method], provide_automatic_options=False)

    def new_request_id(self) -> str:
        return f"{self._chance.getrandbits(64):016x}"

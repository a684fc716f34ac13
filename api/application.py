"""The application that both faces share: limits, streams, counts, registered paths. `app.py` puts the faces on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quart_trio import QuartTrio

from actors.app_context import AppContext
from api.face import Face
from api.hosts import only_https
from api.idempotency import Repeats
from api.last_used import LastUsed
from api.ratelimit import Limiter
from api.refused_calls import RefusedCalls
from api.route import Route
from api.rule import Rule
from api.streams.streams import Streams
from api.unsent import Unsent
from storage.records.key import ApiKey


class Application(QuartTrio):
    """What faces, bins and connections use of one application.

    owner: whose key every request has, where the listener itself lets nobody else in. alone: there are neither a
    dashboard nor bins beside it.
    """

    url_rule_class = Rule  # type: ignore[assignment]  # as in Quart itself, whose rule takes more

    def __init__(self, context: AppContext, owner: ApiKey | None = None, *, alone: bool = False) -> None:
        super().__init__("api", static_folder=None, template_folder=None, root_path="/", instance_path="/")
        self.context, self.owner, self.alone = context, owner, alone
        self.base_url = context.settings.public_url()
        self.only_https = only_https(self.base_url)
        self.streams = Streams(context.storage, context.settings, context.world.metrics.streams, context.world.jail)
        self.limiter = Limiter(context.usage)
        self.unsent = Unsent()
        self.repeats = Repeats(context)
        self.proxies = context.settings.proxies()
        self.origins = context.settings.cors_origins
        self.routes: dict[str, Route] = {}
        self.fixed: dict[str, list[str]] = {}
        """The methods of each path without parameters, which may look like one with them: `detect` is no `{id}`."""
        self.declared: dict[str, Face] = {}
        """Whose each endpoint is."""
        self.sections: dict[str, Face] = {}
        """Whose each section is, the first part of a path."""
        self._chance = context.world.chance("api/request")
        self.used = LastUsed(context.storage.keys.touch)
        self.seen = LastUsed(context.storage.people.touch)
        self.refused = RefusedCalls(context.world.log)

    def add_url_rule(self, rule: str, endpoint: str | None = None, *args: Any, **options: Any) -> None:
        """Register a rule; its endpoint must be that of a declared Route or Screen."""
        if endpoint not in self.declared:
            raise ValueError(f"{rule}: every view needs a Route with a scope, every page a Screen")
        super().add_url_rule(rule, endpoint, *args, **options)

    def claim(self, section: str, face: Face) -> None:
        """Give a section of paths to a face. Raises ValueError when it is another's: no request could tell."""
        if self.sections.setdefault(section, face) is not face:
            raise ValueError(f"/{section} is another face's already")

    def declare(self, face: Face, label: str, path: str, method: str, view: Callable[..., Any]) -> None:
        """Register what a face has at a path. Raises ValueError."""
        if label in self.declared:
            raise ValueError(f"{label} is there already")
        self.claim(path.split("/", 2)[1], face)
        self.declared[label] = face
        rule = path.replace("{path}", "<part:path>").replace("{tag}", "<path:tag>").replace("{", "<").replace("}", ">")
        self.add_url_rule(rule, label, view, methods=[method], provide_automatic_options=False)

    def new_request_id(self) -> str:
        """Return an id for the log lines of one request."""
        return f"{self._chance.getrandbits(64):016x}"

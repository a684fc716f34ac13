"""The path of every request: request id, the face that serves it, the answer.

Routes (`api.route.Route`) and screens (`api.dashboard.screen.Screen`) arrive as data. Registering anything undeclared
fails. Each face owns its sections of paths. The framework answers unmatched requests with 404 or 405, and the face
renders them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from quart import Response, g, request
from quart_trio.wrappers import TrioRequest
from werkzeug.exceptions import NotFound
from werkzeug.routing import BaseConverter

from actors.app_context import AppContext
from actors.destination_kinds.bins import PATH
from actors.extras import always_on
from api.application import Application, Face
from api.dashboard import catalogue, events, lists, rendering, stream, system, today
from api.dashboard.account import entry, keys, settings
from api.dashboard.face import Dashboard
from api.dashboard.notifying import alerts, destinations
from api.dashboard.screen import Screen
from api.dashboard.sources import add, listing, one
from api.key_face import BODY_TIMEOUT, KeyFace, view_of
from api.nouns.service import METRICS
from api.openapi.document import ROUTES, of_service
from api.peers import caller
from api.problems import INTERNAL
from api.refusals import refusal_of
from api.route import Route
from api.unsent import ADDRESS
from storage.records.access import ApiKey

_MODULES: Final = (
    *(entry, today, listing, add, one, events, stream, lists),
    *(catalogue, keys, system, settings, rendering, alerts, destinations),
)
SCREENS: Final[tuple[Screen, ...]] = (
    *(screen for module in _MODULES for screen in module.SCREENS),
    *(screen for extra in always_on() for screen in extra.screens()),
)
"""All screens. For a new noun, add its module above, and perhaps a place in `rendering.PLACES`."""


class UrlPartConverter(BaseConverter):
    """A path in the tree. It matches nothing else, so the rest of the route stays unambiguous."""

    regex = "[a-z]+(?:/[0-9a-f-]{36})?"
    part_isolating = False


class Api(Application):
    """The application with both faces. Made by `make_app`."""

    def __init__(self, context: AppContext, owner: ApiKey | None = None, *, alone: bool = False) -> None:
        super().__init__(context, owner, alone=alone)
        self.endpoints = tuple(endpoint for extra in always_on() for endpoint in extra.endpoints(self))
        self.programs = KeyFace(self)
        self.people: Dashboard | None = None
        face_of = self.face_of

        class Sized(TrioRequest):
            def __init__(self, *args: Any, **options: Any) -> None:
                options["max_content_length"] = face_of(options["scope"]).limit
                super().__init__(*args, **options)

        self.request_class = Sized

    def face_of(self, scope: Any) -> Face:
        """Return the face of a request, by its path. A browser's GET of an unknown path gets the dashboard's."""
        path, people = scope.get("path", ""), self.people
        face = self.sections.get(path.split("/", 2)[1]) if path.startswith("/") else None
        if face is not None and not (face is people and path.startswith("//")):
            return face
        if people is None or scope.get("method") not in ("GET", "HEAD"):
            return self.programs
        is_browser = any(name == b"accept" and value.startswith(b"text/html") for name, value in scope["headers"])
        return people if is_browser else self.programs  # only browsers put HTML first

    def report(self, error: BaseException, scope: Mapping[str, Any], **more: str) -> None:
        where = f"{scope.get('method', '')} {_safe_path(scope.get('path', ''))}".strip()
        says = f"{type(error).__name__}: {error}"[:500]
        self.context.world.log("http.fault", level="error", **more, where=where, error=says)


def _safe_path(path: str) -> str:
    """Return a path that is safe to log: paths under these prefixes contain credentials."""
    return next((open for open in (PATH, "/mail/", "/published/") if path.startswith(open)), path)


def make_app(context: AppContext) -> Api:
    return _made(Api(context), of_service(context.settings.public_url(), metrics=not context.settings.metrics_bind))


def make_metrics_app(context: AppContext) -> Api:
    return _made(Api(context, alone=True), METRICS)


def make_admin_app(context: AppContext, owner: ApiKey) -> Api:
    return _made(Api(context, owner, alone=True), ROUTES)


def _made(app: Api, routes: Sequence[Route]) -> Api:
    app.url_map.converters["part"] = UrlPartConverter
    # Without a timeout: the connection has a deadline on each send.
    app.config.update(BODY_TIMEOUT=BODY_TIMEOUT, RESPONSE_TIMEOUT=None, PROVIDE_AUTOMATIC_OPTIONS=False)
    app.url_map.merge_slashes = False  # a redirect would not be a problem document
    app.before_request(partial(_admit, app))
    app.after_request(partial(_sign_off, app))
    app.register_error_handler(Exception, partial(_failed, app))
    for route in routes:
        app.declare(app.programs, route.label, route.path, route.method, view_of(app, route))
        app.routes[route.label] = route
        if "{" not in route.path:
            app.fixed.setdefault(route.path, []).extend((route.method, "HEAD")[: 1 + (route.method == "GET")])
    if not app.alone:
        app.people = Dashboard(app, SCREENS)
    return app


async def _admit(app: Api) -> Response | None:
    given = request.headers.get("X-Request-Id", "")
    is_tame = 0 < len(given) <= 64 and given.isascii() and given.replace("-", "").replace("_", "").isalnum()
    g.request_id = given if is_tame else app.new_request_id()
    scope: Any = request.scope
    scope[ADDRESS] = g.address = caller((request.scope.get("client") or ("", 0))[0], request.headers, app.proxies)
    g.face = face = app.face_of(request.scope)
    answer = await face.admit()
    rule = request.url_rule
    # The framework reads "//sources" as "/sources"; a proxy in front may not.
    is_odd = rule is not None and (app.declared[rule.endpoint] is not face or request.scope["path"].startswith("//"))
    if answer is None and is_odd:
        raise NotFound
    return answer


async def _failed(app: Api, error: Exception) -> Response:
    face: Face = g.face
    refusal = refusal_of(error, owner=face.owner)
    if refusal is None:
        app.report(error, {"method": request.method, "path": request.path}, request_id=g.get("request_id", ""))
        refusal = INTERNAL
    return face.refused(refusal, error)


async def _sign_off(app: Api, response: Response) -> Response:
    headers = response.headers
    headers["X-Request-Id"] = g.request_id
    headers["X-Content-Type-Options"] = "nosniff"
    headers.update(app.only_https)
    headers.setdefault("Cache-Control", "no-store")
    g.face.sign_off(response)
    said = {"method": request.method, "path": _safe_path(request.path), "status": response.status_code}
    app.context.world.log("http.request", level="debug", request_id=g.request_id, **said, key=g.face.asker())
    return response

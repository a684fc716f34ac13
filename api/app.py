"""Every request's way: request id, key, rate limit, scope, validation, handler, problem document.

Routes come in as data (`api.route.Route`) and can come in no other way: a view without a declared scope is refused
when it is registered, and a request that has matched no route is answered by the framework's own 404 or 405, as a
problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import trio
from quart import Response, g, request
from quart_trio import QuartTrio
from werkzeug.exceptions import MethodNotAllowed, RequestEntityTooLarge, RequestTimeout
from werkzeug.exceptions import NotFound as HTTPNotFound
from werkzeug.routing import BaseConverter

from actors.app_context import AppContext
from actors.bins import PATH
from api import cors, ratelimit, wellknown
from api.auth import identify, unauthorized
from api.bin_endpoint import BinsDoor, is_for_a_bin
from api.dashboard.app import Dashboard, make_dashboard
from api.dashboard.table import SCREENS
from api.describing import described
from api.exchange import OPENED
from api.hosts import only_https
from api.idempotency import Repeats
from api.last_used import LastUsed
from api.peers import caller
from api.problems import INTERNAL, MEDIA, FieldError, Refusal
from api.ratelimit import STRANGERS, Limiter, Verdict, limit_of
from api.refusals import refusal_of
from api.refused_calls import RefusedCalls
from api.route import PUBLIC, Answer, Call, Route
from api.rule import Rule
from api.streams import Streams
from api.unsent import ASKER, Asker, Unsent
from api.v1 import (
    admin,
    alert_preview,
    alerts,
    bins,
    destinations,
    events,
    exports,
    looks,
    metrics,
    practice,
    previews,
    replay,
    sources,
    status,
    stream,
    templates,
    why,
)
from api.validation import check_form, read_body, read_query
from storage.errors import StorageError
from storage.records.key import ApiKey

ROUTES: tuple[Route, ...] = (
    *sources.ROUTES,
    *previews.ROUTES,
    *status.ROUTES,
    *looks.ROUTES,
    *why.ROUTES,
    *alerts.ROUTES,
    *alert_preview.ROUTES,
    *destinations.ROUTES,
    *replay.ROUTES,
    *bins.ROUTES,
    *templates.ROUTES,
    *practice.ROUTES,
    *stream.ROUTES,
    *events.ROUTES,
    *exports.ROUTES,
    *admin.ROUTES,
    *metrics.ROUTES,
    *wellknown.ROUTES,
)
BEHIND = (
    "GET /healthz",
    "GET /readyz",
    "GET /v1/events",
    "GET /v1/destinations/{id}/deliveries",
    "POST /v1/destinations/{id}/test",
    "POST /v1/destinations/{id}/replay",
)
"""What the admin socket answers beside the admin API: an operator sees what came of a part, and tries a destination."""
BODY_TIMEOUT = 15
"""Seconds for a request's body."""
_ID_LENGTH = 64


class _Part(BaseConverter):
    """A path in the tree. It takes nothing else, so that what follows it in a route is told apart."""

    regex = "[a-z]+(?:/[0-9a-f-]{36})?"
    part_isolating = False


class Api(QuartTrio):
    """The application, with what its hooks share. Made by `make_app`.

    owner: whose key every request has, where the listener itself lets nobody else in. alone: there are neither a
    dashboard nor bins beside it.
    """

    url_rule_class = Rule  # type: ignore[assignment]  # as in Quart itself, whose rule takes more

    def __init__(self, context: AppContext, owner: ApiKey | None = None, *, alone: bool = False) -> None:
        super().__init__("api", static_folder=None, template_folder=None, root_path="/", instance_path="/")
        self.context, self.owner, self.alone = context, owner, alone
        self.base_url = context.settings.public_url()
        self.only_https = only_https(self.base_url)
        gauge = None if alone else context.world.metrics.streams
        self.streams = Streams(context.storage, context.settings, gauge, context.world.jail)
        self.limiter = Limiter()
        self.unsent = Unsent()
        self.repeats = Repeats(context)
        self.proxies = context.settings.proxies()
        self.origins = context.settings.cors_origins
        self.bins = BinsDoor(self)
        self.dashboard: Dashboard
        self.routes: dict[str, Route] = {}
        self.fixed: dict[str, list[str]] = {}
        """The methods of each path without parameters, which may look like one with them: `detect` is no `{id}`."""
        self._sections: set[str] = set()
        self._chance = context.world.chance("api/request")
        self.used = LastUsed(context.storage.keys.touch)
        self.refused = RefusedCalls(context.world.log)

    def add_url_rule(self, rule: str, endpoint: str | None = None, *args: Any, **options: Any) -> None:
        """Register a rule; its endpoint must be that of a declared Route."""
        if endpoint not in self.routes:
            raise ValueError(f"{rule}: every view needs a Route with a scope")
        self._sections.add(rule.split("/", 2)[1])
        super().add_url_rule(rule, endpoint, *args, **options)

    def serves(self, path: str) -> bool:
        """Return whether a path is below one of ours, there or not."""
        return path.startswith("/") and path.split("/", 2)[1] in self._sections

    def new_request_id(self) -> str:
        """Return an id for the log lines of one request."""
        return f"{self._chance.getrandbits(64):016x}"

    def report(self, error: BaseException, scope: dict[str, Any]) -> None:
        """Log a fault that a request has met."""
        path = PATH if is_for_a_bin(scope) else scope.get("path", "")  # what follows there is a secret
        where = f"{scope.get('method', '')} {path}".strip()
        self.context.world.log("http.fault", level="error", where=where, error=f"{type(error).__name__}: {error}"[:500])


def make_app(context: AppContext) -> Api:
    """Return the application with all its routes and hooks."""
    routes = [route for route in ROUTES if route not in metrics.ROUTES] if context.settings.metrics_bind else ROUTES
    return _made(Api(context), described(routes, context.settings.public_url()))


def make_metrics_door(context: AppContext) -> Api:
    """Return the application of the listener that `metrics_bind` names: the figures, for who has a key for them."""
    return _made(Api(context, alone=True), metrics.ROUTES)


def make_admin_app(context: AppContext, owner: ApiKey) -> Api:
    """Return the application of the admin socket: the admin API, and of the rest no more than what operating needs."""
    others = (*wellknown.ROUTES, *events.ROUTES, *destinations.ROUTES, *replay.ROUTES)
    return _made(
        Api(context, owner, alone=True), (*admin.ROUTES, *(route for route in others if route.label in BEHIND))
    )


def _made(app: Api, routes: Sequence[Route]) -> Api:
    context = app.context
    app.url_map.converters["part"] = _Part
    app.config.update(
        MAX_CONTENT_LENGTH=context.settings.request_limit,
        BODY_TIMEOUT=BODY_TIMEOUT,
        RESPONSE_TIMEOUT=None,  # the connection has a deadline on each send
        PROVIDE_AUTOMATIC_OPTIONS=False,
    )
    app.url_map.merge_slashes = False  # else a redirect, which is no problem document
    app.before_request(partial(_admit, app))
    app.after_request(partial(_sign_off, app))
    app.register_error_handler(Exception, partial(_problem, app))
    for route in routes:
        _register(app, route)
    app.dashboard = make_dashboard(app, () if app.alone else SCREENS)
    return app


def _register(app: Api, route: Route) -> None:
    endpoint = f"{route.method} {route.path}"
    if endpoint in app.routes:
        raise ValueError(f"{endpoint} is there already")
    app.routes[endpoint] = route
    if "{" not in route.path:
        app.fixed.setdefault(route.path, []).extend((route.method, "HEAD")[: 1 + (route.method == "GET")])
    rule = route.path.replace("{path}", "<part:path>").replace("{", "<").replace("}", ">")
    app.add_url_rule(rule, endpoint, _view(app, route), methods=[route.method], provide_automatic_options=False)


def _view(app: Api, route: Route) -> Callable[..., Any]:
    async def view(**path: str) -> Response:
        query = request.query_string
        call = Call(
            context=app.context,
            streams=app.streams,
            path=path,
            query=read_query(query, route.query),
            body=None,
            key=g.key,
            headers=request.headers,
            request_id=g.request_id,
            limiter=app.limiter,
            address=g.address,
            target=f"{request.path}?{query.decode('latin-1')}" if query else request.path,
        )
        raw = b""
        if route.body:
            check_form(request.headers)
            raw = await _raw_body(app)
            call.body = read_body(raw, request.headers.get("Content-Type", ""), route.body)
        return _response(await app.repeats.answer(route, call, raw))

    return view


async def _raw_body(app: Api) -> bytes:
    """Return the body as it was sent. Raises Refusal (408, 413); then the rest is not read, and the connection ends."""
    try:
        raw: Any = await request.get_data(cache=False)
    except RequestEntityTooLarge:
        slug, says = "body-too-large", f"At most {app.context.settings.request_limit} bytes of body are read."
    except RequestTimeout:
        slug, says = "request-timeout", f"The body had not arrived after {BODY_TIMEOUT} s."
    else:
        return bytes(raw)
    raise Refusal(slug, says, [FieldError("body", says)], {"Connection": "close"})


async def _admit(app: Api) -> Response | None:
    """Know who asks, take a token, check the scope. Also for what matches no route, where only the token counts.

    Returns the answer to a browser that asks before it sends: that question carries no key.
    """
    given = request.headers.get("X-Request-Id", "")
    g.request_id = given if _tame(given) else app.new_request_id()
    g.key, g.verdict = None, None
    rule = request.url_rule
    route = app.routes[rule.endpoint] if rule is not None else None
    refusal: Refusal | StorageError | None = None
    g.address = caller((request.scope.get("client") or ("", 0))[0], request.headers, app.proxies)
    try:
        g.key = app.owner or await identify(request.headers, request.query_string, app.context.storage.keys)
    except (Refusal, StorageError) as error:
        refusal = error
    _take_token(app, g.key)
    if request.scope["path"].startswith("//"):  # the framework reads one slash here, and a proxy before us may not
        raise HTTPNotFound
    if not _is_spelt_out(request.scope.get("raw_path", b""), route):
        raise HTTPNotFound
    if request.method == "OPTIONS" and (preflight := _preflight(app)) is not None:
        return preflight
    if (methods := app.fixed.get(request.path)) is not None and request.method not in methods:
        raise MethodNotAllowed(methods)
    if route is None or (route.scope == PUBLIC and refusal is None):
        return None
    if refusal is not None:
        raise refusal
    if g.key is None:
        raise unauthorized("Send an API key: Authorization: Bearer <key>.")
    if not route.granted_to(g.key, request.view_args or {}):
        missing = " and ".join(route.lacking(g.key, request.view_args or {}))
        raise Refusal("forbidden", f"The key {g.key.prefix}... lacks the scope {missing}.")
    if app.context.draining():
        raise Refusal("unavailable", "The service is stopping.", headers={"Retry-After": "5"})
    app.unsent.check(Asker(g.key.id, ""))
    return None


def _is_spelt_out(raw: bytes, route: Route | None) -> bool:
    """Whether all slashes that part a path are sent as such: a proxy before us takes an encoded one for a letter.

    Only the path of a part of the tree is one value, and may have them encoded.
    """
    if b"%2f" not in raw.lower():
        return True
    before, path, after = ("" if route is None else route.path).partition("{path}")
    return bool(path) and raw.startswith(before.encode()) and raw.endswith(after.encode())


def _preflight(app: Api) -> Response | None:
    methods = app.fixed.get(request.path) or app.url_map.bind("").allowed_methods(request.path)
    headers = cors.preflight(request.headers, app.origins, methods) if methods else None
    return None if headers is None else Response(b"", status=204, headers=dict(headers))


def _take_token(app: Api, key: ApiKey | None) -> None:
    now = trio.current_time()
    if key is not None:
        scope: Any = request.scope
        scope[ASKER] = key.id
        if key is not app.owner:
            app.used.mark(key.id, app.context.world.now())
        g.verdict = app.limiter.take(key.id, limit_of(key), now)
    else:
        g.verdict = app.limiter.take(f"peer {ratelimit.neighbourhood(g.address)}", STRANGERS, now)
    if not g.verdict.admitted:
        detail = f"Wait {g.verdict.retry_after} s: {g.verdict.limit} requests at once, then as the bucket fills."
        raise Refusal("rate-limited", detail, headers={"Retry-After": str(g.verdict.retry_after)})


def _tame(text: str) -> bool:
    return 0 < len(text) <= _ID_LENGTH and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def _response(answer: Answer) -> Response:
    if answer.stream is not None and request.method != "HEAD":
        scope: Any = request.scope
        scope[OPENED] = (g.key, answer.stream)
    response = Response(answer.encoded(), status=answer.status, headers=answer.headers)
    if answer.status in (204, 304):
        response.headers.pop("Content-Type", None)
    else:
        response.headers["Content-Type"] = answer.media
    if answer.stream is not None:
        response.headers.pop("Content-Length", None)  # to HEAD too: nobody knows it (RFC 9110, 8.6)
    return response


async def _problem(app: Api, error: Exception) -> Response:
    refusal = refusal_of(error)
    if refusal is None:
        app.context.world.log(
            "http.fault",
            level="error",
            request_id=g.get("request_id", ""),
            where=f"{request.method} {request.path}",
            error=f"{type(error).__name__}: {error}"[:500],
        )
        refusal = INTERNAL
    if refusal.status in (401, 403):
        known, whose = g.get("key"), ratelimit.neighbourhood(g.get("address", ""))
        app.refused.count(
            refusal.status, request.path, refusal.detail, key=known.prefix if known else None, address=whose
        )
    body = refusal.encode(app.base_url, request.path)
    response = Response(body, status=refusal.status, headers=refusal.headers)
    response.headers["Content-Type"] = MEDIA
    return response


async def _sign_off(app: Api, response: Response) -> Response:
    headers = response.headers
    headers["X-Request-Id"] = g.request_id
    verdict: Verdict | None = g.verdict
    if verdict is not None:
        for name, value in verdict.headers():
            headers[name] = value
    for name, value in cors.readable(request.headers, app.origins).items():
        headers[name] = value
    headers.update(app.only_https)
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("Cache-Control", "no-store")
    app.context.world.log(
        "http.request",
        level="debug",
        request_id=g.request_id,
        method=request.method,
        path=request.path,
        status=response.status_code,
        key=g.key.prefix if g.key else None,
    )
    return response

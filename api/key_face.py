"""The face for programs: API keys, rate limits, scopes, and RFC 9457 problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import trio
from quart import Response, g, request
from werkzeug.exceptions import MethodNotAllowed, RequestEntityTooLarge, RequestTimeout
from werkzeug.exceptions import NotFound as HTTPNotFound

from api import ratelimit
from api.application import Application
from api.auth import THROUGH, challenge, identify, unauthorized
from api.nouns.service import PROBES
from api.peers import answer_to_preflight, cors_headers, passed_on
from api.problems import MEDIA, FieldError, Refusal, later
from api.ratelimit import STRANGERS, LimitVerdict, limit_of
from api.route import PUBLIC, Answer, Call, Route
from api.unsent import ASKER, OPENED, Asker
from api.validation import check_form, read_body, read_query
from storage.errors import StorageError
from storage.records.access import ApiKey

BODY_TIMEOUT = 15  # seconds for a request's body


class KeyFace:
    """Requests with a key, on the application's routes."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self.owner = app.owner is not None
        self.limit = app.context.settings.request_limit

    async def admit(self) -> Response | None:
        """Identify the key, take a token (also without a route), check the scope; or answer a CORS preflight."""
        g.key, g.verdict = None, None
        rule = request.url_rule
        route = self._app.routes.get(rule.endpoint) if rule is not None else None
        refusal: Refusal | StorageError | None = None
        try:
            now, path = self._app.context.world.now(), str(request.scope.get(THROUGH, request.path))
            keys = self._app.context.storage.keys
            g.key = self._app.owner or await identify(request.headers, request.query_string, keys, now, path)
        except (Refusal, StorageError) as error:
            refusal = error
        if g.key is not None or refusal is not None or request.path not in PROBES:
            _take_token(self._app, g.key)
        if self._app.owner is not None and (header := passed_on(request.headers)):
            raise Refusal("forbidden", f"The admin socket takes no requests from a browser or a proxy ({header}).")
        if request.scope["path"].startswith("//"):  # the framework reads one slash here; a proxy in front may not
            raise HTTPNotFound
        if not _is_spelt_out(request.scope.get("raw_path", b""), route):
            raise HTTPNotFound
        fixed = self._app.fixed.get(request.path)
        if request.method == "OPTIONS":
            methods = fixed or list(self._app.url_map.bind("").allowed_methods(request.path))
            preflight = answer_to_preflight(request.headers, self._app.origins, methods) if methods else None
            if preflight is not None:
                return Response(b"", status=204, headers=dict(preflight))
        if fixed is not None and request.method not in fixed:
            raise MethodNotAllowed(fixed)
        if route is None or (route.scope == PUBLIC and refusal is None):
            return None
        if refusal is not None:
            raise refusal
        if g.key is None:
            raise unauthorized("Send an API key: Authorization: Bearer <key>.")
        if not route.granted_to(g.key, request.view_args or {}):
            raise self._lacks(g.key, route.lacking(g.key, request.view_args or {}))
        if self._app.context.draining():
            raise later("unavailable", "The service is stopping.", 5)
        self._app.unsent.check(Asker(g.key.id, ""))
        return None

    def _lacks(self, key: ApiKey, missing: Sequence[str]) -> Refusal:
        says = f"The key {key.prefix}... lacks the scope {' and '.join(missing)}."
        if not key.grant:
            return Refusal("forbidden", says)
        asks = challenge(self._app.metadata_of(request.path), scopes=(*key.scopes, *missing))
        return Refusal("forbidden", says, headers={"WWW-Authenticate": asks})

    def refused(self, refusal: Refusal, error: Exception) -> Response:
        app = self._app
        if refusal.status in (401, 403):
            known, whose = g.get("key"), ratelimit.neighbourhood(g.get("address", ""))
            app.refused.count(
                refusal.status, request.path, refusal.detail, key=known.prefix if known else None, address=whose
            )
        body = refusal.encode(app.base_url, request.path)
        response = Response(body, status=refusal.status, headers=refusal.headers)
        response.headers["Content-Type"] = MEDIA
        if refusal.status == 401 and (metadata := app.metadata_of(request.path)):
            sent = "Authorization" in request.headers or "X-API-Key" in request.headers
            response.headers["WWW-Authenticate"] = challenge(metadata, sent=sent)
        return response

    def sign_off(self, response: Response) -> None:
        verdict: LimitVerdict | None = g.verdict
        if verdict is not None:
            for name, value in verdict.headers():
                response.headers[name] = value
        for name, value in cors_headers(request.headers, self._app.origins).items():
            if name == "Vary":
                response.vary.add(value)
            else:
                response.headers[name] = value

    def asker(self) -> str | None:
        return g.key.prefix if g.key else None


def view_of(app: Application, route: Route) -> Callable[..., Any]:
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
            app=app,
        )
        raw = b""
        if route.body:
            check_form(request.headers)
            raw = await _raw_body(app)
            call.body = read_body(raw, request.headers.get("Content-Type", ""), route.body)
        return _response(await app.repeats.answer(route, call, raw))

    return view


async def _raw_body(app: Application) -> bytes:
    """Return the raw body. Raises Refusal (408, 413); the rest then stays unread and the connection closes."""
    try:
        raw: Any = await request.get_data(cache=False)
    except RequestEntityTooLarge:
        slug, says = "body-too-large", f"At most {app.context.settings.request_limit} bytes of body are read."
    except RequestTimeout:
        slug, says = "request-timeout", f"The body had not arrived after {BODY_TIMEOUT} s."
    else:
        return bytes(raw)
    raise Refusal(slug, says, [FieldError("body", says)], {"Connection": "close"})


def _is_spelt_out(raw: bytes, route: Route | None) -> bool:
    """Return whether all slashes between path segments are literal: a proxy in front treats an encoded one as a letter.

    Only a part's path and a tag are single values, and may contain encoded slashes.
    """
    if b"%2f" not in raw.lower():
        return True
    for value in ("{path}", "{tag}"):
        before, found, after = ("" if route is None else route.path).partition(value)
        if found:
            return raw.startswith(before.encode()) and raw.endswith(after.encode())
    return False


def _take_token(app: Application, key: ApiKey | None) -> None:
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
        raise later("rate-limited", detail, g.verdict.retry_after)


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
        response.headers.pop("Content-Length", None)  # for HEAD too: the length is unknown (RFC 9110, 8.6)
    return response

"""The path of every page request: browser, token bucket, session, Origin and form token, form, page.

This is the face for people; `api.key_face` is the one for programs. Neither accepts the other's credentials: this one
ignores keys, the other ignores cookies. Only declared screens are reachable.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from math import inf
from typing import Any, assert_never
from urllib.parse import quote, urlencode

import trio
from quart import Request, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from actors.errors import DomainError, Stale, UrlRefused
from actors.extras import always_on
from actors.language.sentences import translated
from actors.language.speaking import noted, say, set_language
from api.application import Application
from api.dashboard import rendering
from api.dashboard import screen as kept
from api.dashboard.drawing import zone_of
from api.dashboard.forms import TOKEN, Draft, Form, Given, InvalidForm, fields_of, read_form, wrong_of
from api.dashboard.screen import Download, ExportedFile, Go, LiveStream, Page, PictureAnswer, Reply, Run, Screen, Visit
from api.dashboard.sessions import NONE, Attempts, Browser, Sessions, is_foreign, preferences_of, spoken_to
from api.etags import fitting
from api.peers import is_ours
from api.problems import KINDS, Refusal, in_words, later
from api.ratelimit import STRANGERS, Limit, neighbourhood
from api.refusals import refusal_of
from api.streams.export import Export
from api.streams.reader import Reader
from api.streams.sse import MEDIA
from api.unsent import ASKER, OPENED
from api.validation import read_query
from storage.records.access import Session

HTML = "text/html; charset=utf-8"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types sanderling-pages"
)
SIGNED_IN = Limit(20.0, 200)  # the rate limit of one session
SIGN_IN = "/sign-in"
Gate = Callable[[Request, Session | None], Awaitable[str | None]]
"""Returns None if a request's session is in order; else the page that signs in, and the session does not count."""
_FORM_PAGES = ("new", "add", "edit", "import", "pick")  # the last part of paths of pages that only hold a form
_REFUSED_FORM = (400, 409, 422, 429, 503)  # statuses of refusals that the form itself shows


class Dashboard:
    """The screens of one application. They share its limits, streams and ids."""

    owner = True

    def __init__(self, api: Application, screens: tuple[Screen, ...]) -> None:
        self.api, self.context = api, api.context
        self.sessions = Sessions.of_context(api.context)
        self.attempts = Attempts(api.limiter, api.context.storage.people)
        self.notes, self.undos, self.hours = kept.Notes(), kept.Undos(), kept.Hours(api.context.storage.log)
        self.screens = {screen.label: screen for screen in screens}
        self.limit = max((screen.limit for screen in screens), default=0)
        for screen in screens:
            api.declare(self, screen.label, screen.path, screen.method, _view(self, screen))
        for section in (rendering.ASSETS, *rendering.BY_NAME):
            api.claim(section.strip("/"), self)
        self.places = {
            place: self.screens[label] for place in rendering.PLACES if (label := f"GET {place.path}") in self.screens
        }
        gates = (extra.gate(api) for extra in always_on() if extra.gate is not None)
        self.gate = next(gates, None)
        self._queries: dict[Run, Any] = {screen.run: screen.query for screen in screens if screen.method == "GET"}

    def query_of(self, run: Run) -> Any:
        kind = self._queries.get(run)
        return None if kind is None else kind()

    async def admit(self) -> Response | None:
        g.preferences = preferences_of(request.cookies)
        set_language(spoken_to(g.preferences, request.accept_languages))
        _check_host(self)
        g.browser = await self.sessions.of(request.cookies)
        way = await self.gate(request, g.browser.session) if self.gate is not None else None
        if way is not None:
            g.browser = g.browser._replace(session=None)
        _take_token(self, g.browser)
        if request.path.startswith(f"{rendering.ASSETS}/"):
            found = rendering.MEDIA.get(name := request.path.rpartition("/")[2]) and rendering.asset(name)
            if not found or found.url != request.path:  # also of an outdated hash
                raise Refusal("not-found", say("There is no such file."))
            body, headers = fitting(found.body, request.headers)
            return Response(body, 200, {"Cache-Control": rendering.FOR_EVER} | headers, content_type=found.media)
        if request.path in rendering.BY_NAME:
            icon = rendering.asset(request.path.strip("/"))
            return Response(icon.body, 200, {"Cache-Control": rendering.A_DAY}, content_type=icon.media)
        rule = request.url_rule
        screen = None if rule is None or request.scope["path"].startswith("//") else self.screens.get(rule.endpoint)
        if screen is None:
            return None
        if self.context.draining():
            raise later("unavailable", say("The service is stopping."), 5)
        if screen.access != "session":
            return None
        if g.browser.session is None:
            return _to_sign_in(screen, way or SIGN_IN)
        if not g.browser.session.may(screen.needs):
            raise Refusal("forbidden", say("Your role does not include this. Ask an owner of this service."))
        self.api.seen.mark(g.browser.session.id, self.context.world.now())
        return None

    def refused(self, refusal: Refusal, error: Exception) -> Response:
        wrong_method = isinstance(error, MethodNotAllowed)
        title = say("This page does not accept this request") if wrong_method else KINDS[refusal.slug].title
        shows = {"status": refusal.status, "title": title, "says": refusal.detail, "id": g.request_id}
        body = rendering.plain("error.html", g.get("preferences", NONE), **shows)
        return Response(body, refusal.status, refusal.headers, content_type=HTML)

    def sign_off(self, response: Response) -> None:
        response.headers.setdefault("Content-Security-Policy", POLICY)  # a picture has a stricter one
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"

    def asker(self) -> str | None:
        """Return None: signed-in people have no key."""
        return None


def _check_host(app: Dashboard) -> None:
    settings = app.context.settings
    says = noted("This service is at %(url)s. It serves pages only under the name in its setting `base_url`.")
    if not is_ours(request.headers.get("Host", ""), settings.base_url, settings.host):
        raise Refusal("forbidden", say(says, url=app.api.base_url))


def _take_token(app: Dashboard, browser: Browser) -> None:
    who, limit = f"peer {neighbourhood(g.address)}", STRANGERS
    if browser.session is not None:
        who, limit = f"session {browser.session.id}", SIGNED_IN
        scope: Any = request.scope
        scope[ASKER] = who
    verdict = app.api.limiter.take(who, limit, trio.current_time())
    if not verdict.admitted:
        wait = verdict.retry_after
        raise later("rate-limited", say("Wait %(seconds)s s, then try again.", seconds=str(wait)), wait)


def _to_sign_in(screen: Screen, page: str) -> Response:
    """Redirect a stranger to the sign-in page, and from there back.

    Following a link from another site sends no cookie (SameSite=Strict), even if the reader is signed in. So answer
    with our own page that requests the target again at once.
    """
    if screen.live:
        return Response("Sign in first.\n", 401, content_type="text/plain")
    back = _target() if screen.method == "GET" else "/"
    if screen.method == "GET" and request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return Response(rendering.plain("detour.html", g.preferences, back=back), content_type=HTML)
    where = page if back == "/" else f"{page}?{urlencode({'next': back})}"
    return Response("", 303, {"Location": where})


def _view(app: Dashboard, screen: Screen) -> Callable[..., Any]:
    async def view(**path: str) -> Response:
        visit = _visit(app, screen, path)
        if screen.form is None:
            return _response(app, visit, await screen.run(visit))
        by_link = screen.access == "link"
        if not by_link and is_foreign(request.headers, app.api.base_url):
            raise Refusal("forbidden", say("Another site's page sent this change, so it was not made."))
        given = fields_of(await _body(screen), request.headers.get("Content-Type", ""))
        if not by_link:
            _check_token(given)
        return _response(app, visit, await _changed(app, visit, given))

    return view


def _visit(app: Dashboard, screen: Screen, path: dict[str, str]) -> Visit:
    browser: Browser = g.browser
    pairs, known = request.args.items(multi=True), screen.query.__struct_fields__
    asked = urlencode([(name, value) for name, value in pairs if value and (name in known or not screen.open_query)])
    return Visit(
        context=app.context,
        streams=app.api.streams,
        limiter=app.api.limiter,
        attempts=app.attempts,
        screen=screen,
        path=path,
        query=read_query(asked.encode(), screen.query),
        headers=request.headers,
        request_id=g.request_id,
        address=g.address,
        target=_target(),
        session=browser.session,
        who=browser.who,
        token=browser.token,
        zone=zone_of(g.preferences.zone or request.cookies.get("tz", "")),
        preferences=g.preferences,
        now=app.context.world.now(),
        hours=app.hours,
        undos=app.undos,
    )


async def _changed(app: Dashboard, visit: Visit, given: Given) -> Reply:
    screen = visit.screen
    assert screen.form is not None
    try:
        visit.form = read_form(given, screen.form)
        reply: Reply = await app.api.recorder(screen, visit, partial(screen.run, visit))
        return reply
    except (InvalidForm, Refusal, DomainError) as error:
        wrong = _wrong(error, screen.form)
        if wrong is None:
            raise
        if screen.again is None:
            raise _unshown(wrong) from None
        visit.draft = Draft(given, wrong.errors, wrong.says)
        if (query := app.query_of(screen.again)) is not None:
            visit.query = query
        try:
            page = await screen.again(visit)
        except InvalidForm as gone:  # the page's subject is gone
            raise _unshown(gone) from None
        return Page(page.template, page.title, page.shows, 422) if isinstance(page, Page) else page


def _wrong(error: InvalidForm | Refusal | DomainError, form: type[Form]) -> InvalidForm | None:
    if isinstance(error, InvalidForm):
        return error
    if isinstance(error, UrlRefused) and "url" in form.__struct_fields__:
        return InvalidForm(url=translated(in_words(error.words_inside)))
    if isinstance(error, Stale):
        return InvalidForm(say("This was changed in another place after you opened the form. Open the form again."))
    refusal = refusal_of(error, owner=True)
    return wrong_of(refusal) if refusal is not None and refusal.status in _REFUSED_FORM else None


def _unshown(wrong: InvalidForm) -> Refusal:
    return Refusal("unprocessable", " ".join(dict.fromkeys((wrong.says, *wrong.errors.values()))).strip())


def _check_token(given: Given) -> None:
    tokens = given.get(TOKEN, ())
    if len(tokens) != 1 or not isinstance(tokens[0], str) or not g.browser.sent(tokens[0]):
        says = say("The form was made for another session. Go back, reload the page, and try again.")
        raise Refusal("forbidden", says)


async def _body(screen: Screen) -> bytes:
    says = say("At most %(count)s KiB can be sent here.", count=screen.limit >> 10)
    too_large = Refusal("body-too-large", says, headers={"Connection": "close"})
    if (request.content_length or 0) > screen.limit:
        raise too_large
    raw = bytearray()
    try:
        with trio.fail_after(request.body_timeout or inf):
            async for piece in request.body:  # not at once: the framework's limit is the largest of all screens
                raw += piece
                if len(raw) > screen.limit:
                    raise too_large
    except RequestEntityTooLarge:
        raise too_large from None
    except trio.TooSlowError:
        says = say("The form did not arrive in time.")
        raise Refusal("request-timeout", says, headers={"Connection": "close"}) from None
    return bytes(raw)


def _response(app: Dashboard, visit: Visit, reply: Reply) -> Response:
    match reply:
        case Page():
            places = [place for place, screen in app.places.items() if visit.may(screen.needs)]
            body = rendering.rendered(reply, visit, places, app.notes.take(visit.who))
            if visit.session is not None and visit.session.role != "owner":
                body = rendering.for_role(body.decode(), partial(_may, app, visit.session)).encode()
            response = Response(body, reply.status, content_type=HTML)
            for cookie in (*reply.cookies, *([app.sessions.greeting(g.browser)] if g.browser.new else ())):
                response.headers.add("Set-Cookie", cookie)
            return response
        case Go():
            if reply.says or reply.secret:
                undo = app.undos.keep(visit.who, reply.undo, visit.now) if reply.undo is not None else ""
                app.notes.leave(reply.who or visit.who, reply.says, bad=reply.bad, secret=reply.secret, undo=undo)
            response = Response("", 303, {"Location": reply.to})
            for cookie in reply.cookies:
                response.headers.add("Set-Cookie", cookie)
            return response
        case Download():
            named = f"attachment; filename*=UTF-8''{quote(reply.name)}"
            return Response(reply.body, 200, {"Content-Disposition": named}, content_type=reply.media)
        case PictureAnswer():
            return Response(reply.body, 200, dict(reply.headers), content_type=reply.media)
        case LiveStream():
            return _fed(visit, reply.reader, MEDIA[reply.reader.form], reply.headers)
        case ExportedFile():
            return _fed(visit, reply.opened.file, reply.opened.media, reply.opened.headers)
        case _:
            assert_never(reply)


def _may(app: Dashboard, session: Session, method: str, path: str) -> bool:
    """Return whether a session's role includes a form or a page of ours. A page that only holds a form goes with it."""
    adapter = app.api.url_map.bind("")
    for way in (method, "POST")[: 1 + (path.rpartition("/")[2] in _FORM_PAGES)]:
        try:
            label, _ = adapter.match(path, way)
        except HTTPException:
            continue
        screen = app.screens.get(label)
        if screen is not None and screen.access == "session" and not session.may(screen.needs):
            return False
    return True


def _fed(visit: Visit, source: Reader | Export, media: str, headers: Mapping[str, str]) -> Response:
    """Return the head of an answer whose body the connection writes."""
    if request.method != "HEAD":
        scope: Any = request.scope
        scope[OPENED] = (visit.session, source)
    response = Response(b"", 200, dict(headers), content_type=media)
    response.headers.pop("Content-Length", None)
    return response


def _target() -> str:
    query = request.query_string.decode("latin-1")
    return f"{request.path}?{query}" if query else request.path

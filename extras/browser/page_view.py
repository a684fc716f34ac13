"""One page from its opening to its end, as a state machine: browser messages go in, commands come out. Pure.

    opening -> loading -> reading -> (showing) -> (asking for its cookies) -> over

*Opening*: a separate context with its own door to the proxy, and a tab in it, attached so that its requests are
reported. *Loading* ends when the page has loaded and made no request for 300 ms, or when the awaited selector matches,
or when just enough time is left to read the page. *Reading* takes the document twice, half a second apart: if both are
equal, it is settled. The page's own misbehaviour (dialogs, windows, downloads, endless reloads, crashes) costs only
this page view.

The document is read in an isolated world that the page's scripts can't change. Requests are intercepted to save work:
unneeded pictures are not fetched. That is no wall; the proxy is the wall.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import formatdate
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from extras.browser.leases import USER, Trouble
from extras.browser.wire import BrowserMessage, Command, Door, agent_of, in_words

if TYPE_CHECKING:
    from actors.world import RenderRequest

QUIET: Final = 0.3  # seconds without a request after which a loaded page counts as complete
PATIENCE: Final = 5.0  # longest wait for a request without an end (a stream, a long poll), in seconds
APART: Final = 0.5  # seconds between two readings
MOST_READINGS: Final = 4
MOMENT: Final = 1.0
"""Seconds for the reason why a tab dropped a document before it began: a download replaced it, or not."""
ASK_EVERY: Final = 0.2  # seconds between tests of the awaited selector
RESERVE: Final = 0.2  # the share of the deadline reserved for reading, at most `MOST_RESERVE` seconds
MOST_RESERVE: Final = 3.0
MOST_NAVIGATIONS: Final = 20
MOST_FILLED: Final = 5
MOST_TRACKED: Final = 2_000  # requests of one page that are tracked at once; more are counted only
WORLD: Final = "sanderling"
HIDDEN: Final[Mapping[str, Any]] = {"hidden": True, "background": True}
"""A whole browser makes no window for such a tab, which would cost five times the processor time. But a hidden tab
yields no pictures.
"""
WINDOW: Final[Mapping[str, Any]] = {
    "width": 1280,
    "height": 1024,
    "deviceScaleFactor": 0,
    "mobile": False,
    "dontSetVisibleSize": True,
}
SLIT: Final = {"width": WINDOW["width"], "height": 1}
"""The window that a page sees, and the drawn part if no picture is wanted: a third less memory. Only for a visible
tab.
"""
NO_WINDOWS: Final = "window.open = () => null"
"""As in a browser that blocks pop-ups; windows that open anyway are closed, at a higher cost."""
SHOT_WIDTH, SHOT_HEIGHT, SHOT_QUALITY = 1280, 4000, 60
_OF_PARENT: Final = frozenset({"about:blank", "about:srcdoc"})
"""Documents with the origin of their embedder; a sandboxed one has a separate target, which is not observed."""
_SAFE: Final = frozenset({"GET", "HEAD"})
_DROPPED: Final = frozenset({"Image", "Font", "Media", "TextTrack", "Ping", "CSPViolationReport"})
_SHOWN_DROPPED: Final = frozenset({"Media", "TextTrack", "Ping", "CSPViolationReport"})
_ENDLESS: Final = frozenset({"EventSource", "WebSocket", "Ping", "CSPViolationReport", "Media", "Prefetch"})
_READ: Final = """(() => {
  const root = document.documentElement, text = root ? root.outerHTML : "", at = location.href;
  const again = globalThis.before === text;
  globalThis.before = text;
  const found = {at, again, size: text.length, height: root ? root.scrollHeight : 0};
  if (text.length <= %d && (again || %s)) found.html = (document.doctype ? "<!DOCTYPE html>" : "") + text;
  return found;
})()"""


class Failure(NamedTuple):
    """Why a page can't be shown, and the fault, as in RenderFailed; status: of the document, if it came."""

    reason: str
    blame: str
    status: int | None


class PageViewState(Enum):
    """The state of a page view."""

    OPENING = "opening"
    LOADING = "loading"
    READING = "reading"
    SHOWING = "showing"
    COOKIES = "cookies"
    OVER = "over"


class PageView:
    """A view of one page. `take` browser messages, `tick` when `due`, send the returned commands, until `over`.

    door: its way to the proxy. agent: the browser's own User-Agent. marker: the word on the proxy's own answers.
    trouble: the proxy's trouble with a host. most_html: characters of the document. hidden: hide the tab if no picture
    is wanted. held_back: a new tab is attached automatically, and waits until released. now: seconds of a monotonic
    clock, as everywhere here.

    When it is over there is a `failure`, or the document: `html`, its final address `at`, and its `status`.
    """

    def __init__(
        self,
        request: RenderRequest,
        *,
        now: float,
        door: Door,
        agent: str,
        marker: str,
        trouble: Callable[[str, int], Trouble | None] = lambda host, port: None,
        most_html: int = 8 << 20,
        hidden: bool = True,
        held_back: bool = False,
    ) -> None:
        self.request = request
        self._url = parse_url(request.url, schemes=("http", "https"))
        self._door, self._agent, self._marker, self._trouble = door, agent, marker, trouble
        self._most_html, self._hidden, self._held_back = most_html, hidden, held_back
        self._began, self._deadline = now, now + request.deadline
        self._read_by = self._deadline - min(MOST_RESERVE, RESERVE * request.deadline)
        self.state = PageViewState.OPENING
        self.context = self.target = self.session = ""
        self.requests = 0
        self._frame = ""
        self._given = [*_cookies_of(request)]
        self._own_frames: set[str] = set()
        """Frames with a document of the own origin, including the top's; none when the top shows another."""
        self._abroad = False
        """Whether the top has shown a document of another origin."""
        self._strayed: set[str] = set()
        """Requests that went to other origins, and may be redirected back. Bound: the page's requests."""
        self.status: int | None = None
        self._failed = ""
        self._heading = request.url
        """The URL that the tab is navigating to."""
        self._coming = ""
        """The request that fetches its document."""
        self._loaded = self._committed = self._asking = False
        self._moved_at, self._broke_off = now, math.inf
        self._open: dict[str, float] = {}
        """Requests under way, and their start times."""
        self._filling: dict[str, tuple[str, int]] = {}
        """JSON responses: their URL, and the bytes so far."""
        self._navigations = self._readings = 0
        self._world = 0
        self._next_at = now
        self.html: str | None = None
        self.at = request.url
        self._height = 0
        self.settled = False
        self.screenshot = b""
        self.set_cookies: Sequence[str] = ()
        self.failure: Failure | None = None

    def __repr__(self) -> str:
        waits = f"{self.requests} requests, {len(self._open)} open, {self._readings} readings"
        return f"<PageView {self.state.value}, {waits}>"

    @property
    def over(self) -> bool:
        return self.state is PageViewState.OVER

    @property
    def due(self) -> float:
        """When to call `tick` next, if no message comes first."""
        if self.state is PageViewState.OPENING or self._asking:
            return self._deadline
        if not self._committed and self._broke_off < self._deadline:
            return min(self._deadline, self._broke_off + MOMENT)
        if self.state is PageViewState.READING or self.request.wait_for:
            return min(self._deadline, self._next_at)
        return min(self._quiet_at(), self._read_by) if self._committed else self._deadline

    def filled(self) -> Sequence[tuple[str, int]]:
        """Return the URLs whose JSON filled the page, and its size, largest first."""
        return sorted((pair for pair in self._filling.values() if pair[1]), key=lambda pair: -pair[1])[:MOST_FILLED]

    # --- commands ----------------------------------------------------------------------------------------------------

    def begin(self) -> Sequence[Command]:
        return [context_behind(self._door)._replace(tag="context")]

    def end(self) -> Sequence[Command]:
        """Return the commands that dispose of the context, with all it contains."""
        if not self.context:
            return []
        gone = Command("Target.disposeBrowserContext", {"browserContextId": self.context}, tag="disposed")
        if not self.target:
            return [gone]
        return [Command("Target.closeTarget", {"targetId": self.target}), gone]  # a hidden tab outlives its context

    def _told(self, method: str, tag: str = "", **params: Any) -> Command:
        return Command(method, params, self.session, tag)

    def _prepare(self) -> Iterator[Command]:
        """Subscribe to the tab's events. It must process all of these before it navigates."""
        agent = {"userAgent": agent_of(self._agent, self.request.user_agent)}
        if self.request.language:
            agent["acceptLanguage"] = self.request.language
        yield self._told("Inspector.enable")
        yield self._told("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0, maxPostDataSize=0)
        yield self._told("Network.setUserAgentOverride", **agent)
        yield self._told("Network.setBypassServiceWorker", bypass=True)
        if not self.request.screenshot:
            yield self._told("Emulation.setDeviceMetricsOverride", **WINDOW)
        asks: dict[str, Any] = {"handleAuthRequests": True} if self._door.secret else {}
        yield self._told("Fetch.enable", patterns=[{"urlPattern": "*"}], **asks)
        yield self._told("Page.addScriptToEvaluateOnNewDocument", source=NO_WINDOWS)
        yield self._told("Page.enable", "" if self._held_back else "prepared")
        if self._held_back:
            yield self._told("Runtime.runIfWaitingForDebugger", "let go")

    # --- messages ----------------------------------------------------------------------------------------------------

    def take(self, message: BrowserMessage, tag: str, now: float) -> Sequence[Command]:
        """Take an event (tag "") or an answer; return the commands to send."""
        if tag == "context" and not message.failed:
            self.context = str(message.params["browserContextId"])  # a cancelled page view must dispose of it
        if self.over:
            return []
        if message.number:
            return list(self._answered(message, tag, now))
        handle = _EVENTS.get(message.method)
        return list(handle(self, message.params, now) or ()) if handle else []

    def _answered(self, message: BrowserMessage, tag: str, now: float) -> Iterator[Command]:
        params = message.params
        if message.failed:
            yield from self._not_done(tag, message.failed, now)
        elif tag == "context":
            yield Command("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": self.context})
            if self._given:
                yield Command("Storage.setCookies", self._jar(), tag="given")
            unseen = SLIT if self._held_back else HIDDEN if self._hidden else {}  # a tab without a picture
            shape = {} if self.request.screenshot else unseen
            url = self._url.text if self._held_back else "about:blank"
            yield Command("Target.createTarget", {"url": url, "browserContextId": self.context, **shape}, tag="target")
        elif tag == "target":
            self.target = self._frame = str(params["targetId"])  # a tab's top frame has its name
            if not self._held_back:
                yield Command("Target.attachToTarget", {"targetId": self.target, "flatten": True}, tag="session")
        elif tag == "session":
            yield from self._attached(params, now)
        elif tag == "prepared":
            yield self._told("Page.navigate", "navigated", url=self._url.text)
        elif tag == "navigated":
            self._went(params)
        elif tag == "world":
            self._world = int(params.get("executionContextId", 0))
            yield from self._in_world(now)
        elif tag == "cookies":
            new = [one for one in params.get("cookies", ()) if not (one.get("session") and _pair(one) in self._given)]
            self.set_cookies, self.state = tuple(kept_by(self._url, new)), PageViewState.OVER
        elif tag in ("waited", "read", "shown"):
            self._asking = False
            if (tag == "read") != (self.state is PageViewState.READING):
                return  # the page has moved on
            yield from {"waited": self._waited, "read": self._was_read, "shown": self._was_shown}[tag](params, now)

    def _not_done(self, tag: str, why: str, now: float) -> Iterator[Command]:
        """Repeat a command to a page that has moved on; at the start its failure is the browser's fault."""
        if tag in ("context", "target", "session", "prepared", "let go"):
            self._fail(f"the browser would not open a page: {why}", "local")
        elif tag == "given":
            self._fail(f"the browser takes no such cookie: {why}", "remote")
        elif tag == "navigated":
            self._fail(f"the browser would not go there: {why}", "remote")
        elif tag == "shown":
            yield from self._last()  # without a picture
        elif tag == "cookies":
            self.state = PageViewState.OVER
        elif tag in ("world", "waited", "read"):
            self._asking, self._world = False, 0
            self._next_at = now + ASK_EVERY

    def _attached(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        """The tab is attached: subscribe to its events, and let it navigate."""
        found = params.get("targetInfo", {})
        if found and found.get("browserContextId") != self.context:
            return
        if self.session:  # a window that the page opened: it is closed, and if held back, it would block the page too
            yield Command("Runtime.runIfWaitingForDebugger", {}, str(params["sessionId"]))
            return
        self.session = str(params["sessionId"])
        self.target = self._frame = str(found.get("targetId", self.target))
        self.state = PageViewState.LOADING
        self._moved_at = now
        yield from self._prepare()

    def _went(self, params: Mapping[str, Any]) -> None:
        """Take the answer to Page.navigate, which comes when the document begins to arrive."""
        if params.get("isDownload"):
            self._fail("this is a file to be downloaded, no page", "remote")
        elif error := params.get("errorText"):
            self._fail_loading(str(error), self._heading)
        elif not self._committed:  # an event reports it too, but is lost if the tab changes its process
            self._committed = True
            self._place(self._frame, own=self._is_own(self._heading))

    # --- events of the page ------------------------------------------------------------------------------------------

    def _asked(self, params: Mapping[str, Any], now: float) -> None:
        url, kind = str(params.get("request", {}).get("url", "")), params.get("type")
        if url.startswith(("http:", "https:", "ws:", "wss:")) and "redirectResponse" not in params:
            self.requests += 1
        if kind == "Document" and params.get("frameId") == self._frame:
            self._heading = url
        if kind not in _ENDLESS and len(self._open) < MOST_TRACKED:
            self._open[str(params.get("requestId"))] = now
        self._moved_at = now

    def _responded(self, params: Mapping[str, Any], now: float) -> None:
        answer, number = params.get("response", {}), str(params.get("requestId"))
        if params.get("type") == "Document" and params.get("frameId") == self._frame:
            self._coming = number
            self._document(answer)
        kind = str(answer.get("mimeType", "")).lower()
        if (kind == "application/json" or kind.endswith("+json")) and len(self._filling) < MOST_TRACKED:
            self._filling[number] = (str(answer.get("url", ""))[:2048], 0)

    def _document(self, answer: Mapping[str, Any]) -> None:
        self.status = int(answer.get("status", 0))
        url = str(answer.get("url", ""))
        headers = {str(name).lower(): value for name, value in dict(answer.get("headers", {})).items()}
        if self._marker and headers.get("sanderling-refused") == self._marker:
            self.status = None
            self._fail_loading("net::ERR_TUNNEL_CONNECTION_FAILED", url)

    def _received(self, params: Mapping[str, Any], now: float) -> None:
        number = str(params.get("requestId"))
        if number in self._filling:
            url, size = self._filling[number]
            self._filling[number] = url, size + int(params.get("dataLength", 0))

    def _finished(self, params: Mapping[str, Any], now: float) -> None:
        if self._open.pop(str(params.get("requestId")), None) is not None:
            self._moved_at = now

    def _broke(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        number = str(params.get("requestId"))
        self._filling.pop(number, None)
        if number == self._coming and not params.get("canceled"):
            self._fail_loading(str(params.get("errorText", "")), self._heading)  # a part of a page is no page
            yield from self._last()
        elif params.get("type") == "Document" and not (params.get("canceled") and self._committed):
            self._failed = str(params.get("errorText", ""))
            if self._held_back and params.get("canceled"):
                self._broke_off = now
        self._finished(params, now)

    def _downloads(self, params: Mapping[str, Any], now: float) -> None:
        """Handle a download. Once there is a document it is refused and ignored."""
        if not self._committed:
            self._fail("this is a file to be downloaded, no page", "remote")

    def _navigated(self, params: Mapping[str, Any], now: float) -> None:
        """The tab shows another document. Only those of the top frame count."""
        frame = params.get("frame", {})
        url, parent = str(frame.get("url", "")), frame.get("parentId")
        own = self._is_own(url) or (url in _OF_PARENT and parent in self._own_frames)
        self._place(frame.get("id"), own=own)
        if parent:
            return
        self._abroad |= not own
        self._navigations += 1
        self._committed, self._loaded = True, False
        self._frame = str(frame.get("id", self._frame))
        self.at = url or self.at
        self._moved_at, self._world = now, 0
        if unreachable := frame.get("unreachableUrl"):
            self._fail_loading(self._failed or "net::ERR_FAILED", str(unreachable))
        elif self._navigations > MOST_NAVIGATIONS:
            self._fail(f"the page reloaded itself more than {MOST_NAVIGATIONS} times", "remote")
        elif self.state is PageViewState.READING:
            self.state, self._readings = PageViewState.LOADING, 0

    def _load_fired(self, params: Mapping[str, Any], now: float) -> None:
        self._loaded, self._committed, self._moved_at = True, True, now

    def _paused(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        """Drop unneeded requests, and all beyond the page's limit."""
        number, kind = params.get("requestId"), params.get("resourceType")
        dropped = _SHOWN_DROPPED if self.request.screenshot else _DROPPED
        if kind in dropped or self.requests > self.request.most_requests:
            yield self._told("Fetch.failRequest", requestId=number, errorReason="BlockedByClient")
            return
        yield self._told("Fetch.continueRequest", requestId=number, **self._headers_for(params))

    def _challenged(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        """Answer a request for a password: our own proxy gets the door's secret, hosts get none."""
        answer = {"response": "CancelAuth"}
        if params.get("authChallenge", {}).get("source") == "Proxy":
            answer = {"response": "ProvideCredentials", "username": USER, "password": self._door.secret}
        yield self._told("Fetch.continueWithAuth", requestId=params.get("requestId"), authChallengeResponse=answer)

    def _headers_for(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return headers of a source's request. Redirected requests keep added ones, so others lose them."""
        if not self.request.headers:
            return {}
        ours = [(name, value) for name, value in self.request.headers if name.lower() != "cookie"]
        named, request = {name.lower() for name, _ in ours}, params.get("request", {})
        lends = self._lends(params)
        sent = [(name, value) for name, value in request.get("headers", {}).items() if name.lower() not in named]
        sent = [(name, self._kept(str(value), lends) if name.lower() == "cookie" else value) for name, value in sent]
        acts = request.get("method", "GET") in _SAFE or params.get("frameId") == self._frame
        if lends and acts and params.get("networkId"):  # a worker's has none
            sent += ours
        return {"headers": [{"name": name, "value": str(value)} for name, value in sent if value != ""]}

    def _lends(self, params: Mapping[str, Any]) -> bool:
        """Return whether a request may have the source's credentials: it goes to the own origin, and a document of
        that origin makes it, by `Origin` and `Referer`, which a page can hide but not forge, and by the frame. Others
        may not redirect it. Only the top document may come from anywhere, as by a link.
        """
        request, frame, number = params.get("request", {}), params.get("frameId"), params.get("networkId")
        document, top = params.get("resourceType") == "Document", frame == self._frame
        if not self._is_own(str(request.get("url", ""))):
            self._strayed.add(str(number))
            if document:
                self._place(frame, own=False)
            return False
        if document and top and request.get("method", "GET") in _SAFE:
            return True
        sent = {name.lower(): str(value) for name, value in request.get("headers", {}).items()}
        asker = sent.get("origin") or sent.get("referer") or ""
        strayed = number in self._strayed if number else "redirectedRequestId" in params
        if strayed or (asker and not self._is_own(asker)):
            return False
        if document:
            return asker != ""
        return {frame, self._frame} <= self._own_frames and (asker != "" or not self._abroad)

    def _place(self, frame: object, *, own: bool) -> None:
        """Record whether a frame shows a document of the own origin."""
        if frame == self._frame:
            self._own_frames.clear()
        self._own_frames.discard(str(frame))
        if own and len(self._own_frames) < MOST_TRACKED:
            self._own_frames.add(str(frame))

    def _jar(self) -> Mapping[str, Any]:
        """Return the source's cookies for the context, so that the browser's own rules decide who gets them."""
        given = dict(pair.split("=", 1) for pair in self._given)
        kept = {"url": self._url.text, "path": "/", "secure": self._url.secure, "httpOnly": True, "sameSite": "Lax"}
        cookies = [{"name": name, "value": value, **kept} for name, value in given.items()]
        return {"cookies": cookies, "browserContextId": self.context}

    def _kept(self, cookie: str, lends: bool) -> str:
        """Return a `Cookie` header with the source's cookies emptied unless lent: a browser would add missing ones. Of
        two with one name, the page's own counts.
        """
        pairs = [(pair.partition("=")[0], pair) for pair in cookie.split("; ")]
        count = Counter(name for name, _ in pairs)
        kept = [(name, pair) for name, pair in pairs if pair not in self._given or count[name] == 1]
        return "; ".join(pair if lends or pair not in self._given else f"{name}=" for name, pair in kept)

    def _is_own(self, url: str) -> bool:
        try:
            return parse_url(url).origin == self._url.origin
        except UrlRefused:
            return False

    def _dialog(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        yield self._told("Page.handleJavaScriptDialog", accept=params.get("type") == "beforeunload")

    def _crashed(self, params: Mapping[str, Any], now: float) -> None:
        if params.get("targetId", self.target) == self.target:
            self._fail("the page crashed its tab: it took too much memory, or broke the browser's engine", "remote")

    def _window(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        found = params.get("targetInfo", {})
        if found.get("type") in ("page", "tab") and found.get("targetId") != self.target and self.target:
            yield Command("Target.closeTarget", {"targetId": found.get("targetId")})

    # --- time --------------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> Sequence[Command]:
        """Perform due actions; return the commands to send."""
        if self.over:
            return []
        if now >= self._deadline:
            self._end_of_time()
            return []
        if not self._committed and now >= self._broke_off + MOMENT:
            self._fail_loading(self._failed, self._heading)
        elif self.state is PageViewState.LOADING and not self._asking:
            return list(self._tick_loading(now))
        elif self.state is PageViewState.READING and not self._asking and now >= self._next_at:
            return list(self._in_world(now))
        return []

    def _tick_loading(self, now: float) -> Iterator[Command]:
        if self.request.wait_for:
            if now >= self._next_at and self._committed:
                yield from self._in_world(now)
            elif now >= self._next_at:
                self._next_at = now + ASK_EVERY
        elif (self._loaded and now >= self._quiet_at()) or (now >= self._read_by and self._committed):
            self.state, self._readings, self._next_at = PageViewState.READING, 0, now
            yield from self._in_world(now)

    def _quiet_at(self) -> float:
        """Return when the page will have been quiet for long enough, without further requests."""
        if not self._loaded:
            return self._read_by
        return max([self._moved_at + QUIET, *[since + PATIENCE for since in self._open.values()]])

    def _end_of_time(self) -> None:
        """Handle the deadline. A document that was read counts; else report the obstacle."""
        seconds = f"{self.request.deadline:g} s"
        if self.html is not None or self.failure is not None:
            self.state = PageViewState.OVER
        elif self.request.wait_for and self._committed:
            self._fail(f"nothing on the page matched {self.request.wait_for!r} within {seconds}", "remote")
        elif self.state is PageViewState.OPENING:
            self._fail(f"the browser did not open a page within {seconds}", "local")
        elif not self._committed:
            self._fail_loading("net::ERR_TIMED_OUT", self._heading)
        else:
            self._fail(f"the page's scripts did not come to rest within {seconds}", "remote")

    # --- reading -----------------------------------------------------------------------------------------------------

    def _in_world(self, now: float) -> Iterator[Command]:
        """Evaluate the current question in the isolated world."""
        self._asking = True
        if not self._world:
            yield self._told("Page.createIsolatedWorld", "world", frameId=self._frame, worldName=WORLD)
        elif self.state is PageViewState.LOADING:
            selector = json.dumps(self.request.wait_for)
            yield self._evaluate("waited", f"document.querySelector({selector}) !== null")
        else:
            last = self._readings + 1 >= MOST_READINGS or now + APART >= self._deadline
            hurried = now + 2 * APART >= self._read_by or last
            yield self._evaluate("read", _READ % (self._most_html, "true" if hurried or self._readings else "false"))

    def _evaluate(self, tag: str, expression: str) -> Command:
        return self._told(
            "Runtime.evaluate", tag, expression=expression, contextId=self._world, returnByValue=True, silent=True
        )

    def _waited(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        if "exceptionDetails" in params:
            self._fail(f"{self.request.wait_for!r} is no CSS selector", "remote")
        elif params.get("result", {}).get("value") is True:
            self.state, self._readings = PageViewState.READING, 0
            yield from self._in_world(now)
        else:
            self._next_at = now + ASK_EVERY

    def _was_read(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        found = params.get("result", {}).get("value")
        if not isinstance(found, dict):
            self._next_at, self._world = now + ASK_EVERY, 0
            return
        self._readings += 1
        size, html = int(found.get("size", 0)), found.get("html")
        if size > self._most_html:
            self._fail(f"the page has {size:,} characters as it is shown, more than {self._most_html:,}", "remote")
            return
        self.at, self._height = str(found.get("at", self.at)), int(found.get("height", 0))
        if isinstance(html, str):
            self.html = html
        self.settled = found.get("again") is True
        if not self.settled and self._readings < MOST_READINGS and now + APART < self._deadline:
            self._next_at = now + APART
        elif self.request.screenshot and now < self._deadline:
            yield from self._shoot()
        else:
            yield from self._last()

    def _shoot(self) -> Iterator[Command]:
        self.state, self._asking = PageViewState.SHOWING, True
        clip = {"x": 0, "y": 0, "width": SHOT_WIDTH, "height": max(1, min(self._height, SHOT_HEIGHT)), "scale": 1}
        yield self._told(
            "Page.captureScreenshot",
            "shown",
            format="webp",
            quality=SHOT_QUALITY,
            clip=clip,
            captureBeyondViewport=True,
        )

    def _was_shown(self, params: Mapping[str, Any], now: float) -> Iterator[Command]:
        self.screenshot = b64decode(str(params.get("data", "")))
        yield from self._last()

    def _last(self) -> Iterator[Command]:
        """End, or first ask for the cookies, if some were given."""
        if self._given:
            self.state, self._asking = PageViewState.COOKIES, True
            yield Command("Storage.getCookies", {"browserContextId": self.context}, tag="cookies")
        else:
            self.state = PageViewState.OVER

    # --- failing -----------------------------------------------------------------------------------------------------

    def fail(self, reason: str, blame: str) -> None:
        """End the page view from outside: the browser died, or the page caused too many messages."""
        if not self.over:
            self._fail(reason, blame)

    def _fail(self, reason: str, blame: str) -> None:
        self.failure = Failure(reason, blame, self.status)
        self.state = PageViewState.OVER

    def _fail_loading(self, code: str, url: str) -> None:
        """Fail with the proxy's reason for an unloaded document, else the browser's."""
        try:
            found = parse_url(url)
            trouble = self._trouble(found.host, found.port)
        except UrlRefused as refusal:
            trouble = Trouble("refused", refusal.detail)
        if trouble is None:
            self._fail(in_words(code), "remote")
        else:
            self._fail(trouble.reason, trouble.cause)


def context_behind(door: Door) -> Command:
    """Return the command for a context whose only way out is a door; it disappears with the line to the browser."""
    way = {"proxyServer": door.proxy, "proxyBypassList": "<-loopback>"}
    return Command("Target.createBrowserContext", {"disposeOnDetach": True, **way})


def _cookies_of(request: RenderRequest) -> Iterator[str]:
    for name, value in request.headers:
        if name.lower() == "cookie":
            pairs = (pair.strip().partition("=") for pair in value.split(";") if pair.strip())
            yield from (f"{key.strip()}={text.strip()}" for key, _, text in pairs)


def _pair(cookie: Mapping[str, Any]) -> str:
    return f"{cookie.get('name', '')}={cookie.get('value', '')}"


def kept_by(url: Url, cookies: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a browser's cookies that go to a URL's origin, each as a `Set-Cookie`."""
    for cookie in cookies[:MOST_TRACKED]:
        domain, port = str(cookie.get("domain", "")), cookie.get("sourcePort", url.port)
        if domain != url.host and not (domain.startswith(".") and f".{url.host}".endswith(domain)):
            continue
        if port not in (url.port, -1):
            continue  # browsers share them among the ports of a host
        line = f"{_pair(cookie)}; Path={cookie.get('path', '/')}"
        if domain.startswith("."):
            line += f"; Domain={domain}"
        if not cookie.get("session", True):
            line += f"; Expires={formatdate(float(cookie.get('expires', 0)), usegmt=True)}"
        yield f"{line}; Secure" if cookie.get("secure") else line


_EVENTS: Final[Mapping[str, Callable[[PageView, Mapping[str, Any], float], Iterator[Command] | None]]] = {
    "Network.requestWillBeSent": PageView._asked,
    "Network.responseReceived": PageView._responded,
    "Network.dataReceived": PageView._received,
    "Network.loadingFinished": PageView._finished,
    "Network.loadingFailed": PageView._broke,
    "Page.frameNavigated": PageView._navigated,
    "Page.loadEventFired": PageView._load_fired,
    "Page.javascriptDialogOpening": PageView._dialog,
    "Page.downloadWillBegin": PageView._downloads,
    "Fetch.requestPaused": PageView._paused,
    "Fetch.authRequired": PageView._challenged,
    "Inspector.targetCrashed": PageView._crashed,
    "Target.targetCrashed": PageView._crashed,
    "Target.targetCreated": PageView._window,
    "Target.attachedToTarget": PageView._attached,
}

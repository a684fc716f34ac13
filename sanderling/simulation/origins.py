"""Scripted origins: a feed, a page and a webhook receiver as small applications, and a WebSocket server that pushes.

They play an `OriginPlan` of the program by their own true clock (virtual time from `EPOCH`; only the service's
clock is ever set), suffer the HTTP faults of their host, and remember what was asked of them, which is what the
oracle judges.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_server_stream

from sanderling.simulation.network import Host, SimListener
from sanderling.simulation.program import OriginPlan, Text
from sanderling.simulation.serving import Answer, Request
from sanderling.simulation.trace import Trace
from sanderling.simulation.wire import SimStream
from storage.records.identity import Millis
from storage.records.times import rfc3339

EPOCH = 1_780_000_000.0
"""What the true wall clock shows when the world begins."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as an origin saw it. `conditional`: it named a version that the origin had given out."""

    at: float
    path: str
    status: int
    conditional: bool


@dataclass(slots=True)
class Origin:
    """What every scripted HTTP server has; `respond` is given to Hypercorn."""

    host: Host
    trace: Trace
    seen: list[Seen] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        """Answer one request, or suffer the host's present fault."""
        await trio.lowlevel.checkpoint()
        conditional = "if-none-match" in request.headers or "if-modified-since" in request.headers
        answer = self.answer(request) if request.path != "/robots.txt" else Answer(404)
        answer = self._suffer(answer)
        self.seen.append(Seen(trio.current_time(), request.path, answer.status, conditional))
        told = {"conditional": "yes"} if conditional else {}
        self.trace.note(self.host.name, f"answers {answer.status}", path=request.path, bytes=len(answer.body), **told)
        return answer

    def answer(self, request: Request) -> Answer:
        """Answer one request in good health."""
        raise NotImplementedError

    def _suffer(self, answer: Answer) -> Answer:
        if self.host.suffers("http500"):
            return Answer(500, b"something broke")
        if self.host.suffers("throttled"):
            return Answer(429, b"slow down", {"retry-after": "120"})
        if self.host.suffers("garbage") and answer.status == 200 and isinstance(self, FeedOrigin):
            return Answer(200, b"<html><title>Maintenance</title><p>Back soon.", {"content-type": "text/html"})
        if self.host.suffers("truncated") and answer.status == 200:
            return Answer(200, answer.body[: len(answer.body) // 2], answer.headers, claims=len(answer.body))
        return answer


@dataclass(slots=True)
class FeedOrigin(Origin):
    """A feed that keeps its newest entries."""

    plan: OriginPlan = field(kw_only=True)

    def answer(self, request: Request) -> Answer:
        """Answer with the feed as it is now, or 304."""
        out = published(self.plan.texts)
        version = f'"{len(out)}"'
        changed = formatdate(EPOCH + (out[-1].at if out else 0.0), usegmt=True)
        headers = {}
        if self.plan.validators != "modified":
            headers["etag"] = version
        if self.plan.validators != "etag":
            headers["last-modified"] = changed
        if request.headers.get("if-none-match") == version or (
            "etag" not in headers and request.headers.get("if-modified-since") == changed
        ):
            return Answer(304, headers=headers)
        first = max(0, len(out) - self.plan.window)
        shown = [(number, out[number]) for number in range(len(out) - 1, first - 1, -1)]
        kind, body = _FEEDS[self.plan.style](self.plan, shown)
        return Answer(200, body.encode(), {"content-type": kind, **headers})


@dataclass(slots=True)
class PageOrigin(Origin):
    """A page whose blocks change one at a time; a busy one also shows the time and a counter."""

    plan: OriginPlan = field(kw_only=True)
    visits: int = 0

    def answer(self, request: Request) -> Answer:
        """Answer with the page as it is now."""
        self.visits += 1
        blocks = blocks_of(self.plan, len(published(self.plan.texts)))
        churn = ""
        if self.plan.style == "busy":
            clock = formatdate(EPOCH + trio.current_time(), usegmt=True)
            churn = f"<p class=clock>It is {clock}</p><p>You are visitor number {self.visits}</p>"
        main = "".join(f"<h2>Notice {n + 1}</h2><p>{escape(text)}</p>" for n, text in enumerate(blocks))
        body = (
            f"<!doctype html><html><head><title>Notices of {self.plan.host}</title></head><body><header><nav>"
            f"<a href=/>Home</a> <a href=/about>About</a></nav>{churn}</header><main><h1>Notices</h1>{main}</main>"
            f"<footer><p>Printed by the press of {self.plan.host}</p></footer></body></html>"
        )
        return Answer(200, body.encode(), {"content-type": "text/html; charset=utf-8"})


@dataclass(frozen=True, slots=True)
class Receipt:
    """A delivery as the receiver got it; `status` is what it answered."""

    at: float
    headers: dict[str, str]
    body: bytes
    status: int


@dataclass(slots=True)
class HookOrigin(Origin):
    """A webhook receiver that records what arrives."""

    receipts: list[Receipt] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        """Take one delivery."""
        await trio.lowlevel.checkpoint()
        answer = self._suffer(Answer(204))
        self.receipts.append(Receipt(trio.current_time(), dict(request.headers), request.body, answer.status))
        self.trace.note(self.host.name, f"takes a delivery, {answer.status}", id=request.headers.get("webhook-id"))
        return answer


@dataclass(slots=True)
class PushOrigin:
    """A WebSocket server that sends each text as a JSON frame to whoever is connected at that moment."""

    host: Host
    trace: Trace
    plan: OriginPlan
    sent: list[tuple[float, int]] = field(default_factory=list)
    """(when, which text) for each frame that was handed to a connection."""
    _connected: dict[WebSocketConnection, None] = field(default_factory=dict)

    async def serve(self, listeners: Sequence[SimListener]) -> None:
        """Accept and push until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._push)
            await trio.serve_listeners(self._accept, list(listeners))

    async def _accept(self, stream: SimStream) -> None:
        with trio.move_on_after(0) if self.host.suffers("http500") else trio.CancelScope():
            try:
                async with trio.open_nursery() as nursery:
                    request = await wrap_server_stream(nursery, stream)
                    await self._hold(await request.accept())
                    nursery.cancel_scope.cancel()
            except* (ConnectionClosed, trio.BrokenResourceError, trio.ClosedResourceError):
                pass
        stream.close()

    async def _hold(self, connection: WebSocketConnection) -> None:
        self.trace.note(self.host.name, "is connected")
        self._connected[connection] = None
        try:
            while True:
                await connection.get_message()
        except ConnectionClosed:
            self.trace.note(self.host.name, "is disconnected")
        finally:
            del self._connected[connection]

    async def _push(self) -> None:
        for number, text in enumerate(self.plan.texts):
            await trio.sleep_until(text.at)
            for connection in tuple(self._connected):
                with trio.move_on_after(30):
                    try:
                        await connection.send_message(frame(self.plan, number))
                    except (ConnectionClosed, trio.BrokenResourceError):
                        continue
                    self.sent.append((trio.current_time(), number))
            self.trace.note(self.host.name, "pushes", text=number, to=len(self._connected))


def published(texts: Sequence[Text]) -> Sequence[Text]:
    """Return what is out by now, oldest first."""
    now = trio.current_time()
    return [text for text in texts if text.at <= now]


def title(plan: OriginPlan, number: int) -> str:
    """Return the unique title of a text."""
    return f"{plan.host} number {number}"


def link(plan: OriginPlan, number: int) -> str:
    """Return the address of a text."""
    return f"https://{plan.host}/{number}"


def sentence(text: Text) -> str:
    """Return a text's words as a sentence."""
    return " ".join(text.words).capitalize() + "."


def blocks_of(plan: OriginPlan, changes: int) -> list[str]:
    """Return a page's blocks after so many changes; change `n` rewrites block `n % window`."""
    blocks = [
        f"Paragraph {n} of {plan.host} has stood here since the beginning and says so." for n in range(plan.window)
    ]
    for number, text in enumerate(plan.texts[:changes]):
        blocks[number % plan.window] = f"{sentence(text)} ({title(plan, number)})"
    return blocks


def frame(plan: OriginPlan, number: int) -> str:
    """Return a text as a push frame."""
    return json.dumps(
        {
            "id": str(number),
            "title": title(plan, number),
            "url": link(plan, number),
            "content": sentence(plan.texts[number]),
        }
    )


_Shown = Sequence[tuple[int, Text]]


def _rss(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    items = "".join(
        f"<item><title>{title(plan, n)}</title><link>{link(plan, n)}</link><guid>{link(plan, n)}</guid>"
        f"<pubDate>{formatdate(EPOCH + text.at, usegmt=True)}</pubDate>"
        f"<description>{escape(sentence(text))}</description></item>"
        for n, text in shown
    )
    head = f"<title>{plan.host}</title><link>https://{plan.host}/</link><description>All of it</description>"
    return "application/rss+xml", f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'


def _atom(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    entries = "".join(
        f"<entry><title>{title(plan, n)}</title><id>{link(plan, n)}</id><link href='{link(plan, n)}'/>"
        f"<updated>{_stamp(text)}</updated><summary>{escape(sentence(text))}</summary></entry>"
        for n, text in shown
    )
    newest = _stamp(shown[0][1]) if shown else rfc3339(Millis(int(EPOCH * 1000)))
    head = f"<title>{plan.host}</title><id>https://{plan.host}/</id><updated>{newest}</updated>"
    return "application/atom+xml", f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{entries}</feed>'


def _json(plan: OriginPlan, shown: _Shown) -> tuple[str, str]:
    items = [
        {
            "id": link(plan, n),
            "url": link(plan, n),
            "title": title(plan, n),
            "content_text": sentence(text),
            "date_published": _stamp(text),
        }
        for n, text in shown
    ]
    document = {"version": "https://jsonfeed.org/version/1.1", "title": plan.host, "items": items}
    return "application/feed+json", json.dumps(document)


def _stamp(text: Text) -> str:
    return rfc3339(Millis(int(EPOCH + text.at) * 1000))


_FEEDS = {"rss": _rss, "atom": _atom, "json": _json}

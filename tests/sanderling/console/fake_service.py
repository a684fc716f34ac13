"""A service of any size behind a transport: makes its rows on request; a test ticks its feed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import unquote

import httpx

from api.fields import admin
from api.fields.admin import StreamSeen
from api.nouns.events import EventsPage
from api.nouns.why import SourceWhy
from api.openapi.document import example_of
from storage.records.event import Event
from tests.sanderling.client.documented import as_documented

_ROW = example_of(admin.TreeRow) | {"title": ""}
STARTED = "2026-04-09T08:00:00.000Z"
NOW = "2026-04-21T12:00:41.000Z"
TROUBLES = (
    ("quarantined", None, "ParseError: bomb killed"),
    ("resting", "rotten", "503 Service Unavailable, 6 times"),
    ("backoff", "degraded", "closed 1011"),
    ("failing", "degraded", "timeout after 15 s"),
)
PARTS = ("log", "sources", "destinations", "matcher", "web")
KINDS = ("feed", "html", "push")
HOOK = {
    "id": "019db0a4-8e30-7000-8000-0000000000c1",
    "alert_id": "019db0a4-7d20-7000-8000-0000000000b1",
    "label": "hooks.test",
    "url": "https://hooks.test/in",
    "delivery_mode": "instant",
    "state": "failing",
    "failing_since": "2026-04-21T11:30:41.000Z",
    "waiting": 12,
    "oldest": "2026-04-21T11:00:41.000Z",
    "next": "2026-04-21T12:05:41.000Z",
    "failure_rate": 0.25,
    "last": {"at": "2026-04-21T12:00:01.000Z", "result": "retry", "status": 503, "latency_ms": 140, "error": None},
}
CALM_HOOK = HOOK | {
    "id": "019db0a4-8e30-7000-8000-0000000000c2",
    "url": "https://calm.test/in",
    "state": "active",
    "failing_since": None,
    "waiting": 0,
    "oldest": None,
    "next": None,
    "last": None,
}
ATTEMPTS = [
    {
        "webhook_id": f"019db0a4-6a10-7000-8000-00000000{number:04x}",
        "attempt": 3 - number % 3,
        "result": ("retry", "sent", "given_up")[number % 3],
        "at": f"2026-04-21T11:{59 - number}:01.000Z",
        "status_code": (503, 204, None)[number % 3],
        "latency_ms": 140 + number,
        "error": (None, None, "ConnectTimeout: no answer in 15 s")[number % 3],
        "next_attempt_at": "2026-04-21T12:05:41.000Z" if number % 3 == 0 else None,
        "response_excerpt": ("try again later", "", "")[number % 3],
    }
    for number in range(6)
]


def source_id(number: int) -> str:
    return f"019db0a4-5c00-7000-8000-{number:012x}"


class FakeService(httpx.AsyncBaseTransport):
    """sources: how many. names: the URLs of some of them. down: refuses connections. acts: the actions it received."""

    def __init__(self, sources: int = 60) -> None:
        self.sources = sources
        self.names: dict[int, str] = {}
        self.states: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.down = False
        self.draining = False
        self.failing: dict[str, str] = {}
        self.late = ""
        self.passed = ""
        self.started, self.now = STARTED, NOW
        self.asked: list[str] = []
        self.acts: list[tuple[str, Any]] = []
        self.forbidden = ""
        self.slow: asyncio.Event | None = None
        self.refusal: tuple[int, str] | None = None
        self.hooks: list[dict[str, Any]] = [HOOK, CALM_HOOK]
        self.lines: list[dict[str, Any]] = []
        self.streams = [example_of(StreamSeen), {**example_of(StreamSeen), "number": 8, "name": "archive"}]
        self.streams[0]["behind_s"] = 725.0
        self.node = ""
        self.past: list[dict[str, Any]] = []
        self.ticks = 0
        self._readers: list[asyncio.Queue[bytes | None]] = []

    # --- rows ----------------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        return self.sources + len(PARTS)

    def row(self, position: int) -> dict[str, Any]:
        """Return the row at a position of the whole order: unhealthy ones, the parts, then the rest."""
        bad = min(len(TROUBLES), self.sources)
        if bad <= position < bad + len(PARTS):
            return self._part(PARTS[position - bad])
        number = position if position < bad else position - len(PARTS)
        state, flag, error = TROUBLES[number] if number < bad else ("ok", "ok", "")
        path = f"sources/{source_id(number)}"
        return {
            **_ROW,
            "path": path,
            "name": self.names.get(number, f"https://site{number}.test/news"),
            "kind": KINDS[number % 3],
            "state": self.states.get(path, state),
            "health": [0.0, 0.12, 0.4, 0.55][number] if number < bad else 1.0,
            "flag": flag or "ok",
            "restarts": (6, 0, 2, 0)[number] if number < bad else 0,
            "since": "2026-04-21T11:00:41.000Z",
            "error": self.errors.get(path, error),
            "next": f"2026-04-21T12:{1 + number % 58:02}:41.000Z",
            "mailbox": number % 3,
            "handled": 3,
            "pace_s": 600.0,
            "marks": ("X" * 6 if number < bad else "").rjust(20, "."),
        }

    def _part(self, name: str) -> dict[str, Any]:
        state = self.states.get(name, "ok")
        row = {"path": name, "name": "", "kind": "part", "state": state, "health": None, "flag": None, "restarts": 0}
        found = _ROW | row | {"since": STARTED, "error": self.errors.get(name, ""), "next": None}
        found |= {"mailbox": 0, "handled": 100 + 2 * self.ticks, "pace_s": None, "marks": "", "below": None}
        if name == "sources":
            found["below"] = {"total": self.sources, "worst": "quarantined" if self.sources else "ok"}
        if name == "destinations":
            found["below"] = {"total": 0, "worst": "ok"}
        return found

    def find(self, path: str) -> dict[str, Any] | None:
        if path in PARTS:
            return self._part(path)
        number = int(path[-12:], 16) if path.startswith("sources/") else self.sources
        bad = min(len(TROUBLES), self.sources)
        return self.row(number if number < bad else number + len(PARTS)) if number < self.sources else None

    def overview(self) -> dict[str, Any]:
        figures = example_of(admin.Overview) | {
            "at": self.now,
            "started_at": self.started,
            "version": "0.1.0",
            "ready": not self.failing,
            "draining": self.draining,
            "failing": self.failing,
            "sources": {
                "total": self.sources,
                "ok": self.sources - 4,
                "degraded": 2,
                "rotten": 1,
                "running": self.sources - 2,
                "backoff": 1,
                "quarantined": 1,
                "overdue": 0,
                "states": {"failing": 1, "resting": 1, "ok": self.sources - 2},
            },
            "destinations": {"total": 2, "running": 2, "backoff": 0, "quarantined": 0},
            "matching": {"behind": 0, "seconds": 0.0, "says": self.late},
            "newest_event": None,
            "queues": {"log": 1, "matcher": 2},
            "looks": {"per_second": 9.0, "budget": 10.0, "passed_for_s": 240.0, "says": self.passed},
            "streams": 61,
            "loop_lag_s": 0.004,
            "totals": {"looks": 1_204_112 + 4 * self.ticks, "events": 38_112 + self.ticks, "attempts": 41_200},
        }
        return dict(as_documented("GET", "/v1/admin/overview", 200, figures))

    def part(self, path: str) -> dict[str, Any] | None:
        row = self.find(path)
        if row is None:
            return None
        task = example_of(admin.TreePart) | {
            "row": row,
            "task": "running" if row["state"] == "ok" else row["state"],
            "note": "looking",
            "awaiting": "mailbox.py:88 in receive",
            "crash": row["error"] if row["restarts"] else "",
            "places": ["actor.py:112 in _look", "html.py:64 in read"] if row["restarts"] else [],
            "crashes": [{"at": "2026-04-21T11:00:41.000Z", "error": row["error"]}] if row["restarts"] else [],
            "mailbox": {"depth": 1, "bound": 2, "received": 3, "full": 0},
            "slowest_step_s": 0.004,
            "idle_s": 12.0,
        }
        return task | {"source": self._watching(row) if path.startswith("sources/") else None}

    def _watching(self, row: dict[str, Any]) -> dict[str, Any]:
        look = {"at": "2026-04-21T11:58:41.000Z", "status": 304, "bytes": 0, "ms": 88}
        return example_of(admin.Watching) | {
            "id": row["path"].partition("/")[2],
            "url": row["name"],
            "tags": ["shop", "label:prices"],
            "reason": "3 of the last 20 answers could not be read.",
            "health": [
                {"cause": "reach", "left": 1.0, "says": "It answers."},
                {"cause": "partial", "left": 0.4, "says": "3 of the last 20 answers could not be read."},
            ],
            "interval_s": 600.0,
            "next_look": "A change is likely now: it is checked as often as politeness allows.",
            "looks": 412,
            "unchanged": 377,
            "events": 19,
            "last_look_at": look["at"],
            "last_success_at": look["at"],
            "last_event_at": "2026-04-21T09:00:41.000Z",
            "last_status": 304,
            "last_error": None,
            "breaker": "open" if row["state"] == "resting" else "closed",
            "failures": 6 if row["state"] == "resting" else 0,
            "retry_at": "2026-04-21T12:09:41.000Z" if row["state"] == "resting" else None,
            "held": {"events": 41, "bytes": 92_480},
            "covered": "412 checks succeeded, the longest pause was 44 min; nothing is unknown.",
            "trail": [
                look | {"verdict": "unchanged", "looks": 14},
                look | {"verdict": "content", "looks": 3, "status": 200, "bytes": 51_200},
                look | {"verdict": "changed", "looks": 1, "status": 200, "bytes": 51_200},
                look | {"verdict": "unchanged", "looks": 40},
            ],
        }

    # --- requests ------------------------------------------------------------------------------------------------

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            raise httpx.ConnectError("connection refused", request=request)
        path = unquote(request.url.path)
        if self.forbidden:
            return _problem(403, self.forbidden, request)
        if path == "/v1/admin/feed":
            return httpx.Response(
                200, headers={"Content-Type": "text/event-stream"}, stream=self._feed(), request=request
            )
        if request.method == "POST":
            return self._acted(path, json.loads(request.content or b"null"), request)
        self.asked.append(str(request.url.raw_path.decode()))
        if self.slow is not None:
            await self.slow.wait()
        found = self._read(path, request.url.params)
        if found is None:
            return _problem(404, f"There is no {path}.", request)
        return httpx.Response(200, json=as_documented("GET", path, 200, found), request=request)

    def _read(self, path: str, query: httpx.QueryParams) -> Any:
        if path == "/v1/admin/tree":
            return self._page(query)
        if path.startswith("/v1/admin/tree/"):
            return self.part(path.removeprefix("/v1/admin/tree/"))
        if path == "/v1/admin/log":
            of = [line for line in self.lines if line["actor"].startswith(query["actor"])]
            return {"last": len(self.lines), "lines": [line for line in of if line["number"] > int(query["after"])]}
        if path == "/v1/admin/deliveries":
            return {"total": len(self.hooks), "start": 0, "rows": self.hooks}
        if path.endswith("/deliveries"):
            return ATTEMPTS
        if path == "/v1/events":
            told = [event(2, "Prices fell"), event(1, "Hello")] if "source" in query else self.past
            return example_of(EventsPage) | {"events": told}
        if path.startswith("/v1/events/"):
            return example_of(Event)
        if path == "/v1/admin/streams":
            return {"total": len(self.streams), "node": self.node, "streams": self.streams}
        if path.endswith("/why"):
            return example_of(SourceWhy)
        return None

    def _page(self, query: httpx.QueryParams) -> dict[str, Any]:
        if query.get_list("paths"):
            found = [row for row in map(self.find, query.get_list("paths")) if row is not None]
            return {"total": len(found), "start": 0, "rows": found}
        start, limit, words = int(query.get("start", 0)), int(query["limit"]), query["filter"].split()
        if query.get("tree") == "true":
            rows = [row for row in self._tree(query) if all(_holds(row, word) for word in words)]
            return {"total": len(rows), "start": start, "rows": rows[start : start + limit]}
        if not words:
            rows = [self.row(position) for position in range(start, min(self.total, start + limit))]
            return {"total": self.total, "start": start, "rows": rows}
        every = [self.row(position) for position in range(self.total)]
        found = [row for row in every if all(_holds(row, word) for word in words)]
        return {"total": len(found), "start": start, "rows": found[start : start + limit]}

    def _tree(self, query: httpx.QueryParams) -> list[dict[str, Any]]:
        """Return parts in their order of start, open ones with their children."""
        found = []
        for name in PARTS:
            found.append(self._part(name))
            whole = name in query.get_list("open") or (name == "sources" and bool(query["filter"]))
            if name == "sources" and (whole or name in query.get_list("troubled")):
                shown = self.sources if whole else min(len(TROUBLES), self.sources)
                found += [self.row(number if number < 4 else number + len(PARTS)) for number in range(shown)]
        return found

    def _acted(self, path: str, body: Any, request: httpx.Request) -> httpx.Response:
        self.acts.append((path.removeprefix("/v1/"), body))
        if path.startswith("/v1/admin/streams/"):
            self.streams = [one for one in self.streams if str(one["number"]) != path.split("/")[4]]
        if self.refusal is not None:
            return _problem(*self.refusal, request)
        if path.endswith("/test"):
            sample = {"result": "sent", "status_code": 204, "latency_ms": 12, "detail": "It took the sample."}
            return httpx.Response(200, json=as_documented("POST", path, 200, sample), request=request)
        if path.endswith("/replay"):
            further = "019db0a4-6a10-7000-8000-0000000000ff" if len(self.acts) == 1 else None
            answer: dict[str, Any] = {"queued": 3, "next_since": further}
        else:
            self.draining = path.endswith("/drain")
            answer = {"done": path.rpartition("/")[2], "path": ""}
        return httpx.Response(202, json=as_documented("POST", path, 202, answer), request=request)

    # --- the feed ------------------------------------------------------------------------------------------------

    def _feed(self) -> httpx.AsyncByteStream:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        queue.put_nowait(b"retry: 3000\n\n" + _frame("counts", self.overview()))
        self._readers.append(queue)
        return _Stream(queue, lambda: self._readers.remove(queue))

    def tick(self, *told: tuple[str, dict[str, Any]]) -> None:
        """Send a second's figures, and any other pending events."""
        self.ticks += 1
        seconds = int(self.now[17:19]) + 1
        self.now = f"{self.now[:14]}{int(self.now[14:16]) + seconds // 60:02}:{seconds % 60:02}.000Z"
        frames = b"".join((_frame("counts", self.overview()), *(_frame(name, data) for name, data in told)))
        for queue in self._readers:
            queue.put_nowait(frames)

    def cut(self) -> None:
        """Drop all connections, and refuse new ones."""
        self.down = True
        for queue in self._readers:
            queue.put_nowait(None)


def event(number: int, title: str) -> dict[str, Any]:
    entry = {name: value for name, value in example_of(Event).items() if name not in {"diff", "delta", "summary"}}
    return entry | {
        "id": f"019db0a4-6a10-7000-8000-{number:012x}",
        "source_type": KINDS[number % 3],
        "source_id": source_id(9),
        "source_url": "https://news.test/rss",
        "title": title,
        "emitted_at": f"2026-04-21T12:00:{30 + number}.000Z",
        "alert_type": "",
    }


def _holds(row: dict[str, Any], word: str) -> bool:
    name, _, value = word.partition(":")
    if name == "state":
        return bool(row["state"].startswith(value))
    if name == "kind":
        return bool(row["kind"].startswith(value))
    return word in f"{row['path']} {row['name']} {row['error']}"


def _frame(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _problem(status: int, detail: str, request: httpx.Request) -> httpx.Response:
    return httpx.Response(status, json={"title": "No", "detail": detail}, request=request)


class _Stream(httpx.AsyncByteStream):
    def __init__(self, queue: asyncio.Queue[bytes | None], closed: Callable[[], None]) -> None:
        self._queue, self._closed = queue, closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (chunk := await self._queue.get()) is not None:
            yield chunk

    async def aclose(self) -> None:
        self._closed()

"""The lists behind a jump (open streams, the log), and events: a line in the tail, and one in full with its changes.

The list of destinations, and the attempts of one of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from textwrap import wrap
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from actors.notification.headline import headline, host_of, listed_event
from sanderling.client.lines import SIGNS, changes_of
from sanderling.console import text as ui
from sanderling.console.view import BACK, ListView, PageScreen
from storage.records.source import ATTEMPTS, DESTINATIONS
from storage.records.tiers import TIERS

STREAMS = "/v1/admin/streams"
MOST_STREAMS = 500
LATE, TOO_LATE = 10, 300  # seconds behind the newest event until a reader is drawn as slow, and as far behind
LOG_KEPT, LOG_AT_ONCE = 2_000, 500
_STYLES = {"error": ui.BAD, "warning": ui.POOR, "debug": ui.FAINT, "critical": ui.BAD}
_SHORT = {"warning": "warn", "critical": "crit"}


def _behind(stream: Mapping[str, Any], _now: str) -> ui.Piece:
    late = stream["behind_s"]
    return ui.short(late) if late >= 1 else "-", ui.BAD if late >= TOO_LATE else ui.POOR if late >= LATE else ""


class StreamsScreen(ListView):
    """One row per stream, the furthest behind first, read again every second."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ui.key("e", "end", "close", "close a stream; its client may come back"),
        BACK,
    ]
    EVERY = 1
    NONE = "No stream is open at this node."
    TABLE = ui.Table(
        ui.Column("key", 16, lambda stream, _: stream["name"] or stream["prefix"]),
        ui.Column("behind", 7, _behind, right=True),
        ui.Column("open", 7, lambda stream, now: ui.age(stream["since"], now), right=True),
        ui.Column("sent", 7, lambda stream, _: _size(stream["bytes"]), right=True),
        ui.Column("from", 16, lambda stream, _: stream["address"] or "socket"),
        ui.Column("asked", 0, lambda stream, _: stream["asked"]),
    )
    node = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.here() is not None if action == "end" else True

    def headline(self) -> str:
        return f"streams of {self.node} alone: open the console at another node for its own" if self.node else "streams"

    async def read(self) -> None:
        found = await self.console_app.link.get(STREAMS, limit=MOST_STREAMS)
        self.node = found.get("node") or ""
        self.show(found["streams"])

    def action_end(self) -> None:
        if (row := self.here()) is not None:
            done = f"The stream of {row['name']} is closed. Its client may come back."
            self.send(f"Close it?  {row['name']}: {row['asked']}", f"{STREAMS}/{row['number']}/close", done)


def _size(count: int) -> str:
    """Return a byte count in at most seven cells.

    >>> _size(0), _size(950), _size(48_210), _size(5 << 20)
    ('-', '950 B', '47 K', '5 M')
    """
    if not count:
        return "-"
    for size, unit in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} B"


def _log_text(line: Mapping[str, Any], _now: str) -> ui.Piece:
    actor = ui.named(str(line["actor"])) + "  " if line["actor"] else ""
    return actor + "  ".join(f"{name}={value}" for name, value in line["fields"].items()), ui.FAINT


LOG = ui.Table(
    ui.Column("time", 8, lambda line, _: (ui.clock(str(line["ts"])), ui.FAINT)),
    ui.Column(
        "level", 5, lambda line, _: (_SHORT.get(line["level"], line["level"][:5]), _STYLES.get(line["level"], ""))
    ),
    ui.Column("event", 22, lambda line, _: str(line["event"])),
    ui.Column("fields", 0, _log_text),
)


class LogScreen(ListView):
    """The live log of the service, or of the part at `path`; it follows while the cursor is on the last line."""

    BINDINGS: ClassVar[list[BindingType]] = [ui.key("f", "follow", "follow", "go to the newest line and follow"), BACK]
    EVERY = 1
    TABLE = LOG
    NONE = f"No lines are kept: the service keeps its newest {LOG_KEPT:,} lines in memory."

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path
        self.lines: deque[Mapping[str, Any]] = deque(maxlen=LOG_KEPT)
        self._after = 0
        self.rows = ()

    def connected(self) -> None:
        """Start over: a restarted service numbers its lines from the beginning."""
        self._after = 0
        self.lines.clear()
        super().connected()

    async def read(self) -> None:
        query = {"actor": self.path, "after": self._after, "limit": LOG_AT_ONCE}
        found = await self.console_app.link.get("/v1/admin/log", **query)
        new = [line for line in found["lines"] if line["number"] > self._after]
        self._after = max(self._after, found["last"])
        if new:
            following = self.picks.cursor >= self.picks.count - 1
            dropped = max(0, len(self.lines) + len(new) - LOG_KEPT)
            self.lines.extend(new)
            self.picks.cursor = max(0, self.picks.cursor - dropped)
            self.show(self.lines)
            if following:
                self.action_follow()

    def middle(self) -> Sequence[Widget]:
        def title(width: int, height: int) -> Sequence[ui.Line]:
            return [[(ui.between(f" log of {self.path}" if self.path else " log", self.place(), width), "bold")]]

        return (ui.Lines(title, id="title"), self.picks)

    def place(self) -> str:
        told = "following" if self.picks.cursor >= self.picks.count - 1 else "f follow"
        return f"lines {len(self.lines):,}, {told} "

    def action_follow(self) -> None:
        self.picks.go(len(self.lines) - 1)
        self.redraw()


MOST_CONTENT_LINES = 400
_KINDS = {name: f"ansi_{tier.colour}" for name, tier in TIERS.items()} | {"notice": "ansi_yellow"}
_CHANGES = {"added": ui.GOOD, "removed": ui.BAD}


def _kind(event: Mapping[str, Any]) -> ui.Piece:
    kind = "notice" if event.get("alert_type") else str(event.get("source_type", ""))
    return kind, _KINDS.get(kind, "")


def said(event: Mapping[str, Any]) -> str:
    return str(event.get("headline") or headline(listed_event(event)))


_TAIL = ui.Table(
    ui.Column("time", 8, lambda event, _: (ui.clock(str(event.get("emitted_at", ""))), ui.FAINT)),
    ui.Column("tier", 6, lambda event, _: _kind(event)),
    ui.Column("site", 20, lambda event, _: host_of(str(event.get("source_url", "")))),
    ui.Column("text", 0, lambda event, _: said(event)),
)


def event_line(event: Mapping[str, Any], width: int) -> ui.Line:
    """Return an event, or the count of omitted ones, as a line of exactly so many cells."""
    if "count" in event:
        return ui.line_of(f"… {event['count']:,} more in that second", width, ui.FAINT)
    return _TAIL.line(event, width, "")


class EventScreen(PageScreen):
    """told: the tail's short form; the rest is fetched."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        super().__init__("", f"/v1/events/{told['id']}", lambda event, width: list(event_page(event, width)))
        self.answer = told


def event_page(event: Mapping[str, Any], width: int) -> Iterator[ui.Line]:
    yield ui.line_of(said(event), width, "bold")
    yield ui.line_of(event.get("title", ""), width)
    yield ui.line_of(event.get("url") or event.get("source_url", ""), width)
    kind = event.get("alert_type") or event.get("source_type", "")
    yield ui.line_of(f"{kind}  {ui.day_and_clock(str(event.get('emitted_at', '')))}  {event['id']}", width, ui.FAINT)
    yield [("", "")]
    for sort, text in changes_of(event.get("diff") or {}):
        yield from _wrapped(f"{SIGNS[sort]} {text}", width, _CHANGES[sort])
    if not event.get("diff"):
        for text in str(event.get("content", "")).splitlines()[:MOST_CONTENT_LINES]:
            yield from _wrapped(text, width, "")


def _wrapped(text: str, width: int, style: str) -> Iterator[ui.Line]:
    for line in wrap(ui.safe(text), max(20, width - 2)) or [""]:
        yield ui.line_of(line, width, style)


MOST_DELIVERIES = 100  # maximum destinations, and attempts, fetched
MOST_ROUNDS = 20  # maximum requests per replay: each adds a bounded batch to the outbox
TRY_KEYS: list[BindingType] = [
    ui.key("t", "try_it", "test", "send it one signed sample"),
    ui.key("R", "replay", "replay", "deliver past matches again, from a time or an event on"),
]


def answered(line: Mapping[str, Any]) -> str:
    if line["status"] is None:
        return str(line["error"] or "no answer")
    says = str(line["error"] or "").removeprefix(f"HTTP {line['status']}").strip()
    return f"{line['status']} in {line['latency_ms']} ms {says}".rstrip()


def _last(row: Mapping[str, Any], now: str) -> str:
    return "not tried yet" if row["last"] is None else f"{ui.ago(row['last']['at'], now)} {answered(row['last'])}"


def destinations_at(width: int) -> ui.Table:
    wide = max(10, (width - 36) * 11 // 20)
    return ui.Table(
        ui.Column("destination", wide, lambda row, _: f"…{row['id'][-3:]} {ui.bare(row['url'])}"),
        ui.Column("state", 5, lambda row, _: ui.piece(DESTINATIONS[row["state"]])),
        ui.Column("waiting", 7, lambda row, _: str(row["waiting"]), right=True),
        ui.Column("oldest", 6, lambda row, now: ui.age(row["oldest"], now), right=True),
        ui.Column("failing", 7, lambda row, now: ui.age(row["failing_since"], now), right=True),
        ui.Column("next", 4, lambda row, now: ui.until(row["next"], now), right=True),
        ui.Column("last answer", 0, _last),
    )


ATTEMPTS_TABLE = ui.Table(
    ui.Column("at", 19, lambda line, _: ui.day_and_clock(line["at"])),
    ui.Column("delivery", 8, lambda line, _: "…" + line["webhook_id"][-7:]),
    ui.Column("try", 3, lambda line, _: str(line["attempt"]), right=True),
    ui.Column("result", 7, lambda line, _: ui.piece(ATTEMPTS[line["result"]])),
    ui.Column("next", 4, lambda line, now: ui.until(line["next_attempt_at"], now), right=True),
    ui.Column("answer", 0, lambda line, _: answered({**line, "status": line["status_code"]})),
)


class _TriesView(ListView):
    """Rows with actions on the destination under the cursor."""

    EVERY = 2

    def hook(self) -> Mapping[str, Any] | None:
        return self.here()

    def action_try_it(self) -> None:
        if (hook := self.hook()) is None:
            return

        async def run() -> str:
            answer = await self.console_app.link.send(f"/v1/destinations/{hook['id']}/test")
            status = answer["status_code"] or "no answer"
            return f"{hook['url']}: {answer['result']}, {status} in {answer['latency_ms']} ms. {answer['detail']}"

        self.confirmed(f"Send one signed sample?  {hook['url']}", run)

    def action_replay(self) -> None:
        if (hook := self.hook()) is None:
            return

        def answered(since: str | None) -> None:
            if since:
                self.confirmed(f"Replay from {since}?  {hook['url']}", partial(self._replay, hook, since))

        hint = "an event's id or a time such as 2026-04-21T10:00:00Z"
        self.console_app.ask(ui.Ask(" replay from ", "", hint, answered))

    async def _replay(self, hook: Mapping[str, Any], since: str) -> str:
        queued, place = 0, since
        for _ in range(MOST_ROUNDS):
            answer = await self.console_app.link.send(f"/v1/destinations/{hook['id']}/replay", {"since": place})
            queued += answer["queued"]
            if (place := answer["next_since"]) is None:
                return f"Deliveries queued again: {queued:,}."
        return f"Deliveries queued again: {queued:,}. There are more since {place}."


class DeliveriesScreen(_TriesView):
    """One row per destination, failing ones first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ui.key("enter,l,right", "enter", "attempts", "the attempts at it", shown="⏎"),
        *TRY_KEYS,
        BACK,
    ]
    HEADLINE = "deliveries"
    NONE = "No alert has a destination yet."
    total = 0

    async def read(self) -> None:
        found = await self.console_app.link.get("/v1/admin/deliveries", limit=MOST_DELIVERIES)
        self.total = found["total"]
        places = {row["id"]: place for place, row in enumerate(self.rows or ())}  # old rows stay where they are
        self.show(sorted(found["rows"], key=lambda row: places.get(row["id"], len(places))))

    def table(self, width: int) -> ui.Table:
        return destinations_at(width)

    def place(self) -> str:
        shown = len(self.rows or ())
        return (f"the first {shown} of {self.total:,}, " if self.total > shown else "") + super().place()

    def action_enter(self) -> None:
        if (hook := self.hook()) is not None:
            self.app.push_screen(AttemptsScreen(hook))


class AttemptsScreen(_TriesView):
    """The attempts of one destination, newest first, with details of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*TRY_KEYS, BACK]
    NONE = ""
    TABLE = ATTEMPTS_TABLE

    def __init__(self, hook: Mapping[str, Any]) -> None:
        super().__init__()
        self._hook = hook
        self.rows = ()

    def middle(self) -> Sequence[Widget]:
        def detail(width: int, height: int) -> Sequence[ui.Line]:
            return [[("─" * width, "dim")], *attempt_detail(self.here(), self.headline(), width)]

        return (*super().middle(), ui.Lines(detail, id="attempt"))

    async def read(self) -> None:
        rows = await self.console_app.link.get(f"/v1/destinations/{self._hook['id']}/deliveries", limit=MOST_DELIVERIES)
        before = [(line["webhook_id"], line["at"]) for line in (self.rows or ())[:1]]
        if self.picks.cursor and before:  # the cursor stays on its attempt, however many are new
            ids = [(line["webhook_id"], line["at"]) for line in rows]
            self.picks.cursor += ids.index(before[0]) if before[0] in ids else 0
        self.show(rows)

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.query_one("#attempt").refresh()

    def headline(self) -> str:
        return str(self._hook["url"])

    def place(self) -> str:
        return f"newest attempts: {len(self.rows or ()):,} "

    def hook(self) -> Mapping[str, Any]:
        return self._hook


def attempt_detail(line: Mapping[str, Any] | None, url: str, width: int) -> Iterator[ui.Line]:
    if line is None:
        yield ui.line_of("No attempt has been made yet; t sends a signed sample.", width, ui.FAINT)
        return
    yield ui.line_of(f"webhook-id {line['webhook_id']}  attempt {line['attempt']}  POST {url}", width)
    status = f"HTTP {line['status_code']}" if line["status_code"] is not None else f"no answer: {line['error']}"
    yield ui.line_of(f"{status}, after {line['latency_ms']} ms", width)
    yield ui.line_of(line["response_excerpt"] or "(an empty body)", width, ui.FAINT)

"""The list of destinations, and the attempts of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console.lines import Lines, key
from sanderling.console.prompts import Ask
from sanderling.console.text import FAINT, Column, Line, Table, age, ago, bare, day_and_clock, line_of, piece, until
from sanderling.console.view import BACK, ListView
from storage.records.states import ATTEMPTS, DESTINATIONS

MOST = 100
"""Maximum destinations, and attempts, fetched."""
MOST_ROUNDS = 20
"""Maximum requests per replay: each adds a bounded batch to the outbox."""
TRY_KEYS: list[BindingType] = [
    key("t", "try_it", "test", "send it one signed sample"),
    key("R", "replay", "replay", "deliver past matches again, from a time or an event on"),
]


def answered(line: Mapping[str, Any]) -> str:
    if line["status"] is None:
        return str(line["error"] or "no answer")
    says = str(line["error"] or "").removeprefix(f"HTTP {line['status']}").strip()
    return f"{line['status']} in {line['latency_ms']} ms {says}".rstrip()


def _last(row: Mapping[str, Any], now: str) -> str:
    return "not tried yet" if row["last"] is None else f"{ago(row['last']['at'], now)} {answered(row['last'])}"


def destinations_at(width: int) -> Table:
    return Table(
        Column("destination", max(10, (width - 36) * 11 // 20), lambda row, _: f"…{row['id'][-3:]} {bare(row['url'])}"),
        Column("state", 5, lambda row, _: piece(DESTINATIONS[row["state"]])),
        Column("waiting", 7, lambda row, _: str(row["waiting"]), right=True),
        Column("oldest", 6, lambda row, now: age(row["oldest"], now), right=True),
        Column("failing", 7, lambda row, now: age(row["failing_since"], now), right=True),
        Column("next", 4, lambda row, now: until(row["next"], now), right=True),
        Column("last answer", 0, _last),
    )


ATTEMPTS_TABLE = Table(
    Column("at", 19, lambda line, _: day_and_clock(line["at"])),
    Column("delivery", 8, lambda line, _: "…" + line["webhook_id"][-7:]),
    Column("try", 3, lambda line, _: str(line["attempt"]), right=True),
    Column("result", 7, lambda line, _: piece(ATTEMPTS[line["result"]])),
    Column("next", 4, lambda line, now: until(line["next_attempt_at"], now), right=True),
    Column("answer", 0, lambda line, _: answered({**line, "status": line["status_code"]})),
)


class _TriesView(ListView):
    """Rows with actions on the destination under the cursor."""

    EVERY = 2

    def hook(self) -> Mapping[str, Any] | None:
        return self.here()

    def action_try_it(self) -> None:
        hook = self.hook()
        if hook is None:
            return

        async def run() -> str:
            answer = await self.console_app.link.send(f"/v1/destinations/{hook['id']}/test")
            status = answer["status_code"] or "no answer"
            return f"{hook['url']}: {answer['result']}, {status} in {answer['latency_ms']} ms. {answer['detail']}"

        self.confirmed(f"Send one signed sample?  {hook['url']}", run)

    def action_replay(self) -> None:
        hook = self.hook()
        if hook is None:
            return

        def answered(since: str | None) -> None:
            if since:
                self.confirmed(f"Replay from {since}?  {hook['url']}", partial(self._replay, hook, since))

        self.console_app.ask(Ask(" replay from ", "", "an event's id or a time such as 2026-04-21T10:00:00Z", answered))

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
        key("enter,l,right", "enter", "attempts", "the attempts at it", shown="⏎"),
        *TRY_KEYS,
        BACK,
    ]
    HEADLINE = "deliveries"
    NONE = "No alert has a destination yet."
    total = 0

    async def read(self) -> None:
        found = await self.console_app.link.get("/v1/admin/deliveries", limit=MOST)
        self.total = found["total"]
        places = {row["id"]: place for place, row in enumerate(self.rows or ())}  # old rows stay where they are
        self.show(sorted(found["rows"], key=lambda row: places.get(row["id"], len(places))))

    def table(self, width: int) -> Table:
        return destinations_at(width)

    def place(self) -> str:
        shown = len(self.rows or ())
        return (f"the first {shown} of {self.total:,}, " if self.total > shown else "") + super().place()

    def action_enter(self) -> None:
        hook = self.hook()
        if hook is not None:
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
        def detail(width: int, height: int) -> Sequence[Line]:
            return [[("─" * width, "dim")], *attempt_detail(self.here(), self.headline(), width)]

        return (*super().middle(), Lines(detail, id="attempt"))

    async def read(self) -> None:
        found = await self.console_app.link.get(f"/v1/destinations/{self._hook['id']}/deliveries", limit=MOST)
        before = [(line["webhook_id"], line["at"]) for line in (self.rows or ())[:1]]
        if self.picks.cursor and before:  # the cursor stays on its attempt, however many are new
            ids = [(line["webhook_id"], line["at"]) for line in found]
            self.picks.cursor += ids.index(before[0]) if before[0] in ids else 0
        self.show(found)

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.query_one("#attempt").refresh()

    def headline(self) -> str:
        return str(self._hook["url"])

    def place(self) -> str:
        return f"newest attempts: {len(self.rows or ()):,} "

    def hook(self) -> Mapping[str, Any]:
        return self._hook


def attempt_detail(line: Mapping[str, Any] | None, url: str, width: int) -> Iterator[Line]:
    if line is None:
        yield line_of("No attempt has been made yet; t sends a signed sample.", width, FAINT)
        return
    yield line_of(f"webhook-id {line['webhook_id']}  attempt {line['attempt']}  POST {url}", width)
    status = f"HTTP {line['status_code']}" if line["status_code"] is not None else f"no answer: {line['error']}"
    yield line_of(f"{status}, after {line['latency_ms']} ms", width)
    yield line_of(line["response_excerpt"] or "(an empty body)", width, FAINT)

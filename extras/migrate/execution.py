"""Execute a plan through a running service: sources in batches, alternating hosts, then alerts and destinations.

Existing records stay unchanged, so the same file may be imported again after an interruption or a refusal. The service
is the only memory; only the ids of sources that alerts need are kept.

The report of a plan: totals, then everything inexact or impossible, and why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import httpx
import msgspec
import trio
from msgspec import Struct, field
from msgspec.structs import replace

from actors.messages.requests import NewSource
from actors.sources.ordering import in_turns
from extras.migrate import drafting
from sanderling.client.api import Client, WaitingClient, status_of, why_refused
from sanderling.exits import CommandFailed
from storage.records.alert import MOST_SOURCES
from storage.records.destination import WEBHOOK

What = Literal["source", "alert", "destination"]
WHATS: tuple[What, ...] = ("source", "alert", "destination")
Became = Literal["new", "there", "changed", "refused"]


class ItemResult(Struct, frozen=True, omit_defaults=True):
    """One item's result. says: the reason of a refusal, or the difference. secret: of a new destination."""

    what: What
    place: str
    name: str
    became: Became
    id: str = ""
    says: str = ""
    secret: str = ""


class Outcome(Struct):
    """The totals. Each `ItemResult` goes to `tell` at once and is not kept."""

    tell: Callable[[ItemResult], None]
    sums: dict[tuple[What, Became], int] = field(default_factory=dict)

    def __call__(self, done: ItemResult) -> None:
        key = (done.what, done.became)
        self.sums[key] = self.sums.get(key, 0) + 1
        self.tell(done)

    def count(self, became: Became, what: What | None = None) -> int:
        return sum(n for (kind, how), n in self.sums.items() if how == became and what in (None, kind))

    def words(self, nothing: str = "There was nothing to add") -> str:
        """Return the totals as a sentence. nothing: the text if there are none.

        >>> Outcome(print, {("source", "new"): 3, ("source", "refused"): 1}).words()
        '3 sources added, 1 refused.'
        """
        parts = []
        for what in WHATS:
            said = [f"{n} {word}" for became, word in _WORDS.items() if (n := self.count(became, what))]
            if said:
                number, _, rest = said[0].partition(" ")
                said[0] = f"{number} {what}{'' if number == '1' else 's'} {rest}"
                parts.append(", ".join(said))
        return ("; ".join(parts) or nothing) + "."


_WORDS: dict[Became, str] = {"new": "added", "changed": "widened", "there": "there already", "refused": "refused"}

BATCH: Final = 20  # sources per request, the API's maximum
LARGEST: Final = 128 * 1024  # maximum bytes per request, half of the API's default limit
AT_ONCE: Final = 2  # concurrent requests: the service checks eight sources of each at once, but each host one at a time
WITHIN: Final = 90.0  # timeout of a batch in seconds; the service answers within 55
TRIES: Final = 3  # maximum tries for sources whose detection timed out
AGAIN: Final = "Run the same command again to continue; entries that exist already stay unchanged."
NOTHING: Final = "Nothing was added"

_TOO_LARGE: Final = (
    "it is larger than the service reads in one request (setting request_limit): mostly by its selectors"
)


class SourceImport:
    """Adds a plan's sources. ids: by URL, for sources that alerts need."""

    def __init__(self, client: WaitingClient, plan: drafting.Plan, outcome: Outcome) -> None:
        self._client, self._outcome = client, outcome
        self._wanted = {url for alert in plan.alerts for url in alert.urls}
        self._waiting = in_turns(plan.sources, lambda source: urlsplit(source.body.url).netloc)
        self._late: deque[tuple[drafting.PlannedSource, int]] = deque()
        self._full = ""
        self.ids: dict[str, str] = {}

    async def run(self) -> None:
        """Add all sources. Raises CommandFailed if the service is gone for long, or the key may add none."""
        async with trio.open_nursery() as nursery:
            for _ in range(AT_ONCE):
                nursery.start_soon(self._work)

    async def _work(self) -> None:
        while batch := self._next():
            if self._full:
                for source, _ in batch:
                    self._refused(source, self._full)
                continue
            await self._send(batch)

    async def _send(self, batch: list[tuple[drafting.PlannedSource, int]]) -> None:
        """Send sources in one request; halve it while the service finds it too large."""
        body = {"sources": [drafting.wire(source.body) for source, _ in batch]}
        try:
            answer = await self._client.ask("POST", "/v1/sources", json=body, timeout=WITHIN)
        except CommandFailed as error:
            if status_of(error) != 413:  # the request is too large: its parts may not be
                raise
            if len(batch) == 1:
                self._refused(batch[0][0], _TOO_LARGE)
                return
            half = len(batch) // 2
            for part in (batch[:half], batch[half:]):
                await self._send(part)
            return
        for (source, tries), result in zip(batch, answer.json()["results"], strict=True):
            await self._became(source, tries, result)

    def _next(self) -> list[tuple[drafting.PlannedSource, int]]:
        batch: list[tuple[drafting.PlannedSource, int]] = []
        size = 0
        for source, tries in self._queue():
            if why := invalid(source):
                self._refused(source, why)
                continue
            batch.append((source, tries))
            size += len(msgspec.json.encode(source.body))
            if len(batch) == BATCH or size > LARGEST:
                break
        return batch

    def _queue(self) -> Iterator[tuple[drafting.PlannedSource, int]]:
        for source in self._waiting:
            yield source, 1
        while self._late:
            yield self._late.popleft()

    async def _became(self, source: drafting.PlannedSource, tries: int, result: Mapping[str, Any]) -> None:
        match result["status"]:
            case "created" | "attached_existing":
                await self._there(source, result["source"], new=result["status"] == "created")
            case "timeout" if tries < TRIES:
                self._late.append((source, tries + 1))
            case _:
                problem = result.get("error") or {}
                if str(problem.get("type", "")).endswith("library-full"):
                    self._full = str(problem.get("detail"))
                self._refused(source, str(problem.get("detail") or problem.get("title") or result["status"]))

    async def _there(self, source: drafting.PlannedSource, record: Mapping[str, Any], *, new: bool) -> None:
        url, id_ = source.body.url, str(record["id"])
        if url in self._wanted:
            self.ids[url] = id_
        says = _waits(record) if new else _differs(source, record)
        if not source.enabled and record["enabled"] and (new or record["updated_at"] == record["created_at"]):
            try:
                await self._client.ask("POST", f"/v1/sources/{id_}/disable")
                says = says if new else "; ".join(filter(None, (says, "paused, as in the file")))
            except CommandFailed as error:
                says = f"not paused: {why_refused(error)}"
        self._outcome(ItemResult("source", source.place, url, "new" if new else "there", id_, says))

    def _refused(self, source: drafting.PlannedSource, why: str) -> None:
        self._outcome(ItemResult("source", source.place, source.body.url, "refused", says=why))


def invalid(source: drafting.PlannedSource) -> str:
    """Return why a body is malformed, which would make the service refuse the whole batch; else ""."""
    try:
        msgspec.convert(drafting.wire(source.body), NewSource)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _waits(record: Mapping[str, Any]) -> str:
    found = record.get("detection", {})
    return str(found["evidence"]) if found.get("pending") else ""


def _differs(source: drafting.PlannedSource, record: Mapping[str, Any]) -> str:
    body = drafting.wire(source.body)
    asked = [name for name in ("selector", "ignore", "schedule", "render", "wait_for") if name in body]
    other = [name for name in asked if (record[name] or None) != (list(body[name]) if name == "ignore" else body[name])]
    return f"left as it is, with another {' and '.join(other)} than in the file" if other else ""


async def execute_plan(client: Client, plan: drafting.Plan, outcome: Outcome, run: str) -> None:
    """run: names this run, for idempotency keys. Raises CommandFailed if it must stop; finished work stays."""
    try:
        async with client:
            patient = WaitingClient(client)
            adding = SourceImport(patient, plan, outcome)
            await adding.run()
            await AlertImport(patient, outcome, adding.ids, run).run(plan.alerts)
    except (CommandFailed, ExceptionGroup) as error:
        failed = _failure(error)
        raise CommandFailed(f"{failed.message}\n{outcome.words(NOTHING)} {AGAIN}", failed.code) from None


def _failure(error: Exception) -> CommandFailed:
    """Unwrap a nursery's CommandFailed. Re-raises groups with any other exception."""
    while isinstance(error, ExceptionGroup):
        if error.split(CommandFailed)[1] is not None:
            raise error
        error = error.exceptions[0]
    assert isinstance(error, CommandFailed)
    return error


PAGE: Final = 200
_NO_SOURCE: Final = "none of its sources exists"
_ELSEWHERE: Final = "an alert with this name has other destinations: rename it and import again"


class AlertImport:
    """Creates alerts over sources whose ids are known by URL."""

    def __init__(self, client: WaitingClient, outcome: Outcome, ids: Mapping[str, str], run: str) -> None:
        self._client, self._outcome, self._ids, self._run = client, outcome, ids, run

    async def run(self, alerts: Sequence[drafting.PlannedAlert]) -> None:
        """Create missing alerts. Raises CommandFailed if the service is gone for long, or refuses the key."""
        if not alerts:
            return
        keys = {drafting.key_of(alert, name) for alert in alerts for name in (None, alert.other)}
        there = await self._there(keys)
        for alert in alerts:
            await self._make(alert, there)

    async def _there(self, wanted: set[drafting.Key]) -> dict[drafting.Key, dict[str, Any]]:
        found: dict[drafting.Key, dict[str, Any]] = {}
        query: bytes | dict[str, int] = {"limit": PAGE}
        while True:
            answer = await self._client.ask("GET", "/v1/alerts", params=query)
            found |= {key: record for record in answer.json() if (key := _key(record)) in wanted}
            if "next" not in answer.links:
                return found
            query = httpx.URL(answer.links["next"]["url"]).query

    async def _make(self, alert: drafting.PlannedAlert, there: Mapping[drafting.Key, dict[str, Any]]) -> None:
        sources = [self._ids[url] for url in alert.urls if url in self._ids]
        name = alert.body.name
        if not sources:
            self._outcome(ItemResult("alert", alert.place, name, "refused", says=_NO_SOURCE))
            return
        try:
            record, sent = await self._found(alert, there)
            missing = [] if record is None else _missing(sources, record)
            if record is not None and sent and not any(body.known_by in sent for body in alert.destinations):
                self._outcome(ItemResult("alert", alert.place, name, "refused", str(record["id"]), _ELSEWHERE))
                return
            if record is None:
                record = await self._created(alert.body, sources)
                self._outcome(ItemResult("alert", alert.place, name, "new", str(record["id"])))
            elif missing:
                body = {"source_ids": [*record["source_ids"], *missing]}
                await self._client.ask("PATCH", f"/v1/alerts/{record['id']}", json=body)
                says = f"{len(missing)} sources were missing in it"
                self._outcome(ItemResult("alert", alert.place, name, "changed", str(record["id"]), says))
            else:
                self._outcome(ItemResult("alert", alert.place, name, "there", str(record["id"])))
        except CommandFailed as error:
            self._outcome(ItemResult("alert", alert.place, name, "refused", says=why_refused(error)))
            return
        await self._deliver(alert, str(record["id"]), sent)

    async def _found(
        self, alert: drafting.PlannedAlert, there: Mapping[drafting.Key, dict[str, Any]]
    ) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """Return the existing alert and its destinations: under its other name only if the destinations are equal."""
        record = there.get(drafting.key_of(alert, alert.other))
        if record is not None:
            sent = await self._sent(str(record["id"]))
            if sent.keys() == {body.known_by for body in alert.destinations}:
                return record, sent
        record = there.get(drafting.key_of(alert))
        return record, await self._sent(str(record["id"])) if record is not None and alert.destinations else {}

    async def _created(self, body: drafting.AlertBody, sources: Sequence[str]) -> dict[str, Any]:
        whole = drafting.wire(body) | {"source_ids": list(sources)}
        return dict((await self._client.ask("POST", "/v1/alerts", json=whole, headers=self._once(whole))).json())

    async def _sent(self, id_: str) -> dict[str, str]:
        answer = await self._client.ask("GET", f"/v1/alerts/{id_}/destinations", params={"limit": PAGE})
        return {record["url" if record["kind"] == WEBHOOK else "label"]: record["id"] for record in answer.json()}

    async def _deliver(self, alert: drafting.PlannedAlert, id_: str, there: Mapping[str, str]) -> None:
        path = f"/v1/alerts/{id_}/destinations"
        for body in alert.destinations:
            name = drafting.host_of(body)
            if body.known_by in there:
                self._outcome(ItemResult("destination", alert.place, name, "there", there[body.known_by]))
                continue
            whole = drafting.wire(body)
            try:
                answer = await self._client.ask("POST", path, json=whole, headers=self._once([id_, whole]))
            except CommandFailed as error:
                self._outcome(ItemResult("destination", alert.place, name, "refused", says=why_refused(error)))
                continue
            made = answer.json()
            secret = made.get("secret", "")
            self._outcome(ItemResult("destination", alert.place, name, "new", made["id"], secret=secret))

    def _once(self, body: object) -> dict[str, str]:
        """Return an idempotency key, so that a repeated request creates nothing."""
        return {"Idempotency-Key": sha256(msgspec.json.encode([self._run, body])).hexdigest()}


def _key(alert: Mapping[str, Any]) -> drafting.Key:
    return str(alert["name"]), str(alert["filter_query"]), str(alert.get("language", "simple"))


def _missing(sources: Sequence[str], record: Mapping[str, Any]) -> list[str]:
    """Return the sources that an alert lacks and has room for; one over every source lacks none."""
    named = record["source_ids"]
    if not named and not record.get("tags"):
        return []
    return [each for each in sources if each not in set(named)][: MOST_SOURCES - len(named)]


NAMES: dict[drafting.Kind, str] = {
    "urls": "a list of addresses",
    "csv": "a table of addresses",
    "opml": "a list of feeds (OPML)",
    "changedetection": "changedetection.io",
    "urlwatch": "urlwatch or webchanges",
    "sanderling": "an instance of Sanderling",
}
SHOWN = 20  # maximum alerts listed
PLACES = 4  # maximum places listed per finding


def sums(plan: drafting.Plan) -> str:
    """Return the totals as text.

    >>> sums(drafting.Plan("urls"))
    'nothing'
    """
    paused = sum(not source.enabled for source in plan.sources)
    parts = [
        _some(len(plan.sources), "source") + (f" ({paused} paused)" if paused else ""),
        _some(len(plan.alerts), "alert"),
        _some(sum(len(alert.destinations) for alert in plan.alerts), "destination"),
    ]
    return ", ".join(part for part in parts if part) or "nothing"


def _some(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def as_text(plan: drafting.Plan) -> Iterator[str]:
    yield f"This is {NAMES[plan.kind]}. It becomes {sums(plan)}."
    exact: dict[str, int] = {}
    for finding in plan.findings:
        if finding.grade == "exact":
            exact[finding.what] = exact.get(finding.what, 0) + 1
    if exact:
        yield "Exactly: " + ", ".join(f"{what} ({number})" for what, number in exact.items()) + "."
    yield from _section(plan.findings, "approximated", "Approximately:")
    yield from _section(plan.findings, "impossible", "Not at all:")
    if plan.alerts:
        yield "Alerts:"
        yield from (f"  {_alert(alert)}" for alert in plan.alerts[:SHOWN])
    if len(plan.alerts) > SHOWN:
        yield f"  and {len(plan.alerts) - SHOWN} more"


def _alert(alert: drafting.PlannedAlert) -> str:
    hosts = ", ".join(drafting.host_of(destination) for destination in alert.destinations)
    over = f"{alert.body.name}, over {_some(len(alert.urls), 'source')}"
    return f"{over}, to {hosts}" if hosts else over


def _section(findings: Sequence[drafting.Finding], grade: drafting.Grade, heading: str) -> Iterator[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        if finding.grade == grade:
            alike.setdefault((finding.what, finding.says), []).append(finding.place)
    if alike:
        yield heading
    for (what, says), places in alike.items():
        yield f"  {what}: {says}"
        yield f"    {drafting.listed(list(dict.fromkeys(places)), PLACES)}"


def as_json(plan: drafting.Plan) -> Iterator[str]:
    for source in plan.sources:
        shown = drafting.wire(replace(source.body, headers=None))
        asked = {"has_headers": True} if source.body.headers else {}
        yield _line({"source": shown | asked, "place": source.place, "enabled": source.enabled})
    for alert in plan.alerts:
        hosts = [drafting.host_of(destination) for destination in alert.destinations]
        shown = {"alert": drafting.wire(alert.body), "place": alert.place, "urls": alert.urls}
        yield _line(shown | {"destinations": hosts})
    for finding in plan.findings:
        yield _line({"finding": msgspec.to_builtins(finding)})
    yield _line({"plan": {"kind": plan.kind} | {grade: plan.count(grade) for grade in GRADES} | numbers(plan)})


GRADES: tuple[drafting.Grade, ...] = ("exact", "approximated", "impossible")


def numbers(plan: drafting.Plan) -> dict[str, int]:
    destinations = sum(len(alert.destinations) for alert in plan.alerts)
    return {"sources": len(plan.sources), "alerts": len(plan.alerts), "destinations": destinations}


def _line(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()

"""Execute a plan through a running service: sources in batches, alternating hosts, then alerts and destinations.

Existing records stay unchanged, so the same file may be imported again after an interruption or a refusal. The service
is the only memory; only the ids of sources that alerts need are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import trio

from actors.messages.requests import NewSource
from actors.ordering import in_turns
from extras.migrate.alerting import Alerting
from extras.migrate.outcome import Done, Outcome
from extras.migrate.plan import Plan, PlannedSource, wire
from sanderling.client.api import Client, WaitingClient, status_of, why_refused
from sanderling.exits import CommandFailed

BATCH: Final = 20
"""Sources per request, the API's maximum."""
LARGEST: Final = 128 * 1024
"""Maximum bytes per request, half of the API's default limit."""
AT_ONCE: Final = 2
"""Concurrent requests: the service checks eight sources of each at once, but each host one at a time."""
WITHIN: Final = 90.0
"""Timeout of a batch in seconds; the service answers within 55."""
TRIES: Final = 3
"""Maximum tries for sources whose detection timed out."""
AGAIN: Final = "Run the same command again to continue; entries that exist already stay unchanged."
NOTHING: Final = "Nothing was added"

_TOO_LARGE: Final = (
    "it is larger than the service reads in one request (setting request_limit): mostly by its selectors"
)


class Adding:
    """Adds a plan's sources. ids: by URL, for sources that alerts need."""

    def __init__(self, client: WaitingClient, plan: Plan, outcome: Outcome) -> None:
        self._client, self._outcome = client, outcome
        self._wanted = {url for alert in plan.alerts for url in alert.urls}
        self._waiting = in_turns(plan.sources, lambda source: urlsplit(source.body.url).netloc)
        self._late: deque[tuple[PlannedSource, int]] = deque()
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

    async def _send(self, batch: list[tuple[PlannedSource, int]]) -> None:
        """Send sources in one request; halve it while the service finds it too large."""
        body = {"sources": [wire(source.body) for source, _ in batch]}
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

    def _next(self) -> list[tuple[PlannedSource, int]]:
        """Return the next valid sources, as many as fit a request; empty at the end."""
        batch: list[tuple[PlannedSource, int]] = []
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

    def _queue(self) -> Iterator[tuple[PlannedSource, int]]:
        for source in self._waiting:
            yield source, 1
        while self._late:
            yield self._late.popleft()

    async def _became(self, source: PlannedSource, tries: int, result: Mapping[str, Any]) -> None:
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

    async def _there(self, source: PlannedSource, record: Mapping[str, Any], *, new: bool) -> None:
        url, id_ = source.body.url, str(record["id"])
        if url in self._wanted:
            self.ids[url] = id_
        says = _waits(record) if new else _differs(source, record)
        untouched = record["updated_at"] == record["created_at"]
        if not source.enabled and record["enabled"] and (new or untouched):
            try:
                await self._client.ask("POST", f"/v1/sources/{id_}/disable")
                says = says if new else "; ".join(filter(None, (says, "paused, as in the file")))
            except CommandFailed as error:
                says = f"not paused: {why_refused(error)}"
        self._outcome(Done("source", source.place, url, "new" if new else "there", id_, says))

    def _refused(self, source: PlannedSource, why: str) -> None:
        self._outcome(Done("source", source.place, source.body.url, "refused", says=why))


def invalid(source: PlannedSource) -> str:
    """Return why a body is malformed, which would make the service refuse the whole batch; else ""."""
    try:
        msgspec.convert(wire(source.body), NewSource)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _waits(record: Mapping[str, Any]) -> str:
    """Return a remark on a new source that could not be reached yet; else ""."""
    found = record.get("detection", {})
    return str(found["evidence"]) if found.get("pending") else ""


def _differs(source: PlannedSource, record: Mapping[str, Any]) -> str:
    body = wire(source.body)
    asked = [name for name in ("selector", "ignore", "schedule", "hours", "render", "wait_for") if name in body]
    other = [name for name in asked if (record[name] or None) != (list(body[name]) if name == "ignore" else body[name])]
    return f"left as it is, with another {' and '.join(other)} than in the file" if other else ""


async def carry_out(client: Client, plan: Plan, outcome: Outcome, run: str) -> None:
    """Execute a plan and report to `outcome`. run: names this run, for idempotency keys.

    Raises CommandFailed if it must stop; finished work stays.
    """
    try:
        async with client:
            patient = WaitingClient(client)
            adding = Adding(patient, plan, outcome)
            await adding.run()
            await Alerting(patient, outcome, adding.ids, run).run(plan.alerts)
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

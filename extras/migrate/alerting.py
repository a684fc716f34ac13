"""Create a plan's alerts and destinations, after its sources.

Alerts with equal name, query and language are the same; an existing one gets the sources it lacks. An alert is never
created without sources, since it would cover every source; and one with other destinations is never extended, since it
would notify strangers. The name that the alert would have in a file with different alerts is also tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import httpx
import msgspec

from extras.migrate.outcome import Done, Outcome
from extras.migrate.plan import AlertBody, DestinationBody, Key, PlannedAlert, key_of, wire
from sanderling.client.api import WaitingClient, why_refused
from sanderling.exits import CommandFailed
from storage.records.alert import MOST_SOURCES
from storage.records.destination import WEBHOOK

PAGE: Final = 200
_NO_SOURCE: Final = "none of its sources exists"
_ELSEWHERE: Final = "an alert with this name has other destinations: rename it and import again"


class Alerting:
    """Creates alerts over sources whose ids are known by URL."""

    def __init__(self, client: WaitingClient, outcome: Outcome, ids: Mapping[str, str], run: str) -> None:
        self._client, self._outcome, self._ids, self._run = client, outcome, ids, run

    async def run(self, alerts: Sequence[PlannedAlert]) -> None:
        """Create missing alerts. Raises CommandFailed if the service is gone for long, or refuses the key."""
        if not alerts:
            return
        there = await self._there({key for alert in alerts for key in (key_of(alert), key_of(alert, alert.other))})
        for alert in alerts:
            await self._make(alert, there)

    async def _there(self, wanted: set[Key]) -> dict[Key, dict[str, Any]]:
        """Return the service's alerts with these keys."""
        found: dict[Key, dict[str, Any]] = {}
        query: bytes | dict[str, int] = {"limit": PAGE}
        while True:
            answer = await self._client.ask("GET", "/v1/alerts", params=query)
            found |= {key: record for record in answer.json() if (key := _key(record)) in wanted}
            if "next" not in answer.links:
                return found
            query = httpx.URL(answer.links["next"]["url"]).query

    async def _make(self, alert: PlannedAlert, there: Mapping[Key, dict[str, Any]]) -> None:
        sources = [self._ids[url] for url in alert.urls if url in self._ids]
        name = alert.body.name
        if not sources:
            self._outcome(Done("alert", alert.place, name, "refused", says=_NO_SOURCE))
            return
        try:
            record, sent = await self._found(alert, there)
            missing = [] if record is None else _missing(sources, record)
            if record is not None and sent and not any(body.known_by in sent for body in alert.destinations):
                self._outcome(Done("alert", alert.place, name, "refused", str(record["id"]), _ELSEWHERE))
                return
            if record is None:
                record = await self._created(alert.body, sources)
                self._outcome(Done("alert", alert.place, name, "new", str(record["id"])))
            elif missing:
                body = {"source_ids": [*record["source_ids"], *missing]}
                await self._client.ask("PATCH", f"/v1/alerts/{record['id']}", json=body)
                says = f"{len(missing)} sources were missing in it"
                self._outcome(Done("alert", alert.place, name, "changed", str(record["id"]), says))
            else:
                self._outcome(Done("alert", alert.place, name, "there", str(record["id"])))
        except CommandFailed as error:
            self._outcome(Done("alert", alert.place, name, "refused", says=why_refused(error)))
            return
        await self._deliver(alert, str(record["id"]), sent)

    async def _found(
        self, alert: PlannedAlert, there: Mapping[Key, dict[str, Any]]
    ) -> tuple[dict[str, Any] | None, dict[str, str]]:
        """Return the existing alert and its destinations: under its other name only if the destinations are equal."""
        record = there.get(key_of(alert, alert.other))
        if record is not None:
            sent = await self._sent(str(record["id"]))
            if sent.keys() == {body.known_by for body in alert.destinations}:
                return record, sent
        record = there.get(key_of(alert))
        return record, await self._sent(str(record["id"])) if record is not None and alert.destinations else {}

    async def _created(self, body: AlertBody, sources: Sequence[str]) -> dict[str, Any]:
        whole = wire(body) | {"source_ids": list(sources)}
        answer = await self._client.ask("POST", "/v1/alerts", json=whole, headers=self._once(whole))
        return dict(answer.json())

    async def _sent(self, id_: str) -> dict[str, str]:
        """Return an alert's destination ids by `known_by`."""
        answer = await self._client.ask("GET", f"/v1/alerts/{id_}/destinations", params={"limit": PAGE})
        return {record["url" if record["kind"] == WEBHOOK else "label"]: record["id"] for record in answer.json()}

    async def _deliver(self, alert: PlannedAlert, id_: str, there: Mapping[str, str]) -> None:
        path = f"/v1/alerts/{id_}/destinations"
        for body in alert.destinations:
            name = host_of(body)
            if body.known_by in there:
                self._outcome(Done("destination", alert.place, name, "there", there[body.known_by]))
                continue
            whole = wire(body)
            try:
                answer = await self._client.ask("POST", path, json=whole, headers=self._once([id_, whole]))
            except CommandFailed as error:
                self._outcome(Done("destination", alert.place, name, "refused", says=why_refused(error)))
                continue
            made = answer.json()
            self._outcome(Done("destination", alert.place, name, "new", made["id"], secret=made.get("secret", "")))

    def _once(self, body: object) -> dict[str, str]:
        """Return an idempotency key, so that a repeated request creates nothing."""
        return {"Idempotency-Key": sha256(msgspec.json.encode([self._run, body])).hexdigest()}


def host_of(body: DestinationBody) -> str:
    """Return a destination's displayable name: a webhook's host, since the rest may be secret, else its label."""
    return httpx.URL(body.url or "").host if body.kind == WEBHOOK else body.known_by


def _key(alert: Mapping[str, Any]) -> Key:
    return str(alert["name"]), str(alert["filter_query"]), str(alert.get("language", "simple"))


def _missing(sources: Sequence[str], record: Mapping[str, Any]) -> list[str]:
    """Return the sources that an alert lacks and has room for; one over every source lacks none."""
    named = record["source_ids"]
    if not named and not record.get("tags"):
        return []
    return [each for each in sources if each not in set(named)][: MOST_SOURCES - len(named)]

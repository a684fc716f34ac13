"""Subscribers of the hub (WebSub, a W3C Recommendation): each subscribes to a feed, confirms, and takes posts; and a
visitor who reads the feed's pages.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, MutableSequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import trio

from extras.publish.operations import HUB
from tests.simulation.clients import Caller, CutOff
from tests.simulation.deliveries.receivers import TAKEN
from tests.simulation.delivery_records import KeptReader, Receipt, Visit
from tests.simulation.network import Host
from tests.simulation.origins import troubles
from tests.simulation.serving import Answer, Request
from tests.simulation.trace import Trace

SHARED: Final = "what readers share with the hub"
RENEWED_AFTER = 7200.0
"""Seconds until a renewal, unless the lease ends much sooner."""
VISITS_EVERY, TURNS_AFTER = 2400.0, 20.0
"""Seconds between two visits to the published pages, and on a page, at most."""
AGAIN, SELDOM = 30.0, 480.0
"""Seconds between two tries to subscribe, the first time and at most; the callback may come that much later."""


@dataclass(slots=True)
class Reader:
    """One subscriber on its own machine. learn: asks the service for a document, until it answers."""

    kept: KeptReader
    host: Host
    trace: Trace
    caller: Caller
    learn: Callable[[], Any]
    gone: float = 0.0
    _wishes: set[str] = field(default_factory=set)

    async def respond(self, request: Request) -> Answer:
        """Confirm a request, or take new entries."""
        await trio.lowlevel.checkpoint()
        return self._confirm(request) if request.method == "GET" else self._take(request)

    async def live(self) -> None:
        """Subscribe, renew, and unsubscribe, all in time."""
        plan = self.kept.plan
        await trio.sleep_until(plan.at)
        topic = await self.learn()
        while trio.current_time() < plan.ends:
            await self._wish("subscribe", topic, lambda: self.kept.told_since() < plan.ends)
            if not plan.renewed:
                await trio.sleep(plan.lease)
                self.kept.ended.append(trio.current_time())
                return
            with trio.move_on_at(plan.ends):
                await trio.sleep(min(0.4 * plan.lease, RENEWED_AFTER))
        before = len(self.kept.ended)
        await self._wish("unsubscribe", topic, lambda: len(self.kept.ended) > before)

    async def _wish(self, mode: str, topic: str, done: Callable[[], bool]) -> None:
        self._wishes.add(mode)
        asked = trio.current_time()
        fields = {
            "hub.mode": mode,
            "hub.topic": topic,
            "hub.callback": f"https://{self.host.name}/in",
            "hub.secret": SHARED,
            "hub.lease_seconds": str(self.kept.plan.lease),
        }
        again = AGAIN
        while True:
            with suppress(*CutOff):
                await self.caller.post_form(HUB, fields)
            await trio.sleep(again)
            again = min(2 * again, SELDOM)
            if done() and (mode != "subscribe" or self.kept.confirmed[-1] > asked):
                break
        self._wishes.discard(mode)

    def _confirm(self, request: Request) -> Answer:
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        answer = troubles.suffered(self.host, request, Answer(200, query.get("hub.challenge", "").encode()))
        whole = answer.status == 200 and answer.pace == "at once" and answer.claims is None
        if query["hub.mode"] not in self._wishes:
            return Answer(404)
        self.trace.note(self.host.name, f"confirms: {answer.status}", mode=query["hub.mode"])
        if whole:
            (self.kept.confirmed if query["hub.mode"] == "subscribe" else self.kept.ended).append(trio.current_time())
        return answer

    def _take(self, request: Request) -> Answer:
        answer = self._answer(request)
        status = 0 if answer.pace in ("lost", "never", "trickle") else answer.status
        if status == 410:
            self.kept.ended.append(trio.current_time())
        receipt = Receipt(
            trio.current_time(),
            request.path,
            request.headers,
            request.body,
            status,
            clear=answer.pace == "at once",
        )
        self.kept.receipts.append(receipt)
        self.trace.note(self.host.name, f"is told, {answer.status}", bytes=len(request.body))
        return replace(answer, finished=lambda: _finish(receipt))

    def _answer(self, request: Request) -> Answer:
        if self.host.suffers("lost"):
            return replace(TAKEN, pace="lost")
        if self.host.suffers("gone") and self.gone != self.host.faults["gone"]:
            self.gone = self.host.faults["gone"]
            return Answer(410, b"gone")
        return troubles.suffered(self.host, request, TAKEN)


def _finish(receipt: Receipt) -> None:
    receipt.until = trio.current_time()


@dataclass(slots=True)
class Visitor:
    """Reads all pages of the published feed now and then, newest first. learn: asks the service for the first one."""

    caller: Caller
    learn: Callable[[], Any]
    dice: random.Random
    visits: MutableSequence[Visit]

    async def live(self, ends: float) -> None:
        while trio.current_time() < ends:
            await trio.sleep(self.dice.uniform(0, VISITS_EVERY))
            first = await self.learn()
            with suppress(*CutOff):
                await self._visit(first)

    async def _visit(self, address: str | None) -> None:
        began, titles = trio.current_time(), list[str]()
        while address:
            parts = urlsplit(address)
            status, body = await self.caller.ask("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path)
            if status != 200:
                return
            page = json.loads(body)
            titles += [item["title"] for item in page["items"]]
            address = page.get("next_url")
            await trio.sleep(self.dice.uniform(0, TURNS_AFTER))
        self.visits.append(Visit(began, titles))

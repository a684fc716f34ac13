"""The user of alerts and destinations: follows the plans, mends disabled destinations, and at the end enables and
replays everything.

It repeats a cut-off request until it gets an answer. So a requested state may be in force from the first try on, and
surely is from the answer on.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import trio

from storage.records.destination import EMAIL
from tests.simulation.clients import Caller, CutOff
from tests.simulation.deliveries.publisher import source_id
from tests.simulation.deliveries.services import where
from tests.simulation.delivery_plans import (
    AlertState,
    AlertStep,
    Correspondence,
    DestinationState,
    DestinationStep,
)
from tests.simulation.delivery_records import (
    Glance,
    KeptAlert,
    KeptDestination,
    KnownSecret,
    Letters,
    Span,
)
from tests.simulation.hangups import LATEST
from tests.simulation.trace import Trace

AGAIN = 20.0
MOST_TRIES = 400
MOST_PIECES = 200
NOTICES = ("destination_failing", "destination_disabled")


class Refused(Exception):
    """A refusal that no retry will change."""


@dataclass(slots=True)
class Operator:
    """One user with one key. `dice` chooses its checks."""

    caller: Caller
    trace: Trace
    letters: Letters
    dice: random.Random
    _turns: dict[str, trio.Lock] = field(default_factory=dict)

    async def feeds(self) -> Mapping[str, str]:
        """Return the addresses of the publication; publish everything first if needed. {} when cut off."""
        status, known = await self._try("GET", "/v1/publications")
        if status == 200 and not known:
            await self._try("POST", "/v1/publications", {"title": "Everything"})
            return {}
        return dict(known[0]["feeds"]) if status == 200 else {}

    # --- alerts --------------------------------------------------------------------------------------------------

    async def live(self, plan: Correspondence, ends: float) -> None:
        """Follow the plans; check all destinations every now and then until the end."""
        self.letters.alerts += [KeptAlert(alert) for alert in plan.alerts]
        alerts = {kept.plan.name: kept for kept in self.letters.alerts}
        self.letters.destinations += [KeptDestination(each, alerts[each.alert]) for each in plan.destinations]
        self._turns = {kept.label: trio.Lock() for kept in self.letters.destinations}
        async with trio.open_nursery() as nursery:
            for alert in self.letters.alerts:
                nursery.start_soon(self._keep_alert, alert)
            for destination in self.letters.destinations:
                nursery.start_soon(self._keep, destination)
            nursery.start_soon(self._look_after, plan.looks_every, ends)

    async def _keep_alert(self, kept: KeptAlert) -> None:
        for step in kept.plan.steps:
            await trio.sleep_until(step.at)
            await self._step_alert(kept, step)

    async def _step_alert(self, kept: KeptAlert, step: AlertStep) -> None:
        version = kept.history.begin(step.state, trio.current_time())
        path, state = f"/v1/alerts/{kept.id}", step.state
        if state is None:
            await self._insist("DELETE", path, enough=(204, 404))
        elif kept.id:
            await self._insist("PATCH", path, _alert(kept, state))
        else:
            kept.id = (await self._insist("POST", "/v1/alerts", _alert(kept, state)))["id"]
        version.answered = trio.current_time()
        self.trace.note("keeper", "settles an alert", name=kept.plan.name)

    # --- destinations --------------------------------------------------------------------------------------------

    async def _keep(self, kept: KeptDestination) -> None:
        for step in kept.plan.steps:
            await trio.sleep_until(step.at)
            async with self._turns[kept.label]:
                try:
                    if not await self._step(kept, step):
                        return
                except Refused as error:
                    self.letters.wrong.append(str(error))
                    return

    async def _step(self, kept: KeptDestination, step: DestinationStep) -> bool:
        """Take a step; return False when there is nothing left to take steps on."""
        if kept.alert.history.newest is None:
            return False
        if kept.id:
            await self._glance(kept)
        path = f"/v1/destinations/{kept.id}"
        match step.do:
            case "set":
                assert step.state is not None
                return await self._set(kept, step.state)
            case "rotate":
                return await self._rotate(kept)
            case "test":
                kept.tests.append(Span(trio.current_time(), math.inf))
                await self._try("POST", f"{path}/test", {})
                kept.tests[-1] = Span(kept.tests[-1].begins, trio.current_time())
            case "delete":
                version = kept.history.begin(None, trio.current_time())
                await self._insist("DELETE", path, enough=(204, 404))
                version.answered = trio.current_time()
        self.trace.note("keeper", f"takes a step: {step.do}", name=kept.label)
        return step.do != "delete"

    async def _set(self, kept: KeptDestination, state: DestinationState) -> bool:
        version = kept.history.begin(state, trio.current_time())
        if kept.id:
            answer = await self._insist("PATCH", f"/v1/destinations/{kept.id}", _destination(state), enough=(200, 404))
        else:
            answer = await self._create(kept, state)
            if not answer:
                kept.history.versions.pop()
                return False
        version.answered = trio.current_time()
        self.trace.note("keeper", "sets a destination", name=kept.label, state=_shown(state))
        return "id" in answer

    async def _create(self, kept: KeptDestination, state: DestinationState) -> Mapping[str, Any]:
        """Add a destination; each try has its own path, which identifies a destination from a cut-off try."""
        path = f"/v1/alerts/{kept.alert.id}/destinations"
        for number in range(MOST_TRIES):
            place, asked = f"/{kept.label}/{number}", trio.current_time()
            body = where(kept.plan.kind, kept.plan.host, place) | {"label": kept.label}
            status, answer = await self._try("POST", path, body | _destination(state))
            if status == 201:
                kept.id, kept.place = answer["id"], place
                if "secret" in answer:
                    kept.secrets.append(KnownSecret(answer["secret"], asked, trio.current_time()))
                if kept.plan.kind == EMAIL:
                    kept.agreed = math.inf
                if answer["needs_agreement"]:
                    await self._agree(kept)
                return dict(answer)
            if status == 404:
                break
            await trio.sleep(AGAIN)
        return {}  # its receiver has no address now, or its alert is gone

    async def _agree(self, kept: KeptDestination) -> None:
        """Follow the link in the confirmation mail; request it again until it comes."""
        for _ in range(MOST_TRIES):
            path = self.letters.invitations.get(kept.place)
            if path is None:
                await self._try("POST", f"/v1/destinations/{kept.id}/invite", {})
            elif await self._follow(kept, path):
                self.trace.note("keeper", "agrees to be told", name=kept.label)
                return
            await trio.sleep(AGAIN)
        raise Refused(f"who is told by {kept.label} could not agree")

    async def _follow(self, kept: KeptDestination, path: str) -> bool:
        kept.agreed = min(kept.agreed, trio.current_time())
        try:
            status, _ = await self.caller.post_form(path, {"wish": "agree"})
        except CutOff:
            return False
        return status == 200

    async def _rotate(self, kept: KeptDestination) -> bool:
        for _ in range(MOST_TRIES):
            asked = trio.current_time()
            status, answer = await self._try("POST", f"/v1/destinations/{kept.id}/rotate-secret", {})
            kept.rotations.append(Span(asked, trio.current_time()))
            if status == 200:
                kept.secrets.append(KnownSecret(answer["secret"], asked, trio.current_time()))
                self.trace.note("keeper", "rotates a secret", name=kept.label)
                return True
            if status == 404:
                return False
            await trio.sleep(AGAIN)
        raise Refused(f"the secret of {kept.label} could not be rotated")

    # --- care ----------------------------------------------------------------------------------------------------

    async def _look_after(self, every: float, ends: float) -> None:
        while trio.current_time() + every < ends:
            await trio.sleep(every)
            for kept in self.letters.destinations:
                if kept.id and kept.history.newest is not None:
                    async with self._turns[kept.label]:
                        glance = await self._glance(kept)
                        if glance is not None and self.dice.random() < 0.3:
                            await self._mend(kept, glance)

    async def _glance(self, kept: KeptDestination) -> Glance | None:
        asked = trio.current_time()
        status, record = await self._try("GET", f"/v1/destinations/{kept.id}")
        if status != 200:
            return None
        glance = Glance(asked, record["state"], record["enabled"], record["replay_from"])
        kept.glances.append(glance)
        return glance

    async def _mend(self, kept: KeptDestination, glance: Glance) -> None:
        """Enable a disabled destination, and replay missed events."""
        state = kept.history.newest
        if state is None or not state.enabled:
            return
        if glance.state == "disabled":
            asked = trio.current_time()
            status, _ = await self._try("PATCH", f"/v1/destinations/{kept.id}", {"enabled": True})
            kept.revived.append(Span(asked, trio.current_time()))
            self.trace.note("keeper", f"revives a destination, {status}", name=kept.label)
        if glance.replay_from is not None:
            await self._replay(kept, glance.replay_from)

    async def _replay(self, kept: KeptDestination, since: str) -> None:
        """Replay from a position to the end of the log."""
        wanted: str | None = since
        span = len(kept.replays)
        kept.replays.append(Span(trio.current_time(), float("inf")))
        for _ in range(MOST_PIECES):
            if wanted is None:
                break
            status, answer = await self._try("POST", f"/v1/destinations/{kept.id}/replay", {"since": wanted})
            if status in (404, 409):
                break
            if status == 202:
                wanted = answer["next_since"]
            else:
                await trio.sleep(AGAIN)
        kept.replays[span] = Span(kept.replays[span].begins, trio.current_time())
        self.trace.note("keeper", "replays", name=kept.label, since=since)

    async def put_right(self) -> None:
        """Enable every destination, replay all missed events, and read the failed deliveries."""
        for kept in self.letters.destinations:
            state = kept.history.newest
            if kept.id and state is not None and kept.alert.history.newest is not None:
                async with self._turns[kept.label]:
                    await self._put_right(kept, state)
        await self.read_lines()
        self.letters.right = True

    async def _put_right(self, kept: KeptDestination, state: DestinationState) -> None:
        await self._glance(kept)
        await self._set(kept, replace(state, enabled=True, quiet=None))
        for _ in range(10):
            glance = await self._glance(kept)
            if glance is not None and glance.state != "disabled" and glance.replay_from is None:
                break
            if glance is not None:
                await self._mend(kept, glance)
            await trio.sleep(AGAIN)
        else:
            self.letters.wrong.append(f"{kept.label} can't be put right: {kept.glances[-1]}")

    async def read_lines(self) -> None:
        """Read each destination's attempts."""
        for kept in self.letters.destinations:
            if kept.id and kept.gone == float("inf"):
                path = f"/v1/destinations/{kept.id}/deliveries?limit=1000"
                lines = await self._insist("GET", path)
                dead = await self._insist("GET", f"{path}&result=given_up")
                kept.lines, kept.dead = lines[::-1], [line["webhook_id"] for line in dead]

    # --- requests ------------------------------------------------------------------------------------------------

    async def _insist(self, method: str, path: str, body: object = None, enough: tuple[int, ...] = (200, 201)) -> Any:
        """Retry until an answer is one of `enough`; after a hang-up it may already be done. Raises Refused."""
        if self.letters.hasty and method != "GET":
            status, answer = await self._try(method, path, body, self.dice.randint(1, LATEST))
            if status in enough:
                return answer
            done = await self._done(method, path, body)
            if done is not None:
                self.trace.note("keeper", "finds it done", path=path)
                return done
        for _ in range(MOST_TRIES):
            status, answer = await self._try(method, path, body)
            if status in enough:
                return answer
            await trio.sleep(AGAIN)
        raise Refused(f"{method} {path}: {status} {answer}")

    async def _done(self, method: str, path: str, body: Any) -> Any:
        """Check whether a request has taken effect, as far as visible; None when it has not, or without an answer."""
        status, answer = await self._try("GET", path)
        if method == "DELETE":
            return {} if status == 404 else None
        if status != 200:
            return None
        for found in answer if isinstance(answer, list) else [answer]:
            if all(found.get(name) == value for name, value in body.items()):
                return found
        return None

    async def _try(self, method: str, path: str, body: object = None, hangs_up_at: int = 0) -> tuple[int, Any]:
        try:
            status, content = await self.caller.ask(method, path, body, hangs_up_at)
        except CutOff:
            return 0, {}
        return status, json.loads(content) if content else {}


def _alert(kept: KeptAlert, state: AlertState) -> dict[str, object]:
    body: dict[str, object] = {
        "filter_query": " OR ".join(state.words),
        "language": "en",
        "source_ids": [source_id(number) for number in state.sources],
        "tags": list(state.tags),
        "name": kept.plan.name,
        "enabled": state.enabled,
    }
    return body | {"notices": NOTICES} if kept.plan.notices else body


def _destination(state: DestinationState) -> dict[str, object]:
    quiet = state.quiet
    hours = None if quiet is None else {"from": quiet.begins, "to": quiet.ends, "timezone": quiet.zone}
    return {
        "delivery_mode": state.mode,
        "enabled": state.enabled,
        "quiet_hours": hours,
        "digest_hour": state.hour,
        "digest_timezone": state.zone,
    }


def _shown(state: DestinationState) -> str:
    quiet = "" if state.quiet is None else f", quiet {state.quiet.begins}-{state.quiet.ends}"
    return f"{state.mode}{'' if state.enabled else ', off'}{quiet}"

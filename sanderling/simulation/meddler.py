"""A user who changes sources while they are looked at, and often does not wait for the answer.

He begins with a question for a look, so that most of what he does comes while one is under way. What he has hung up on,
or what was not answered, he asks for again until it is done: only then is it known what is true.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import trio

from sanderling.simulation.clients import AddedSource, Caller, CutOff, User
from sanderling.simulation.program import Meddling
from sanderling.simulation.trace import Trace

AGAIN = 20.0
MOST_TRIES = 200


@dataclass(frozen=True, slots=True)
class Deleted:
    """A source of which the service has said that it is gone, and how far the log was then."""

    url: str
    id: str
    head: int


@dataclass(slots=True)
class Meddler:
    """spells: (from, to) by URL, while a source was being changed or paused. head: how far the log on the disk is."""

    caller: Caller
    user: User
    trace: Trace
    dice: random.Random
    head: Callable[[], int]
    spells: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    deleted: list[Deleted] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    busy: int = 0

    async def live(self, plans: tuple[Meddling, ...]) -> None:
        """Do everything at its time, one thing after the other for each source."""
        turns = {plan.url: trio.Lock() for plan in plans}
        async with trio.open_nursery() as nursery:
            for plan in plans:
                await trio.sleep_until(plan.at)
                nursery.start_soon(self._do, plan, turns[plan.url])

    async def _do(self, plan: Meddling, turn: trio.Lock) -> None:
        self.busy += 1
        async with turn:
            added = self.user.added.get(plan.url)
            if added is not None:
                began = trio.current_time()
                self.spells.setdefault(plan.url, []).append((began - 1, float("inf")))
                try:
                    await self._change(plan, added)
                finally:
                    self.spells[plan.url][-1] = (began - 1, trio.current_time() + 1)
        self.busy -= 1

    async def _change(self, plan: Meddling, added: AddedSource) -> None:
        path = f"/v1/sources/{added.id}"
        await self._try("POST", f"{path}/check", {})
        await trio.sleep(self.dice.choice((self.dice.uniform(0, 0.4), self.dice.uniform(0.4, 20))))
        self.trace.note("meddler", plan.do, url=plan.url)
        match plan.do:
            case "edit":
                await self._insist("PATCH", path, {"tags": [f"topic:{self.dice.randrange(1000)}"]})
            case "refused":
                await self._try("PATCH", path, {"schedule": "now and then"})
            case "pause":
                await self._insist("PATCH", path, {"enabled": False})
                await trio.sleep(plan.lasts)
                await self._insist("PATCH", path, {"enabled": True})
            case "renew":
                await self._renew(plan, added)

    async def _renew(self, plan: Meddling, added: AddedSource) -> None:
        """Delete a source and add it again."""
        await self._insist("DELETE", f"/v1/sources/{added.id}", enough=(204, 404))
        self.deleted.append(Deleted(plan.url, added.id, self.head()))
        await trio.sleep(plan.lasts)
        asked = trio.current_time()
        answer = await self._insist("POST", "/v1/sources", {"url": plan.url})
        if "id" in answer:
            self.user.added[plan.url] = AddedSource(answer["id"], asked, trio.current_time())

    async def _insist(
        self, method: str, path: str, body: object = None, enough: tuple[int, ...] = (200, 201)
    ) -> dict[str, str]:
        """Ask until it is done; the first time he may hang up."""
        status, answer = await self._hasty(method, path, body)
        for _ in range(MOST_TRIES):
            if status in enough:
                return answer
            await trio.sleep(AGAIN)
            status, answer = await self._try(method, path, body)
        self.wrong.append(f"{method} {path} is not done: {status} {answer}")
        return {}

    async def _hasty(self, method: str, path: str, body: object) -> tuple[int, dict[str, str]]:
        """Ask, and perhaps hang up before the answer, at whatever moment."""
        if self.dice.random() < 0.5:
            with trio.move_on_after(self.dice.uniform(0.01, 0.4)):
                return await self._try(method, path, body)
            self.trace.note("meddler", "hangs up", path=path)
            return 0, {}
        return await self._try(method, path, body)

    async def _try(self, method: str, path: str, body: object) -> tuple[int, dict[str, str]]:
        try:
            status, content = await self.caller.ask(method, path, body)
        except CutOff:
            return 0, {}
        return status, json.loads(content) if content else {}

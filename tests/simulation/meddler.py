"""A user who changes sources during checks, and often does not wait for the answer.

He begins with a check, so that most changes come during one. He repeats a cut-off or unanswered request until it is
done: only then is the true state known.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import trio

from actors.errors import DomainError
from actors.messages.views import FeedLine
from actors.messages.workers import BeginImport, ImportMessage
from supervision import Mailbox, Stopping, Unanswered
from tests.simulation.clients import AddedSource, Caller, CutOff, User
from tests.simulation.hangups import LATEST
from tests.simulation.program import Meddling
from tests.simulation.trace import Trace

AGAIN = 20.0
MOST_TRIES = 200


@dataclass(frozen=True, slots=True)
class Deleted:
    """A source that the service reported deleted, and the position of the log then."""

    url: str
    id: str
    head: int


@dataclass(frozen=True, slots=True)
class Picked:
    """A user's choice of page parts, from the request to its answer. place, only: as in `Meddling`."""

    url: str
    at: float
    until: float
    place: int | None
    only: bool = False


@dataclass(frozen=True, slots=True)
class Titled:
    """A user gives a source a title. before, after: when it was last checked, by the service's answers."""

    url: str
    at: float
    until: float
    before: str
    after: str


@dataclass(slots=True)
class Meddler:
    """spells: (from, to) by URL, while a source was being changed or paused. head: the newest position on the disk.

    importer: takes lists of sources; None while the service boots. tags: a source's certain tags, by URL. settles:
    seconds until all nodes know of a confirmed change. untrue: sentences about confirmed changes that did not last.
    """

    caller: Caller
    user: User
    trace: Trace
    dice: random.Random
    head: Callable[[], int]
    importer: Callable[[], Mailbox[ImportMessage] | None] = lambda: None
    tags: dict[str, str] = field(default_factory=dict)
    settles: float = 0.0
    untrue: list[str] = field(default_factory=list)
    spells: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    deleted: list[Deleted] = field(default_factory=list)
    picked: list[Picked] = field(default_factory=list)
    titled: list[Titled] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    busy: int = 0

    async def live(self, plans: tuple[Meddling, ...]) -> None:
        """Do everything at its time, one thing after the other for each source."""
        turns = {plan.url: trio.Lock() for plan in plans}
        lasting = dict.fromkeys(plan.url for plan in plans if plan.url)
        for plan in plans:
            if plan.do == "renew":
                lasting.pop(plan.url, None)
        async with trio.open_nursery() as nursery:
            for plan in plans:
                await trio.sleep_until(plan.at)
                if plan.do == "import":
                    nursery.start_soon(self._import, tuple(lasting))
                else:
                    nursery.start_soon(self._do, plan, turns[plan.url])

    async def look_back(self) -> None:
        """Check that every confirmed change is in force."""
        for url in self.tags:
            await self._compare(url, self.user.find(url))

    async def _compare(self, url: str, source: str) -> None:
        status, found = await self._try("GET", f"/v1/sources/{source}")
        tag = self.tags.get(url)
        if self.settles and status == 200 and tag is not None and tag not in found["tags"]:
            await trio.sleep(self.settles)
            status, found = await self._try("GET", f"/v1/sources/{source}")
        if status == 200 and tag is not None and tag not in found["tags"]:
            self.untrue.append(f"{url} was answered to have the tag {tag}, and has {found['tags']}")

    async def _import(self, urls: tuple[str, ...]) -> None:
        """Import a list of existing sources, with other tags."""
        importer = self.importer()
        self.trace.note("meddler", "imports", sources=len(urls))
        if importer is None:
            return
        lines = [FeedLine(url, "", ("topic:imported",)) for url in urls]
        with trio.move_on_after(60), suppress(Unanswered, Stopping, DomainError):
            await importer.ask(lambda reply: BeginImport(lines, reply))

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
        if plan.do == "title":
            await self._title(plan, path)
            return
        await self._compare(plan.url, added.id)
        await self._try("POST", f"{path}/check", {})
        await trio.sleep(self.dice.choice((self.dice.uniform(0, 0.4), self.dice.uniform(0.4, 20))))
        self.trace.note("meddler", plan.do, url=plan.url)
        match plan.do:
            case "edit":
                tag = f"topic:{self.dice.randrange(1000)}"
                self.tags.pop(plan.url, None)
                if await self._insist("PATCH", path, {"tags": [tag]}):
                    self.tags[plan.url] = tag
            case "refused":
                await self._try("PATCH", path, {"schedule": "now and then"})
            case "pause":
                await self._insist("PATCH", path, {"enabled": False})
                await trio.sleep(plan.lasts)
                await self._insist("PATCH", path, {"enabled": True})
            case "renew":
                await self._renew(plan, added)
            case "pick":
                await self._pick(plan, path)

    async def _title(self, plan: Meddling, path: str) -> None:
        began = trio.current_time()
        status, shown = await self._try("GET", path)
        title = {"title": f"Title {self.dice.randrange(1000)}"}
        found = await self._insist("PATCH", path, title) if status == 200 else {}
        if found and shown["last_fetch_at"]:
            ended = trio.current_time()
            self.titled.append(Titled(plan.url, began, ended, shown["last_fetch_at"], found["last_fetch_at"]))

    async def _pick(self, plan: Meddling, path: str) -> None:
        """Select a paragraph of the page to ignore, or to watch alone; or watch the whole page again."""
        began = trio.current_time()
        chosen: dict[str, Any] = {"selector": None, "ignore": []}
        if plan.place is not None:
            kept = await self._pressed(f"{path}/blocks", plan.place, "only" if plan.only else "without")
            chosen = {"selector": kept["selector"], "ignore": kept["ignore"]}
        await self._insist("PATCH", path, chosen)
        self.picked.append(Picked(plan.url, began, trio.current_time(), plan.place, plan.only))

    async def _pressed(self, path: str, place: int, act: str) -> dict[str, Any]:
        """Return the settings for a selected paragraph. The one that was shown may be gone by now."""
        whole: dict[str, Any] = {"selector": None, "ignore": []}
        while True:
            shown = await self._insist("POST", path, whole)
            block = [each for each in shown["blocks"] if each["kind"] == "text" and not each["why"]][place]
            press = {"number": block["number"], "mark": block["mark"], "act": act, "reach": "this"}
            choice = (await self._insist("POST", path, whole | {"press": press}))["choice"]
            if choice is not None and choice["kept"] is not None:
                kept: dict[str, Any] = choice["kept"]
                return kept

    async def _renew(self, plan: Meddling, added: AddedSource) -> None:
        """Delete a source and add it again."""
        self.tags.pop(plan.url, None)
        await self._insist("DELETE", f"/v1/sources/{added.id}", enough=(204, 404))
        self.deleted.append(Deleted(plan.url, added.id, self.head()))
        await trio.sleep(plan.lasts)
        asked = trio.current_time()
        answer = await self._insist("POST", "/v1/sources", {"url": plan.url})
        if "id" in answer:
            self.user.added[plan.url] = AddedSource(answer["id"], asked, trio.current_time())

    async def _insist(
        self, method: str, path: str, body: object = None, enough: tuple[int, ...] = (200, 201)
    ) -> dict[str, Any]:
        """Repeat a request until it is done; the first time he may hang up."""
        status, answer = await self._hasty(method, path, body)
        for _ in range(MOST_TRIES):
            if status in enough:
                return answer
            await trio.sleep(AGAIN)
            status, answer = await self._try(method, path, body)
        self.wrong.append(f"{method} {path} is not done: {status} {answer}")
        return {}

    async def _hasty(self, method: str, path: str, body: object) -> tuple[int, dict[str, Any]]:
        """Send a request, and perhaps hang up before the answer, at any moment or step."""
        drawn = self.dice.random()
        if drawn < 0.3:
            with trio.move_on_after(self.dice.uniform(0.01, 0.4)):
                return await self._try(method, path, body)
            self.trace.note("meddler", "hangs up", path=path)
            return 0, {}
        return await self._try(method, path, body, self.dice.randint(1, LATEST) if drawn < 0.6 else 0)

    async def _try(self, method: str, path: str, body: object = None, hangs_up_at: int = 0) -> tuple[int, Any]:
        try:
            status, content = await self.caller.ask(method, path, body, hangs_up_at)
        except CutOff:
            return 0, {}
        return status, json.loads(content) if content else {}

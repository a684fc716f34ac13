"""A matcher on in-memory storage; a test can end its runs at any step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec

from actors.matcher import Matcher
from actors.messages.workers import MatcherMessage
from actors.observer import NO_OBSERVER, Metrics
from storage.append import events_of
from storage.records.alert import Alert
from storage.records.destination import Destination, Secret
from storage.records.event import EVERYTHING, MATCHED, Draft, Stored
from storage.records.identity import START, Millis, Seq, SourceId, id_of
from supervision import Mailbox
from tests.support.build import NOW, a_draft, a_harvest, a_source, a_source_id, a_state
from tests.support.disks import cursor, outbox
from tests.support.in_loop import Disk, InLoopStorage


async def _nothing(*_: object) -> None:
    """Replace unused callbacks: refresh, notices of alerts, private sources."""


class Mint:
    def __init__(self) -> None:
        self.last = Seq(NOW << 15)

    def raise_floor(self, floor: Seq) -> None:
        self.last = max(self.last, floor)

    def mint(self) -> tuple[Seq, str]:
        self.last = Seq(self.last + 1)
        return self.last, id_of(self.last, 5)


def stamp(seq: Seq, id: str, source: SourceId, draft: Draft) -> bytes:
    body = {"id": id, "source_id": source, "title": draft.title, "content": draft.content, "tags": draft.tags}
    body |= {"source_type": draft.source_type, "story": draft.story or id} | (
        {"diff": draft.diff} if draft.diff else {}
    )
    return msgspec.json.encode(body | ({"alert_type": draft.alert_type} if draft.alert_type else {}))


def an_alert(id: str = "alert", query: str = "price", **changes: Any) -> Alert:
    return msgspec.structs.replace(Alert(id, id, query, "en", (), NOW, NOW), **changes)


def a_destination(id: str = "hook", alert: str = "alert", **changes: Any) -> Destination:
    url = f"https://{id}.example/in"
    plain = Destination(id, alert, "webhook", url, "instant", id, (Secret("whsec_AAAA"),), NOW, NOW)
    return msgspec.structs.replace(plain, **changes)


def a_child() -> Any:
    """Return the parts of a supervisor that an actor needs."""
    return SimpleNamespace(ready=lambda: None, note=lambda text: None)


class Rig:
    def __init__(self, bound: int = 16) -> None:
        self.disk = Disk()
        self.mint = Mint()
        self.mailbox: Mailbox[MatcherMessage] = Mailbox("matcher", bound)
        self.nudged: list[str] = []
        self.logged: list[str] = []
        self.points: list[str] = []
        self.at_point: Callable[[str], None] = lambda name: None
        self.storage = InLoopStorage(self.disk, self.disk.start("test"))

    def restart(self) -> None:
        """Start another run on the same disk."""
        self.storage = InLoopStorage(self.disk, self.disk.start("test"))

    async def prepare(self, *alerts: Alert) -> None:
        """Store sources 1 and 2, and each alert with a destination `<alert>-hook`."""
        for number in (1, 2):
            await self.storage.sources.add(a_source(number), a_state(a_source_id(number)), self.storage.lease)
        await self.prepare_only(*alerts)

    async def prepare_only(self, *alerts: Alert) -> None:
        """Store more alerts with their destinations."""
        for alert in alerts:
            await self.storage.alerts.put(alert)
            await self.storage.alerts.put_destination(a_destination(f"{alert.id}-hook", alert.id))

    async def commit(self, *titles: str, source: int = 1) -> Sequence[Stored]:
        harvest = a_harvest(a_source_id(source), *titles)
        return events_of(await self.storage.log.append([harvest], self.storage.lease, self.mint, stamp))

    async def notice(self, alert_type: str, source: int = 1) -> Sequence[Stored]:
        return await self.commit_draft(a_draft("price", alert_type=alert_type), source)

    async def commit_draft(self, draft: Draft, source: int = 1) -> Sequence[Stored]:
        harvest = msgspec.structs.replace(a_harvest(a_source_id(source)), drafts=(draft,))
        return events_of(await self.storage.log.append([harvest], self.storage.lease, self.mint, stamp))

    def matcher(self, **more: Any) -> Matcher:
        def reach(name: str) -> None:
            self.points.append(name)
            self.at_point(name)

        world: Any = SimpleNamespace(
            now=lambda: Millis(NOW),
            reach=reach,
            log=lambda name, **fields: self.logged.append(name),
            metrics=Metrics(),
            observer=NO_OBSERVER,
        )
        more = {"refresh": _nothing, "on_alerts_read": _nothing, "private_since": _nothing} | more
        return Matcher(storage=self.storage, mailbox=self.mailbox, nudge=self.nudged.append, world=world, **more)

    def outbox(self) -> dict[str, list[str]]:
        """Return the waiting titles of each destination, in order."""
        return {destination: [self._title(seq) for seq in seqs] for destination, seqs in outbox(self.disk).items()}

    def _title(self, seq: Seq) -> str:
        event = self.disk.events(Seq(seq - 1))[0]
        return str(msgspec.json.decode(event.body)["title"])

    async def is_settled(self) -> bool:
        page = await self.storage.log.read(START, 500, EVERYTHING)
        return cursor(self.disk, MATCHED) == (page.events[-1].seq if page.events else None)

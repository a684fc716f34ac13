"""Execute a plan: create records before others name them, delete last, and use the revisions the plan saw.

Every record is created with its mark, and every change carries the revision that the plan saw. After a crash between
any two acts, the next plan finds the finished ones and does the rest.

The service's present state, and the attaching of templates.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

import httpx
import msgspec
import trio
from msgspec import Struct

from actors.catalogue import Flaw
from extras.apply import groups
from extras.apply.kinds.destinations import DESTINATIONS, OPTIONS
from extras.apply.kinds.kind import PART, DesiredRecord, Kind, Private, Record
from extras.apply.kinds.sources import SOURCES
from extras.apply.kinds.table import KINDS
from extras.apply.people import PEOPLE, PersonStep
from extras.apply.planning import Act, Doubt, Plan, applied_of, changes_of
from sanderling.client.api import ServiceRefused, WaitingClient, why_refused
from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Managed

ATTACH_WITHIN: Final = 60.0  # timeout of an instantiation in seconds; the service answers within 30


class _Preview(Struct):
    sources: tuple[groups.SourceSeen, ...]


async def expanded(client: WaitingClient, wish: groups.DesiredState) -> groups.DesiredState:
    """Raises BadFiles for invalid groups, CommandFailed."""
    if not wish.groups:
        return wish
    making, flaws = groups.Making(wish), list[Flaw]()
    for group in wish.groups:
        try:
            making.add(group, await _preview(client, group), await template_of(client, group.table.template))
        except ServiceRefused as error:
            if error.status not in (400, 404, 422):
                raise
            says = "there is no such template: `sanderling templates list` shows them"
            flaws.append(groups.flaw_in(group, f"template: {says}" if error.status == 404 else error.message))
    if flaws or making.flaws:
        raise groups.BadFiles([*flaws, *making.flaws])
    return making.wish()


async def template_of(client: WaitingClient, id: str) -> groups.TemplateSeen:
    """Raises CommandFailed."""
    return msgspec.json.decode((await client.ask("GET", f"/v1/templates/{id}")).content, type=groups.TemplateSeen)


async def templates_of(client: WaitingClient, state: groups.State) -> Mapping[str, groups.TemplateSeen]:
    tags = {tag for one in state.records[SOURCES] for tag in one.tags if tag.startswith("template:")}
    found = dict[str, groups.TemplateSeen]()
    for id in sorted(tag.partition(":")[2] for tag in tags):
        try:
            found[id] = await template_of(client, id)
        except ServiceRefused as error:
            if error.status != 404:
                raise
    return found


async def _preview(client: WaitingClient, group: groups.Group) -> Sequence[groups.SourceSeen]:
    body = {"params": {name: list(values) for name, values in group.table.params.items()}}
    answer = await client.ask("POST", f"/v1/templates/{group.table.template}/preview", json=body)
    return msgspec.json.decode(answer.content, type=_Preview).sources


async def attach(client: WaitingClient, what: groups.Attachment, urls: Sequence[str]) -> str:
    """Add a template's tag to existing sources; return the reason of a failure, else ""."""
    body = {"params": {name: list(values) for name, values in what.params.items()}, "only": list(urls)}
    answer = await client.ask("POST", f"/v1/templates/{what.template}/instantiate", json=body, timeout=ATTACH_WITHIN)
    failed = [one for one in answer.json()["sources"] if one["status"] == "failed"]
    return f"{failed[0]['url']}: {failed[0]['reason']}" if failed else ""


PAGE = 1000  # records per response, the API's maximum


class _Address(Struct):
    private: bool


class _Option(Struct):
    name: str
    private: bool


class _DestinationKind(Struct):
    kind: str
    address: _Address
    options: list[_Option]


async def state_of(client: WaitingClient, kinds: Iterable[str] = tuple(KINDS)) -> groups.State:
    records = {kind.id: await _all(client, kind) for kind in KINDS.values() if kind.id in kinds}
    found = await client.ask("GET", "/v1/destination-kinds") if DESTINATIONS in kinds else None
    return groups.State(records, {} if found is None else _private(found.content))


async def people_of(client: WaitingClient) -> list[PersonStep]:
    """Raises CommandFailed, also for a key without `admin`."""
    found = []
    for path in ("/v1/invitations", "/v1/people"):
        records = (await client.ask("GET", path, params={"limit": PAGE})).json()
        found += [
            PersonStep(record["email"], record["role"], record["role"], f"{path}/{record['id']}") for record in records
        ]
    return [one for one in found if one.email]


def _private(content: bytes) -> Private:
    return {
        kind.kind: frozenset(
            [f"{OPTIONS}{option.name}" for option in kind.options if option.private]
            + (["url"] if kind.address.private else [])
        )
        for kind in msgspec.json.decode(content, type=list[_DestinationKind])
    }


async def _all(client: WaitingClient, kind: Kind) -> list[Any]:
    decode = msgspec.json.Decoder(list[kind.record]).decode  # type: ignore[name-defined]
    found: list[Any] = []
    query: Any = {**kind.query, "limit": PAGE}
    while True:
        try:
            answer = await client.ask("GET", kind.path, params=query)
        except ServiceRefused as error:
            if error.status != 404:  # that extra is not part of the service
                raise
            return []
        try:
            found += filter(kind.counts, decode(answer.content))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            says = f"The service's {kind.id} don't match this program ({error}): do both have the same version?"
            raise CommandFailed(says) from None
        if "next" not in answer.links:
            return found
        query = httpx.URL(answer.links["next"]["url"]).query


AT_ONCE: Final = 4
BATCH_WITHIN: Final = 90.0  # timeout of a batch in seconds; the service answers within 55
TRIES: Final = 3  # maximum tries for sources whose detection timed out
_RUNS, _OTHER = "still running", "was used for another call"
_STALE: Final = "somebody has changed it since the plan was made: run the same command again"
_OTHER_RUN: Final = "another apply of this workspace made it: plan again"
_AGAIN: Final = 30  # seconds to wait for an earlier run's identical call, and maximum idempotency keys to try

Became = Literal["made", "changed", "taken over", "deleted", "refused"]
BECAME: Final[Mapping[str, Became]] = {
    "make": "made",
    "change": "changed",
    "take over": "taken over",
    "delete": "deleted",
}


class ActResult(NamedTuple):
    """The result of an act. says: why it was refused, or a remark."""

    act: Act
    became: Became
    says: str = ""


class Actor:
    """Executes one plan. tell: receives each finished act."""

    def __init__(self, client: WaitingClient, plan: Plan, tell: Callable[[ActResult], None]) -> None:
        self._client, self._plan, self._tell = client, plan, tell
        self._names = plan.names
        self._refused: set[tuple[str, str]] = set()

    async def run(self) -> None:
        """A refusal stops no other act. Raises CommandFailed without service or key, or if another run made some."""
        acts = [act for act in self._plan.acts if act.verb != "keep"]
        await self._all([act for act in acts if _watches(act)])
        for group in self._plan.attach:
            await self._attach(group)
        await self._all([act for act in acts if not _watches(act)])
        for step in self._plan.people:
            await self._give(step)
        if twice := await self._made_twice({act.kind for act in acts if act.verb == "make"}):
            says = f"Another apply of {self._plan.workspace} ran at the same time. Both created: {', '.join(twice)}."
            raise CommandFailed(f"{says} Plan again: the same command shows what differs.", Exit.FAILED)

    async def _made_twice(self, kinds: Collection[str]) -> list[str]:
        """Return `kind.name` of records that exist twice in this workspace."""
        count = Counter(f"{kind}.{name}" for kind, name in await self._new(kinds))
        return sorted(name for name, times in count.items() if times > 1)

    async def _new(self, kinds: Collection[str]) -> list[tuple[str, str]]:
        """Return kind and name of this workspace's records that the plan did not see."""
        records = (await state_of(self._client, kinds)).records if kinds else {}
        seen = {act.there.record.id for act in self._plan.acts if act.there is not None}
        some = ((kind, one) for kind, each in records.items() for one in each if one.id not in seen and one.managed)
        return [(kind, one.managed.name) for kind, one in some if one.managed.workspace == self._plan.workspace]

    async def _all(self, acts: Sequence[Act]) -> None:
        for (_, name), group in groupby(acts, lambda act: (act.verb == "delete", act.kind)):
            kind = KINDS[name]
            some = list(group)
            making = [act for act in some if act.verb == "make"]
            parts = [making[start : start + kind.batch] for start in range(0, len(making), kind.batch)]
            # Lists show the oldest first, so records made one by one follow the order of the files.
            await self._stage(kind, parts, at_once=AT_ONCE if kind.batch > 1 else 1)
            await self._stage(kind, [[act] for act in some if act.verb != "make"], at_once=AT_ONCE)

    async def _attach(self, group: groups.Attachment) -> None:
        act = Act("change", groups.TEMPLATES, group.name)
        urls = [url for name, url in group.members if (SOURCES, name) not in self._refused]
        try:
            says = await attach(self._client, group, urls) if urls else "none of its sources exists"
        except ServiceRefused as error:
            says = why_refused(error)
        if says:
            self._refuse(act, says)
        else:
            self._tell(ActResult(act, "changed", f"{group.lacking:,} of its sources got its tag"))

    async def _give(self, step: PersonStep) -> None:
        act, says = Act("change" if step.before else "make", PEOPLE, step.email), ""
        try:
            if step.path.startswith("/v1/people"):
                await self._client.ask("PATCH", step.path, json={"role": step.role})
            else:
                if step.path:
                    await self._client.ask("DELETE", step.path)
                body = {"role": step.role, "email": step.email}
                made = (await self._client.ask("POST", "/v1/invitations", json=body)).json()
                says = f"send this link, which works once: {made['url']}"
        except ServiceRefused as error:
            self._refuse(act, why_refused(error))
        else:
            self._tell(ActResult(act, BECAME[act.verb], says))

    async def _stage(self, kind: Kind, some: Sequence[Sequence[Act]], *, at_once: int) -> None:
        parts = deque(some)

        async def work() -> None:
            while parts:
                part = parts.popleft()
                if len(part) > 1:
                    await self._make_each(kind, part)
                else:
                    await self._one(kind, part[0])

        async with trio.open_nursery() as nursery:
            for _ in range(min(at_once, len(parts))):
                nursery.start_soon(work)

    async def _one(self, kind: Kind, act: Act) -> None:
        try:
            says = await (self._delete if act.verb == "delete" else self._make if act.verb == "make" else self._change)(
                kind, act
            )
        except ServiceRefused as error:
            self._refuse(act, _STALE if error.status == 412 else why_refused(error))
        except LookupError as error:
            self._refuse(act, f"it names {error.args[0][1]}, which does not exist")
        else:
            self._tell(ActResult(act, BECAME[act.verb], says))

    def _refuse(self, act: Act, says: str) -> None:
        self._refused.add((act.kind, act.name))
        self._tell(ActResult(act, "refused", says))

    # --- the acts ----------------------------------------------------------------------------------------------------

    async def _delete(self, kind: Kind, act: Act) -> str:
        assert act.there is not None
        if act.replaces and (act.kind, act.replaces) in self._refused:
            raise ServiceRefused("it stays, because its replacement was refused", 409)
        record = act.there.record
        try:
            await self._client.ask("DELETE", kind.at(record.id), headers=_begun(record))
        except ServiceRefused as error:
            if error.status != 404:
                raise
        return ""

    async def _change(self, kind: Kind, act: Act) -> str:
        assert act.wanted is not None and act.there is not None
        await self._patch(kind, act.wanted, act.there.record, [change.field for change in act.changes])
        return ""

    async def _patch(self, kind: Kind, wanted: DesiredRecord, record: Record, fields: Sequence[str]) -> None:
        if kind.whole:
            await self._client.ask("PUT", kind.at(record.id), json=self._body(kind, wanted), headers=_begun(record))
            return
        values = {name: wanted.values.get(name) for name in fields if name in wanted.values or PART in name}
        # When a destination moves, send its secrets again, even unchanged ones.
        secrets = {n: one.value for n, one in wanted.secrets.items() if n in fields or one.value is not None}
        gone = {name: None for name in fields if name not in values and name not in secrets}
        values = {name: value for name, value in values.items() if name not in secrets}
        body = kind.body(values, {**secrets, **gone}, self._names.id_of) | {"managed": self._mark(kind, wanted)}
        await self._client.ask("PATCH", kind.at(record.id), json=body, headers=_begun(record))

    async def _make(self, kind: Kind, act: Act) -> str:
        assert act.wanted is not None
        return await self._settle(kind, act.wanted, (await self._made(kind, act.wanted)).content)

    async def _make_each(self, kind: Kind, acts: Sequence[Act], tries: int = 1) -> None:
        """Create several records with one request; if it is refused as a whole, create them one by one."""
        bodies = [self._body(kind, act.wanted) for act in acts if act.wanted is not None]
        try:
            answer = await self._client.ask("POST", kind.path, json={kind.id: bodies}, timeout=BATCH_WITHIN)
        except ServiceRefused as error:
            why_refused(error)
            for act in acts:
                await self._one(kind, act)
            return
        late = []
        for act, result in zip(acts, msgspec.json.decode(answer.content)["results"], strict=True):
            if result["status"] == "timeout" and tries < TRIES:
                late.append(act)
            else:
                await self._became(kind, act, result)
        if late:
            await self._make_each(kind, late, tries + 1)

    async def _became(self, kind: Kind, act: Act, result: Mapping[str, Any]) -> None:
        assert act.wanted is not None
        problem = result.get("error")
        if problem is not None:
            return self._refuse(act, str(problem.get("detail") or problem.get("title") or result["status"]))
        try:
            says = await self._settle(kind, act.wanted, msgspec.json.encode(result[kind.noun]))
        except ServiceRefused as error:
            self._refuse(act, why_refused(error))
        else:
            self._tell(ActResult(act, "made", says))

    async def _settle(self, kind: Kind, wanted: DesiredRecord, content: bytes) -> str:
        """Correct a created record; return a remark for the user. Raises ServiceRefused if another client was first."""
        record: Record = msgspec.json.decode(content, type=kind.record)
        mark = record.managed
        if mark is None or (mark.workspace, mark.name) != (self._plan.workspace, wanted.name):
            raise ServiceRefused("another client has just added it: run the same command again", 409)
        kind.put(self._names, record.id, wanted.name)
        fields = [change.field for change in changes_of(kind, wanted, kind.there(record, self._names), self._names)]
        if fields:
            await self._patch(kind, wanted, record, fields)
        unseen = "secret" in kind.secrets and "secret" not in wanted.secrets and b'"secret":"' in content
        return "the service created its signing secret; rotate it to see one" if unseen else ""

    async def _made(self, kind: Kind, wanted: DesiredRecord) -> httpx.Response:
        """Create a record once: the idempotency key derives from the name; if that answer is deleted, try the next."""
        path, body = kind.make(wanted.values, self._names.id_of) or kind.path, self._body(kind, wanted)
        if kind.whole:
            return await self._put(kind, path, body)
        number = waited = 0
        while True:
            try:
                answer = await self._client.ask("POST", path, json=body, headers=self._call(kind, wanted, number))
            except ServiceRefused as error:
                if error.status == 409 and _RUNS in error.message and waited < _AGAIN:
                    waited += 1
                    await trio.sleep(1)
                elif error.status == 422 and _OTHER in error.message and number < _AGAIN:
                    if (kind.id, wanted.name) in await self._new([kind.id]):
                        raise ServiceRefused(_OTHER_RUN, 409) from None
                    number += 1
                else:
                    raise
                continue
            if "Idempotency-Replayed" not in answer.headers:
                return answer
            there = await self._again(kind, msgspec.json.decode(answer.content)["id"])
            if there is not None:
                return there
            number += 1

    async def _put(self, kind: Kind, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """Create a record at its path; if it exists with our mark, the answer to the same call was lost."""
        try:
            return await self._client.ask("PUT", path, json=body, headers={"If-None-Match": "*"})
        except ServiceRefused as error:
            if error.status != 412:
                raise
            there = await self._client.ask("GET", path)
            if not kind.counts(msgspec.json.decode(there.content, type=kind.record)):
                raise
            return there

    async def _again(self, kind: Kind, id: str) -> httpx.Response | None:
        try:
            return await self._client.ask("GET", kind.at(id))
        except ServiceRefused as error:
            if error.status != 404:
                raise
            return None

    def _call(self, kind: Kind, wanted: DesiredRecord, number: int) -> dict[str, str]:
        named = msgspec.json.encode((self._plan.workspace, kind.id, wanted.name, number))
        return {"Idempotency-Key": f"apply-{sha256(named).hexdigest()}"}

    def _body(self, kind: Kind, wanted: DesiredRecord) -> dict[str, Any]:
        secrets = {name: secret.value for name, secret in wanted.secrets.items()}
        body = kind.body({**wanted.values, **wanted.new}, secrets, self._names.id_of)
        return {**kind.making, **body, "managed": self._mark(kind, wanted)}

    def _mark(self, kind: Kind, wanted: DesiredRecord) -> dict[str, str]:
        return dict(msgspec.to_builtins(Managed(self._plan.workspace, wanted.name, applied_of(kind, wanted))))


def _watches(act: Act) -> bool:
    return act.kind == SOURCES and act.verb != "delete"


def _begun(record: Record) -> dict[str, str]:
    return {"If-Match": f'"{record.revision}"'}


async def compared(client: WaitingClient, doubts: Sequence[Doubt]) -> frozenset[Doubt]:
    other = []
    for start in range(0, len(doubts), 100):
        part = doubts[start : start + 100]
        asks = [
            {"of": KINDS[one.kind].noun, "id": one.id, "name": one.field.rpartition(PART)[2], "value": one.value}
            for one in part
        ]
        answer = await client.ask("POST", "/v1/secrets/compare", json={"secrets": asks})
        other += [one for one, same in zip(part, answer.json()["same"], strict=True) if not same]
    return frozenset(other)

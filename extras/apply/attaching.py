"""The service's present state, and the attaching of templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import httpx
import msgspec
from msgspec import Struct

from actors.catalogue import Flaw
from extras.apply.groups import (
    Attachment,
    BadFiles,
    DesiredState,
    Group,
    Making,
    SourceSeen,
    State,
    TemplateSeen,
    flaw_in,
)
from extras.apply.kinds.destinations import DESTINATIONS, OPTIONS
from extras.apply.kinds.kind import Kind, Private
from extras.apply.kinds.sources import SOURCES
from extras.apply.kinds.table import KINDS
from extras.apply.people import PersonStep
from sanderling.client.api import ServiceRefused, WaitingClient
from sanderling.exits import CommandFailed

ATTACH_WITHIN: Final = 60.0
"""Timeout of an instantiation in seconds; the service answers within 30."""


class _Preview(Struct):
    sources: tuple[SourceSeen, ...]


async def expanded(client: WaitingClient, wish: DesiredState) -> DesiredState:
    """Raises BadFiles for invalid groups, CommandFailed."""
    if not wish.groups:
        return wish
    making, flaws = Making(wish), list[Flaw]()
    for group in wish.groups:
        try:
            making.add(group, await _preview(client, group), await template_of(client, group.table.template))
        except ServiceRefused as error:
            if error.status not in (400, 404, 422):
                raise
            says = "there is no such template: `sanderling templates list` shows them"
            flaws.append(flaw_in(group, f"template: {says}" if error.status == 404 else error.message))
    if flaws or making.flaws:
        raise BadFiles([*flaws, *making.flaws])
    return making.wish()


async def template_of(client: WaitingClient, id: str) -> TemplateSeen:
    """Raises CommandFailed."""
    return msgspec.json.decode((await client.ask("GET", f"/v1/templates/{id}")).content, type=TemplateSeen)


async def templates_of(client: WaitingClient, state: State) -> Mapping[str, TemplateSeen]:
    tags = {tag for one in state.records[SOURCES] for tag in one.tags if tag.startswith("template:")}
    found = dict[str, TemplateSeen]()
    for id in sorted(tag.partition(":")[2] for tag in tags):
        try:
            found[id] = await template_of(client, id)
        except ServiceRefused as error:
            if error.status != 404:
                raise
    return found


async def _preview(client: WaitingClient, group: Group) -> Sequence[SourceSeen]:
    body = {"params": {name: list(values) for name, values in group.table.params.items()}}
    answer = await client.ask("POST", f"/v1/templates/{group.table.template}/preview", json=body)
    return msgspec.json.decode(answer.content, type=_Preview).sources


async def attach(client: WaitingClient, what: Attachment, urls: Sequence[str]) -> str:
    """Add a template's tag to existing sources; return the reason of a failure, else ""."""
    body = {"params": {name: list(values) for name, values in what.params.items()}, "only": list(urls)}
    answer = await client.ask("POST", f"/v1/templates/{what.template}/instantiate", json=body, timeout=ATTACH_WITHIN)
    failed = [one for one in answer.json()["sources"] if one["status"] == "failed"]
    return f"{failed[0]['url']}: {failed[0]['reason']}" if failed else ""


PAGE = 1000
"""Records per response, the API's maximum."""


class _Address(Struct):
    private: bool


class _Option(Struct):
    name: str
    private: bool


class _DestinationKind(Struct):
    kind: str
    address: _Address
    options: list[_Option]


async def state_of(client: WaitingClient, kinds: Iterable[str] = tuple(KINDS)) -> State:
    asked = [kind for kind in KINDS.values() if kind.id in kinds]
    records = {kind.id: await _all(client, kind) for kind in asked}
    found = await client.ask("GET", "/v1/destination-kinds") if DESTINATIONS in kinds else None
    return State(records, {} if found is None else _private(found.content))


async def people_of(client: WaitingClient) -> list[PersonStep]:
    """Raises CommandFailed, also for a key without `admin`."""
    found = []
    for path in ("/v1/invitations", "/v1/people"):
        records = (await client.ask("GET", path, params={"limit": PAGE})).json()
        found += [PersonStep(one["email"], one["role"], one["role"], f"{path}/{one['id']}") for one in records]
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
            says = f"The service's {kind.id} are not as this program knows them ({error}): are both of one version?"
            raise CommandFailed(says) from None
        if "next" not in answer.links:
            return found
        query = httpx.URL(answer.links["next"]["url"]).query

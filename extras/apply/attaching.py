"""Groups by template: ask the service for a template's sources, and attach its tag to existing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from actors.catalogue.reading import Flaw
from extras.apply.groups import Attachment, Making, SourceSeen, TemplateSeen, flaw_in
from extras.apply.kinds.sources import SOURCES
from extras.apply.sides import BadFiles, Group, State, Wish
from sanderling.client.api import ServiceRefused, WaitingClient

ATTACH_WITHIN: Final = 60.0
"""Timeout of an instantiation in seconds; the service answers within 30."""


class _Preview(Struct):
    sources: tuple[SourceSeen, ...]


async def expanded(client: WaitingClient, wish: Wish) -> Wish:
    """Expand a wish's groups into sources and alerts. Raises BadFiles for invalid groups, CommandFailed."""
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
    answer = await client.ask("GET", f"/v1/templates/{id}")
    return msgspec.json.decode(answer.content, type=TemplateSeen)


async def templates_of(client: WaitingClient, state: State) -> Mapping[str, TemplateSeen]:
    """Return the templates of attached sources, except deleted ones. Raises CommandFailed."""
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
    path = f"/v1/templates/{what.template}/instantiate"
    answer = await client.ask("POST", path, json=body, timeout=ATTACH_WITHIN)
    failed = [one for one in answer.json()["sources"] if one["status"] == "failed"]
    return f"{failed[0]['url']}: {failed[0]['reason']}" if failed else ""

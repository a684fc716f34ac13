"""The state of a service: all its records by kind, fetched page by page from the API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from extras.apply.kinds.destinations import DESTINATIONS, OPTIONS
from extras.apply.kinds.kind import Kind, Private
from extras.apply.kinds.table import KINDS
from extras.apply.sides import State
from sanderling.client.api import WaitingClient
from sanderling.exits import CommandFailed

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
    """Return the service's records of some kinds. Raises CommandFailed."""
    asked = [kind for kind in KINDS.values() if kind.id in kinds]
    records = {kind.id: await _all(client, kind) for kind in asked}
    found = await client.ask("GET", "/v1/destination-kinds") if DESTINATIONS in kinds else None
    return State(records, {} if found is None else _private(found.content))


def _private(content: bytes) -> Private:
    return {
        kind.kind: frozenset(
            [f"{OPTIONS}{option.name}" for option in kind.options if option.private]
            + (["url"] if kind.address.private else [])
        )
        for kind in msgspec.json.decode(content, type=list[_DestinationKind])
    }


async def _all(client: WaitingClient, kind: Kind) -> list[Any]:
    """Return all records of a kind. Raises CommandFailed."""
    decode = msgspec.json.Decoder(list[kind.record]).decode  # type: ignore[name-defined]
    found: list[Any] = []
    query: Any = {**kind.query, "limit": PAGE}
    while True:
        answer = await client.ask("GET", kind.path, params=query)
        try:
            found += filter(kind.counts, decode(answer.content))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            says = f"The service's {kind.id} are not as this program knows them ({error}): are both of one version?"
            raise CommandFailed(says) from None
        if "next" not in answer.links:
            return found
        query = httpx.URL(answer.links["next"]["url"]).query

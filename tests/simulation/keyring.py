"""The keys of a simulated world: made before the first start, deleted and replaced while the service runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import trio

from api.keys import SCOPES
from sanderling.keyring import make_key
from storage.records.access import ApiKey
from storage.records.identity import Millis
from storage.sql.stores.people import delete_key, insert_key
from tests.simulation.clients import StreamClient
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import Revocation
from tests.simulation.trace import Trace
from tests.support.in_loop import Disk

EVERYTHING = tuple(SCOPES)


@dataclass(slots=True)
class Keyring:
    """An operator with the command line. revoked: when each key of each client was deleted, by the client's name."""

    disk: Disk
    trace: Trace
    entropy: Callable[[str], random.Random]
    revoked: dict[str, list[float]] = field(default_factory=dict)

    def cut(self, name: str) -> tuple[str, ApiKey]:
        draw = self.entropy(f"key/{name}").randbytes
        plaintext, record = make_key(name, EVERYTHING, entropy=draw, now=Millis(int(EPOCH * 1000)))
        insert_key(self.disk.connection, record)
        return plaintext, record

    async def look_after(self, client: StreamClient) -> None:
        """Give a client its own key, delete it in time, and give it another."""
        plan = client.plan
        record = self._hand(client)
        for revocation in plan.revocations:
            await trio.sleep_until(revocation.at)
            record = await self._replace(client, record, revocation)

    async def _replace(self, client: StreamClient, old: ApiKey, revocation: Revocation) -> ApiKey:
        delete_key(self.disk.connection, old.id)
        self.revoked.setdefault(client.plan.name, []).append(trio.current_time())
        self.trace.note("operator", "deletes a key", name=client.plan.name)
        await trio.sleep(revocation.later)
        client.key += 1
        return self._hand(client)

    def _hand(self, client: StreamClient) -> ApiKey:
        plaintext, record = self.cut(f"{client.plan.name}/{client.key}")
        client.caller.service = replace(client.caller.service, key=plaintext)
        return record

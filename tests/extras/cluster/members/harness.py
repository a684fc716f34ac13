"""Several whole services on one database in memory, with one network."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from actors.messages.requests import NewSource
from actors.messages.sources import AddSource
from actors.messages.views import AddedSource
from actors.messages.workers import AlertsChanged
from actors.recorder.actor import signing_keys
from actors.setting_table import with_values
from actors.settings import Settings
from actors.system import System
from storage.records.alert import Alert
from storage.records.member import ALL
from storage.records.source import Source
from tests.actors.matcher.rig import a_destination, an_alert
from tests.actors.sources.harness import Origin, rss
from tests.support.build import NOW
from tests.support.in_loop_nodes import InLoopNode, SharedDisk
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, web


class Node:
    """One service. `run` it in a nursery; a kill cancels `scope`."""

    def __init__(self, name: str, disk: SharedDisk, network: MemoryNetwork, settings: Settings) -> None:
        self.name, self.disk = name, disk
        self.logged: list[tuple[str, dict[str, Any]]] = []
        self.scope = trio.CancelScope()
        self.storage = InLoopNode(disk, disk.start(name))

        def chance(key: str) -> random.Random:
            return random.Random(f"{name} {key}")

        entropy = random.Random(name).randbytes
        self.world = a_world(network, wall=NOW / 1000, jail=InlineJail(), chance=chance, entropy=entropy, log=self._log)
        self.settings = settings
        self.system: System

    def _log(self, event: str, **fields: Any) -> None:
        self.logged.append((event, fields))

    async def run(self) -> None:
        """Run until stopped or killed."""
        keys = await signing_keys(self.world, self.storage)
        self.system = System(self.world, self.settings, self.storage, keys, lambda context: [])
        with self.scope:
            await self.system.run()

    def kill(self) -> None:
        """End it at once: none of its later writes reach the database."""
        self.disk.killed.add(self.storage.lease.epoch)
        self.scope.cancel()

    async def add(self, url: str, **wish: Any) -> AddedSource:
        new = NewSource(url, **{"schedule": "1m", **wish})
        return await self.system.registry_box.ask(lambda reply: AddSource(new, reply))

    async def alert(self, query: str, *hosts: str) -> Alert:
        """Store an alert with these hosts as destinations, and put it in force."""
        alert = an_alert("alert", query)
        await self.storage.alerts.put(alert)
        for number, host in enumerate(hosts):
            await self.storage.alerts.put_destination(
                a_destination(f"hook-{number}", "alert", url=f"https://{host}/in")
            )
        await self.put_in_force()
        return alert

    async def realert(self, alert: Alert, query: str) -> None:
        await self.storage.alerts.put(replace(alert, filter_query=query))
        await self.put_in_force()

    async def put_in_force(self) -> None:
        await self.system.matcher_box.ask(AlertsChanged)

    def watched(self) -> set[str]:
        """Return the URLs that this node has actors for."""
        table = self.system.registry.table
        return {live.source.url for part in table.slices() for live in part if table.is_running(live)}

    def knows(self) -> set[str]:
        """Return the URLs that this node would list."""
        return {source.url for source in self.sources()}

    def sources(self) -> Sequence[Source]:
        return [live.source for part in self.system.registry.table.slices() for live in part]


class Land:
    """The network, the database, and the nodes on it."""

    def __init__(self, nursery: trio.Nursery, **settings: Any) -> None:
        self._nursery = nursery
        self.network = MemoryNetwork(nursery)
        self.disk = SharedDisk()
        self.posts: list[ReceivedRequest] = []
        self.origins: dict[str, Origin] = {}
        self.settings = with_values(Settings(), base_url="https://sanderling.example", host_rate=1000.0, **settings)

    def hook(self, number: int) -> str:
        """Make a receiver that accepts everything; return its host."""
        self.network.add(f"hook{number}.test", f"93.184.217.{number + 1}", web(lambda _: Answer(200), self.posts), 443)
        return f"hook{number}.test"

    def site(self, number: int, *titles: str) -> str:
        """Make a site with a feed; return the feed's address."""
        host = f"site{number}.test"
        origin = self.origins[host] = Origin()
        origin.bodies["/feed"] = rss(*titles or ("first",))
        self.network.add(host, f"93.184.216.{number + 1}", web(origin, origin.asked))
        return f"http://{host}/feed"

    def publish(self, number: int, *titles: str) -> None:
        """Replace the entries of a site's feed."""
        self.origins[f"site{number}.test"].bodies["/feed"] = rss(*titles)

    async def start(self, name: str, role: str = ALL) -> Node:
        elsewhere = {} if role == ALL else {"node_role": role, "storage_url": "postgresql://db.example/x"}
        node = Node(name, self.disk, self.network, with_values(self.settings, **elsewhere))
        self._nursery.start_soon(node.run)
        await trio.sleep(3)
        return node

    def told(self) -> Counter[bytes]:
        """Count the titles in the log."""
        return Counter(msgspec.json.decode(event.body)["title"] for event in self.disk.events())

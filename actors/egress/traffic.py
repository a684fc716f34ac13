"""All ways out in one bundle, for sources and deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial

import trio

from actors.egress.address import HostAliases
from actors.egress.guard import Guard
from actors.egress.hosts import Hosts
from actors.egress.http import HttpClient, Sign
from actors.egress.robots import Robots
from actors.egress.uplink import UplinkMonitor
from actors.errors import UrlRefused
from actors.settings import Network, Settings
from actors.world import World
from supervision import Child

_CLOSE_GRACE = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class NetworkTransport:
    """A way out: `deliver`, `dial` with TLS, the plain ones without, to opened networks. aliases: recent hosts."""

    dial: Guard
    dial_plain: Guard
    deliver: HttpClient
    deliver_plain: HttpClient
    aliases: HostAliases

    def last_address(self, host: str) -> str:
        return self.aliases.address_of(host)

    async def aclose(self) -> None:
        await self.deliver.aclose()
        await self.deliver_plain.aclose()


@dataclass(frozen=True, slots=True, eq=False)
class Egress(NetworkTransport):
    """The transport of deliveries, and more. http, guard: for watching. uplink: each check consults and informs it."""

    guard: Guard
    http: HttpClient
    hosts: Hosts
    robots: Robots
    uplink: UplinkMonitor

    async def run(self, child: Child) -> None:
        child.ready()
        try:
            await child.stopping.wait()
        finally:
            with trio.move_on_after(2, shield=True):
                await self.aclose()

    async def aclose(self) -> None:
        """Close all connections, within 5 seconds even when cancelled."""
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await self.http.aclose()
            await NetworkTransport.aclose(self)  # super() does not know the class that slots recreated


def log_refusal(world: World, host: str, refusal: UrlRefused) -> None:
    """Log the internal address of a refused name; the caller only learns the rule."""
    world.log("egress.refused", host=host, rule=refusal.rule, says=refusal.inside)


def build_egress(world: World, settings: Settings, sign: Sign | None = None) -> Egress:
    hosts = Hosts(world, settings)
    on_refused = partial(log_refusal, world)
    networks = settings.watch_networks()
    guard = Guard(world.resolver, world.connector, networks, on_resolved=hosts.record_addresses, on_refused=on_refused)
    http = HttpClient(world, settings, guard, sign)
    uplink = UplinkMonitor(world.log, on_recovery=hosts.reset_failures)
    deliveries = network_transport(world, settings, settings.deliver_networks(), "ALLOW_NETWORKS")
    ways = {each.name: getattr(deliveries, each.name) for each in fields(deliveries)}
    robots = Robots(http, world, hosts, uplink)
    return Egress(**ways, guard=guard, http=http, hosts=hosts, robots=robots, uplink=uplink)


def network_transport(world: World, settings: Settings, networks: Sequence[Network], setting: str) -> NetworkTransport:
    """Return a way out to public addresses and to networks that a setting opens; "" for none."""
    aliases = HostAliases()
    dial, plain = (
        Guard(
            world.resolver,
            world.connector,
            networks,
            connect_timeout=5.0,
            private_only=private_only,
            setting=setting,
            on_resolved=aliases.record,
            on_refused=partial(log_refusal, world),
        )
        for private_only in (False, True)
    )
    return NetworkTransport(dial, plain, HttpClient(world, settings, dial), HttpClient(world, settings, plain), aliases)

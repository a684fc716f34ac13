"""All ways out in one bundle, as sources and deliveries are given it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

import trio

from actors.egress.address_cache import AddressCache
from actors.egress.cookies import Heard
from actors.egress.event_stream import EventStream, open_stream
from actors.egress.guard import Guard
from actors.egress.hosts import Hosts
from actors.egress.http import HttpClient, Sign
from actors.egress.robots import Robots
from actors.egress.uplink import UplinkMonitor
from actors.egress.url import Url
from actors.egress.websocket import Frames, Given, open_websocket
from actors.errors import UrlRefused
from actors.settings import Settings
from actors.world import World

_CLOSE_GRACE = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Egress:
    """http, guard: for watching. deliver, dial: for deliveries, whose private networks are opened separately.
    deliver_plain, dial_plain: for those without TLS, which go nowhere else.
    line: our own, as all looks together know it; whoever looks asks it before and tells it after.
    machines: where deliveries went.
    """

    world: World
    settings: Settings
    guard: Guard
    dial: Guard
    dial_plain: Guard
    http: HttpClient
    deliver: HttpClient
    deliver_plain: HttpClient
    hosts: Hosts
    robots: Robots
    line: UplinkMonitor
    machines: AddressCache

    def whereabouts(self, host: str) -> str:
        """Return the address that a host was last delivered to, or the host itself."""
        return self.machines.of(host)

    def websocket(
        self, url: Url, *, subprotocols: Sequence[str] = (), given: Given = (), heard: Heard | None = None
    ) -> AbstractAsyncContextManager[Frames]:
        """Open a WebSocket session for watching; see `open_websocket`."""
        return open_websocket(
            url, self.guard, self.settings, self.world, subprotocols=subprotocols, given=given, heard=heard
        )

    def event_stream(
        self, url: Url, *, last_id: str = "", given: Given = (), heard: Heard | None = None
    ) -> AbstractAsyncContextManager[EventStream]:
        """Open a stream over HTTP for watching; see `open_stream`."""
        return open_stream(
            url,
            self.guard,
            self.settings,
            self.world,
            last_id=last_id,
            given=given,
            heard=heard,
            sign=self.http.sign,
        )

    async def aclose(self) -> None:
        """Close all connections, within 5 seconds even when cancelled."""
        with trio.move_on_after(_CLOSE_GRACE, shield=True):
            await self.http.aclose()
            await self.deliver.aclose()
            await self.deliver_plain.aclose()


def tell_refusal(world: World, host: str, refusal: UrlRefused) -> None:
    """Log where a name leads that the guard refuses: who asked for it is told the rule alone."""
    world.log("egress.refused", host=host, rule=refusal.rule, says=refusal.inside)


def build_egress(world: World, settings: Settings, sign: Sign | None = None) -> Egress:
    """Return the ways out of a World. sign: looks are signed with it."""
    hosts, machines = Hosts(world, settings), AddressCache()
    refused = partial(tell_refusal, world)
    guard = Guard(world.resolver, world.connector, settings.watch_networks(), met=hosts.met, refused=refused)
    deliver_guard = Guard(
        world.resolver,
        world.connector,
        settings.deliver_networks(),
        connect_timeout=5.0,
        met=machines.met,
        refused=refused,
    )
    plain_guard = Guard(
        world.resolver,
        world.connector,
        settings.deliver_networks(),
        connect_timeout=5.0,
        inside=True,
        met=machines.met,
        refused=refused,
    )
    http = HttpClient(world, settings, guard, sign)
    line = UplinkMonitor(world.log, on_return=hosts.forgive)
    return Egress(
        world=world,
        settings=settings,
        guard=guard,
        dial=deliver_guard,
        dial_plain=plain_guard,
        http=http,
        deliver=HttpClient(world, settings, deliver_guard),
        deliver_plain=HttpClient(world, settings, plain_guard),
        hosts=hosts,
        robots=Robots(http, world, hosts, line),
        line=line,
        machines=machines,
    )

"""Every outbound request passes the guard: each way out against each kind of answer of a hostile name (X1, X2).

Each way ends at `evil.example`; no connection may reach a non-public address.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import pytest
import trio

from actors.delivery.actor import Sender
from actors.destination_kinds.table import built_in_kinds
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchRequest, RedirectElsewhere
from actors.egress.traffic import network_transport
from actors.egress.url import parse_url
from actors.egress.websocket import open_websocket
from actors.errors import DomainError
from storage.records.destination import Destination, Secret
from tests.actors.sources.harness import ADDRESS, SITE, Watching, rss, watching
from tests.support.build import NOW
from tests.support.memory_network import Answer, ReceivedRequest, web

PUBLIC = "93.184.220.7"
ANSWERS: dict[str, list[Sequence[str]]] = {
    "loopback": [("127.0.0.1",)],
    "private": [("10.0.0.7",)],
    "metadata": [("169.254.169.254",)],
    "shared": [("100.64.0.1",)],
    "good and bad": [(PUBLIC, "10.0.0.7")],
    "bad among many": [(*(f"93.184.221.{n}" for n in range(1, 30)), "127.0.0.1")],
    "mapped": [("::ffff:127.0.0.1",)],
    "v4-compatible": [("::127.0.0.1",)],
    "nat64": [("64:ff9b::7f00:1",)],
    "local nat64": [("64:ff9b:1::7f00:1",)],
    "6to4": [("2002:7f00:1::1",)],
    "teredo": [("2001:0:7f00:1::80ff:fffe",)],
    "isatap": [("2606:4700::5efe:7f00:1",)],
    "zone id": [("fe80::1%eth0",)],
    "unique local": [("fd00::1",)],
    "multicast": [("ff02::1",)],
    "not an address": [("localhost",)],
    "no address": [()],
    "too many": [tuple(f"93.184.{n // 250}.{n % 250}" for n in range(500))],
}
"""Resolved addresses, by kind."""

Way = Callable[[Watching, str], Awaitable[object]]


async def look(service: Watching, host: str) -> None:
    await service.ports.egress.http.get(FetchRequest(parse_url(f"http://{host}/")))


async def secure_look(service: Watching, host: str) -> None:
    http = service.ports.egress.http
    try:
        await http.get(FetchRequest(parse_url(f"https://{host}/")))
    except RedirectElsewhere as redirect:
        await http.get(FetchRequest(redirect.url), redirect.hops)


async def robots(service: Watching, host: str) -> None:
    verdict = await service.ports.egress.robots.verdict(parse_url(f"https://{host}/page"))
    assert not verdict.allowed, "what can't be asked forbids"
    raise verdict.refusal()


async def websocket(service: Watching, host: str) -> None:
    ports = service.ports
    async with open_websocket(parse_url(f"wss://{host}/"), ports.egress.guard, ports.settings, ports.world):
        pass


async def delivery(service: Watching, host: str) -> None:
    secret = Secret("whsec_" + "A" * 32)
    destination = Destination("d", "a", "webhook", f"https://{host}/hook", "instant", "", (secret,), NOW, NOW)
    answer = await Sender(built_in_kinds(), service.ports.egress, service.world).attempt(destination, "id", b"{}")
    assert answer.status is None
    raise DomainError(answer.error or "")


async def plain_delivery(service: Watching, host: str) -> None:
    await service.ports.egress.deliver_plain.post(parse_url(f"http://{host}/hook"), {}, b"{}")


async def callback(service: Watching, host: str) -> None:
    way = network_transport(service.world, service.ports.settings, (), "HUB_NETWORKS")
    await way.deliver.post(parse_url(f"https://{host}/in?hub.mode=subscribe"), {}, b"", "GET")


async def registering_a_destination(service: Watching, host: str) -> None:
    await service.ports.egress.dial.check(parse_url(f"https://{host}/hook"))


async def adding(service: Watching, host: str) -> None:
    await service.add(f"https://{host}/feed")


async def adding_push(service: Watching, host: str) -> None:
    await service.add(f"wss://{host}/feed")


def redirected(way: Way) -> Way:
    async def go(service: Watching, host: str) -> object:
        service.network.servers[ADDRESS, 443] = web(
            lambda asked: Answer(302, headers={"location": f"https://{host}/there"})
        )
        return await way(service, SITE)

    return go


async def discovered(service: Watching, host: str) -> None:
    """Add a page that advertises a feed at the hostile host: the source must be the page itself."""
    link = f'<link rel="alternate" type="application/rss+xml" href="https://{host}/feed">'
    text = "<p>" + "A paragraph that is long enough to count as the text of a page. " * 3 + "</p>"
    body = f"<html><head><title>t</title>{link}</head><body>{text}</body></html>".encode()
    pages = web(lambda asked: Answer(200, body) if asked.target == "/" else Answer(404))
    service.network.servers[ADDRESS, 443] = pages
    added = await service.add(f"https://{SITE}/")
    assert added.view.source.type == "html"
    raise DomainError("no feed was followed")


WAYS: dict[str, Way] = {
    "a look": look,
    "a look over TLS": secure_look,
    "a redirected look": redirected(secure_look),
    "robots.txt": robots,
    "a redirected robots.txt": redirected(robots),
    "a WebSocket": websocket,
    "a delivery": delivery,
    "a delivery inside": plain_delivery,
    "a callback of the hub": callback,
    "registering a destination": registering_a_destination,
    "adding a source": adding,
    "adding a redirected source": redirected(adding),
    "adding a push source": adding_push,
    "an advertised feed": discovered,
}


@pytest.mark.parametrize("kind", ANSWERS)
async def test_x1_no_outgoing_path_reaches_a_private_address(autojump_clock: object, kind: str) -> None:
    for name, way in WAYS.items():
        async with watching() as (service, _):
            service.network.names["evil.example"] = list(ANSWERS[kind])
            with pytest.raises((DomainError, CheckFailed)):
                await way(service, "evil.example")
            assert "evil.example" in service.network.resolved, f"{name} never came to it"
            assert {address for address, _ in service.network.connected} <= {ADDRESS}, name


@pytest.mark.parametrize(
    "name", [name for name in WAYS if name not in ("registering a destination", "an advertised feed")]
)
async def test_x2_a_name_that_moves_inside_after_the_check_is_not_followed_by_any_way(
    autojump_clock: object, name: str
) -> None:
    """The second connection resolves and checks the name again; each connection resolves once."""
    async with watching() as (service, _):
        service.network.names["evil.example"] = [(PUBLIC,), ("127.0.0.1",)]
        served: list[ReceivedRequest] = []
        for port in (80, 443):
            service.network.servers[PUBLIC, port] = web(lambda asked: Answer(500), served)
        for _ in range(3):
            with suppress(DomainError, CheckFailed, AssertionError):
                await WAYS[name](service, "evil.example")
        reached = [address for address, _ in service.network.connected]
        assert set(reached) <= {ADDRESS, PUBLIC}
        assert reached.count(PUBLIC) <= service.network.resolved.count("evil.example")


async def test_x2_a_source_with_a_name_that_moves_to_a_private_address_fails(autojump_clock: object) -> None:
    async with watching() as (service, _):
        service.network.add("evil.example", PUBLIC, web(lambda asked: Answer(200, rss("a"))), 443)
        service.network.names["evil.example"] = [(PUBLIC,), ("192.168.1.1",)]
        source = (await service.add("https://evil.example/feed")).view.source.id
        await trio.sleep(3600)
        hot = service.registry.table.describe(source).hot
        assert "address-private" in (hot.last_error or "") and hot.breaker.state == "open"
        assert {address for address, _ in service.network.connected} == {PUBLIC}

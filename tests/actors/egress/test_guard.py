from __future__ import annotations

import errno
import ssl

import pytest
import trio
import trio.testing

from actors.egress.failures import Blame, CheckFailed, CheckRefused
from actors.egress.guard import Guard, ZoneSilent
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.world import ResolveFailed
from tests.support.memory_network import MemoryNetwork

URL = parse_url("http://a.example/")
PUBLIC = "93.184.216.34"


async def quiet(stream: trio.abc.Stream) -> None:
    await trio.sleep_forever()


def a_guard(network: MemoryNetwork) -> Guard:
    return Guard(network, network, ())


async def failure_of(network: MemoryNetwork, url: str = URL.text) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        await a_guard(network).open(parse_url(url))
    return caught.value


async def test_x2_a_name_is_resolved_once_and_the_checked_address_is_connected_to(
    nursery: trio.Nursery, autojump_clock: trio.abc.Clock
) -> None:
    network = MemoryNetwork(nursery, names={"a.example": [(PUBLIC,), ("127.0.0.1",)]}, servers={(PUBLIC, 80): quiet})
    await a_guard(network).open(URL)
    assert network.resolved == ["a.example"]
    assert network.connected == [(PUBLIC, 80)]
    refused = await failure_of(network)  # the next connection resolves again and gets the rebound answer
    assert isinstance(refused, CheckRefused)
    assert refused.refusal.rule == "address-loopback"
    assert network.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("bad", ["127.0.0.1", "10.0.0.1", "::1", "64:ff9b::7f00:1", "169.254.169.254"])
@pytest.mark.parametrize("place", [0, 1, 7])
async def test_x1_one_bad_answer_among_many_refuses_the_host(nursery: trio.Nursery, bad: str, place: int) -> None:
    answers = [f"93.184.216.{n}" for n in range(7)]
    answers.insert(place, bad)
    network = MemoryNetwork(nursery, names={"a.example": [answers]})
    with pytest.raises(UrlRefused):
        await a_guard(network).check(URL)
    assert isinstance(await failure_of(network), CheckRefused)
    assert network.connected == []


async def test_a_literal_address_takes_the_same_road(nursery: trio.Nursery) -> None:
    network = MemoryNetwork(nursery)
    assert isinstance(await failure_of(network, "http://127.0.0.1:8080/"), CheckRefused)
    assert isinstance(await failure_of(network, "http://[::ffff:127.0.0.1]/"), CheckRefused)
    assert (network.resolved, network.connected) == ([], [])


async def test_check_connects_to_nothing_and_tries_the_families_in_turn(nursery: trio.Nursery) -> None:
    network = MemoryNetwork(nursery, names={"a.example": [("2606::1", "2606::2", "1.1.1.1", "1.1.1.2")]})
    assert await a_guard(network).check(URL) == ("2606::1", "1.1.1.1", "2606::2", "1.1.1.2")
    assert network.connected == []


async def test_the_next_address_is_tried_when_one_refuses_or_is_deaf(
    nursery: trio.Nursery, autojump_clock: trio.abc.Clock
) -> None:
    network = MemoryNetwork(
        nursery,
        names={"a.example": [("2606::1", "1.1.1.1", "1.1.1.2")]},
        servers={("1.1.1.2", 80): quiet},
        deaf={"2606::1"},
    )
    await a_guard(network).open(URL)
    assert [address for address, _ in network.connected] == ["2606::1", "1.1.1.1", "1.1.1.2"]
    assert trio.current_time() <= 5


@pytest.mark.parametrize("addresses", [("1.1.1.1",), ("1.1.1.1", "1.1.1.2"), tuple(f"1.1.1.{n}" for n in range(40))])
async def test_deaf_addresses_cost_ten_seconds_at_most(
    nursery: trio.Nursery, autojump_clock: trio.abc.Clock, addresses: tuple[str, ...]
) -> None:
    network = MemoryNetwork(nursery, names={"a.example": [addresses]}, deaf=set(addresses))
    start = trio.current_time()
    assert (await failure_of(network)).blame is Blame.REMOTE_TRANSIENT
    assert trio.current_time() - start <= 10.001
    assert len(network.connected) <= 4


@pytest.mark.parametrize(
    ("answer", "blame"),
    [
        (ResolveFailed("no such name", local=False), Blame.REMOTE_PERMANENT),
        (ResolveFailed("no answer", local=True), Blame.LOCAL),
        (ZoneSilent("SERVFAIL", local=False), Blame.REMOTE_TRANSIENT),
        ((), Blame.REMOTE_PERMANENT),
        (tuple(f"1.1.{n}.1" for n in range(100)), Blame.REMOTE_PERMANENT),
    ],
)
async def test_an_unresolved_name_is_our_fault_or_the_sources(
    nursery: trio.Nursery, answer: tuple[str, ...] | ResolveFailed, blame: Blame
) -> None:
    failed = await failure_of(MemoryNetwork(nursery, names={"a.example": [answer]}))
    assert failed.blame is blame
    assert "a.example" in failed.reason


@pytest.mark.parametrize(
    ("codes", "blame"),
    [
        ([errno.ECONNREFUSED], Blame.REMOTE_TRANSIENT),
        ([errno.EHOSTUNREACH], Blame.REMOTE_TRANSIENT),
        ([errno.ENETUNREACH], Blame.LOCAL),
        ([errno.EMFILE], Blame.LOCAL),
        ([errno.ENETUNREACH, errno.ECONNREFUSED], Blame.REMOTE_TRANSIENT),
    ],
)
async def test_an_error_of_connecting_is_ours_only_when_all_are(
    nursery: trio.Nursery, codes: list[int], blame: Blame
) -> None:
    addresses = [f"1.1.1.{n}" for n, _ in enumerate(codes)]
    errors = {address: OSError(code, errno.errorcode[code]) for address, code in zip(addresses, codes, strict=True)}
    failed = await failure_of(MemoryNetwork(nursery, names={"a.example": [addresses]}, errors=errors))
    assert failed.blame is blame


async def test_a_host_with_ipv6_only_is_no_sign_that_our_line_is_down(nursery: trio.Nursery) -> None:
    error = OSError(errno.ENETUNREACH, "Network is unreachable")
    network = MemoryNetwork(nursery, names={"a.example": [("2606::1",)]}, errors={"2606::1": error})
    assert (await failure_of(network)).blame is Blame.REMOTE_TRANSIENT


@pytest.mark.parametrize(
    ("error", "blame"),
    [
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), Blame.REMOTE_PERMANENT),
        (ssl.SSLError(1, "wrong version number"), Blame.REMOTE_TRANSIENT),
        (ConnectionResetError(104, "reset"), Blame.REMOTE_TRANSIENT),
    ],
)
async def test_tls_that_fails_closes_the_stream_and_says_so(
    nursery: trio.Nursery, autojump_clock: trio.abc.Clock, error: Exception, blame: Blame
) -> None:
    async def until_closed(stream: trio.abc.Stream) -> None:
        assert await stream.receive_some(1) == b""

    network = MemoryNetwork(nursery, tls_errors={"a.example": error})
    network.add("a.example", PUBLIC, until_closed, 443)
    assert (await failure_of(network, "https://a.example/")).blame is blame
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == 0


async def test_a_server_without_tls_is_reported_with_the_remedy(
    nursery: trio.Nursery, autojump_clock: trio.abc.Clock
) -> None:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")
    error.reason = "WRONG_VERSION_NUMBER"

    async def silent(stream: trio.abc.Stream) -> None:
        assert await stream.receive_some(1) == b""

    network = MemoryNetwork(nursery, tls_errors={"a.example": error})
    network.add("a.example", PUBLIC, silent, 443)
    reason = (await failure_of(network, "https://a.example/")).reason
    assert reason == "TLS with a.example failed: it does not speak TLS there; write http:// before the address"

from __future__ import annotations

from actors.egress.address import MOST_ALIASES as MOST
from actors.egress.address import HostAliases


def test_a_name_and_its_www_twin_are_one_when_they_share_an_address() -> None:
    twins = HostAliases()
    twins.record("a.example", ["93.184.216.1", "93.184.216.2"])
    assert twins.canonical("www.a.example") == "www.a.example"
    twins.record("www.a.example", ["93.184.216.2"])
    assert twins.canonical("www.a.example") == twins.canonical("a.example") == "a.example"


def test_twins_at_two_addresses_are_two_hosts_and_so_are_others_at_one_address() -> None:
    twins = HostAliases()
    for host, address in (("a.example", "1.1.1.1"), ("www.a.example", "1.1.1.2"), ("b.example", "1.1.1.1")):
        twins.record(host, [address])
    assert [twins.canonical(host) for host in ("a.example", "www.a.example", "b.example")] == [
        "a.example",
        "www.a.example",
        "b.example",
    ]


def test_a_twin_that_moves_away_is_a_host_of_its_own_again() -> None:
    twins = HostAliases()
    twins.record("www.a.example", ["1.1.1.1"])
    twins.record("a.example", ["1.1.1.1"])
    twins.record("www.a.example", ["1.1.1.2"])
    assert twins.canonical("www.a.example") == "www.a.example"


def test_the_memory_is_bounded() -> None:
    twins = HostAliases()
    for number in range(MOST + 10):
        twins.record(f"h{number}.example", ["1.1.1.1"])
    assert repr(twins) == f"<HostAliases 0 pairs among {MOST} names>"

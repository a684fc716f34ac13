from __future__ import annotations

import pytest

from actors.errors import UrlRefused
from extras.browser.leases import MOST_TROUBLES, Lease, Trouble

PUBLIC, INSIDE, BESIDE = "93.184.216.34", "192.168.0.1", "192.168.0.2"


def a_lease(requests: int = 3, size: int = 100, ports: tuple[int, ...] = (), host: str = "") -> Lease:
    return Lease(most_requests=requests, most_bytes=size, marker="m", ports=ports, host=host)


def judged(lease: Lease, *asked: tuple[str, str]) -> str:
    """Return a sign for each host and its addresses: + if the page may reach it, else -."""
    signs = ""
    for host, addresses in asked:
        try:
            lease.judge(host, addresses.split())
            signs += "+"
        except UrlRefused:
            signs += "-"
    return signs


@pytest.mark.parametrize(
    ("asked", "signs"),
    [
        ((("own", PUBLIC), ("other", PUBLIC), ("other", INSIDE), ("other", f"{PUBLIC} {INSIDE}")), "++--"),
        ((("own", INSIDE), ("other", PUBLIC), ("other", BESIDE), ("alias", INSIDE), ("own", INSIDE)), "++-++"),
        ((("own", PUBLIC), ("own", INSIDE)), "+-"),
        ((("own", INSIDE), ("own", BESIDE)), "+-"),
        ((("own", INSIDE), ("own", PUBLIC), ("own", INSIDE)), "++-"),
        ((("own", f"{PUBLIC} {INSIDE}"), ("own", PUBLIC)), "-+"),
        ((("other", INSIDE), ("own", INSIDE), ("own", "::ffff:192.168.0.1")), "-+-"),
    ],
)
def test_x26_a_page_reaches_public_addresses_and_its_own_host(asked: tuple[tuple[str, str], ...], signs: str) -> None:
    assert judged(a_lease(host="own"), *asked) == signs


def test_x26_a_page_may_ask_at_the_webs_ports_and_those_that_are_opened() -> None:
    lease = a_lease(9, ports=(8080,))
    assert [lease.admit("a.example", port) is None for port in (80, 443, 8080, 22, 8081)] == [True] * 3 + [False] * 2
    assert "port 22 of a.example" in str(lease.trouble("a.example", 22))


def test_x26_beyond_its_requests_or_bytes_nothing_more_is_let_out() -> None:
    lease = a_lease(2)
    assert [lease.admit("a.example", 80) is None for _ in range(4)] == [True, True, False, False]
    assert lease.requests == 2 and "more than 2 times" in lease.spent and not lease.out_of_bytes
    lease = a_lease(9)
    lease.count(100)
    trouble = lease.admit("a.example", 443)
    assert trouble is not None and trouble.cause == "refused" and "100 bytes" in trouble.reason
    assert lease.out_of_bytes and lease.refused == 1


def test_remembered_hosts_are_bounded_and_the_first_ones_stay() -> None:
    lease = a_lease()
    for number in range(MOST_TROUBLES + 5):
        lease.note(f"h{number}.example", 80, Trouble("remote", "dead"))
    lease.note("h0.example", 80, Trouble("refused", "no"))
    assert lease.trouble("h0.example", 80) == ("refused", "no")
    assert lease.trouble(f"h{MOST_TROUBLES}.example", 80) is None

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.address import METADATA, Address, check_address, classify
from actors.errors import UrlRefused
from tests.actors.egress.forms import URLS, V4, V6, addresses

PUBLIC = [
    *(
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
    ),
    *(
        "128.0.0.1",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
    ),
    *("192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001:81b::200e"),
    *("2001:200::1", "2001:4860:4860::8888", "2003::1", "2600:1f18::5efe:808:808", "::ffff:8.8.8.8", "2620:fe::fe"),
]
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))


def refusal(address: str, *networks: str) -> UrlRefused:
    with pytest.raises(UrlRefused) as caught:
        check_address(address, [ip_network(network) for network in networks])
    return caught.value


def test_x1_the_table_has_at_least_250_forms() -> None:
    assert len({*addresses(), *URLS}) >= 250


def test_x1_each_form_is_refused_by_its_rule(subtests: pytest.Subtests) -> None:
    for address, rule in addresses():
        with subtests.test(address):
            assert refusal(address).rule == rule


def is_refused(address: str) -> bool:
    try:
        check_address(address, ())
    except UrlRefused:
        return True
    return False


def test_public_unicast_is_let_through() -> None:
    assert [address for address in PUBLIC if is_refused(address)] == []


def test_x1_a_refusal_names_its_rule_and_the_setting_that_opens_it_and_the_setting_does(
    subtests: pytest.Subtests,
) -> None:
    for address in [a for table in (V4, V6) for name, found in table.items() if name != "metadata" for a in found]:
        with subtests.test(address):
            refused = refusal(address)
            assert refused.words.count(refused.rule) == 1
            setting, _, suggestion = refused.detail.partition("SANDERLING_ALLOW_NETWORKS=")
            assert setting
            allowed = ip_network(suggestion.split()[0])
            inside = [ip_network("0.0.0.0/0")] if allowed.version == 6 else []  # an embedded IPv4 may need opening too
            check_address(address, [allowed, *inside])


@pytest.mark.parametrize("address", [*sorted(map(str, METADATA)), "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"])
def test_x1_nothing_opens_a_metadata_service(address: str) -> None:
    with pytest.raises(UrlRefused) as caught:
        check_address(address, EVERYTHING)
    assert caught.value.rule == "address-metadata"
    assert "SANDERLING" not in caught.value.detail


def test_x1_a_network_lets_exactly_its_own_through() -> None:
    check_address("10.1.255.255", [ip_network("10.1.0.0/16")])
    assert refusal("10.2.0.0", "10.1.0.0/16").rule == "address-private"
    assert refusal("192.168.0.1", "10.0.0.0/8", "::/0").rule == "address-private"
    check_address("::ffff:10.1.0.1", [ip_network("10.1.0.0/16")])


def test_an_opened_nat64_still_guards_the_address_inside() -> None:
    check_address("64:ff9b::808:808", [ip_network("64:ff9b::/96")])
    assert refusal("64:ff9b::a00:1", "64:ff9b::/96").rule == "address-private"
    assert refusal("64:ff9b:1:a00:0:100::", "64:ff9b:1::/48").rule == "address-private"


@given(st.ip_addresses())
def test_nothing_is_public_that_the_standard_library_holds_for_private(address: Address) -> None:
    if classify(address) is None:
        assert address.is_global

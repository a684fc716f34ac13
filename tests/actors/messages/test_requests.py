from __future__ import annotations

import pytest

from actors.messages.requests import NewSource


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (" example.org:81/news\n", "https://example.org:81/news"),
        ("10.example/feed", "https://10.example/feed"),
        ("127.0.0.1:9000/", "http://127.0.0.1:9000/"),
        ("192.168.1.7", "http://192.168.1.7"),
        ("LocalHost:8080/feed", "http://LocalHost:8080/feed"),
        ("localhost.example/", "https://localhost.example/"),
        ("https://127.0.0.1/", "https://127.0.0.1/"),
        ("ws://a.test/", "ws://a.test/"),
        ("mailto:x", "mailto:x"),
        (" ", ""),
    ],
)
def test_an_address_without_a_scheme_is_https_or_http_in_ones_own_network(typed: str, meant: str) -> None:
    assert NewSource(typed).url == meant

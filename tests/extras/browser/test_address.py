from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.browser.remote import is_remote, read_remote, told_target


@pytest.mark.parametrize(
    ("setting", "shown", "version"),
    [
        ("http://10.0.0.7:9222", "http://10.0.0.7:9222", "/json/version"),
        ("http://chrome_1:9222/", "http://chrome_1:9222", "/json/version"),
        ("https://a.example/b/?token=c", "https://a.example:443", "/b/json/version?token=c"),
        ("http://[fd00::7]:9222", "http://[fd00::7]:9222", "/json/version"),
    ],
)
def test_an_endpoint_is_called_below_its_path_with_its_query(setting: str, shown: str, version: str) -> None:
    address = read_remote(setting)
    assert (address.asks, address.shown, address.version) == (True, shown, version)


def test_a_websocket_is_taken_as_it_is() -> None:
    address = read_remote("wss://a.example/devtools/browser/1?token=c")
    assert (address.asks, address.tls, address.port) == (False, True, 443)
    assert (address.path, address.query, address.shown) == ("/devtools/browser/1", "token=c", "wss://a.example:443")
    assert read_remote("ws://a.example:3000?token=c").path == "/"


@pytest.mark.parametrize(
    "setting",
    [
        "http://",
        "http://:9222",
        "http://a:0",
        "http://a:99999",
        "http://a:b",
        "http://[::1",
        "http://me:s3cret@a:1",
        "http://s3cret@a:1",
        "http://a:1/#s3cret",
        "http://a:1/s3 cret",
        "http://a b/s3cret",
        "http://å.example/s3cret",
        "ws://a:9222",
        "ws://a:9222/",
    ],
)
def test_unusable_values_are_reported_without_secrets(setting: str) -> None:
    assert is_remote(setting)
    with pytest.raises(ValueError, match=r"\w") as caught:
        read_remote(setting)
    assert "s3" not in str(caught.value)


@given(st.sampled_from(["http://", "https://", "ws://", "wss://"]), st.text("ab1:/?#@[]%. \u00e5\r\n-", max_size=30))
def test_any_browser_address_parses_or_is_refused_in_words(scheme: str, rest: str) -> None:
    try:
        address = read_remote(scheme + rest)
    except ValueError as error:
        assert str(error).isascii() or rest
        return
    target = address.version + address.path + address.query
    assert not set(target) & set("\r\n ") and target.isascii() and 0 < address.port < 65536


def test_a_question_names_the_subject_and_not_the_person() -> None:
    address = read_remote("http://10.0.0.7:9222?token=a")
    assert told_target("ws://evil.example:1/devtools/browser/1", address) == "/devtools/browser/1?token=a"
    assert told_target("ws://h/x?token=b", address) == "/x?token=b"
    for rubbish in ("", "/x", "http://h/x", "ws://h/a b", "ws://h/\r\nX: y", "ws://h/å"):
        assert told_target(rubbish, address) == ""

from __future__ import annotations

import random

import msgspec
import pytest

from extras.browser.wire import BadMessage, BrowserMessage, Command, Pipe, packed, read


def test_messages_are_the_same_however_they_are_cut() -> None:
    said = (
        b'{"id":3,"result":{"a":1}}\0{"method":"Page.x","params":{"b":"\xc3\xa5"},"sessionId":"S"}\0'
        b'{"id":4,"error":{"message":"no"}}\0'
    )
    wanted = [
        BrowserMessage(3, "", {"a": 1}, ""),
        BrowserMessage(0, "Page.x", {"b": "å"}, "S"),
        BrowserMessage(4, "", {}, "", "no"),
    ]
    dice = random.Random(7)
    for _ in range(50):
        cuts = sorted(dice.sample(range(len(said)), 5))
        pipe = Pipe()
        found = [
            read(text) for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True) for text in pipe.feed(said[a:b])
        ]
        assert found == wanted


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'{"id":"x"}', b'"\xff"', b'{"params":[]}'])
def test_an_invalid_message_ends_the_connection(rubbish: bytes) -> None:
    with pytest.raises(BadMessage):
        read(rubbish)


def test_half_a_character_of_a_page_does_not_end_it() -> None:
    message = read(b'{"method":"Page.x","params":{"message":"a\\ud800b"}}')
    assert message.params["message"].encode("utf-8", "replace") == b"a?b"


def test_a_message_has_a_bound_before_it_is_whole() -> None:
    messages = Pipe(most=100)
    assert list(messages.feed(b"x" * 99)) == []
    with pytest.raises(BadMessage, match="100"):
        list(messages.feed(b"xx"))


def test_a_command_is_one_message_with_its_number_and_session() -> None:
    text = packed(9, Command("A.b", {"url": "http://a.example/\0"}, "S"))
    assert b"\0" not in text
    assert msgspec.json.decode(text)["params"] == {"url": "http://a.example/\0"}

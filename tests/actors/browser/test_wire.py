from __future__ import annotations

import random

import msgspec
import pytest

from actors.browser.wire import BadMessage, Command, Message, Messages, packed


def test_messages_are_the_same_however_they_are_cut() -> None:
    said = (
        b'{"id":3,"result":{"a":1}}\0{"method":"Page.x","params":{"b":"\xc3\xa5"},"sessionId":"S"}\0'
        b'{"id":4,"error":{"message":"no"}}\0'
    )
    wanted = [
        Message(3, "", {"a": 1}, ""),
        Message(0, "Page.x", {"b": "å"}, "S"),
        Message(4, "", {}, "", "no"),
    ]
    dice = random.Random(7)
    for _ in range(50):
        cuts = sorted(dice.sample(range(len(said)), 5))
        messages = Messages()
        found = [
            message for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True) for message in messages.feed(said[a:b])
        ]
        assert found == wanted


@pytest.mark.parametrize("rubbish", [b"\0", b"{\0", b"[1]\0", b'{"id":"x"}\0', b'"\xff"\0', b'{"params":[]}\0'])
def test_what_is_no_message_ends_it(rubbish: bytes) -> None:
    with pytest.raises(BadMessage):
        list(Messages().feed(rubbish))


def test_half_a_character_of_a_page_does_not_end_it() -> None:
    (message,) = Messages().feed(b'{"method":"Page.x","params":{"message":"a\\ud800b"}}\0')
    assert message.params["message"].encode("utf-8", "replace") == b"a?b"


def test_a_message_has_a_bound_before_it_is_whole() -> None:
    messages = Messages(most=100)
    assert list(messages.feed(b"x" * 99)) == []
    with pytest.raises(BadMessage, match="100"):
        list(messages.feed(b"xx"))


def test_a_command_is_one_message_with_its_number_and_session() -> None:
    text = packed(9, Command("A.b", {"url": "http://a.example/\0"}, "S"))
    assert text.endswith(b"\0") and text.count(b"\0") == 1
    assert msgspec.json.decode(text[:-1])["params"] == {"url": "http://a.example/\0"}

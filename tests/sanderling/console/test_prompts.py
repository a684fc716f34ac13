"""Typed input: ahead, in one packet, pasted; and the keys after it."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from sanderling.console.text import Ask, Confirm
from sanderling.console.tree import TreeScreen
from tests.sanderling.console.terminal import Terminal, on_terminal


def typed(*keys: str, text: str = "") -> tuple[str, list[str], list[str | None]]:
    """Return the text, the texts passed on while typing, and the answers, after some keys."""
    heard: list[str] = []
    answers: list[str | None] = []
    ask = Ask(" /", text, "hint", answers.append, changed=heard.append)
    for key in keys:
        ask.press(key, key if len(key) == 1 else "")
    return ask.text, heard, answers


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        ("", "a b c", "abc"),
        ("abc", "backspace backspace d", "ad"),
        ("two words", "ctrl+w", "two "),
        ("two words", "ctrl+u x", "x"),
        ("abc", "f5 left tab", "abc"),
    ],
)
def test_a_line_is_edited(text: str, keys: str, left: str) -> None:
    assert typed(*keys.split(), text=text)[0] == left


def test_every_keystroke_is_passed_on_enter_confirms_and_escape_discards() -> None:
    assert typed("a", "b", "left", "enter") == ("ab", ["a", "ab"], ["ab"])
    assert typed("a", "escape")[2] == [None]


@pytest.mark.parametrize(("key", "means"), [("y", True), ("Y", False), ("enter", False), ("escape", False)])
def test_only_y_means_yes(key: str, means: bool) -> None:
    answers: list[bool] = []
    assert Confirm("Sure?", answers.append).press(key, key)
    assert answers == [means]


async def send(terminal: Terminal, keys: str) -> None:
    """Send keys as a terminal does in one packet: none waits for the one before it."""
    for sign in keys:
        name = {"/": "slash", ":": "colon", "\r": "enter"}.get(sign, sign)
        event = events.Key(name, sign)
        event.set_sender(terminal.app)
        terminal.app._driver.send_message(event)  # type: ignore[union-attr]
    await terminal.pilot.pause()


def test_a_filter_that_is_typed_ahead_in_one_packet_is_whole() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        for number in range(3):
            await send(terminal, f"/site1{number}\r")
            await terminal.wait_for(f"filter site1{number}", "1/1")
            await terminal.press("escape")

    on_terminal(play)


def test_an_act_and_its_yes_may_be_typed_ahead() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await send(terminal, "ry")
        await terminal.wait_for("it was restarted")

    on_terminal(play)


def test_pasted_text_is_input_and_never_a_command() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        terminal.app.post_message(events.Paste("/site12\n"))
        await terminal.wait_for("filter site12", "1/1")
        terminal.app.post_message(events.Paste("qry"))
        await terminal.press("slash")
        terminal.app.post_message(events.Paste("3"))
        await terminal.wait_for("/site123")
        assert terminal.service.acts == []

    on_terminal(play)


def test_rows_follow_while_a_filter_is_typed_and_escape_brings_back_those_before() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("slash")
        await terminal.type("state:fail")
        await terminal.wait_for("filter state:fail", "1/1", "site3.test")
        assert terminal.app.question is not None
        await terminal.press("escape")
        await terminal.wait_for("worst first", "1/65")

    on_terminal(play)


def test_many_letters_are_one_question_to_the_service() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        asked = len(terminal.service.asked)
        await send(terminal, "/site1")
        await terminal.wait_for("filter site1")
        await asyncio.sleep(0)
        found = [path for path in terminal.service.asked[asked:] if "filter=site" in path]
        assert len(found) == 1 and isinstance(terminal.app.screen, TreeScreen)

    on_terminal(play)

"""Actions ask for confirmation once, run if confirmed, and report the result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sanderling.console.fake_service import HOOK, FakeService, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal

FIRST = f"admin/tree/sources/{source_id(0)}"
FROM = "2026-04-21T10:00:00Z"


@pytest.mark.parametrize(
    ("key", "question", "act", "told"),
    [
        ("c", "Check it now?", "check", "check requested"),
        ("r", "Restart it?", "restart", "it was restarted"),
        ("u", "Let it try again at once?", "release", "released"),
        ("e", "Pause it?", "disable", "paused"),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_an_act_is_done_after_a_yes(key: str, question: str, act: str, told: str, inside: bool) -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        if inside:
            await terminal.press("enter")
            await terminal.wait_for("health 0.00")
        await terminal.press(key)
        assert question in terminal.text and "https://site0.test/news" in terminal.text
        await terminal.press("n")
        assert terminal.service.acts == []
        await terminal.press(key, "y")
        await terminal.wait_for(told)
        assert terminal.service.acts == [(f"{FIRST}/{act}", None)]

    on_terminal(play)


def test_the_same_key_pauses_and_resumes() -> None:
    service = FakeService()
    service.states[f"sources/{source_id(0)}"] = "paused"

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("e")
        assert "Resume it?" in terminal.text
        await terminal.press("y")
        await terminal.wait_for("resumed")
        assert terminal.service.acts == [(f"{FIRST}/enable", None)]

    on_terminal(play, service=service)


def test_restarting_a_part_names_the_parts_that_restart_too() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("j", "j", "j", "j", "r")
        assert "and all that was started after it?  log" in terminal.text

    on_terminal(play)


def test_a_refusal_is_shown_in_the_services_words() -> None:
    service = FakeService()
    service.refusal = (409, "log is running: only parts in quarantine or backoff can be released.")

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("u", "y")
        await terminal.wait_for("Log is running: only parts in quarantine")

    on_terminal(play, service=service)


def test_the_service_is_drained_and_resumed() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("D", "y")
        await terminal.wait_for("All checks are paused")
        await terminal.tick()
        await terminal.wait_for("DRAINED")
        await terminal.press("D")
        assert "Resume all checks?" in terminal.text
        await terminal.press("y")
        await terminal.wait_for("Checks are resumed")
        assert [path for path, _ in terminal.service.acts] == ["admin/drain", "admin/resume"]

    on_terminal(play)


@pytest.mark.parametrize("inside", [False, True])
def test_a_destination_is_tried_and_gets_past_matches_again_piece_by_piece(inside: bool) -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.press("d")
        await terminal.wait_for("calm.test")
        if inside:
            await terminal.press("enter")
            await terminal.wait_for("newest attempts: 6")
        await terminal.press("R", "escape", "R")
        await terminal.type(FROM)
        await terminal.press("enter")
        assert f"Replay from {FROM}?" in terminal.text
        await terminal.press("y")
        await terminal.wait_for("Deliveries queued again: 6.")
        further: list[tuple[str, Any]] = [
            (f"destinations/{HOOK['id']}/replay", {"since": FROM}),
            (f"destinations/{HOOK['id']}/replay", {"since": "019db0a4-6a10-7000-8000-0000000000ff"}),
        ]
        assert terminal.service.acts == further
        await terminal.press("t", "y")
        await terminal.wait_for("sent, 204 in 12 ms. It took the")

    on_terminal(play)

"""Each key of the tree, and the ways between screens."""

from __future__ import annotations

import pytest

from sanderling.console.app import HelpScreen
from sanderling.console.rows import SORTS
from sanderling.console.tree import TROUBLE, TreeScreen
from tests.sanderling.console.fake_service import FakeService, event, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal


def tree(terminal: Terminal) -> TreeScreen:
    screen = terminal.app.screen
    assert isinstance(screen, TreeScreen)
    return screen


def test_the_cursor_moves_by_arrows_letters_and_pages() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        picks = tree(terminal).picks
        for keys, place in (
            ("down", 1),
            ("j", 2),
            ("up", 1),
            ("k", 0),
            ("k", 0),
            ("pagedown", 13),
            ("pageup", 0),
            ("G", 64),
            ("j", 64),
            ("g", 0),
            ("end", 64),
            ("home", 0),
        ):
            await terminal.press(keys)
            assert picks.cursor == place, keys
            assert picks.top <= picks.cursor < picks.top + picks.size.height

    on_terminal(play)


@pytest.mark.parametrize(
    ("keys", "back"),
    [
        (("enter",), "escape"),
        (("l",), "h"),
        (("right",), "left"),
        (("d",), "escape"),
        (("L",), "escape"),
        (("x",), "escape"),
    ],
)
def test_a_screen_is_entered_and_left_again(keys: list[str], back: str) -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        first = terminal.app.screen
        await terminal.press(*keys)
        assert terminal.app.screen is not first
        await terminal.press(back)
        assert terminal.app.screen is first

    on_terminal(play)


def test_a_filter_is_typed_shown_and_taken_back() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("slash")
        await terminal.type("state:quar")
        await terminal.press("enter")
        await terminal.wait_for("filter state:quar", "1/1")
        await terminal.press("slash")
        assert "/state:quar" in terminal.text
        await terminal.type("x")
        await terminal.press("escape")
        assert tree(terminal).words == "state:quar"
        await terminal.press("escape")
        await terminal.wait_for("worst first", "1/65")
        await terminal.press("slash")
        await terminal.type("nothing")
        await terminal.press("enter")
        await terminal.wait_for("No row matches")

    on_terminal(play)


def test_digits_take_the_filters_that_are_often_wanted() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("2")
        await terminal.wait_for("filter kind:part", "1/5")
        await terminal.press("0")
        await terminal.wait_for("1/65")
        await terminal.press("1")
        assert tree(terminal).words == TROUBLE

    on_terminal(play)


@pytest.mark.parametrize(("words", "shown"), [("matcher", "matcher"), ("site9", f"sources/{source_id(9)}")])
def test_a_jump_goes_into_a_part_by_its_path_or_by_words(words: str, shown: str) -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("colon")
        await terminal.type(words)
        await terminal.press("enter")
        await terminal.wait_for(shown, "── " if words != "matcher" else "actor")

    on_terminal(play)


def test_a_jump_goes_to_a_row_number_and_names_missing_rows() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("colon")
        await terminal.type("42")
        await terminal.press("enter")
        assert tree(terminal).picks.cursor == 41
        await terminal.press("colon")
        await terminal.type("nowhere")
        await terminal.press("enter")
        await terminal.wait_for("Nothing has nowhere")

    on_terminal(play)


def test_the_order_changes_only_on_a_keystroke() -> None:
    service = FakeService()
    changed = f"sources/{source_id(5)}"

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        before = [line[21:48] for line in terminal.lines()[4:18]]
        service.states[changed] = "quarantined"
        await terminal.tick(("change", {"path": changed}))
        await terminal.wait_for("1 changed, s sorts", "*QUAR  1.00   0   5m site5.test")
        assert [line[21:48] for line in terminal.lines()[4:18]] == before
        asked = len(service.asked)
        await terminal.press("s")
        await terminal.wait_until(lambda: "changed, s sorts" not in terminal.text)
        assert any("sort=worst" in path for path in service.asked[asked:])
        for sort in SORTS[1:]:
            await terminal.press("S")
            await terminal.wait_for(f"by {sort}")
            await terminal.wait_until(lambda sort=sort: any(f"sort={sort}" in path for path in service.asked))  # type: ignore[misc]
        await terminal.press("S")
        await terminal.wait_for("worst first", "STATE")

    on_terminal(play, service=service)


def test_space_freezes_the_picture_and_lets_it_go_on() -> None:
    service = FakeService()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.press("space")
        await terminal.wait_for("FROZEN")
        frozen = terminal.text
        service.states[f"sources/{source_id(5)}"] = "quarantined"
        await terminal.tick(("event", event(1, "Hello")))
        await terminal.pilot.pause(0.05)
        assert terminal.text == frozen
        await terminal.press("space")
        await terminal.tick()
        await terminal.wait_for("*QUAR", "Hello")

    on_terminal(play, service=service)


def test_a_paused_event_list_resumes_with_the_events_it_missed() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.tick(("event", event(1, "First")))
        await terminal.press("p")
        await terminal.tick(("event", event(2, "Second")), ("skipped", {"of": "event", "count": 7}))
        await terminal.wait_for("held, 2 more, f follow", "First")
        assert "Second" not in terminal.text
        await terminal.press("f")
        await terminal.wait_for("Second", "7 more in that second", "p hold")

    on_terminal(play)


def test_the_help_names_every_key_that_works_there_and_no_other() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        screen = terminal.app.screen
        bound = {one.binding.tooltip for one in screen.active_bindings.values() if one.binding.tooltip}
        bound -= {one.binding.tooltip for one in screen.active_bindings.values() if one.binding.priority}
        await terminal.press("question_mark")
        help_screen = terminal.app.screen
        assert isinstance(help_screen, HelpScreen)
        told = "".join(text for line in help_screen.whole(200) for text, _ in line)
        assert bound and all(says in told for says in bound)
        assert "Quit the app" not in told, "the library's own key, beside q"
        assert told.index("the list, worst first") < told.index("More keys") < told.index("a line down")
        await terminal.press("question_mark")
        assert terminal.app.screen is help_screen
        await terminal.press("escape", "d", "question_mark")
        told = "".join(text for line in terminal.app.screen.whole(200) for text, _ in line)  # type: ignore[attr-defined]
        assert "send it one signed sample" in told and "event tail" not in told

    on_terminal(play)


def test_q_leaves_from_every_screen() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("enter", "q")
        assert not terminal.app.is_running or terminal.app._exit

    on_terminal(play)


def test_the_log_follows_until_the_cursor_leaves_its_end() -> None:
    service = FakeService()

    def say(number: int) -> None:
        line = {"number": number, "ts": "2026-04-21T12:00:10Z", "level": "info", "event": "look", "actor": "log"}
        service.lines.append(line | {"fields": {"of": number}})

    async def play(terminal: Terminal) -> None:
        for number in range(1, 31):
            say(number)
        await terminal.press("L")
        await terminal.wait_for("of=30", "following")
        say(31)
        await terminal.tick()
        await terminal.wait_for("of=31")
        await terminal.press("g")
        say(32)
        await terminal.tick()
        await terminal.wait_for("lines 32", "f follow")
        assert "of=32" not in terminal.text
        await terminal.press("f")
        await terminal.wait_for("of=32", "following")

    on_terminal(play, service=service)

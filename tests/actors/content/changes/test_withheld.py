"""The details of a check about the blocks that it did not report."""

from __future__ import annotations

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory
from actors.content.changes.swaps import MOST
from actors.content.messages import LONGEST_TEXT
from tests.actors.content.written_pages import PROSE, html, look, looks, reading

FIGURES = "DAX {} {} % Gold {}"


def rules(verdict: ChangeVerdict) -> dict[str, str]:
    return {block.text: block.rule for block in verdict.withheld}


def remembered(*blocks: str) -> PageMemory:
    return look(None, *blocks).memory


def around(page: str) -> ChangeVerdict:
    plain = judge(None, reading(html(*PROSE)))
    return judge(plain.memory, reading(html(*PROSE, around=page)))


@pytest.mark.parametrize(
    ("page", "text", "sign"),
    [
        ("{}<footer>Imprint and contact</footer>", "Imprint and contact", "furniture: <footer>"),
        ("{}<div role=search>Find a bird</div>", "Find a bird", "furniture: role=search"),
        ("{}<div class='x cookie-banner'>Agree?</div>", "Agree?", "furniture: named 'cookie' by the page"),
        ("{}<p>Related articles</p><p><a href=/x>Gulls</a>", "Gulls", "furniture: a box of links that leads elsewhere"),
        ("<nav><div class=sidebar>Home</div></nav>{}", "Home", "furniture: <nav>"),
        ("{}<div aria-hidden=true>Probe</div>", "Probe", "furniture: hidden from screen readers"),
    ],
)  # fmt: skip
def test_new_boilerplate_names_the_reason(page: str, text: str, sign: str) -> None:
    verdict = around(page)
    assert verdict.kind == "unchanged"
    assert rules(verdict)[text] == sign


def test_a_new_button_says_that_it_has_to_stay() -> None:
    verdict = around("{}<button>Send it</button>")
    assert verdict.kind == "churn"
    assert rules(verdict)["Send it"] == "a control by itself, until it stays"


def test_known_boilerplate_is_not_repeated() -> None:
    first = judge(None, reading(html(*PROSE, around="{}<footer>Imprint and contact</footer>")))
    assert judge(first.memory, reading(html(*PROSE, around="{}<footer>Imprint and contact</footer>"))).withheld == ()


def test_masked_text_is_named() -> None:
    verdict = look(remembered(*PROSE, "Seen at 9:15"), *PROSE, "Seen at 9:52")
    assert verdict.kind == "unchanged"
    assert rules(verdict) == {"Seen at 9:52": "only what changes by itself differs: a time of day"}


@pytest.mark.parametrize(
    ("before", "after", "text", "rule"),
    [
        (PROSE, (*PROSE, PROSE[0]), PROSE[0], "one more copy of a text that is there"),
        (PROSE, (*PROSE, "3 March 2026"), "3 March 2026", "only a date"),
        (PROSE, (PROSE[0] + " " + PROSE[1], *PROSE[2:]), PROSE[1], "moved: its words stand together elsewhere"),
        (PROSE, (*PROSE, *"abcde", "Imprint here"), "Imprint here", "below the last paragraph"),
    ],
)
def test_each_block_that_weighs_little_says_why(
    before: tuple[str, ...], after: tuple[str, ...], text: str, rule: str
) -> None:
    verdict = look(remembered(*before), *after)
    assert verdict.kind == "churn"
    assert rules(verdict)[text] == rule


def test_a_block_that_appeared_unreported_says_so_when_it_returns() -> None:
    memory = looks(remembered(), (*PROSE, "Hm"), PROSE)[-1].memory
    assert rules(look(memory, *PROSE, "Aha", "Hm")) == {
        "Hm": "seen in an earlier check",
        "Aha": "a label of a few words",
    }


def test_a_line_of_figures_that_keeps_changing_says_so() -> None:
    memory = remembered(FIGURES.format(1, 2, 3), *PROSE)
    memory = look(memory, FIGURES.format(4, 5, 6), *PROSE).memory
    verdict = look(memory, FIGURES.format(7, 8, 9), *PROSE)
    assert rules(verdict)["DAX 7 8 % Gold 9"] == "a line of figures that changes at every check"


def test_a_held_check_withholds_all_and_a_reported_one_its_light_blocks() -> None:
    memory = remembered(*PROSE, *(text + " Again." for text in PROSE))
    held = look(memory, "Closed for the season")
    assert held.kind == "held"
    assert set(rules(held).values()) == {"held until it stays: the page was replaced"}
    news = "A new tide table for the coming winter has been published and replaces the wrong one."
    told = look(remembered(), news, *PROSE, "3 March 2026")
    assert told.kind == "changed"
    assert rules(told) == {"3 March 2026": "only a date"}


def test_there_are_only_so_many_and_they_are_cut() -> None:
    verdict = look(remembered(), *PROSE, *(f"{n} March 2026" for n in range(1, 31)))
    assert verdict.kind == "churn"
    assert len(verdict.withheld) == MOST
    doubled = look(remembered(PROSE[0] * 9, *PROSE), PROSE[0] * 9, PROSE[0] * 9, *PROSE)
    assert [len(block.text) for block in doubled.withheld] == [LONGEST_TEXT]

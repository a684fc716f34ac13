from __future__ import annotations

import pytest

from actors.content.changes.churn import judge
from actors.content.changes.memory import encode
from actors.content.changes.swaps import find_text
from actors.content.messages import Findings, FindRequest
from actors.content.wording.words import folded, holds
from tests.actors.content.written_pages import PROSE, html, reading

KIND = "text/html; charset=utf-8"


def memory(*blocks: str) -> bytes:
    return encode(judge(None, reading(html(*blocks))).memory)


def find(text: str, body: bytes | None = None, known: bytes | None = None, **narrowed: object) -> Findings:
    return find_text(FindRequest(text, known, body, KIND, **narrowed))  # type: ignore[arg-type]  # selector and ignore


@pytest.mark.parametrize("wanted", ["HIGH ARCTIC", "ten  thousand\nkilometres", "thousand kilomètres"])
def test_case_accents_and_white_space_do_not_matter(wanted: str) -> None:
    assert holds(PROSE[1], folded(wanted))


def test_a_text_that_runs_over_several_blocks_is_found_by_a_whole_one() -> None:
    assert holds(PROSE[0], folded(" ".join(PROSE[:2])))
    assert not holds("it breeds", folded(" ".join(PROSE[:2])))  # too short to identify one block
    assert not holds(PROSE[0], "")


def test_the_last_state_is_searched_with_blocks_counted_from_one() -> None:
    found = find("southern beaches", known=memory(*PROSE))
    assert found.told is not None and found.told.place == 3  # the heading is the first
    assert find("northern", known=memory(*PROSE)) == Findings()


@pytest.mark.parametrize("damaged", [b"", b"x", b"\x91\x01"])
def test_a_memory_that_cannot_be_read_has_nothing(damaged: bytes) -> None:
    assert find("southern", known=damaged).told is None


def test_a_current_block_is_new_known_or_known_except_for_masked_text() -> None:
    first = judge(None, reading(html(*PROSE, "12 views")))
    second = judge(first.memory, reading(html(*PROSE, "12 views", "Two words")))
    assert second.kind == "churn"
    today = html(*PROSE, "17 views", "Two words", "A new line")
    known = encode(second.memory)
    spots = {text: find(text, today, known).now for text in ("17 views", "two words", "a new line")}
    assert [spot.known for spot in spots.values() if spot is not None] == ["same", "seen", ""]


def test_boilerplate_is_named_and_content_wins_over_it() -> None:
    page = html(*PROSE, around="{}<footer>Contact the wardens</footer>")
    found = find("contact the wardens", page)
    assert found.now is not None and found.now.aside == "furniture: <footer>"
    both = find(
        "contact the wardens", html(*PROSE, "Contact the wardens", around="<footer>Contact the wardens</footer>{}")
    )
    assert both.now is not None and not both.now.aside


def test_text_outside_the_selector_is_found_on_the_rest_of_the_page() -> None:
    page = html(*PROSE, "<p class=offer>Two for one</p>", around="{}<p id=low>Low tide at noon</p>")
    found = find("low tide", page, selector="main")
    assert found.now is None and found.elsewhere is not None
    assert find("two for one", page, ignore=(".offer",)).now is None
    assert find("two for one", page).elsewhere is None


def test_a_page_that_is_none_is_a_trouble() -> None:
    assert find("x", b"").trouble == "The body is empty."
    wall = b"<html><head><title>Just a moment...</title></head><body>x</body></html>"
    assert find("x", wall).trouble
    assert "matches nothing" in (find("x", html(*PROSE), selector="#gone").trouble or "")

"""Parts that the user ignores, and the threshold for a report."""

from __future__ import annotations

import msgspec
import pytest

from actors.content.changes.news import noise_keys
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page
from tests.actors.content.written_pages import PROSE, URL, html, look

OFFER = "Become a friend of the society this autumn and get a free pair of binoculars with 7 lenses."


def looked(blocks: tuple[str, ...], memory: bytes | None, **wishes: object) -> PageLook:
    asked = PageRequest(html(*blocks), "text/html", URL, memory=memory)
    return look_page(msgspec.structs.replace(asked, **wishes))


@pytest.mark.parametrize("shown", [OFFER, OFFER.upper(), OFFER.replace("7", "12")])
def test_a_marked_block_weighs_nothing_with_any_figures(shown: str) -> None:
    memory = looked(PROSE, None).memory
    assert looked((shown, *PROSE), memory).kind == "changed"
    marked = looked((shown, *PROSE), memory, noise=noise_keys([OFFER]))
    assert marked.kind == "churn"
    assert [block.rule for block in marked.withheld] == ["marked as noise"]


def test_a_marked_block_may_go_too() -> None:
    memory = looked((OFFER, *PROSE), None).memory
    assert looked(PROSE, memory).kind == "changed"
    assert looked(PROSE, memory, noise=noise_keys([OFFER])).kind == "churn"


def test_the_key_that_a_check_names_marks_the_block() -> None:
    memory = looked(PROSE, None).memory
    named = looked((*PROSE, "From $9"), memory, bar=0.9).withheld
    assert [(block.text, block.came) for block in named] == [("From $9", True)]
    assert looked((*PROSE, "From $9"), memory, noise=(named[0].key,)).kind == "churn"


def test_prices_versions_and_bare_figures_have_no_shape() -> None:
    for text in ("The fee is $9", "Release 2.4.1 is out", "1,234", "Plain words"):
        assert len(noise_keys([text])) <= 2, text
    price = "The yearly fee for members of the club is $9 and includes the journal of the society."
    memory = look(None, *PROSE, price).memory
    assert look(memory, *PROSE, price.replace("9", "8")).kind == "changed"
    assert looked((*PROSE, price.replace("9", "8")), None, noise=noise_keys([price])).kind == "baseline"


def test_the_bar_is_the_score_from_which_a_change_is_reported() -> None:
    memory = looked(PROSE, None).memory
    label = ("<p>Closed</p>", "<h2>Spring 2027</h2>")
    score = looked((*PROSE, *label), memory).score
    assert score > 0.2
    assert looked((*PROSE, *label), memory, bar=score).kind == "changed"
    assert looked((*PROSE, *label), memory, bar=min(0.9, score + 0.01)).kind == "churn"


def test_a_bar_out_of_bounds_is_taken_as_the_nearest_one() -> None:
    memory = looked(PROSE, None).memory
    assert looked((*PROSE, "3 March 2026"), memory, bar=0.0).kind == "churn"
    assert looked((OFFER, *PROSE), memory, bar=99.0).kind == "changed"

"""Properties of every judgement on any pages."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory, decode_memory, encode, settled_of
from actors.content.changes.swaps import CheckMoment
from tests.actors.content.written_pages import PROSE, html, reading
from tests.support.pages import apply

LABELS = ("12:30", "5 comments", "Menu", "From $9", "<h2>Part</h2>", "3 March 2026", "DAX 1 2 % Gold 3", "v1.2.3")
ROWS = ("<table><tr><td>Deadline</td><td>30 June</td></tr></table>", "<ul><li>one<li><a href=/a.pdf>two</a></ul>")
NEWS = (
    "A new tide table for the coming winter has been published and replaces the one that was found to be wrong.",
    "The society has elected another board, which will meet for the first time in the second week of October.",
    "The hide on the northern dune is closed until further notice because the last storm has taken its roof away.",
)
pages = st.lists(st.sampled_from([*PROSE, *NEWS, *LABELS, *ROWS]), max_size=12)
seeds = st.integers(0, 1000)


def judged(memory: PageMemory | None, blocks: list[str], around: str = "{}", number: int = 0) -> ChangeVerdict:
    stored = None if memory is None else decode_memory(encode(memory))
    return judge(stored, reading(html(*PROSE[:4], *blocks, around=around)), when=CheckMoment(number, 0))


@settings(max_examples=80, deadline=None)
@given(st.lists(pages, min_size=2, max_size=6))
def test_a_change_is_never_empty_and_its_deltas_rebuild_the_page(looks: list[list[str]]) -> None:
    verdict = judged(None, looks[0])
    client = settled_of(verdict.memory).texts
    for blocks in looks[1:]:
        verdict = judged(verdict.memory, blocks)
        if verdict.kind == "changed":
            assert verdict.diff is not None and verdict.delta is not None
            assert verdict.diff.added or verdict.diff.removed or verdict.diff.changed
            assert verdict.delta.ops
            client = tuple(apply(client, verdict.delta))
        else:
            assert verdict.diff is None and verdict.delta is None
        if verdict.kind != "held":
            assert settled_of(verdict.memory).texts == client


@given(pages)
def test_a_page_against_itself_is_unchanged(blocks: list[str]) -> None:
    first = judged(None, blocks)
    again = judged(first.memory, blocks, number=2)
    assert (again.kind, again.score, again.memory) == ("unchanged", 0.0, first.memory)


@given(pages, seeds)
def test_reordered_blocks_are_no_change(blocks: list[str], seed: int) -> None:
    # A number belongs to the label before it, a label to the heading above it.
    blocks = [block for block in blocks if block not in LABELS]
    shuffled = random.Random(seed).sample(blocks, len(blocks))
    assert judged(judged(None, blocks).memory, shuffled).kind == "unchanged"


@given(pages)
def test_new_markup_around_the_same_text_is_no_change(blocks: list[str]) -> None:
    plain, redesigned = "{}", "<div class=wrap data-x=1><section><div><div>{}</div></div></section><hr></div>"
    assert judged(judged(None, blocks, plain).memory, blocks, redesigned).kind == "unchanged"


@given(pages, pages)
def test_a_return_is_reported_only_if_the_first_change_was(one: list[str], other: list[str]) -> None:
    first = judged(None, one)
    second = judged(first.memory, other)
    back = judged(second.memory, one)
    if second.kind != "changed":
        assert back.kind == "unchanged"
    if back.kind == "changed":
        assert back.reverted


@given(pages, pages)
def test_a_third_text_is_reported_after_any_text_between(one: list[str], between: list[str]) -> None:
    news = (
        "Volunteers are wanted on the last Saturday of the month, when the boardwalk is to be laid anew by all of us."
    )
    memory = judged(judged(None, one).memory, between).memory
    verdict = judged(memory, [*one, news])
    while verdict.kind == "held" and verdict.soon:
        verdict = judged(verdict.memory, [*one, news])
    assert verdict.kind == "changed"
    assert verdict.diff is not None
    assert news in verdict.diff.added or news in {change.after for change in verdict.diff.changed}


@given(pages, pages)
def test_every_added_or_removed_block_is_reported_or_withheld_with_a_reason(one: list[str], other: list[str]) -> None:
    first = judged(None, one)
    verdict = judged(first.memory, other)
    assert all(block.rule for block in verdict.withheld)
    if verdict.kind == "churn":
        assert verdict.withheld

"""Blocks that the pages of a host share."""

from __future__ import annotations

from actors.content.changes.churn import judge
from actors.content.changes.difference import MOST_TOLD, shared_keys, stored_keys
from actors.content.changes.memory import encode
from tests.actors.content.written_pages import PROSE, html, reading

MENU = (
    "Our autumn fair is on until the end of the week, come and see it, all of you",
    "Become a friend of the society",
)


def keys(*blocks: str) -> tuple[str, ...]:
    return stored_keys(encode(judge(None, reading(html(*blocks, title=blocks[0]))).memory))


def pages(count: int, *shown: str) -> list[tuple[str, ...]]:
    return [keys(f"Page {n}", *shown, *(f"{text} On page {n}." for text in PROSE)) for n in range(count)]


def test_blocks_of_nearly_all_different_pages_are_shared() -> None:
    one, other, *_ = of_host = pages(4, *MENU)
    assert shared_keys(of_host) == tuple(sorted(set(one) & set(other)))
    assert len(shared_keys(of_host)) == len(MENU)
    assert shared_keys([*of_host, *pages(5)[4:]]) == shared_keys(of_host)


def test_an_article_on_the_front_and_in_two_sections_is_not_boilerplate() -> None:
    assert shared_keys(pages(2, *MENU)) == ()
    assert shared_keys([*pages(2, *MENU), *pages(4)[2:]]) == ()


def test_addresses_of_one_page_share_nothing() -> None:
    assert (
        shared_keys([keys(*PROSE), keys(*PROSE, "Printed"), keys(*PROSE, "For phones"), keys(*PROSE, "AMP"), ()]) == ()
    )


def test_table_cells_and_the_heading_are_never_shared() -> None:
    table = "<table><tr><td>Open</td><td>Closed</td></tr></table>"
    assert len(keys(PROSE[0], table)) == 1


def test_shared_blocks_may_come_and_go() -> None:
    shared = shared_keys(pages(3, *MENU))
    bare, with_menu = reading(html(*PROSE)), reading(html(*MENU, *PROSE))
    came = judge(judge(None, bare).memory, with_menu, shared)
    went = judge(judge(None, with_menu).memory, bare, shared)
    assert judge(judge(None, bare).memory, with_menu).kind == "changed"
    assert (came.kind, went.kind) == ("churn", "churn")
    assert {block.rule for block in came.withheld} == {"shared by other pages of this site"}


def test_an_unreadable_page_has_no_keys_and_a_long_one_those_of_its_ends() -> None:
    assert stored_keys(b"nonsense") == ()
    assert len(keys(*(f"Story number {n} of this page" for n in range(2 * MOST_TOLD)))) == MOST_TOLD

"""What the pages of a host share."""

from __future__ import annotations

from actors.content.churn import judge
from actors.content.memory import encode
from actors.content.sites import shared_keys, told_keys, with_shared
from tests.content.pages import PROSE, html, reading

MENU = ("Our autumn fair is on until the end of the week, come and see it", "Become a friend of the society")


def keys(*blocks: str) -> tuple[str, ...]:
    return told_keys(encode(judge(None, reading(html(*blocks, title=blocks[0]))).memory))


def test_blocks_of_several_different_pages_are_shared() -> None:
    one, other = keys(*MENU, *PROSE[:2], "One"), keys(*MENU, *PROSE[2:], "Other")
    assert shared_keys([one, other]) == tuple(sorted(set(one) & set(other)))
    assert len(shared_keys([one, other])) == len(MENU)


def test_two_addresses_of_one_page_share_nothing() -> None:
    assert shared_keys([keys(*PROSE), keys(*PROSE, "Printed version"), ()]) == ()


def test_a_block_of_two_pages_among_many_is_not_shared() -> None:
    pages = [keys(f"Page {n}", *(f"{text} On page {n}." for text in PROSE)) for n in range(6)]
    assert shared_keys([*pages, (*keys("A", *PROSE), "00" * 8), (*keys("B", *MENU), "00" * 8)]) == ()


def test_what_is_shared_may_come_and_go() -> None:
    shared = shared_keys([keys(*MENU, *PROSE[:2]), keys(*MENU, *PROSE[2:])])
    bare, with_menu = reading(html(*PROSE)), reading(html(*MENU, *PROSE))
    came = judge(judge(None, bare).memory, with_shared(with_menu, shared), shared)
    went = judge(judge(None, with_menu).memory, with_shared(bare, shared), shared)
    assert judge(judge(None, bare).memory, with_menu).kind == "changed"
    assert (came.kind, went.kind) == ("unchanged", "churn")


def test_a_page_that_is_nearly_all_shared_is_left_as_it_is() -> None:
    page = reading(html(*PROSE))
    assert with_shared(page, page.keys) == page
    assert told_keys(b"nonsense") == ()

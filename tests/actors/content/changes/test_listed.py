from __future__ import annotations

from collections.abc import Sequence

import pytest

from actors.content.changes.listed import (
    FEWEST,
    FLOOD,
    FLOODS,
    MOST_ABSENT,
    ListChange,
    ListMemory,
    compare_list,
    decode,
)
from actors.content.messages import Item, item_form

MENU = ("https://a.example/about", "https://a.example/contact")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def an_item(name: str, path: str = "/news/{}") -> Item:
    return Item(f"https://a.example{path.format(name)}", f"All about {name}")


def items(names: Sequence[str], path: str = "/news/{}") -> list[Item]:
    return [an_item(name, path) for name in names]


def look(memory: ListMemory | None, found: Sequence[Item]) -> ListChange:
    return compare_list(memory, found, [*MENU, *(item.url for item in found)])


def after(*looks: Sequence[str]) -> ListMemory:
    memory: ListMemory | None = None
    for names in looks:
        memory = look(memory, items(names)).memory
    assert memory is not None
    return memory


def told(change: ListChange) -> list[str]:
    return [item.title.removeprefix("All about ") for item in change.new]


def test_items_of_the_first_check_are_not_reported() -> None:
    assert look(None, items("abc")).new == ()


@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        ("abc", "xabc", "x"),
        ("abc", "abcx", "x"),
        ("abc", "axbc", "x"),
        ("abc", "xyabc", "xy"),
        ("abc", "xab", "x"),
        ("abc", "cab", ""),
        ("abc", "ab", ""),
        ("abc", "", ""),
        ("", "a", "a"),
    ],
)
def test_an_item_with_an_unknown_address_is_new_at_any_position(before: str, now: str, new: str) -> None:
    assert told(look(after(before), items(now))) == list(new)


def test_an_item_that_leaves_and_comes_back_is_not_new() -> None:
    assert told(look(after("abc", "bc"), items("abc"))) == []


def test_a_link_known_before_it_became_an_item_is_not_new() -> None:
    memory = compare_list(None, [], [item.url for item in items("abc")]).memory
    assert told(look(memory, items("abcd"))) == ["d"]


@pytest.mark.parametrize(
    "form",
    [
        "http://a.example/news/{}",
        "https://www.a.example/news/{}/",
        "https://a.example/news/{}?utm_source=list&utm_medium=x",
        "https://a.example/news/{}?PHPSESSID=af31",
        "https://a.example/news/{};jsessionid=1F",
        "https://a.example/news/{}#comments",
    ],
)
def test_sessions_tracking_and_the_like_are_no_part_of_an_address(form: str) -> None:
    assert item_form(form.format("a")) == item_form("https://a.example/news/a")
    moved = [Item(form.format(name), f"All about {name}") for name in "abc"]
    assert told(look(after("abc"), [*items("x"), *moved])) == ["x"]


def test_items_with_new_addresses_are_known_by_their_titles() -> None:
    change = look(after("abcdefghijkl"), items("abcdefghijkl", "/s/7f3a/news/{}"))
    assert (change.new, change.held, change.renamed) == ((), (), 12)


def test_an_item_of_a_known_title_is_new_while_the_known_one_is_still_there() -> None:
    minutes = [Item("https://a.example/m/1", "Minutes"), *items("ab")]
    memory = look(None, minutes).memory
    assert len(look(memory, [Item("https://a.example/m/2", "Minutes"), *minutes]).new) == 1


def test_items_that_move_up_from_the_next_page_are_not_new() -> None:
    memory = after("cdefgh", "bcdefg", "abcdef")  # it grows at its top
    assert told(look(memory, items("abdefz"))) == []
    assert told(look(memory, items("Zabdefz"))) == ["Z"]


def test_an_item_at_the_growing_end_of_a_list_is_new() -> None:
    memory = after("abcdef", "bcdefg", "cdefgh")
    assert told(look(memory, items("cefghz"))) == ["z"]


def test_an_entirely_new_list_is_held_once_and_reported_if_it_repeats() -> None:
    first, second, third = (items([f"{letter}{n}" for letter in LETTERS[:FEWEST]]) for n in range(3))
    memory = look(None, first).memory
    held = look(memory, second)
    assert (held.new, len(held.held), held.say) == ((), FEWEST, True)
    fast = look(held.memory, third)
    assert (len(fast.new), fast.held, fast.say) == (FEWEST, (), False)


def test_a_small_change_after_a_reset_is_reported_and_the_next_reset_is_held() -> None:
    first, second, third = (items([f"{letter}{n}" for letter in LETTERS[:FEWEST]]) for n in range(3))
    memory = look(look(None, first).memory, second).memory
    grown = look(memory, [an_item("x"), *second])
    assert told(grown) == ["x"]
    assert look(grown.memory, third).say


def test_a_short_list_is_reported_as_a_whole() -> None:
    assert len(look(after("abc"), items("xyz")).new) == 3


def test_floods_of_new_urls_are_counted_until_the_first_calm_check() -> None:
    memory = after("abc")
    for n in range(FLOODS):
        memory = look(memory, items([f"{n}-{m}" for m in range(FLOOD)])).memory if n else memory
        memory = look(memory, [*items("abc"), *items([f"{LETTERS[n]}{m}" for m in range(FLOOD)])]).memory
    assert memory.floods >= FLOODS
    assert look(memory, [*items("abc"), an_item("calm")]).memory.floods == 0


def test_the_memory_is_bounded_and_keeps_present_items() -> None:
    memory = after("abc")
    for n in range(5):
        memory = look(memory, [*items("abc"), *items([f"{n}-{m}" for m in range(900)])]).memory
    assert len(memory.records) <= 10 * (MOST_ABSENT + 910)
    assert told(look(memory, items("abcx"))) == ["x"]


@pytest.mark.parametrize("damaged", [b"", b"\xc1", b"\x93\x01\xc4\x03abc\x00", b"\x91\x02", b"\x96map"])
def test_a_memory_of_something_else_is_none(damaged: bytes) -> None:
    assert decode(damaged, ListMemory) is None

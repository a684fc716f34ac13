"""New addresses in a sitemap, and the choice of files to read from an index."""

from __future__ import annotations

from actors.content.changes.listed import (
    BLIND,
    MOST_FILES,
    MOST_TOLD,
    MapChange,
    MapFile,
    MapMemory,
    compare_map,
    next_file,
)
from actors.content.feeds import MOST_ADDRESSES, Sitemap, SitemapEntry


def a_map(*names: str) -> Sitemap:
    return Sitemap(is_index=False, addresses=tuple(SitemapEntry(f"https://a.example/{name}") for name in names))


def an_index(**files: str) -> Sitemap:
    found = (SitemapEntry(f"https://a.example/{name}.xml", modified) for name, modified in files.items())
    return Sitemap(is_index=True, addresses=tuple(found))


def told(change: MapChange) -> list[str]:
    return [item.url.removeprefix("https://a.example/") for item in change.new]


def url(name: str) -> str:
    return f"https://a.example/{name}.xml"


def test_a_new_url_is_reported_and_the_first_ones_are_not() -> None:
    first = compare_map(None, a_map("a", "b"))
    assert told(first) == []
    assert told(compare_map(first.memory, a_map("b", "c", "a"))) == ["c"]


def test_dates_in_addresses_are_no_change() -> None:
    dated = Sitemap(is_index=False, addresses=(SitemapEntry("https://a.example/a", "2026-01-01"),))
    again = Sitemap(is_index=False, addresses=(SitemapEntry("https://a.example/a", "2026-11-26T12:00:00Z"),))
    memory = compare_map(None, dated).memory
    assert compare_map(memory, again) == MapChange(memory)


def test_an_address_that_goes_and_comes_is_known() -> None:
    memory = compare_map(compare_map(None, a_map("a", "b")).memory, a_map("a")).memory
    assert told(compare_map(memory, a_map("a", "b"))) == []


def test_too_many_new_addresses_are_reported_as_one_notice() -> None:
    memory = compare_map(None, a_map("a")).memory
    change = compare_map(memory, a_map("a", *(f"n{n}" for n in range(MOST_TOLD + 1))))
    assert (change.new, change.bulk) == ((), MOST_TOLD + 1)
    assert compare_map(change.memory, a_map("a", "b")).bulk == 0


def test_an_entirely_new_sitemap_is_reported_as_one() -> None:
    memory = compare_map(None, a_map(*"abcdefghijk")).memory
    assert compare_map(memory, a_map(*(f"moved-{name}" for name in "abcdefghijk"))).bulk == 11


def test_beyond_its_bound_nothing_is_reported() -> None:
    many = compare_map(None, a_map(*(f"n{n}" for n in range(MOST_ADDRESSES)))).memory
    assert told(compare_map(many, a_map("x"))) == []


def test_all_files_of_an_index_are_read_at_first_and_are_the_beginning() -> None:
    change = compare_map(None, an_index(a="2026-01-01", b="2026-01-02"))
    assert change.due == (url("a"), url("b"))
    memory = compare_map(change.memory, a_map("a1"), url("a"))
    assert (told(memory), memory.memory.begun) == ([], False)
    memory = compare_map(memory.memory, a_map("b1"), url("b"))
    assert (told(memory), memory.memory.begun) == ([], True)


def begun(**files: str) -> MapMemory:
    memory = compare_map(None, an_index(**files)).memory
    for name in files:
        memory = compare_map(memory, a_map(f"{name}1"), url(name)).memory
    return memory


def test_only_sitemap_files_with_a_new_date_are_read_again() -> None:
    memory = begun(a="2026-01-01", b="2026-01-02")
    change = compare_map(memory, an_index(a="2026-01-01", b="2026-02-02"))
    assert change.due == (url("b"),)
    assert told(compare_map(change.memory, a_map("b1", "b2"), url("b"))) == ["b2"]
    assert compare_map(change.memory, an_index(a="2026-01-01", b="2026-02-02")).due == ()


def test_a_new_file_of_a_sitemap_index_is_read_and_its_urls_reported() -> None:
    change = compare_map(begun(a="1"), an_index(a="1", b="2"))
    assert change.due == (url("b"),)
    assert told(compare_map(change.memory, a_map("b1"), url("b"))) == ["b1"]


def test_dates_that_are_always_new_are_believed_no_more_and_files_are_read_in_turn() -> None:
    memory, reads = begun(a="0", b="0"), 0
    for now in range(1, 2 * BLIND):
        change = compare_map(memory, an_index(a=str(now), b=str(now)))
        memory = change.memory
        for file in change.due:
            memory, reads = compare_map(memory, a_map(f"{file[-5]}1"), file).memory, reads + 1
    assert memory.is_blind and reads < 2 * 2 * BLIND
    assert compare_map(memory, an_index(a="x", b="x")).due == ()
    first = next_file(memory)
    memory = compare_map(memory, a_map(f"{first[-5]}1"), first).memory
    assert {first, next_file(memory)} == {url("a"), url("b")}


def test_a_new_entry_makes_a_files_dates_trusted_again() -> None:
    memory = begun(a="0")
    for now in range(1, BLIND + 2):
        memory = compare_map(compare_map(memory, an_index(a=str(now))).memory, a_map("a1"), url("a")).memory
    assert memory.is_blind
    assert not compare_map(memory, a_map("a1", "a2"), url("a")).memory.is_blind


def test_an_index_without_dates_is_read_file_by_file() -> None:
    memory = begun(a="", b="")
    assert next_file(memory) == url("a")
    assert compare_map(memory, an_index(a="", b="")).due == ()


def test_a_file_that_has_left_its_index_changes_nothing() -> None:
    memory = begun(a="1", b="2")
    left = compare_map(memory, an_index(a="1")).memory
    assert left.files == (MapFile(url("a"), "1", True),)
    assert compare_map(left, a_map("b1"), url("b")).memory.files == left.files


def test_files_beyond_the_bound_are_left_out() -> None:
    change = compare_map(None, an_index(**{f"f{n}": "1" for n in range(MOST_FILES + 5)}))
    assert len(change.due) == MOST_FILES

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.feeds import MOST_ENTRIES, Raw, entries_of, read_feed
from tests.actors.sources.feed.generated_feeds import HELD_OUT, KINDS, NOW, Result, watched

LEAST_RECALL = 0.99
MOST_FALSE = 0.005


async def measured(seeds: range) -> Result:
    total = Result()
    for kind in KINDS:
        one = Result()
        for seed in seeds:
            one += await watched(kind, seed)
        if kind in ("ordinary", "edited"):
            assert (one.found, one.false) == (one.expected, 0), kind
        assert (one.recall >= LEAST_RECALL, one.resets) == (True, 0), (kind, one)
        total += one
    return total


async def test_generated_feeds_report_each_entry_once() -> None:
    total = await measured(range(2))
    assert (total.recall >= LEAST_RECALL, total.false_share <= MOST_FALSE) == (True, True), total


async def test_held_out_generated_feeds_report_each_entry_once() -> None:
    total = await measured(range(HELD_OUT, HELD_OUT + 60))
    assert (total.recall >= LEAST_RECALL, total.false_share <= MOST_FALSE) == (True, True), total


few = st.sampled_from(["", "a", "b", "a b"])
links = st.sampled_from(["", "https://a.example/1", "https://a.example/2"])
raws = st.builds(Raw, few, links, few, st.just(""), few, st.sampled_from([None, NOW, NOW + 60_000]), st.just(()))


@given(st.lists(raws, max_size=12))
def test_distinct_entries_of_a_document_have_distinct_names(found: list[Raw]) -> None:
    entries = entries_of(found)
    assert len({entry.key for entry in entries}) == len(set(found))
    names = {raw: entry.key for raw, entry in zip(found, entries, strict=True)}
    mixed = random.Random(1).sample(found, len(found))
    assert [entry.key for entry in entries_of(mixed)] == [names[raw] for raw in mixed]


@pytest.mark.parametrize("dated", ["newest first", "oldest first", None])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_feed_with_too_many_entries_reads_the_newest_and_counts_the_rest(
    dated: str | None, is_reversed: bool
) -> None:
    numbers = range(MOST_ENTRIES + 700)
    date = "<pubDate>{} Mar 2026 10:00:00 GMT</pubDate>" if dated else ""
    items = [f"<item><guid>{n}</guid><title>t</title>{date.format(1 + n // 300)}</item>" for n in numbers]
    shown = "".join(items[::-1] if is_reversed else items)
    found = read_feed(f"<rss version='2.0'><channel>{shown}</channel></rss>".encode(), "", "https://a.example/f")
    keys = {entry.key for entry in found.entries}
    newest = {str(n) for n in numbers[-300:]}
    assert (len(keys), found.left_out, newest <= keys) == (MOST_ENTRIES, 700, True)
    assert dated or {str(n) for n in numbers[:300]} <= keys


ITEMS = "".join(f"<item><guid>{n}</guid><title>t{n}</title></item>" for n in string.ascii_lowercase[:3])
JSON = (
    '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": "a]"}, {"id": "2", "title": "b"}]}'
)


@pytest.mark.parametrize(
    ("body", "count", "cut", "cut_entry"),
    [
        (f"<rss version='2.0'><channel><title>T</title>{ITEMS}</channel></rss>", 3, False, False),
        (f"<rss version='2.0'><channel><title>T</title>{ITEMS}</channel></rss><!-- by a cache -->", 3, False, False),
        (f"<rss version='2.0'><channel><title>T</title>{ITEMS}"[:-12], 3, True, True),
        (f"<rss version='2.0'><channel><title>T</title>{ITEMS}", 3, True, True),
        (JSON, 2, False, False),
        (JSON[:-2], 2, True, False),
        (JSON[:-6], 1, True, False),
        (JSON[: JSON.index('"b"')], 1, True, False),
    ],
)
def test_a_document_that_ends_early_says_so(body: str, count: int, cut: bool, cut_entry: bool) -> None:
    found = read_feed(body.encode(), "", "https://a.example/f")
    assert (len(found.entries), found.cut, found.cut_entry) == (count, cut, cut_entry)

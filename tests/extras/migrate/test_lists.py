"""Plain lists and tables of addresses become sources; bad ones are reported with their line."""

from __future__ import annotations

import pytest

from extras.migrate.detection import kind_of
from extras.migrate.drafting import NotReadable, Plan
from extras.migrate.lists import read_csv, read_urls

LIST = b"""\xef\xbb\xbf# what I watch
https://tides.example/news  harbour, topic:tides, kind:own | News of the tides
https://tides.example/news#today
tides.example/prices   # without a scheme
file:///etc/passwd
https://me:secret@tides.example/
"""
TABLE = b"""Name;URL;Tags;Interval;CSS selector;Paused
Prices;https://tides.example/prices;a, b;30;#prices;yes
;https://tides.example/tables;;2h;p[;
"""


def graded(plan: Plan) -> list[tuple[str, str, str]]:
    return [(each.place, each.what, each.grade) for each in plan.findings if each.grade != "exact"]


def test_a_list_has_tags_titles_and_comments() -> None:
    plan = read_urls(LIST)
    first, second = plan.sources
    assert (first.body.url, first.body.title) == ("https://tides.example/news", "News of the tides")
    assert first.body.tags == ("harbour", "topic:tides", "kind own")
    assert (second.place, second.body.url) == ("line 4", "https://tides.example/prices")
    assert graded(plan) == [
        ("line 3", "same address", "approximated"),
        ("line 4", "address", "approximated"),
        ("line 5", "address", "impossible"),
        ("line 6", "address", "impossible"),
    ]
    assert "secret" not in repr(plan)


def test_a_table_has_columns_by_their_names() -> None:
    plan = read_csv(TABLE)
    prices, tables = plan.sources
    assert prices.body.selector == "#prices" and prices.body.tags == ("a", "b") and prices.body.title == "Prices"
    assert prices.body.schedule == "1m" and not prices.enabled
    assert tables.body.schedule == "2h" and tables.body.selector is None and tables.enabled
    assert graded(plan) == [("line 2", "interval", "approximated"), ("line 3", "selector", "impossible")]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (LIST, "urls"),
        (TABLE, "csv"),
        (b"url\nhttps://a.example/\n", "csv"),
        (b"example.org/news\n", "urls"),
        (b'<?xml version="1.0"?><opml/>', "opml"),
        (b"name: x\nurl: https://a.example/\n---\n", "urlwatch"),
        (b'{"watching": {}}', "changedetection"),
        (b"PK\x03\x04...", "changedetection"),
        (b'{"line":"head","sanderling_export":1}\n{}', "sanderling"),
    ],
)
def test_the_content_says_of_which_program_a_file_is(data: bytes, kind: str) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 50, b"hello", b"[1]", b"{", b"[" * 50_000, b'{"a": 1}'])
def test_an_unknown_format_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(NotReadable, match=r"^\w.*\.$"):
        kind_of(data)

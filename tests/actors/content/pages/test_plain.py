"""Documents without HTML elements as blocks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages.blocks import MOST_BLOCKS
from actors.content.pages.page import preview_page
from actors.content.pages.plain import Plain, read_plain
from actors.content.pages.traits import HEADING, ITEM
from actors.content.tasks import look_page
from tests.support.pages import read_page

CHANGELOG = """\
# Changelog

All notable changes of this library are written here, and the newest
stand first, as is the custom with such lists of what has become of
a thing.

1.2.0 (2026-11-01)
------------------

- Mends the parser, which took a comma for a point in numbers
  of more than three digits.
- Adds `--quiet`.
* Drops Python 3.8
"""


def read(text: str, was: str = "") -> Plain:
    found = read_plain(text, was)
    assert found is not None
    return found


def lines(text: str, was: str = "") -> list[str]:
    return list(read(text, was).blocks.texts)


def test_a_text_is_read_as_paragraphs_headings_and_items() -> None:
    found = read(CHANGELOG)
    assert found.format == "text" and found.says == "plain text, 10 lines"
    assert list(zip(found.blocks.texts, found.blocks.traits, strict=True)) == [
        ("# Changelog", HEADING),
        (
            "All notable changes of this library are written here, and the newest stand first, as is the custom with "
            "such lists of what has become of a thing.",
            0,
        ),
        ("1.2.0 (2026-11-01)", HEADING),
        ("- Mends the parser, which took a comma for a point in numbers of more than three digits.", ITEM),
        ("- Adds `--quiet`.", ITEM),
        ("* Drops Python 3.8", ITEM),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-01 10:00 The pump of the north harbour is off for repair\n2026-11-01 11:00 The pump is on again now\n",
        "User-agent: *\nDisallow: /private/of/a/longer/name/than/that\nDisallow: /private/of/another/long/name\n",
        "潮汐表のお知らせ\n港の水位は明日の朝に上がります\n",
        "port = 8080\nhost = 127.0.0.1\n",
    ],
)
def test_lines_that_are_no_wrapped_paragraph_are_blocks_each(text: str) -> None:
    assert lines(text) == text.split("\n")[:-1]


def test_json_keeps_its_order_and_numbers_and_small_values_take_one_line() -> None:
    plans = [{"name": f"Plan {n}", "price": 19.50, "limits": {"users": n, "big": 10**30}} for n in (2, 1)]
    text = json.dumps({"version": "1.0", "plans": plans, "none": None, "exact": 7}).replace("7", "1.10")
    assert lines(text) == [
        '"version": "1.0"',
        '"plans":',
        '{"name": "Plan 2", "price": 19.5, "limits": {"users": 2, "big": 1000000000000000000000000000000}}',
        '{"name": "Plan 1", "price": 19.5, "limits": {"users": 1, "big": 1000000000000000000000000000000}}',
        '"none": null',
        '"exact": 1.10',
    ]
    assert lines(text) == lines(text.replace(", ", " ,\n\t")), "white space between them is none"
    assert (lines("[]"), lines("{}")) == (["[]"], ["{}"]), "nothing is a state, too"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '{"a": 1', "[1, 2"])
def test_json_that_cannot_be_read_is_text(text: str) -> None:
    assert read(text).format == "text"


def test_a_table_with_any_cell_separator_is_read_row_by_row() -> None:
    for delimiter in ",;\t":
        text = 'harbour,level,note\nNorth,"3.1","calm\nsea"\nSouth,2.4,\n'.replace(",", delimiter)
        found = read(text)
        assert (found.format, found.says) == ("csv", "CSV, 3 rows of 3 columns")
        assert found.blocks.texts == ("harbour | level | note", "North | 3.1 | calm sea", "South | 2.4")


def test_a_table_stays_one_when_a_row_is_ragged_and_a_text_stays_text_when_its_lines_are_even() -> None:
    ragged = "harbour,level\nNorth,3.1,late\nSouth,2.4\n"
    assert (read(ragged).format, read(ragged, "csv").format) == ("text", "csv")
    even = "One,two\nThree,four\nFive,six\n"
    assert (read(even).format, read(even, "text").format) == ("csv", "text")


def test_sentences_with_as_many_commas_each_are_no_table() -> None:
    for text in ("One, two\nThree, four\nFive, six\n", "One,two\n\nThree,four\n\nFive,six\n"):
        assert read(text).format == "text"


def test_xml_that_is_no_feed_is_read_element_by_element() -> None:
    sitemap = (
        '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>https://a.example/1</loc><lastmod>2026-11-01</lastmod></url>"
        "<url><loc>https://a.example/2</loc></url></urlset>"
    )
    found = read(sitemap)
    assert (found.format, found.says) == ("xml", "a sitemap, as XML, 2 lines")
    assert found.blocks.texts == ("url: loc: https://a.example/1; lastmod: 2026-11-01", "url: loc: https://a.example/2")
    rates = "<rates day='1'><rate currency='USD' value='1.0843'/><rate currency='SEK' value='11.2'/></rates>"
    assert lines(rates) == ["rates: day=1", "rate: currency=USD value=1.0843", "rate: currency=SEK value=11.2"]


def test_xml_opens_no_entity() -> None:
    entities = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY y "why">]>'
    (line,) = lines(f'<?xml version="1.0"?>{entities}<x><y>seen &f;&y;</y></x>')
    assert line == "y: seen"


def test_a_feed_that_is_read_as_a_page_shows_its_words() -> None:
    feed = "<rss version='2.0'><channel><title>T</title><item><title>One</title><description>&lt;p>New &lt;b>words"
    assert any("New words" in line for line in lines(feed + "</description></item></channel></rss>"))


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        ("<p>Hello</p>", True),
        ("Hello <b>there</b> <p>x", True),
        ("Notice: x in y.php\n<!doctype html><html><head><title>t</title></head><body><p>x</p></body></html>", True),
        ("# Notes\n\n- Closes `<div>` where it was left open.\n" + "- Another line about this and that.\n" * 9, False),
        ('{"html": "<p>x</p>"}', False),
    ],
)
def test_a_text_that_mentions_an_element_is_a_text(text: str, is_page: bool) -> None:
    assert (read_plain(text) is None) == is_page


@pytest.mark.parametrize("text", ["x\n" * 30_000, json.dumps(list(range(10**6))), "a,b\n" * 30_000, "x" * (2 << 20)])
def test_reading_is_bounded_and_a_cut_is_reported(text: str) -> None:
    blocks = read(text).blocks
    assert blocks.partial and len(blocks.texts) <= MOST_BLOCKS + 1
    assert max(map(len, blocks.texts)) <= 2_000


@pytest.mark.parametrize(("selector", "ignore"), [("main", ()), (None, (".ad",))])
def test_selectors_are_refused_for_documents_without_elements(selector: str | None, ignore: tuple[str, ...]) -> None:
    body = CHANGELOG.encode()
    with pytest.raises(ContentError, match="plain text, 10 lines: a part of a text is chosen by lines"):
        read_page(body, "", "https://a.example/", selector, ignore)
    with pytest.raises(ContentError, match="a part of a text is chosen by lines"):
        preview_page(PageRequest(body, "", "https://a.example/", selector, ignore))


def test_all_of_a_text_is_an_events_content_and_no_wall_is_seen_in_it() -> None:
    look = look_page(PageRequest(b"Log in\nAccess denied: 404 not found", "text/plain", "https://a.example/"))
    assert (look.trouble, look.title) == (None, "")
    assert look.content == "Log in\nAccess denied: 404 not found"


@given(st.text(max_size=400), st.sampled_from(["", "text", "csv", "json", "xml", "html"]))
def test_reading_never_raises_and_is_the_same_each_time(text: str, was: str) -> None:
    for head in ("", "{", "[", "<a>", "<?xml version='1.0'?><a>", "a,b\n"):
        assert read_plain(head + text, was) == read_plain(head + text, was)

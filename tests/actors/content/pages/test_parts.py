"""Parts of documents: XPath in pages and XML, JSONPath in JSON, and refused combinations."""

from __future__ import annotations

import pytest

from actors.content.changes.churn import judge
from actors.content.errors import ContentError, NoParts
from actors.content.messages import PageRequest
from actors.content.pages import selectors
from actors.content.pages.page import NOTHING, PageReading, preview_page
from storage.records.event import Context
from tests.support.pages import read_page

URL = "https://shore.example/x"
PAGE = (
    "<html><body><main><h1>Fees</h1><p id='a'>One <b>x</b> two</p><table><tr><td>Team</td><td>29</td></tr></table>"
    "<a href='/x.pdf?a=1'>doc</a><p>Three</p></main></body></html>"
)
JSON = '{"at": "x", "plans": [{"name": "Team", "price": 29.90}, {"name": "Solo", "price": 9}], "a.b": {"c": 1e3}}'
LOG = "Changes\nVersion 2.4 of May\n- a fix\nVersion 2.3 of April\n- another fix\n"
TABLE = "plan,price\nTeam,29\nSolo,9\n"
XML = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://a/1</loc>'
    "<lastmod>2026-01-01</lastmod></url><url><loc>https://a/2</loc></url></urlset>"
)


def reading(text: str, selector: str | None, *ignore: str) -> PageReading:
    return read_page(text.encode(), "", URL, selector, ignore)


@pytest.mark.parametrize(
    ("text", "selector", "blocks"),
    [
        (PAGE, "//td[2]", ("29",)),
        (PAGE, "xpath: //p[@id='a']", ("One x two",)),
        (PAGE, "(//p)[2]", ("Three",)),
        (PAGE, "//a/@href", ("/x.pdf?a=1",)),
        (PAGE, "//p/text()", ("One", "two", "Three")),
        (PAGE, "xpath:count(//p)", ("2",)),
        (PAGE, "xpath:string(//h1)", ("Fees",)),
        (PAGE, "//p[contains(., 'Three')] | //h1", ("Fees", "Three")),
        (XML, "//loc", ("https://a/1", "https://a/2")),
        (XML, "//url/lastmod/text()", ("2026-01-01",)),
        (XML, "//url[2]", ("url: loc: https://a/2",)),
        (LOG, "lines:2-3", ("Version 2.4 of May", "- a fix")),
        (LOG, "lines:5", ("- another fix",)),
        (LOG, "lines:4-", ("Version 2.3 of April", "- another fix")),
        (LOG, "lines:-1", ("Changes",)),
        (LOG, "re:^Version", ("Version 2.4 of May", "Version 2.3 of April")),
        (LOG, r"re:^Version (\S+) of (\w+)", ("2.4 May", "2.3 April")),
        (TABLE, "re:^(?!Solo)", ("plan | price", "Team | 29")),
        (TABLE, "path:Team · price", ("29",)),
        (TABLE, "path:* | price", ("29", "9")),
        (TABLE, "path:Solo", ("9",)),
        (JSON, "$.plans[*].price", ("29.90", "9")),
        (JSON, "$.plans[?@.price < 10].name", ("Solo",)),
        (JSON, "$['a.b']", ('{"c": 1e3}',)),
    ],
)
def test_a_part_is_watched_alone(text: str, selector: str, blocks: tuple[str, ...]) -> None:
    found = reading(text, selector)
    assert found.blocks == blocks
    shown = preview_page(PageRequest(text.encode(), "", URL, selector, ()))
    assert shown.matched == len(blocks) or selector.startswith("$['a.b")
    assert [block.text for block in shown.blocks] == list(blocks)


@pytest.mark.parametrize(
    ("text", "ignore", "blocks"),
    [
        (PAGE, ("//table", "//a"), ("Fees", "One x two", "Three")),
        (PAGE, ("//a/@href",), ("Fees", "One x two", "Team", "29", "doc (x.pdf)", "Three")),
        (XML, ("//lastmod", "//url[2]"), ("url: loc: https://a/1",)),
        (LOG, ("lines:1", "re:^- "), ("Version 2.4 of May", "Version 2.3 of April")),
        (JSON, ("$.at", "$.plans[0,1]", "$.plans[*]"), ('{"plans": [], "a.b": {"c": 1e3}}',)),
    ],
)
def test_ignored_parts_are_left_out(text: str, ignore: tuple[str, ...], blocks: tuple[str, ...]) -> None:
    assert reading(text, None, *ignore).blocks == blocks
    shown = preview_page(PageRequest(text.encode(), "", URL, None, ignore))
    assert [one.selector for one in shown.ignored] == list(ignore)


def test_the_rest_is_chosen_from_after_something_was_taken_out() -> None:
    assert reading(JSON, "$.plans[*].name", "$.plans[?@.price > 10]").blocks == ("Solo",)


def test_another_price_in_json_is_reported_with_its_path() -> None:
    before, after = reading(JSON, "$.plans[*].price"), reading(JSON.replace("29.90", "31"), "$.plans[*].price")
    verdict = judge(judge(None, before).memory, after)
    assert verdict.diff is not None
    (change,) = verdict.diff.changed
    assert (change.before, change.after) == ("29.90", "31")
    assert isinstance(change.context, Context) and change.context.row == "plans[Team].price"


@pytest.mark.parametrize(
    ("text", "selector", "says"),
    [
        (PAGE, "$.plans", "a part of a page is chosen by CSS or XPath; '$.plans' is for another document."),
        (PAGE, "re:a", "a part of a page is chosen by CSS or XPath; 're:a' is for another document."),
        (PAGE, "//foo:bar", "cannot be used on this page"),
    ],
)
def test_a_selector_that_cannot_be_used_is_refused_in_words(text: str, selector: str, says: str) -> None:
    with pytest.raises(ContentError, match=says.replace("$", r"\$")):
        reading(text, selector)


@pytest.mark.parametrize(
    ("text", "selector"),
    [
        (LOG, "lines:9-"),
        (LOG, "re:nowhere"),
        (PAGE, "//zzz"),
        (JSON, "$.nothing"),
        ('{"a": ["", ""]}', "$.a[*]"),
        (XML, "//nothing"),
    ],
)
def test_a_part_that_is_not_there_is_a_state(text: str, selector: str) -> None:
    assert reading(text, selector).blocks == (NOTHING,)


@pytest.mark.parametrize(
    ("text", "selector", "says"),
    [
        (JSON, "//a", r"by a JSONPath, such as \$\.items\[\*\]\.price\.$"),
        (JSON, "td > b", "by a JSONPath"),
        (XML, "$.a", "by an XPath, such as //item/price.$"),
        (XML, "loc", "by an XPath"),
        (LOG, "//p", "by lines, as lines:3-20, by a regular expression"),
        (JSON, "re:x", "by a JSONPath"),
    ],
)
def test_a_selector_of_the_wrong_kind_names_the_right_one(text: str, selector: str, says: str) -> None:
    for part in ((selector, ()), (None, (selector,))):
        with pytest.raises(NoParts, match=says):
            reading(text, part[0], *part[1])
        with pytest.raises(NoParts, match=says):
            preview_page(PageRequest(text.encode(), "", URL, *part))


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("//p[", "is not an XPath"),
        ("xpath:", "is not an XPath"),
        ("$[", "is not a JSONPath: expected a name in quotes"),
        ("p >", "is not a CSS selector"),
        ("lines:", "names no lines"),
        ("lines:-", "names no lines"),
        ("lines:0", "names no lines"),
        ("lines:9-3", "names no lines"),
        ("lines:a", "names no lines"),
        ("re:(", "is not a regular expression"),
        ("path:", "is not a path: write it as a difference does"),
        ("path:a · b › c", "is not a path"),
    ],
)
def test_an_invalid_selector_is_refused(selector: str, says: str) -> None:
    with pytest.raises(ContentError, match=says):
        selectors.check(selector)
    for good in ("//p", "xpath: //p", "$.a", " $.a ", "p > a"):
        selectors.check(good)


def test_other_files_have_no_parts() -> None:
    with pytest.raises(NoParts, match="it has no elements"):
        read_page(b"\x89PNG\r\n\x1a\n" + bytes(40), "", URL, "re:Fees", ())


def test_an_xpath_reads_no_file_and_no_address() -> None:
    for path in ("xpath:document('file:///etc/passwd')", "xpath:unparsed-entity-uri('x')"):
        with pytest.raises(ContentError):
            reading(PAGE, path)


def test_a_query_over_all_of_a_large_document_ends_in_a_sentence() -> None:
    large = "[" + ",".join("[[1]]" for _ in range(5_000)) + "]"
    with pytest.raises(ContentError, match="visits more of this document than is read"):
        reading(large, "$[?count($..*) > 0]")

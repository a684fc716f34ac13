"""Selectors copied from browsers and other programs, and selectors that would run for ever."""

from __future__ import annotations

import pytest

from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages.page import NOTHING
from actors.content.pages.selectors import check
from actors.content.tasks import look_page
from tests.support.pages import read_page

URL = "https://shore.example/"
PAGE = (
    "<html><body><h1>Metals</h1><table><tr><th>Metal<th>Price</tr><tr><td>Gold<td>61.2</tr>"
    '<tr><td>Silver<td>0.84</tr></table><button disabled data-sku="7">Buy</button></body></html>'
)
JSON = '{"items": [{"name": "D40", "price": 119}, {"name": "D50", "price": 129, "max-seats": 4}]}'


@pytest.mark.parametrize(
    ("selector", "blocks"),
    [
        ("/html/body/table/tbody/tr[3]/td[2]", ("0.84",)),
        ("table > tbody > tr:nth-child(3) > td:nth-child(2)", ("0.84",)),
        ('td:contains("Silver") + td', ("0.84",)),
        ('td:-soup-contains("Silver") + td', ("0.84",)),
        ("tr:nth-child(3) td::text", ("Silver", "0.84")),
        ("button::attr(data-sku)", ("7",)),
        ('//td[matches(., "^Sil.*")]/following-sibling::td', ("0.84",)),
        ('//td[lower-case(.)="silver"]/following-sibling::td', ("0.84",)),
        ("xpath1://tr[3]/td[2]", ("0.84",)),
        ("css:tr:nth-child(3) td:nth-child(2)", ("0.84",)),
        ("//button/@disabled", ("disabled",)),
        ("xpath:boolean(//button[@disabled])", ("true",)),
        ("xpath:count(//sold) > 0", ("false",)),
        ("xpath:number(//h1)", (NOTHING,)),
        ("td:contains('Tin')", (NOTHING,)),
    ],
)
def test_a_selector_of_another_program_selects_the_same(selector: str, blocks: tuple[str, ...]) -> None:
    check(selector)
    assert read_page(PAGE.encode(), "text/html", URL, selector, ()).blocks == blocks


@pytest.mark.parametrize(
    ("selector", "blocks"),
    [
        (".items[0].price", ("119",)),
        ("items[0].price", ("119",)),
        ("json:$.items[0].price", ("119",)),
        ("jq:.items[] | .price", ("119", "129")),
        ("$.items[?(@.name =~ /d4.*/i)].price", ("119",)),
        ("$.items[D50].max-seats", ("4",)),
        ("items[D50].price", ("129",)),
        ("$.items[?@.price > 900].name", (NOTHING,)),
    ],
)
def test_a_path_in_json_is_read_as_other_programs_and_our_own_events_write_it(
    selector: str, blocks: tuple[str, ...]
) -> None:
    check(selector)
    assert read_page(JSON.encode(), "application/json", URL, selector, ()).blocks == blocks


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("//td[string-join(., '')]", r"it has no function string-join\(\)"),
        ("//td[matches(., '(')]", "is not a regular expression"),
        ("$.items[?(@.name =~ /(/)]", "is not a regular expression"),
        ("p::before", "are ::text and ::attr"),
        ("xpath:" + "(" * 5000 + "//a" + ")" * 5000, "is not an XPath"),
        (":not(" * 3000 + "a" + ")" * 3000, "is not a CSS selector"),
    ],
)
def test_an_unknown_name_is_refused_with_a_sentence(selector: str, says: str) -> None:
    with pytest.raises(ContentError, match=says):
        check(selector)
        read_page(PAGE.encode(), "text/html", URL, selector, ())


@pytest.mark.parametrize(
    ("body", "content_type", "selector"),
    [
        ("<html><body><p>" + "a" * 60 + "!</p></body></html>", "text/html", "//p[matches(., '^(a+)+$')]"),
        ("a" * 60 + "!\nrest\n", "text/plain", "re:^(a+)+$"),
        ('{"items": [{"name": "' + "a" * 60 + '!"}]}', "application/json", "$.items[?@.name =~ /^(a+)+$/]"),
    ],
)
def test_an_expression_that_would_take_for_ever_is_stopped_and_says_so(
    body: str, content_type: str, selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.content.pages.selectors._SECONDS", 0.02)
    with pytest.raises(ContentError, match="takes too long on this document"):
        read_page(body.encode(), content_type, URL, selector, ())


def test_a_part_that_appears_goes_and_returns_is_reported_each_time() -> None:
    jobs = "<html><body><h1>Jobs</h1><p>We look for people who like the sea.</p>{}</body></html>"
    empty, full = jobs.format(""), jobs.format("<ul class=jobs><li>Boat builder</ul>")
    memory, told = None, list[bool]()
    for number, body in enumerate((empty, empty, full, full, empty, empty, full), 1):
        asked = PageRequest(body.encode(), "text/html", URL, ".jobs li", memory=memory, number=number)
        look = look_page(asked)
        memory = look.memory
        told.append(look.kind == "changed")
    assert told == [False, False, True, False, False, True, True]

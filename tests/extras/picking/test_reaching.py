"""HTML selectors made from a pressed block, on generated pages and on pages that change."""

from __future__ import annotations

import random

import pytest

from actors.content.bodies import markup
from actors.content.pages.page import blocks_in, open_page
from extras.picking.deriving import from_top
from extras.picking.reaching import HtmlReaches

SHOP = """
<nav><a href="/">Home</a></nav>
<main><h1>Day tickets</h1><p>Read this.<br>And this.<br>And <b>that</b>.</p>
<h2>Prices</h2>
<table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Adult</td><td>14 €</td></tr>
<tr><td>Child</td><td>7 €</td></tr></table>
<h2>News</h2>
<ul class="css-1x2y3z news"><li><a href="/n/harbour">Harbour</a></li><li><a href="/n/museum">Museum</a></li></ul>
<div id="offer-4711"><div class="card"><div class="name">Alpha</div><div class="price">1 €</div></div>
<div class="card"><div class="name">Beta</div><div class="price">2 €</div></div></div>
<dl><dt>Open</dt><dd>9 to 5</dd><dt>Phone</dt><dd>0123</dd></dl>
<p>Version: 2.1</p></main>
"""


def reaches(body: str) -> HtmlReaches:
    text = f"<html><body>{body}</body></html>"
    return HtmlReaches(markup.parse(text), text)


def at(found: HtmlReaches, text: str) -> int:
    return found.blocks.texts.index(text)


def chosen(body: str, selector: str) -> list[str]:
    """Return the texts that a selector keeps of a page."""
    opened = open_page(f"<html><body>{body}</body></html>".encode(), "text/html", selector, ())
    return list(blocks_in(opened).texts)


def test_the_number_of_a_heading_names_it_only_among_similar_headings() -> None:
    """A numbered heading among similar ones is stable; the texts below it change."""
    texts = [f"{word} anchored text that goes on and says enough to be named by how it begins" for word in "ABC"]
    board = "".join(f"<h2>Notice {number}</h2><p>{text}</p>" for number, text in enumerate(texts, 1))
    found = reaches(board)
    assert found.this(at(found, texts[1])) == "//h2[normalize-space()='Notice 2']/following::p[1]"
    lone = reaches(f"<p>{texts[0]}</p><h2>Comments 12</h2><p>{texts[1]}</p>")
    assert "Comments 12" not in lone.this(at(lone, texts[1]))


@pytest.mark.parametrize(
    ("block", "selector"),
    [
        ("Day tickets", "h1"),
        ("14 €", "//tr[*[1][normalize-space()='Adult']]/*[2]"),
        ("9 to 5", "//dt[normalize-space()='Open']/following-sibling::*[1]"),
        ("Museum", 'a[href="/n/museum"]'),
        ("Version: 2.1", "//p[starts-with(normalize-space(),'Version:')]"),
        ("And this.", "//h1[normalize-space()='Day tickets']/following::p[1]/text()[normalize-space()][2]"),
    ],
)
def test_a_block_is_named_by_stable_attributes(block: str, selector: str) -> None:
    found = reaches(SHOP)
    assert found.this(at(found, block)) == selector
    assert chosen(SHOP, selector) == [block]


RELEASES = """
<main><h1>All releases</h1><h3>2.5.1</h3><ul><li>Released 4 May</li><li>Source: a.tgz</li></ul>
<h3>2.5.0</h3><ul><li>Released 2 April</li><li>Source: b.tgz</li></ul>
<h2>CVE-2018-1288 of us</h2><table><tr><td>Affected</td><td>1.0</td></tr><tr><td>Fixed</td><td>1.1</td></tr></table>
<h2>CVE-2017-1261 of us</h2><table><tr><td>Affected</td><td>0.9</td></tr><tr><td>Fixed</td><td>0.10</td></tr></table>
<h2>L'usage du site</h2><p>Short.</p><h2>More</h2><p>Other.</p></main>
"""
FIRST = "We may share what you tell us with those who work for us and who may use it for nothing else"
OTHERS = f"<p>{FIRST}, and only if it's needed.</p><p>Short 1.</p><p>Another.</p>"


@pytest.mark.parametrize(
    ("block", "selector"),
    [
        ("Released 2 April", "//h3[normalize-space()='2.5.0']/following::li[1]"),
        ("Source: b.tgz", "//h3[normalize-space()='2.5.0']/following::li[starts-with(normalize-space(),'Source:')][1]"),
        (
            "0.10",
            "//h2[normalize-space()='CVE-2017-1261 of us']/following::tr[*[1][normalize-space()='Fixed']][1]/*[2]",
        ),
        ("Short.", """//h2[normalize-space()="L'usage du site"]/following::p[1]"""),
    ],
)
def test_blocks_in_similar_parts_are_named_by_their_headings(block: str, selector: str) -> None:
    found = reaches(RELEASES)
    assert found.this(at(found, block)) == selector
    put_in = RELEASES.replace(
        "<h3>2.5.1", "<h3>2.6.0</h3><ul><li>Released 9 June</li><li>Source: c.tgz</li></ul><h3>2.5.1"
    )
    put_in = put_in.replace(
        "<h2>CVE-2018", "<h2>CVE-2020-7 of us</h2><table><tr><td>Fixed</td><td>9</td></tr></table><h2>CVE-2018"
    )
    assert chosen(put_in, selector) == [block]


def test_a_short_text_is_named_by_a_paragraph_that_is_not_adjacent() -> None:
    found = reaches(f"<main>{OTHERS}</main>")
    selector = found.this(at(found, "Another."))
    assert selector.endswith("/following-sibling::*[2]")
    assert chosen(f"<main><p>New.</p>{OTHERS}</main>", selector) == ["Another."]


def test_a_long_text_is_known_by_how_it_begins_and_may_change_behind_that() -> None:
    long = f"{FIRST}, as it says in the terms that hold since the first of May and that you have agreed to"
    found = reaches(f"<main><p>One 1</p><p>{long} in 2024.</p><p>Two 2</p></main>")
    selector = found.this(at(found, f"{long} in 2024."))
    assert chosen(f"<main><p>One 1</p><p>New</p><p>{long} in 2025.</p></main>", selector) == [f"{long} in 2025."]


@pytest.mark.parametrize(
    ("block", "selector", "texts"),
    [
        ("7 €", "table > tr > td:nth-of-type(2)", ["14 €", "7 €"]),
        ("Harbour", "ul.news > li > a", ["Harbour", "Museum"]),
    ],
)
def test_all_that_are_like_a_block_are_chosen_together(block: str, selector: str, texts: list[str]) -> None:
    found = reaches(SHOP)
    assert found.like(at(found, block)) == selector
    assert chosen(SHOP, selector) == texts


def test_like_cards_are_the_same_part_of_each_card() -> None:
    found = reaches(SHOP)
    assert chosen(SHOP, found.like(at(found, "2 €"))) == ["1 €", "2 €"]


@pytest.mark.parametrize("block", ["Day tickets", "Version: 2.1"])
def test_a_unique_block_has_no_similar_ones(block: str) -> None:
    body = SHOP.replace("<p>Read this.<br>And this.<br>And <b>that</b>.</p>", "")
    found = reaches(body)
    assert found.like(at(found, block)) == ""


def test_the_part_around_a_block_is_its_section() -> None:
    found = reaches(SHOP)
    assert found.part(at(found, "7 €")) == "table"
    assert chosen(SHOP, found.part(at(found, "2 €"))) == ["Beta", "2 €"]
    assert found.part(at(reaches("<p>One</p><p>Two</p>"), "One")) == ""


def test_a_line_among_others_is_selected_with_its_element() -> None:
    found = reaches(SHOP)
    assert chosen(SHOP, found.this(at(found, "And this."), whole=True)) == ["Read this.", "And this.", "And that."]


def test_ids_and_classes_that_programs_made_are_not_used() -> None:
    found = reaches(SHOP)
    made = {found.this(i) for i in range(len(found.blocks.texts))} | {found.part(at(found, "Beta"))}
    assert not [selector for selector in made if "css-1x2y3z" in selector or "4711" in selector]


def test_machine_readable_data_has_no_place_on_the_page() -> None:
    offer = '{"@type":"Product","name":"Tea","offers":{"@type":"Offer","price":"12.50","priceCurrency":"EUR"}}'
    found = reaches(f'<h1>Tea</h1><p>Black tea.</p><script type="application/ld+json">{offer}</script>')
    declared = at(found, "12.50 EUR")
    assert (found.this(declared), found.like(declared), found.part(declared), found.link(declared)) == (
        "",
        "",
        "",
        None,
    )
    assert found.this(at(found, "Black tea.")) == "p"


def drawn(chance: random.Random) -> str:
    """Return a random page: nested, repeated, mixed, hidden, with stable and unstable names."""
    words = iter(range(100_000))

    def text() -> str:
        return chance.choice(["Wort", "wörter", "言葉", "مرحبا", "x  y"]) + f" {next(words)}"

    def named() -> str:
        id = chance.choice(["", "", "", f' id="a{chance.randint(0, 4)}"', ' id="post-12345"', ' id="a b\'c"'])
        made = chance.choice(["", "", ' class="name"', ' class="css-1x2y3z box"', ' class="is-open 2x"', " hidden"])
        return id + (made if chance.random() < 0.7 else "")

    def inside(depth: int) -> str:
        return "".join(element(depth - 1) for _ in range(chance.randint(0, 4)))

    def element(depth: int) -> str:
        if depth <= 0 or chance.random() < 0.25:
            return chance.choice([text(), f"<b>{text()}</b>", f"{text()}<br>{text()}", f"<p{named()}>{text()}</p>"])
        tag = chance.choice(["div", "ul", "section", "table", "dl", "h2", "x-y", "span", "a"])
        if tag == "table":
            cells = "".join(f"<tr><th>{text()}</th><td{named()}>{inside(depth - 1)}</td></tr>" for _ in range(2))
            return f"<table{named()}>{cells}</table>"
        if tag == "dl":
            return f"<dl><dt>{text()}</dt><dd>{inside(depth - 1)}</dd></dl>"
        link = f' href="/{chance.randint(0, 9)}"' if tag == "a" else ""
        return f"<{tag}{named()}{link}>{inside(depth)}</{tag}>"

    return "".join(element(5) for _ in range(chance.randint(1, 6)))


@pytest.mark.parametrize("seed", range(60))
def test_a_selector_chooses_exactly_the_block_or_the_least_that_can_be_chosen(seed: int) -> None:
    """The block alone where an element or a text holds nothing else; the marked blocks always equal the kept ones."""
    chance = random.Random(seed)
    body = drawn(chance)
    found = reaches(body)
    numbers = list(range(len(found.blocks.texts)))
    alone = 0
    for number in chance.sample(numbers, min(12, len(numbers))):
        selector = found.this(number)
        if not selector:  # directly in the body, next to other text
            continue
        marked = sorted(found.chosen(selector))
        assert number in marked
        assert chosen(body, selector) == [found.blocks.texts[each] for each in marked]
        alone += marked == [number]
        for wider in filter(None, (found.like(number), found.part(number))):
            assert number in found.chosen(wider)
            assert len(found.chosen(wider)) > 1
    assert alone or len(numbers) < 3


@pytest.mark.parametrize("seed", range(20))
def test_a_selector_of_one_kind_is_of_that_kind_and_chooses_elements(seed: int) -> None:
    body = drawn(random.Random(1000 + seed))
    found = reaches(body)
    for number in range(0, len(found.blocks.texts), 5):
        css, xpath = found.this(number, "css"), found.this(number, "xpath", whole=True)
        assert not css.startswith("/")
        assert not xpath or xpath.startswith("/")
        assert not css or found.chosen(css) == found.chosen(xpath)


def test_a_block_is_found_again_when_much_of_the_page_has_changed() -> None:
    """A new banner, a new column, rows in another order, a new build's classes: the price of Adult stays."""
    found = reaches(SHOP)
    price, open_hours = found.this(at(found, "14 €")), found.this(at(found, "9 to 5"))
    later = SHOP.replace("<main>", '<div class="banner">New</div><main><section>').replace(
        "</main>", "</section></main>"
    )
    later = later.replace("css-1x2y3z", "css-9q8w7e").replace(
        "<tr><td>Adult", "<tr><td>Old</td><td>9 €</td></tr><tr><td>Adult"
    )
    later = (
        later.replace("14 €", "15 €")
        .replace("9 to 5", "9 to 6")
        .replace("<dt>Open", "<dt>Where</dt><dd>Here</dd><dt>Open")
    )
    assert chosen(later, price) == ["15 €"]
    assert chosen(later, open_hours) == ["9 to 6"]


def test_the_way_from_the_top_is_always_there() -> None:
    root = markup.parse("<html><body><div><x:y>One</x:y></div></body></html>")
    element = root.find("body")[0][0]
    assert from_top(element).xpath == "/html/body/div/*[1]"


CONTRACT = (
    "<p>{new}</p><p>These are the terms of the harbour, and whoever moors here has read them all before.</p>"
    "<p>A guest who stays for more than a week pays the price of a month instead of that of days.</p>"
    "<p>5.4 If you terminate your stay before its end, the price is not paid back, whatever the reason was.</p>"
    "<p>{more}The harbour master may show boats to another place, and says so a day before that happens.</p>"
)


def test_a_paragraph_of_a_long_text_is_named_by_its_clause_or_its_neighbour_and_not_by_position() -> None:
    before, after = CONTRACT.format(new="x", more=""), CONTRACT.format(new="A word first.</p><p>Another", more="Now: ")
    found = reaches(before)
    clause, guest = (
        next(n for n, text in enumerate(found.blocks.texts) if words in text) for words in ("5.4", "guest")
    )
    assert found.this(clause) == "//p[starts-with(normalize-space(),'5.4 ')]"
    beside = (
        "//p[starts-with(normalize-space(),'These are the terms of the harbour, and whoever')]/following-sibling::*[1]"
    )
    assert found.this(guest) == beside
    for at in (clause, guest):
        assert chosen(after, found.this(at)) == [found.blocks.texts[at]]


def test_a_neighbour_that_is_short_or_has_figures_is_no_name() -> None:
    found = reaches(
        "<div><p>Seen by 4,711 people in the last 24 hours, and that is a lot</p><p>The news of today</p></div>"
    )
    assert "4,711" not in found.this(at(found, "The news of today"))

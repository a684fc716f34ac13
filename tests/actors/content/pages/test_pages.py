from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from justext.core import classify_paragraphs, revise_paragraph_classification

from actors.content.bodies.text import normalise
from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages.blocks import Blocks
from actors.content.pages.page import BAD, GOOD, NOTHING, SHORT, classes_of, in_context, stop_words, with_heads
from actors.content.pages.selectors import check
from actors.content.pages.traits import CELL, FURNITURE, HEADING, LINK, TOP
from actors.content.tasks import look_page
from storage.records.identity import rfc3339
from tests.actors.content.written_pages import PROSE, URL, html, reading
from tests.support.pages import read_page


class Paragraph:
    """A block with jusText's interface; chars_count_in_links: its characters inside links."""

    dom_path = cf_class = class_type = ""

    def __init__(self, text: str, chars_count_in_links: int, is_heading: bool) -> None:
        self.text, self.chars_count_in_links, self.is_heading = text, chars_count_in_links, is_heading

    def __len__(self) -> int:
        return len(self.text)

    def stopwords_density(self, stop: frozenset[str]) -> float:
        words = self.text.lower().split()
        return sum(word in stop for word in words) / max(1, len(words))

    def links_density(self) -> float:
        return self.chars_count_in_links / len(self.text)


def traits(page: bytes) -> dict[str, int]:
    look = reading(page)
    return dict(zip(look.blocks, look.traits, strict=True))


def test_blocks_come_in_reading_order_and_cells_and_items_are_blocks_of_their_own() -> None:
    look = reading(html("<ul><li>one<li>two</ul>", "<table><tr><td>a</td><td>b</td></tr></table>", "x <b>y</b>z"))
    assert look.blocks == ("The shore", "one", "two", "a", "b", "x yz")
    assert len(look.keys) == len(look.blocks)
    assert all(len(key) == 16 for key in look.keys)


def test_the_pages_head_is_read() -> None:
    head = (
        '<meta property="og:title" content="Better title"><meta name="author" content="Ann">'
        '<meta property="article:published_time" content="2026-03-10T10:00:00+01:00">'
    )
    look = reading(html(*PROSE, head=head))
    assert (look.title, look.author) == ("Better title", "Ann")
    assert rfc3339(look.published_at) == "2026-03-10T09:00:00.000Z"


def test_the_content_is_the_running_text_without_boilerplate() -> None:
    page = html(*PROSE, around="<nav><a href=/>Home</a></nav>{}<footer>Imprint and contact</footer>")
    content = look_page(PageRequest(page, "text/html", URL)).content
    assert all(text in content for text in PROSE)
    assert "Imprint" not in content
    assert "Home" not in content


def test_the_content_of_a_list_page_is_its_blocks() -> None:
    items = [f'<li><a href="/{n}">Headline number {n}</a></li>' for n in range(40)]
    page = html("<ul>" + "".join(items) + "</ul>")
    assert "Headline number 39" in look_page(PageRequest(page, "text/html", URL)).content


def test_boilerplate_is_known_by_tag_role_name_and_leading_label() -> None:
    around = (
        "<nav>by tag</nav><div role=search>by role</div><div class='cookie-banner'>by name</div>{}"
        "<div><b>Related articles</b><ul><li><a href=/x>by label</a></ul></div>"
    )
    marks = traits(html(*PROSE, around=around))
    for text in ("by tag", "by role", "by name", "by label"):
        assert marks[text] & FURNITURE, text
    assert not any(marks[text] & FURNITURE for text in PROSE)


def test_names_that_would_cover_most_of_a_page_are_not_believed() -> None:
    marks = traits(html(*PROSE, around="<div class='nav-open sidebar'>{}</div>").replace(b"main>", b"div>"))
    assert not any(mark & FURNITURE for mark in marks.values())


def test_headings_cells_and_links_are_marked() -> None:
    marks = traits(
        html("<h2>Part</h2>", "<table><tr><td>7</td></tr></table>", '<p><a href="/x">go there</a></p>', *PROSE)
    )
    assert marks["The shore"] & TOP
    assert marks["Part"] & HEADING
    assert marks["7"] & CELL
    assert marks["go there"] & LINK


def test_hidden_text_is_not_read() -> None:
    page = html(
        '<span class="sr-only">opens a new window</span>',
        '<p style="left:-9999px">probe</p>',
        "<p hidden>x</p>",
        *PROSE,
    )
    assert reading(page).blocks == ("The shore", *PROSE)


def test_a_mail_address_that_a_cdn_hides_is_shown() -> None:
    code = bytes([0x42, *(byte ^ 0x42 for byte in b"ann@x.example")]).hex()
    look = reading(html(f'Write to <a class="__cf_email__" data-cfemail="{code}">[email&#160;protected]</a>'))
    assert "Write to ann@x.example" in look.blocks
    none = reading(html('Write to <a class="__cf_email__" data-cfemail="1f3a99c0">[email&#160;protected]</a>'))
    assert "Write to [email protected]" in none.blocks


def test_selector_and_ignore_narrow_the_page() -> None:
    page = html('<div id="price">From <b>$9</b> a month</div>', '<p class="ad">Buy!</p> tail', *PROSE)
    assert reading(page, "#price").blocks == ("From $9 a month",)
    assert "Buy!" not in reading(page, None, (".ad",)).blocks
    assert "tail" in reading(page, None, (".ad",)).blocks


def test_a_selector_that_matches_inside_of_its_own_match_is_read_once() -> None:
    assert reading(html("<div>a<div>b</div></div>"), "div").blocks == ("a", "b")


@pytest.mark.parametrize("selector", ["p:nth-child(", "p::before", "p::attr()", "<p>", "a[", ">>>"])
def test_a_selector_that_is_no_css_is_refused_in_words(selector: str) -> None:
    with pytest.raises(ContentError, match="is not a CSS selector"):
        check(selector)


def test_a_selector_without_a_match_is_a_state_and_no_page_an_error() -> None:
    assert reading(html("x"), ".absent").blocks == (NOTHING,)
    wall = b"<html><head><title>Just a moment...</title></head><body>x</body></html>"
    with pytest.raises(ContentError, match="matches nothing, and this is not the page itself"):
        read_page(wall, "", URL, ".absent", ())
    for body, word in ((b"%PDF-1.4", "PDF"), (b"", "empty"), (b"\x1f\x8b\x08nonsense", "gzip")):
        with pytest.raises(ContentError, match=word):
            read_page(body, "", URL, None, ())


@pytest.mark.parametrize(
    ("page", "word"),
    [
        (html("Please sign in to go on", '<input type="password">', title="Sign in"), "login"),
        (html("Checking your browser before you go on", title="Just a moment..."), "challenge"),
        (html("The page you want is not here.", title="404 Not Found"), "status 200"),
        (html("We will be back soon", title="Under maintenance"), "status 200"),
        (html("You are now in line. Thank you for waiting.", title="Tickets"), "queue"),
        (html("Before you continue to the site, choose your cookies", title="Welcome"), "consent"),
        (html("You need to enable JavaScript to run this app.", title="App"), "JavaScript"),
        (html(title=""), "empty"),
    ],
)
def test_walls_and_errors_with_status_200_are_trouble(page: bytes, word: str) -> None:
    trouble = reading(page).trouble
    assert trouble is not None
    assert word in trouble.says


def test_a_page_that_writes_about_errors_and_logins_is_a_page() -> None:
    long = [*PROSE, *PROSE, "How to fix error 404 and log in again after the page was not found on the server."]
    assert reading(html(*long, title="404: a history of the error page")).trouble is None
    assert reading(html(*PROSE[:2])).trouble is None


def test_x9_a_page_deeper_than_the_parser_goes_is_marked_partial() -> None:
    deep = html(*PROSE) + b"<div>" * 3000 + b"the deep end"
    assert reading(deep).partial
    assert not reading(html(*PROSE)).partial


def test_the_last_blocks_of_a_long_page_are_joined_and_a_new_one_changes_a_single_piece() -> None:
    rows = [f"block {n}" for n in range(12_000)]
    look, more = reading(html(*rows)), reading(html(*rows[:11_000], "one more", *rows[11_000:]))
    assert 10_000 < len(look.blocks) < 10_500 and not look.partial
    assert " ".join(look.blocks[1:]) == " ".join(rows)
    (piece,) = set(more.blocks) - set(look.blocks)
    assert "block 10999 one more block 11000" in piece


def test_a_page_is_cut_at_a_million_characters() -> None:
    look = reading(html(*(f"block {n} {'x' * 1000}" for n in range(1_200))))
    assert look.partial and len(look.blocks) < 1_100


@given(st.binary(max_size=300))
def test_hostile_pages_end_as_readings_or_content_errors(body: bytes) -> None:
    for page in (body, b"<p>" + body, b"<html><body class='" + body):
        try:
            read_page(page, "", URL, None, ())
        except ContentError as error:
            assert error.reason


def test_many_blocks_are_classified_as_justext_would() -> None:
    chance = random.Random(4)
    stop, rare = ["the", "and", "of", "to", "in"], ["tide", "foam", "wader", "shingle", "estuary"]
    texts = [
        " ".join(chance.choices(stop + rare, [chance.choice((1, 3))] * 5 + [2] * 5, k=chance.choice((3, 14, 60))))
        for _ in range(400)
    ]
    texts += ["© the tide", "&copy the foam"]
    linked = [len(text) * chance.choice((0, 0, 0, 1, 9)) // 10 for text in texts]
    headings = [chance.random() < 0.2 for _ in texts]
    theirs = [Paragraph(*each) for each in zip(texts, linked, headings, strict=True)]
    classify_paragraphs(theirs, stop_words("English"))
    ours = classes_of(texts, linked)
    assert "".join(paragraph.cf_class[0] for paragraph in theirs) == ours
    revise_paragraph_classification(theirs)
    revised = in_context(ours, [i for i, heading in enumerate(headings) if heading], list(map(len, texts)))
    assert "".join(paragraph.class_type[0] for paragraph in theirs) == revised
    assert set(revised) == {BAD, GOOD}
    assert (GOOD, SHORT, True) in zip(revised, ours, headings, strict=True)


def test_a_title_is_added_if_no_text_shows_it_in_any_spelling() -> None:
    chance = random.Random(5)
    words = ["Tide", "tide", "straße", "STRASSE", "ﬁre", "Fire", "e\u0301t", "ét", "Low\x84", "low"]
    for _ in range(400):
        *texts, first, second, described = (" ".join(chance.choices(words, k=chance.randint(1, 2))) for _ in range(8))
        blocks = Blocks(("Birds", *texts), (HEADING | TOP, *[0] * 5), (0,) * 6, partial=False)
        title, description = normalise(f"{first} | {second}"), normalise(described)
        shown = {normalise(text).casefold() for text in texts}
        parts = " – ".join(part for part in title.split(" | ") if part.casefold() not in shown)
        said = [text for text in (parts, description) if text and text.casefold() not in shown]
        assert with_heads(blocks, (title, description)).texts == ("Birds", *said, *texts)

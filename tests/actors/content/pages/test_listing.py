"""The items of list pages, found without selectors."""

from __future__ import annotations

import pytest

from actors.content.pages.listing import items_of
from actors.content.pages.page import open_page

URL = "https://a.example/news"


def found(body: str, selector: str | None = None) -> list[tuple[str, str]]:
    opened = open_page(f"<html><body>{body}</body></html>".encode(), "text/html", selector, ())
    items = items_of(opened.root, opened.watched, URL, judged=opened.judged)
    return [(item.title, item.url.removeprefix("https://a.example")) for item in items]


def a_list(*names: str, more: str = "") -> str:
    rows = "".join(f'<li><a href="/n/{name}">The {name} is open again</a>{more}</li>' for name in names)
    return f"<main><h1>News</h1><ul>{rows}</ul></main>"


ITEMS = [("The harbour is open again", "/n/harbour"), ("The museum is open again", "/n/museum")]
NAMES = ("harbour", "museum")


@pytest.mark.parametrize(
    "around",
    [
        "<nav><a href='/one'>One of the menu</a> <a href='/two'>Two of the menu</a></nav>",
        "<footer><ul><li><a href='/imprint'>All about who we are</a></li></ul></footer>",
        "<aside><ul><li><a href='/old'>What was read most of all</a></li></ul></aside>",
        "<div><a href='/news/page/2'>2</a> <a href='/news/page/3'>3</a> <a href='?page=4'>Next page</a></div>",
        "<div><a href='?sort=title'>Sort by title</a> <a href='?colour=red&size=1'>Only the red ones</a></div>",
        "<table><tr><td><a href='/d/1'>1</a></td><td><a href='/d/2'>2</a></td><td><a href='/d/3'>3</a></td></tr>",
        "<p><a href='/tag/sea'>All about the sea</a> <a href='/tag/land'>All about the land</a></p>",
        "<p><a href='https://www.facebook.com/sharer.php?u=x'>Share this on a network</a></p>",
        "<p><a href='/photo.jpg'>A picture of the harbour</a> <a href='mailto:a@a.example'>Write to us today</a></p>",
        "<ul style='display:none'><li><a href='/n/hidden'>What nobody sees of it</a></li></ul>",
    ],
)
def test_text_around_a_list_is_no_item(around: str) -> None:
    assert found(a_list(*NAMES) + around) == ITEMS


@pytest.mark.parametrize(
    "more",
    [
        ' by <a href="/u/bo">Bo</a>',
        ' <a href="/n/{}#comments">3 comments</a>',
        ' <a rel="tag" href="/about-sea">all about the sea</a>',
        ' <a href="/n/harbour"><img alt="A picture of it and much more"></a>',
    ],
)
def test_a_block_next_to_an_item_is_no_item(more: str) -> None:
    assert [url for _, url in found(a_list(*NAMES, more=more))] == ["/n/harbour", "/n/museum"]


def test_links_that_say_more_are_named_by_the_text_next_to_them() -> None:
    rows = "".join(f'<div><h3>The {name} is open</h3><a href="/n/{name}">Read more</a></div>' for name in NAMES)
    assert [title for title, _ in found(f"<main>{rows}</main>")] == ["The harbour is open", "The museum is open"]


def test_a_card_is_named_by_its_heading_without_the_words_above_it() -> None:
    rows = "".join(
        f'<a href="/n/{name}"><h3><span class="kicker">Town</span> The {name}</h3><p>Some longer words about it</p></a>'
        for name in NAMES
    )
    assert [title for title, _ in found(f"<main>{rows}</main>")] == ["The harbour", "The museum"]


def test_the_longest_words_above_a_name_are_left_out() -> None:
    above = "".join(f"<i class=kicker>{'Town hall'[:end]}</i><br>" for end in range(1, 10))
    rows = "".join(f'<div><a href="/n/{name}">{above}Town hall: the {name} and its sea</a></div>' for name in NAMES)
    assert [title for title, _ in found(f"<main>{rows}</main>")] == [f"the {name} and its sea" for name in NAMES]


def test_a_list_of_external_links_has_items_and_a_wall_next_to_a_list_has_none() -> None:
    away = "".join(f'<li><a href="https://{name}.example/x">What {name} says of it all</a></li>' for name in "bcdef")
    assert len(found(f"<main><ul>{away}</ul></main>")) == 5
    wall = "".join(f'<b><a href="https://www.instagram.com/p/{n}">Look at number {n} of it</a></b>' for n in range(5))
    assert found(f"{a_list('harbour', 'museum')}<div>{wall}</div>") == ITEMS


def test_a_selector_leaves_everything_else_out() -> None:
    both = f"<div id=a>{a_list('harbour', 'museum')}</div><div id=b>{a_list('bridge', 'tower')}</div>"
    assert [url for _, url in found(both, "#b")] == ["/n/bridge", "/n/tower"]


def test_items_that_differ_in_parameters_only_are_items() -> None:
    rows = "".join(f'<li><a href="/news?id={n}">The story with number {n} in it</a></li>' for n in (1, 2, 3))
    assert [url for _, url in found(f"<main><ul>{rows}</ul></main>")] == [f"/news?id={n}" for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "body", ["", "<p>Nothing is linked here.</p>", "<a href='https://['>x</a>", "<a href=x>" * 500]
)
def test_rubbish_has_no_items_and_does_no_harm(body: str) -> None:
    assert len(found(f"<main><p>Some text</p>{body}</main>")) <= 1


def test_a_forum_thread_with_topic_in_its_address_is_an_item() -> None:
    body = a_list(*NAMES).replace("/n/", "/forums/topic/")
    assert [url for _, url in found(body)] == ["/forums/topic/harbour", "/forums/topic/museum"]
    assert found(a_list(*NAMES).replace("/n/", "/topic/")) == []


def test_a_parameter_of_the_pages_own_address_is_no_filter() -> None:
    body = "".join(f'<p><a href="/news?s=notes&mode=form&id={name}">The {name} is open</a></p>' for name in NAMES)
    opened = open_page(f"<html><body>{body}</body></html>".encode(), "text/html", None, ())
    url = f"{URL}?s=notes&mode=list"
    assert len(items_of(opened.root, opened.watched, url, judged=opened.judged)) == len(NAMES)
    assert found(body) == []


def test_a_pinned_row_with_any_class_name_is_an_item() -> None:
    row = '<li class="row{}"><a href="/n/{}">The {} is open again</a></li>'
    rows = [row.format(more, name, name) for more, name in (("", "a"), ("", "b"), (" announcement", "c"), ("", "d"))]
    assert [url for _, url in found(f"<ul>{''.join(rows)}</ul>")] == ["/n/a", "/n/b", "/n/c", "/n/d"]
    alone = '<div class="announcement"><a href="/sale">All is sold for less this week</a></div>'
    assert "/sale" not in [url for _, url in found(alone + f"<ul>{rows[0]}{rows[1]}</ul>")]


def test_a_link_of_a_menu_that_stands_near_a_list_does_not_hide_the_list() -> None:
    menu = "".join(f'<li><a href="/m/{name}">All that we have of the {name}</a></li>' for name in NAMES)
    near = '<li><a href="/m/near">All that we have in your town</a></li>'
    threads = "".join(f'<p><a href="/t/{number}">Thread {chr(97 + number)}</a></p>' for number in range(8))
    body = f"<section><ul>{menu}</ul></section><section><ul>{near}</ul>{threads}</section>"
    assert {f"/t/{number}" for number in range(8)} <= {url for _, url in found(body)}


def test_events_and_places_in_equal_tags_are_distinguished_by_class() -> None:
    what = '<p class="what"><a href="/e/{0}">The {0} plays all that it knows</a></p>'
    where = '<p class="where"><a href="/v/{0}">Town hall</a></p>'
    rows = "".join(f"<div>{what.format(name)}{where.format(name)}</div>" for name in ("a", "b", "c", "d"))
    assert [url for _, url in found(rows)] == ["/e/a", "/e/b", "/e/c", "/e/d"]
    plain = "".join(f'<p class="{"odd" if at % 2 else "even"}"><a href="/n/{at}">Item {chr(97 + at)} is long</a></p>'
                    for at in range(8))  # fmt: skip
    assert len(found(plain)) == 8


def test_headings_that_are_partly_alike_are_a_list() -> None:
    names = ("Red", "Red", "Blue", "Blue", "Grey", "Grey")
    rows = "".join(f'<div><h3><a href="/p/{at}">{name}</a></h3></div>' for at, name in enumerate(names))
    assert len(found(rows)) == len(names)

from __future__ import annotations

import pytest

from actors.content.bodies.markup import parse
from actors.content.pages.page import blocks_in, open_page

MAIN = "<main><h1>Prices</h1><p>Team costs 29 EUR</p></main>"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (f"<!doctype html><title>P</title>{MAIN}", ("Prices", "Team costs 29 EUR")),
        (f"<!doctype html><meta charset=utf-8><title>P</title><header>Shop</header>{MAIN}", ("Prices",)),
        (f"<title>P</title><style>p{{}}</style>{MAIN} and <p>more of it", ("Prices", "and", "more of it")),
        ("<title>P</title><section><p>One</section><article><p>Two</article>", ("One", "Two")),
        (f"<html><head><title>P</title></head><body>{MAIN}</body></html>", ("Prices", "Team costs 29 EUR")),
        ("<title>P</title><p>One", ("One",)),
    ],
)  # fmt: skip
def test_a_page_without_the_tags_of_head_and_body_is_read_as_browsers_read_it(
    page: str, texts: tuple[str, ...]
) -> None:
    opened = open_page(page.encode(), "text/html; charset=utf-8", None, ())
    assert set(texts) <= set(blocks_in(opened).texts)
    root = parse(page)
    assert [one.tag for one in root] == ["head", "body"]
    assert {one.tag for one in root[0]} <= {"title", "meta", "style"}

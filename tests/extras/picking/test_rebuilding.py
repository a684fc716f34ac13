"""The rebuilt tree of an earlier page against the real one, on generated histories of one design."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from actors.content.bodies import markup
from actors.content.changes.diff import DiffContexts, compare
from actors.content.pages import selectors
from actors.content.pages.blocks import read_blocks
from actors.versions import Paragraph, undo
from extras.picking.reaching import names_of
from extras.picking.rebuilding import PastTree, standing_blocks
from tests.extras.picking.histories import where_of

WORDS = ("harbour", "museum", "lighthouse", "ferry", "market", "library", "station", "garden")
SELECTORS = (
    "h2",
    "table > tr:nth-of-type(3) > td:nth-of-type(2)",
    "//tr[*[1][normalize-space()='ferry']]/*[2]",
    "ul > li:nth-of-type(2)",
    "//h2[normalize-space()='Prices']/following::table[1]",
    "//p[starts-with(normalize-space(),'Version:')]",
    "//dt[normalize-space()='Open']/following-sibling::*[1]",
    "li > a",
    "main",
)


@dataclass
class Shore:
    """The content of a page."""

    rows: dict[str, int]
    items: list[str]
    head: str = "Prices"
    open: str = "9 to 5"
    version: int = 1


def drawn(chance: random.Random) -> Shore:
    items = [f"The {word} is open on day {day}" for day, word in enumerate(chance.sample(WORDS, 4))]
    return Shore({word: chance.randint(1, 99) for word in chance.sample(WORDS, 5)}, items)


def changed(page: Shore, chance: random.Random) -> Shore:
    """Return the page with one thing altered, added or removed."""
    after = replace(page, rows=dict(page.rows), items=list(page.items))
    match chance.randrange(7):
        case 0:
            after.rows[chance.choice(list(after.rows))] = chance.randint(100, 999)
        case 1 if len(after.rows) > 3:
            del after.rows[chance.choice(list(after.rows))]
        case 2:
            after.items.insert(chance.randrange(1, 3), f"An item of number {chance.randint(100, 999)} is here")
        case 3 if len(after.items) > 2:
            after.items.pop(chance.randrange(len(after.items)))
        case 4:
            after.head = "Fees" if page.head == "Prices" else "Prices"
        case 5:
            after.version = chance.randint(2, 99)
        case _:
            after.open = f"{chance.randint(7, 10)} to 4"
    return after


def written(page: Shore) -> markup.Element:
    rows = "".join(f"<tr><td>{word}</td><td>{price} €</td></tr>" for word, price in page.rows.items())
    items = "".join(f"<li><a href='/{number}'>{item}</a></li>" for number, item in enumerate(page.items))
    return markup.parse(
        f"<html><body><main><h1>Shore</h1><p>Read this first.<br>And this.</p><h2>{page.head}</h2>"
        f"<table><tr><th>Place</th><th>Price</th></tr>{rows}</table><ul>{items}</ul>"
        f"<dl><dt>Open</dt><dd>{page.open}</dd></dl><p>Version: <b>{page.version}</b></p></main></body></html>"
    )


def chosen(root: markup.Element, selector: str) -> list[str]:
    found = selectors.select(root, selector)
    return sorted(text for element in found for text in read_blocks(element, judge_furniture=False).texts)


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_rebuilt_backwards_selects_as_each_earlier_version(seed: int) -> None:
    chance = random.Random(seed)
    pages = [drawn(chance)]
    for _ in range(6):
        pages.append(changed(pages[-1], chance))
    trees = [written(page) for page in pages]
    versions = [read_blocks(tree) for tree in trees]
    told = [Paragraph(text) for text in versions[-1].texts]
    page = standing_blocks(trees[-1], "")
    tree = PastTree(trees[-1], page, names_of(page.blocks.texts, told))
    for (before, after), was in zip(list(pairwise(versions))[::-1], trees[-2::-1], strict=True):
        delta = compare(before.texts, after.texts, DiffContexts(where_of(before), where_of(after)))[1]
        earlier = undo(told, delta)
        assert earlier is not None
        tree.back(told, earlier)
        said = {paragraph.thread: paragraph.text for paragraph in earlier}
        for selector in SELECTORS:
            assert sorted(said[name] for name in tree.chosen(selector)) == chosen(was, selector), selector
        told = earlier


def test_the_page_itself_is_left_as_it_is() -> None:
    root = written(drawn(random.Random(1)))
    page = standing_blocks(root, "")
    told = [Paragraph(text) for text in page.blocks.texts]
    PastTree(root, page, names_of(page.blocks.texts, told)).back(told, told[:3])
    assert read_blocks(root).texts == page.blocks.texts

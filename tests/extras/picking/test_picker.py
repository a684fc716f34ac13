"""A page to choose from, and the effect of pressing one of its blocks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.content.errors import ContentError
from extras.picking.picker import pick
from extras.picking.records import BLOCK_EXCERPT as EXCERPT
from extras.picking.records import MOST_SHOWN_BLOCKS, ActName, PickPage, PickRequest, PickWish, PressedBlock, ReachName
from tests.actors.content.written_pages import PROSE, html
from tests.extras.office.written_files import docx, p, pdf, xlsx

URL = "https://shore.example/shop/"
LIST = "".join(f'<li><a href="/n/{name}">The {name} is open again</a></li>' for name in ("harbour", "museum", "pier"))
PAGE = html(
    PROSE[0],
    "<h2>Prices</h2>",
    "<table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Adult</td><td>14.50 €</td></tr>"
    "<tr><td>Child</td><td>7 €</td></tr></table>",
    f"<h2>News</h2><ul>{LIST}</ul>",
    around="<nav><a href='/'>Home</a> <a href='/a'>About us</a></nav>{}",
)


ALL = PickWish()


def picked(wish: PickWish = ALL, body: bytes = PAGE) -> PickPage:
    return pick(PickRequest(body, "text/html", URL, wish))


def press(text: str, act: ActName = "only", reach: ReachName = "this", body: bytes = PAGE) -> PressedBlock:
    block = next(one for one in picked(body=body).blocks if one.text == text)
    return PressedBlock(block.number, block.mark, act, reach)


def test_each_block_has_its_kind_position_and_text() -> None:
    page = picked(PickWish(selectors=True))
    price = next(one for one in page.blocks if one.text == "14.50 €")
    assert (price.kind, price.heading, price.row, price.column, price.watched) == (
        "cell",
        "Prices",
        "Adult",
        "Price",
        True,
    )
    assert price.selector == "//tr[*[1][normalize-space()='Adult']]/*[2]"
    (value,) = price.values
    assert (value.subject, value.value.number, value.value.unit, value.place) == (
        "price",
        1450,
        "EUR",
        'label:"Adult · Price"',
    )
    menu = page.blocks[0]
    assert (menu.text, menu.why, menu.watched) == ("Home About us", "furniture", False)
    assert next(one.text for one in page.blocks if one.item) == "The harbour is open again"
    assert page.listed == 3


def test_pressing_a_block_lists_its_selectors_and_their_result() -> None:
    choice = picked(PickWish(press=press("7 €"))).choice
    assert choice is not None
    assert choice.kept is not None
    assert [(one.name, one.blocks) for one in choice.reaches] == [("this", 1), ("like", 2), ("part", 6)]
    assert (choice.kept.texts, choice.kept.ignore) == (("7 €",), ())
    wider = picked(PickWish(press=press("7 €", reach="like"))).choice
    assert wider is not None
    assert wider.kept is not None
    assert wider.kept.texts == ("14.50 €", "7 €")


def test_a_reach_that_is_not_there_becomes_the_block_alone() -> None:
    choice = picked(PickWish(press=press("The shore", reach="like"))).choice
    assert choice is not None
    assert choice.reach == "this"


def test_an_excluded_block_is_taken_from_the_rest() -> None:
    choice = picked(PickWish(selector="table", press=press("7 €", "without"))).choice
    assert choice is not None
    assert choice.kept is not None
    assert choice.kept.selector == "table"
    assert choice.kept.texts == ("Ticket", "Price", "Adult", "14.50 €", "Child")


@pytest.mark.parametrize("present", ["h1", "//h1"])
def test_another_block_is_added_with_the_same_kind_of_selector(present: str) -> None:
    choice = picked(PickWish(selector=present, press=press("7 €", "also"))).choice
    assert choice is not None
    assert choice.kept is not None
    assert choice.kept.texts == ("The shore", "7 €")


def test_the_present_choice_is_marked_and_an_empty_one_reported() -> None:
    page = picked(PickWish(selector="table", ignore=("th",)))
    assert [one.text for one in page.blocks if one.watched] == ["Adult", "14.50 €", "Child", "7 €"]
    assert page.now is not None
    assert page.now.count == 4
    gone = picked(PickWish(selector="#gone"))
    assert gone.now is None
    assert not any(one.watched for one in gone.blocks)


def test_a_moved_block_is_found_again_and_a_removed_one_is_missed() -> None:
    pressed = press("7 €")
    moved = picked(
        PickWish(press=pressed), PAGE.replace(b"<h2>Prices", b"<p>Summer is here again, at last.</p><h2>Prices")
    )
    assert moved.choice is not None
    assert (moved.choice.block.text, moved.gone) == ("7 €", False)
    gone = picked(PickWish(press=pressed), PAGE.replace(b"7 \xe2\x82\xac", b"sold out"))
    assert (gone.choice, gone.gone) == (None, True)
    assert picked(PickWish(press=PressedBlock(9999, "x"))).gone


def test_a_digest_shows_whether_a_selector_keeps_the_same_blocks() -> None:
    def digest(body: bytes) -> str:
        now = picked(PickWish(selector="table"), body).now
        assert now is not None
        return now.digest

    assert digest(PAGE) == digest(PAGE.replace(b"museum", b"library"))
    assert digest(PAGE) != digest(PAGE.replace(b"Child", b"Student"))


def test_five_thousand_blocks_are_shown_page_by_page_and_found_by_their_words() -> None:
    body = html(*(f"Paragraph number {i} is about the {'sea' if i % 50 else 'land'}." for i in range(5_000)))
    page = picked(PickWish(first=4_950), body)
    assert (page.total, page.first, len(page.blocks)) == (5_001, 4_950, 51)
    assert len(picked(body=body).blocks) == MOST_SHOWN_BLOCKS
    found = picked(PickWish(find="LAND paragraph"), body)
    assert (found.found, found.blocks[1].number) == (100, 51)
    assert picked(PickWish(find="mountain", first=40), body).blocks == ()


def test_a_long_block_is_cut_and_says_how_long_it_is() -> None:
    block = next(one for one in picked(body=html("one word and another " * 500)).blocks if one.kind == "text")
    assert (len(block.text), block.length) == (EXCERPT, 10_499)


def test_json_and_texts_are_chosen_from_as_well() -> None:
    page = picked(PickWish(selectors=True), b'{"plan": {"name": "Solo", "price": 9}, "about": "' + b"x" * 200 + b'"}')
    block = page.blocks[0]
    assert (page.format, block.selector, block.values[0].place) == ("json", "$.plan", 'path:"$.plan.price"')
    notes = b"Notes\n\nVersion: 2.1\nSize: 3 MB\n"
    lines = picked(PickWish(selectors=True), notes)
    assert [one.selector for one in lines.blocks] == ["lines:1", "re:^Version:", "re:^Size:"]
    also = picked(PickWish(selector="lines:1", press=PressedBlock(1, lines.blocks[1].mark, "also")), notes).choice
    assert also is not None
    assert also.kept is None, "selectors of lines can't be put together"


@pytest.mark.parametrize(
    ("body", "block", "selector", "kept"),
    [
        (
            b"<?xml version='1.0'?><shop><price>9</price><name>Tea</name></shop>",
            "price: 9",
            "/shop/price",
            ("9",),
        ),
        (xlsx({"Plans": [["Plan", "Fee"], ["Solo", 5], ["Team", 9]]}), "9", "path:Plans › Team · Fee", ("9",)),
        (docx(p("Fees", "berschrift1"), "One.", "Team: 9 €"), "Team: 9 €", "re:^Team:", ("Team: 9 €",)),
        (pdf([["Fees", "Team 9.00", "Solo 5.00"]]), "Team 9.00", "re:^Team", None),
    ],
)
def test_other_documents_are_pressed_as_well(
    body: bytes, block: str, selector: str, kept: tuple[str, ...] | None
) -> None:
    choice = picked(PickWish(press=press(block, body=body)), body).choice
    assert choice is not None
    assert choice.kept is not None
    assert (choice.kept.selector, choice.kept.texts) == (selector, kept or (block,))


def test_a_cell_of_a_table_of_characters_is_pressed_alone_with_its_column_and_its_row_within_reach() -> None:
    body = b"name,price\nTeam,10\nPro,20\n"
    rows = picked(body=body).blocks
    assert [[cell.text for cell in row.cells] for row in rows] == [[], ["Team", "10"], ["Pro", "20"]]
    wish = PressedBlock(1, rows[1].mark, "only", "this", 2)
    choice = picked(PickWish(press=wish), body).choice
    assert choice is not None and choice.kept is not None
    assert (choice.kept.selector, choice.kept.texts) == ("path:Team · price", ("10",))
    assert [(one.name, one.selector, one.blocks) for one in choice.reaches] == [
        ("this", "path:Team · price", 1),
        ("like", "path:* · price", 2),
    ], "its row has no other cell with a column"
    out = picked(PickWish(press=replace(wish, act="without")), body).choice
    assert out is not None and out.kept is not None and out.kept.texts == ("Team", "Pro", "20")
    gone = picked(PickWish(press=replace(wish, cell=7)), body).choice
    assert gone is not None and gone.kept is None
    now = picked(PickWish("path:* · price", first=0), body)
    assert [row.watched for row in now.blocks] == [False, True, True]


def test_an_image_has_no_part_to_pick_and_says_why() -> None:
    body = b"\x89PNG\r\n\x1a\n" + bytes(40)
    page = picked(body=body)
    assert "it has no elements" in page.no_parts
    pressed = picked(PickWish(press=PressedBlock(0, page.blocks[0].mark)), body)
    assert pressed.choice is not None
    assert (pressed.choice.reaches, pressed.choice.kept) == ((), None)


def test_a_wall_says_so_and_nothing_is_refused() -> None:
    with pytest.raises(ContentError):
        picked(body=b"  ")
    wall = html("Checking your browser before accessing shore.example", title="Just a moment...")
    assert picked(body=wall).trouble

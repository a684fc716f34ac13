"""A choice tried on the earlier versions of a page, a text and JSON."""

from __future__ import annotations

import json

import pytest

from extras.picking.picker import pick
from extras.picking.records import ActName, PickHeld, PickReach, PickRequest, PickWish, PressedBlock
from tests.actors.content.written_pages import PROSE, html
from tests.extras.picking.histories import DAY, past_of


def reached(*bodies: bytes, text: str, act: ActName = "only") -> dict[str, PickReach]:
    """Return the reach of pressing a text of the newest version, tried on the others. bodies: oldest first."""
    return _reached(bodies[-1], PickWish(past=past_of(*bodies)), text, act)


def _reached(body: bytes, wish: PickWish, text: str, act: ActName = "only") -> dict[str, PickReach]:
    def asked(press: PressedBlock | None) -> PickRequest:
        return PickRequest(
            body, "", "https://a.test/", PickWish(wish.selector, wish.ignore, press=press, past=wish.past)
        )

    block = next(one for one in pick(asked(None)).blocks if one.text == text)
    choice = pick(asked(PressedBlock(block.number, block.mark, act))).choice
    assert choice is not None
    return {one.name: one for one in choice.reaches}


def prices(head: str, *rows: tuple[str, str]) -> bytes:
    cells = "".join(f"<tr><td>{ticket}</td><td>{price}</td></tr>" for ticket, price in rows)
    return html(PROSE[0], f"<h2>{head}</h2><table><tr><th>Ticket</th><th>Price</th></tr>{cells}</table>", PROSE[1])


def notes(head: str, *items: str) -> bytes:
    return html(PROSE[0], f"<h2>{head}</h2><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>", PROSE[1])


ADULT, CHILD = ("Adult", "14 €"), ("Child", "7 €")


def test_a_label_chooses_the_same_cell_of_every_version_though_rows_and_values_come_and_go() -> None:
    this = reached(
        prices("Prices", ("Adult", "12 €")),
        prices("Prices", ("Baby", "free"), ("Adult", "12 €")),
        prices("Prices", ("Baby", "free"), ADULT, CHILD),
        prices("Prices", ADULT, CHILD),
        text="14 €",
    )["this"]
    assert this.selector == "//tr[*[1][normalize-space()='Adult']]/*[2]"
    assert this.held == PickHeld(versions=3, same=3, nothing=0, since=DAY)


def test_the_selector_that_held_is_offered_before_the_likeliest() -> None:
    now = notes("Notes of May 2026", "A quiet week at the harbour")
    alone = _reached(now, PickWish(), "A quiet week at the harbour")["this"]
    assert alone.held is None, "nothing is kept to try it on"
    was = [notes(f"Notes of {month} 2026", "A quiet week at the harbour") for month in ("March", "April")]
    tried = reached(*was, now, text="A quiet week at the harbour")["this"]
    assert (tried.held is not None) and (tried.held.same, tried.held.versions) == (2, 2)
    assert "May" not in tried.selector


def test_a_selector_that_would_have_chosen_nothing_says_in_how_many_versions() -> None:
    now = html("<main><p>Status: open</p></main>")
    was = [html(f"<main><p>{word}: open</p></main>") for word in ("State", "Status", "State")]
    this = _reached(now, PickWish(past=past_of(*was, now)), "Status: open")["this"]
    assert this.held is not None
    assert this.held.versions == 3


@pytest.mark.parametrize("act", ["only", "without"])
def test_a_block_that_is_new_has_no_version_to_be_tried_on(act: ActName) -> None:
    found = reached(prices("Prices", ADULT), prices("Prices", ADULT, CHILD), text="7 €", act=act)
    assert found["this"].held is None


def test_a_selector_wider_than_a_block_holds_if_it_includes_the_block() -> None:
    found = reached(prices("Prices", CHILD), prices("Fees", CHILD, ADULT), prices("Fees", CHILD, ADULT), text="7 €")
    assert {name: one.held and (one.held.same, one.held.versions) for name, one in found.items()} == {
        "this": (2, 2),
        "like": (2, 2),
        "part": (2, 2),
    }


def test_a_chain_that_does_not_fit_is_tried_as_far_as_it_goes() -> None:
    past = past_of(prices("A", CHILD), prices("B", CHILD), prices("C", CHILD))
    cut = PickWish(past=type(past)(past.told, (past.changes[0], past.changes[0])))
    held = _reached(prices("C", CHILD), cut, "7 €")["this"].held
    assert held is not None
    assert (held.versions, held.since) == (1, 2 * DAY)
    other = PickWish(past=type(past)(("something else",), past.changes))
    assert _reached(prices("C", CHILD), other, "7 €")["this"].held is None


def test_lines_keep_their_numbers_and_prefixes() -> None:
    was, now = b"Notes\n\nOne thing\n\nVersion: 2.0\n", b"Notes\n\nOne thing\n\nAnother thing\n\nVersion: 2.1\n"
    version = reached(was, now, text="Version: 2.1")["this"]
    assert (version.selector, version.held) == ("re:^Version:", PickHeld(1, 1, 0, DAY))
    below = b"Notes\n\nA new line\n\nOne thing\n"
    moved = reached(b"Notes\n\nOne thing\n", below, text="One thing")["this"]
    assert moved.selector == "lines:5"
    assert moved.held == PickHeld(versions=1, same=0, nothing=1, since=DAY)


def test_an_item_of_json_is_found_by_its_name_after_it_moved() -> None:
    def plans(*names: tuple[str, int]) -> bytes:
        items = [{"name": name, "price": price, "about": "x" * 150} for name, price in names]
        return json.dumps({"plans": items}).encode()

    was, middle, now = (
        plans(("Team", 9), ("Solo", 5)),
        plans(("Solo", 5), ("Team", 9)),
        plans(("Solo", 5), ("Team", 12)),
    )
    this = reached(was, middle, now, text='"price": 12')["this"]
    assert this.selector == '$.plans[?@.name=="Team"].price'
    assert this.held is not None
    assert this.held.same == this.held.versions

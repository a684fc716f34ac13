"""Headlines: the change first, within their limit, for any event."""

from __future__ import annotations

import unicodedata
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.content.changes.diff import DiffContexts, compare, of_change
from actors.content.values.kinds import kinds_of
from actors.content.values.reading import Writing
from actors.content.wording.words import cut as cut_line
from actors.notification.dialects import cut
from actors.notification.headline import MOST, ListedEvent, headline, lines_of, listed_event
from storage.records.event import Context
from tests.actors.notification.test_notification import NASTY

NO_DIFFERENCE = {"added": [], "removed": [], "changed": []}
LTR, FIRST, POP = "\u2066", "\u2068", "\u2069"
CLUSTERS = [
    "a", " ", "é", "e\u0301", "字", "🇸🇪", "🇳🇴", "👩‍👩‍👧", "👍🏽", "❤️", "\u1112\u1161\u11ab", "กำ", "क्षि", "ﾊﾞ", "می‌",
]  # fmt: skip
"""Characters as people see them."""


def a_change(before: list[str], after: list[str], places: list[Context] | None = None, **fields: Any) -> ListedEvent:
    """Return the event of a page's change, as the recorder makes it."""
    title = fields.setdefault("title", "Copper kettle 1.7 l - Northwind")
    diff, _ = compare(before, after, DiffContexts(places or (), places or ()))
    fields["summary"] = of_change(diff, (), title)
    changes = kinds_of(diff, Writing(exact=bool(fields.pop("exact", False))))
    raw = {"diff": diff, "changes": changes} | {"source_url": "https://shop.test/kettle"} | fields
    return listed_event(msgspec.to_builtins(raw))


@pytest.mark.parametrize(
    ("before", "after", "title", "says"),
    [
        ("Price: £349.00", "Price: £289.00", "Copper kettle", "£349.00 → £289.00 · Copper kettle"),
        ("Team: 29 USD", "Team: 31 USD", "Plans", "29 USD → 31 USD · Team · Plans"),
        ("In stock", "Out of stock", "Copper kettle", "In stock → Out of stock · Copper kettle"),
        (
            "The ferry to the outer islands leaves at noon on weekdays, weather permitting.",
            "The ferry to the outer islands stays at home on weekdays, weather permitting.",
            "Timetable",
            "…leaves at noon on… → …stays at home on… · Timetable",
        ),
        (  # too little in common for marks
            "The 09:15 boat sails as planned.",
            "The 09:15 boat is cancelled today because of the storm.",
            "Ferry timetable",
            "…sails as planned. → …is cancelled today… · Ferry timetable",
        ),
        (
            "",
            "A night ferry to Karlstad from May on",
            "Timetable",
            "+ A night ferry to Karlstad from May on · Timetable",
        ),
        ("The old bridge", "", "Timetable", "− The old bridge · Timetable"),
        (
            "Price: £349.00",
            "Price: £289.00",
            "The copper kettle of one litre and seven tenths | Northwind",
            "£349.00 → £289.00 · The copper kettle of one litre and…",
        ),
        ("Price: £349.00", "Price: £289.00", "", "£349.00 → £289.00 · shop.test"),
        (
            "מחיר: £349.00",
            "מחיר: £289.00",
            "קומקום נחושת",
            f"{LTR}{FIRST}£349.00{POP} → {FIRST}£289.00{POP}{POP} · {FIRST}מחיר{POP} · {FIRST}קומקום נחושת{POP}",
        ),
        ("価格: 3,490円", "価格: 2,890円", "銅のやかん", "3,490円 → 2,890円 · 銅のやかん"),
    ],
)
def test_a_change_comes_first(before: str, after: str, title: str, says: str) -> None:
    event = a_change(list(filter(None, [before])), list(filter(None, [after])), title=title)
    assert headline(event) == says


def test_the_headline_has_the_heaviest_change_and_the_summary_the_others() -> None:
    places = [Context(row="Team", column="Seats"), Context(), Context()]
    event = a_change(
        ["10", "A text that stays", "Terms of May apply here"],
        ["12", "A text that stays", "Terms of June apply here"],
        places,
        title="Plans",
    )
    assert headline(event) == "10 → 12 · Team · Seats · Plans"
    assert lines_of(event, "Shop") == ("Shop", headline(event), "Team · Seats: 10 → 12 (+1 more)")


def test_a_price_outranks_a_heavier_text_without_a_value() -> None:
    dogs = "Dogs are welcome on deck; in the saloon they stay on a {}leash and quiet, or the mate will have a word."
    event = a_change(
        [dogs.format(""), "Day ticket: £19.50"], [dogs.format("short "), "Day ticket: £21.70"], title="Ferry"
    )
    assert "leash" in event.summary and headline(event) == "£19.50 → £21.70 · Day ticket · Ferry"
    assert "leash" in lines_of(event, "Shop").summary


def test_the_line_below_a_headline_does_not_name_the_page_again() -> None:
    event = a_change(["Dogs need a leash", "Old"], ["Dogs need a short leash", "New"], title="The ferry")
    assert event.summary.startswith("The ferry: ") and "The ferry" in headline(event)
    assert lines_of(event, "Shop").summary == event.summary.removeprefix("The ferry: ")


def test_a_value_of_json_has_its_path_and_its_source() -> None:
    before, after = '{"name": "Team", "price": 29}', '{"name": "Team", "price": 31}'
    event = a_change([before], [after], [Context(row="plans[Team]")], title="", exact=True)
    assert headline(event, "Acme's plans") == "29 → 31 · plans[Team].price · Acme's plans"


@pytest.mark.parametrize(
    ("fields", "says", "more"),
    [
        ({"title": "Version 3.2", "content": "Fixes."}, "Version 3.2", "Fixes."),
        (
            {"title": "A release with a long title that goes on " + "and on " * 9, "content": "Fixes."},
            "A release with a long title that goes on and on and on and…",
            "A release with a long title that goes on " + "and on " * 8 + "and on",
        ),
        ({"content": "A frame of a socket"}, "A frame of a socket", ""),
        ({"url": "https://a.test/1"}, "https://a.test/1", ""),
        ({"alert_type": "source_failing", "title": "It fails", "content": "Since noon."}, "It fails", "Since noon."),
        ({"title": "Moved", "summary": "→ b.test", "diff": NO_DIFFERENCE}, "→ b.test · Moved", ""),
        ({"title": "Of a later version", "summary": "x", "diff": {"steps": 1}}, "x · Of a later version", "x"),
        ({}, "…", ""),
    ],
)  # fmt: skip
def test_other_events_have_their_title(fields: dict[str, Any], says: str, more: str) -> None:
    event = listed_event(fields)
    assert (headline(event), lines_of(event).summary) == (says, more)


WORDS = st.one_of(NASTY, st.lists(st.sampled_from([*CLUSTERS, "12", "£3", "מ"]), max_size=90).map("".join))


@given(
    before=st.lists(WORDS, max_size=3), after=st.lists(WORDS, max_size=3), title=WORDS, name=WORDS, exact=st.booleans()
)
@example(before=["\u200b"], after=[], title="\x1b\u202e", name="", exact=False)
def test_a_headline_is_one_safe_line_within_its_limit(
    before: list[str], after: list[str], title: str, name: str, exact: bool
) -> None:
    for event in (a_change(before, after, title=title, exact=exact), listed_event({"title": title, "content": name})):
        said = headline(event, name)
        assert 0 < len(said) <= MOST and said == said.strip() and said.count(POP) == said.count(LTR) + said.count(FIRST)
        assert not any(unicodedata.category(one) in {"Cc", "Zl", "Zp"} or "\u202a" <= one <= "\u202e" for one in said)


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=40), st.integers(2, 60))
def test_no_cut_is_inside_a_character(clusters: list[str], most: int) -> None:
    borders = {"".join(clusters[:count]).rstrip() for count in range(len(clusters) + 1)}
    for made in (cut("".join(clusters), most), cut_line("".join(clusters), most)):
        assert len(made) <= most
        assert made.removesuffix("…").rstrip() in borders

"""Line drawing and row storage, without a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.console import lists, rows
from sanderling.console.lists import LOG, event_line
from sanderling.console.parts import part_lines
from sanderling.console.rows import MOST, SIZE, RowCache
from sanderling.console.text import Ask, Confirm, Figures, Line, cells, fit, safe, short, state_of
from tests.sanderling.console.fake_service import ATTEMPTS, HOOK, NOW, FakeService, event, source_id

SERVICE = FakeService()


def width_of(line: Line) -> int:
    return sum(cells(text) for text, _ in line)


@given(st.text(), st.integers(0, 60))
def test_a_text_fits_exactly_and_has_nothing_that_moves_the_cursor(text: str, width: int) -> None:
    fitted = fit(text, width)
    assert cells(fitted) == width
    assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in fitted)
    assert not set(fitted) & set("\u200b\u200d\u200e\u200f\u202a\u202e\u2066\u2069\ufe0f\ufeff")
    assert safe(safe(text)) == safe(text)


@given(st.text(max_size=80), st.integers(80, 220))
def test_every_line_is_as_wide_as_the_screen_for_any_page(text: str, width: int) -> None:
    row = SERVICE.row(0) | {"name": text, "title": text, "error": text}
    line = {"ts": NOW, "level": text, "event": text, "actor": f"sources/{text}", "fields": {"a": text}}
    told: list[Line] = [
        rows.line_of(row, width, rows.Context(NOW)),
        rows.line_of(row | {"error": ""}, width, rows.Context(NOW, changed=True, last=True, tree=True)),
        rows.line_of(SERVICE.find("sources"), width, rows.Context(NOW, fold="▸", tree=True)),
        rows.line_of(None, width, rows.Context(NOW)),
        rows.table_at(width, "name").heading(width),
        Ask(" /", text, "hint", lambda _: None).line(width),
        Confirm(text, lambda _: None).line(width),
        event_line(event(1, text), width),
        LOG.line(line, width, NOW),
        lists.destinations_at(width).heading(width),
        lists.destinations_at(width).line(HOOK | {"url": text}, width, NOW),
        lists.ATTEMPTS_TABLE.heading(width),
        lists.ATTEMPTS_TABLE.line(ATTEMPTS[2] | {"error": text}, width, NOW),
        *lists.attempt_detail(ATTEMPTS[0] | {"response_excerpt": text}, text, width),
    ]
    assert {width_of(line) for line in told} == {width}
    part = SERVICE.part(f"sources/{source_id(0)}")
    assert part is not None
    whole = part_lines(part | {"row": row, "awaiting": text}, [event(1, text)], NOW, width)
    assert {width_of(line) for line in whole} <= {width, 0}


def who(row: dict[str, Any], width: int) -> str:
    return "".join(text for text, _ in rows.who(row, rows.Context(NOW), width))


def test_a_source_is_shown_by_its_name_and_on_its_own_screen_with_its_url_too() -> None:
    row = SERVICE.row(0) | {"title": "Harbour notices"}
    assert "Harbour notices  site0.test/news" in who(row, 60) and "site0.test" not in who(row, 20)
    assert "site0.test/news" in who(row | {"title": ""}, 60)
    part = SERVICE.part(f"sources/{source_id(0)}")
    assert part is not None
    top = ["".join(text for text, _ in line) for line in part_lines(part | {"row": row}, [], NOW, 80)][1:3]
    assert [line.strip() for line in top] == ["Harbour notices", "https://site0.test/news"]


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 3599, 3600, 86_399, 86_400, 999 * 86_400, 1e9])
def test_a_time_takes_four_cells_at_most(seconds: float) -> None:
    assert 1 <= len(short(seconds)) <= 4


def test_health_counts_running_sources_only() -> None:
    assert state_of({"state": "ok", "flag": "rotten"}).short == "ok"
    assert state_of({"state": "failing", "flag": "ok"}).short == "FAIL"
    assert state_of({"state": "quarantined", "flag": "rotten"}).short == "QUAR"
    assert state_of({"state": "ok", "flag": None}).short == "ok"


def page(start: int, **states: str) -> list[dict[str, Any]]:
    return [{"path": f"p{n}", "state": states.get(f"p{n}", "ok"), "flag": "ok"} for n in range(start, start + SIZE)]


def opened() -> RowCache:
    book = RowCache()
    book.renew()
    assert book.missing(0, 10) == [0]
    assert book.put(book.edition, 0, page(0), 10_000)
    return book


def test_a_page_is_requested_once_and_again_without_an_answer() -> None:
    book = opened()
    assert book.missing(90, 110) == [1]
    assert book.missing(90, 110) == []
    book.unasked(1)
    assert book.missing(90, 110) == [1]


def test_rows_update_in_place_and_removed_ones_are_marked() -> None:
    book = opened()
    book.update(0, ["p0", "p1", "p2"], [{"path": "p1", "state": "open", "flag": "ok"}, *page(2)[:1]])
    found = [book.row(place) for place in range(3)]
    assert [(row["path"], row["state"]) for row in found if row] == [("p0", "gone"), ("p1", "open"), ("p2", "ok")]
    assert book.changed == {"p0", "p1"}


def test_the_old_order_stays_until_the_new_one_comes_and_late_answers_are_dropped() -> None:
    book = opened()
    old = book.edition
    book.mark("p1")
    book.renew()
    assert book.stale and book.row(0) is not None
    assert book.missing(0, 5) == [0]
    assert not book.put(old, 1, page(100), 5)
    assert book.total == 10_000
    assert book.put(book.edition, 0, page(500), 7)
    assert (book.total, book.changed, book.find("p500"), book.find("p1")) == (7, set(), 0, None)


def test_the_number_of_cached_pages_is_bounded() -> None:
    book = opened()
    for number in range(1, MOST + 1):
        book.put(book.edition, number, page(number * SIZE), 10_000)
    assert book.row(0) is None and book.row(MOST * SIZE) is not None


def test_rates_cover_the_last_minute_and_restart_with_the_process() -> None:
    figures, service = Figures("here"), FakeService()
    figures.take(service.overview())
    assert figures.rate("looks") == ""
    service.tick()
    assert not figures.take(service.overview())
    assert figures.rate("looks") == "240/m"
    service.started = "2026-04-21T12:00:40.000Z"
    assert figures.take(service.overview())
    assert figures.rate("looks") == ""


DIFF = {"added": [], "removed": [], "changed": []}


def test_a_page_event_is_titled_by_its_change_and_a_feed_event_by_its_title() -> None:
    changed = event(1, "Prices") | {"summary": "Plans › Team: \u20689\u2069 → 12", "diff": DIFF}
    assert "Plans › Team: 9 → 12 · Prices" in "".join(text for text, _ in event_line(changed, 120))
    entry = event(1, "Low tide") | {"summary": "Low tide at nine"}
    assert "Low tide  " in "".join(text for text, _ in event_line(entry, 120))

"""Calendars as lines: the readable fields of an entry, and the fields that count as no change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.changes.churn import judge
from actors.content.detection import detect
from actors.content.pages.page import PageReading
from actors.content.pages.plain import entries_of, read_plain
from tests.support.pages import read_page

URL = "https://shore.example/harbour.ics"
MEETING = """UID:1@shore.example
DTSTAMP:20261125T120000Z
SEQUENCE:1
DTSTART;TZID=Europe/Stockholm:20261201T100000
DTEND;TZID="Europe/Stockholm":20261201T113000
SUMMARY:Årsmöte\\, hamnen
LOCATION:Klubbhuset
STATUS:CONFIRMED
ORGANIZER;CN="Anna; B":mailto:anna@shore.example
DESCRIPTION:Alla är\\nvälkomna med
  en rad som är vikt
BEGIN:VALARM
TRIGGER:-PT15M
DESCRIPTION:Alarm
END:VALARM"""
CLOSED = "DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227\nSUMMARY:Stängt\nRRULE:FREQ=YEARLY\nSTATUS:CANCELLED"
ZONE = "BEGIN:VTIMEZONE\nTZID:Europe/Stockholm\nBEGIN:STANDARD\nDTSTART:19701025T030000\nEND:STANDARD\nEND:VTIMEZONE"
SAID = (
    "2026-12-01 10:00-11:30 Europe/Stockholm | Årsmöte, hamnen | Klubbhuset | Alla är välkomna med en rad som är vikt"
)


def calendar(*events: str, kind: str = "VEVENT") -> str:
    inside = "".join(f"BEGIN:{kind}\n{event}\nEND:{kind}\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\n{ZONE}\n{inside}END:VCALENDAR\n".replace("\n", "\r\n")


def reading(text: str) -> PageReading:
    return read_page(text.encode(), "text/calendar", URL, None, ())


def test_an_entry_has_the_readable_fields_of_a_calendar() -> None:
    body = calendar(MEETING, CLOSED)
    assert reading(body).blocks == (SAID, "2026-12-24 to 2026-12-26 | Stängt | CANCELLED | FREQ=YEARLY")
    found = detect(body.encode(), "text/calendar", URL)
    assert (found.format, found.evidence) == ("calendar", "a calendar (iCalendar), 2 entries; served as text/calendar")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("DTSTART:20261201T100000Z\nDTEND:20261201T100000Z\nSUMMARY:x", "2026-12-01 10:00 UTC | x"),
        ("DTSTART:20261201T230000Z\nDTEND:20261202T010000Z", "2026-12-01 23:00 UTC to 2026-12-02 01:00 UTC"),
        ("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261225\nSUMMARY:x", "2026-12-24 | x"),
        ("DUE:20270101T000000Z\nSUMMARY:Betala", "until 2027-01-01 00:00 UTC | Betala"),
        (
            "DTSTART:20261201T100000\nRECURRENCE-ID:20261130T100000\nSUMMARY:x",
            "2026-12-01 10:00 | instead of 2026-11-30 10:00 | x",
        ),
        ("DTSTART:tomorrow\nSUMMARY:a\nSUMMARY:b", "tomorrow | a"),
        ("summary;LANGUAGE=sv:x\\;y", "x;y"),
    ],
)
def test_moments_and_words(lines: str, said: str) -> None:
    assert list(entries_of(calendar(lines))) == [said]


def test_a_regenerated_or_reordered_export_is_no_change() -> None:
    before = judge(None, reading(calendar(MEETING, CLOSED)))
    anew = MEETING.replace("20261125T120000Z", "20261126T070000Z").replace("SEQUENCE:1", "SEQUENCE:9")
    assert judge(before.memory, reading(calendar(CLOSED, anew))).kind == "unchanged"


def test_a_meeting_that_moved_is_reported() -> None:
    memory = judge(None, reading(calendar(MEETING, CLOSED))).memory
    verdict = judge(memory, reading(calendar(MEETING.replace("T10", "T09"), CLOSED)))
    assert verdict.diff is not None
    (change,) = verdict.diff.changed
    assert change.before == SAID and change.after == SAID.replace("10:00", "09:00")


def test_a_calendar_watched_by_its_lines_stays_so() -> None:
    kept = read_plain(calendar(CLOSED), "text")
    assert kept is not None and kept.format == "text"


def test_one_without_entries_is_a_text() -> None:
    assert detect(calendar().encode(), "", URL).format == "text"


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for entry in entries_of(f"BEGIN:VEVENT\n{text}\nDTEND:{text}\nEND:VEVENT"):
        assert entry.strip()

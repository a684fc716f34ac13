"""An event in the terminal: one line that fits, then the change; no control sequence of a page gets through."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sanderling.client.lines import Renderer
from sanderling_client.receiver.terminal import cells, fit


def an_event(**fields: Any) -> dict[str, Any]:
    return {
        "source_type": "feed",
        "source_url": "https://news.test/rss",
        "url": "https://news.test/1",
        "title": "New release 1.4.2",
        "content": "",
        "emitted_at": "2026-11-21T12:00:41.000Z",
    } | fields


def lines(event: dict[str, Any], width: int = 80, *, colour: bool = False) -> list[str]:
    return list(Renderer(width=width, colour=colour, zone=UTC).lines(event))


def test_a_line_has_time_tier_url_and_title() -> None:
    assert lines(an_event()) == ["12:00:41 feed   news.test                New release 1.4.2"]


def test_without_a_title_the_content_speaks_then_the_url() -> None:
    assert lines(an_event(title="", content="some  words"))[0].endswith("some words")
    assert lines(an_event(title=""))[0].endswith("https://news.test/1")


def test_an_entry_or_notice_is_followed_by_the_start_of_its_text() -> None:
    shown = lines(an_event(content="It reads feeds\n\nfaster."))
    assert [line.strip() for line in shown[1:]] == ["It reads feeds faster."]
    assert len(lines(an_event(content="New  release 1.4.2"))) == 1


def test_a_notice_is_named_as_one() -> None:
    assert " notice " in lines(an_event(alert_type="source_quiet"))[0]
    assert "source_quiet: New release" in lines(an_event(alert_type="source_quiet"))[0]


def test_a_page_shows_its_change_with_signs_and_altered_blocks_first() -> None:
    diff = {"added": ["c"], "removed": ["d", "e"], "changed": [{"before": "a", "after": "b"}], "truncated": False}
    shown = lines(an_event(source_type="html", diff=diff))[1:]
    assert [line.strip() for line in shown] == ["- a", "+ b", "+ c", "- d", "… 1 more"]


def test_a_page_shows_its_heaviest_change_and_a_pointer_to_the_others() -> None:
    seats = {"before": "10", "after": "12", "context": {"heading": "Plans", "row": "Team", "column": "Seats"}}
    diff = {
        "added": ["Head of Sales", "new"],
        "removed": [],
        "changed": [seats],
        "context": {"added": [{"heading": "Positions"}, {}], "removed": []},
    }
    summary = "Plans › Team · Seats: 10 → 12 (+2 more)"
    first, *shown = lines(an_event(source_type="html", diff=diff, summary=summary), 120)
    assert first.endswith("10 → 12 · Team · Seats · New release 1.4.2")
    assert [line.strip() for line in shown] == [
        "- Plans › Team · Seats: 10",
        "+ Plans › Team · Seats: 12",
        "+ Positions: Head of Sales",
        "+ new",
    ]


def test_a_single_change_shown_whole_in_the_summary_is_not_repeated() -> None:
    diff = {"added": ["Head of Sales"], "removed": [], "changed": []}
    (line,) = lines(an_event(source_type="html", diff=diff, summary="New release 1.4.2: + Head of Sales"), 120)
    assert line.endswith("+ Head of Sales · New release 1.4.2")
    assert len(lines(an_event(source_type="html", diff=diff, summary="Positions: + Head…"))) == 2


def test_isolates_are_for_screens_that_lay_out_text() -> None:
    diff = {"added": ["חדש"], "removed": [], "changed": []}
    shown = lines(an_event(source_type="html", diff=diff, summary="\u2068צוות: \u2069\u2066+ \u2068חדש\u2069\u2069"))
    assert shown[0].endswith(" צוות: + חדש · New release 1.4.2")


def test_colour_is_an_addition_only() -> None:
    plain, coloured = lines(an_event()), lines(an_event(), colour=True)
    assert "\x1b[32mfeed  \x1b[0m" in coloured[0]
    assert coloured[0].replace("\x1b[32m", "").replace("\x1b[2m", "").replace("\x1b[0m", "") == plain[0]


@given(st.text(), st.text(), st.integers(50, 200))
def test_any_text_stays_within_its_line_and_moves_nothing(title: str, before: str, width: int) -> None:
    diff = {"added": [], "removed": [before], "changed": [], "truncated": False}
    for line in lines(an_event(title=title, source_url=f"https://{before}/", diff=diff), width):
        assert cells(line) <= width
        assert "\x1b" not in line and len(line.splitlines()) == 1


def test_wide_characters_count_twice() -> None:
    assert fit("日本語のニュース", 7) == "日本語…"

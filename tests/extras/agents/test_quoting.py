"""Page texts for a model: quoted, cut to a budget, and unable to break out of their quotes."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from extras.agents.quoting import _ANGLES, END, FENCE, PER_TOKEN, event_as_text, events_as_text, quoted


def an_event(number: int = 1, **more: Any) -> dict[str, Any]:
    plain = {"id": f"id-{number}", "emitted_at": "2026-05-28T20:26:40Z", "source_type": "html", "source_id": "s-1"}
    return plain | {"url": "https://a.example/", "title": "Plans", "summary": "Team: 10 → 12"} | more


@given(st.text(alphabet="«»ab\n\x1b\u202e", max_size=80), st.integers(0, 120))
def test_no_text_leaves_its_quotes(text: str, room: int) -> None:
    told = quoted(text, f"https://a.example/{text}", room)
    start, end = told.split("\n")[0], told.split("\n")[-1]
    assert start.startswith(FENCE) and end == END
    assert FENCE not in told[len(FENCE) :] and END not in told[: -len(END)]
    assert "\x1b" not in told and "\u202e" not in told


def test_every_angle_sign_of_unicode_counts_as_part_of_a_fence() -> None:
    mirrored = [sign for sign in map(chr, (*range(0x3100), *range(0xFE00, 0x10000))) if unicodedata.mirrored(sign)]
    angles = {one for one in mirrored if re.search("ANGLE|LESS-THAN|GREATER-THAN", unicodedata.name(one, ""))}
    assert {one for one in mirrored if re.match(f"[{_ANGLES}]", one)} == angles


def test_an_event_says_its_kinds_of_change_else_its_difference() -> None:
    price = {
        "kind": "price",
        "label": "Team",
        "before": {"text": "€20"},
        "after": {"text": "€10"},
        "lowest_since": "2026",
    }
    assert "price of Team: €20 -> €10, lowest since 2026" in event_as_text(an_event(changes=[price]))
    assert "+ came\n- went" in event_as_text(an_event(diff={"added": ["came"], "removed": ["went"]}))
    assert "long text" not in event_as_text(an_event(content="a long text"))
    assert "a long text" in event_as_text(an_event(content="a long text"), 2_000)


def test_as_many_events_are_reported_as_fit_and_one_at_least() -> None:
    events = [an_event(number, summary="x" * 300) for number in range(50)]
    told = events_as_text(events, 500)
    assert 1 <= told.shown < 10 and len(told.text) <= 500 * PER_TOKEN
    assert told.text.count("event id-") == told.shown
    assert events_as_text([an_event(summary="y" * 4_000)], 50).text.endswith(END), "what is cut is closed too"
    assert events_as_text(events, 10).shown == 1 and events_as_text([], 10) == ("", 0)

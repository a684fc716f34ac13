from __future__ import annotations

import msgspec

from actors.recorder.actor import build
from storage.records.event import MOST_SUMMARY, Delta, DeltaStats, Diff, Op
from storage.records.identity import Millis
from tests.support.build import BASE_URL, NOW, a_draft, a_source_id

ID = "019e7000-0000-7000-8000-000000000001"


def wire(**changes: object) -> dict[str, object]:
    """Return the JSON object of an event made from a draft with these changes."""
    event = build(ID, a_source_id(), a_draft(**changes), BASE_URL, NOW)
    decoded: dict[str, object] = msgspec.json.decode(msgspec.json.encode(event))
    return decoded


def test_an_event_carries_every_field_of_the_contract() -> None:
    required = [
        "$schema",
        "id",
        "source_id",
        "source_type",
        "source_url",
        "url",
        "title",
        "summary",
        "author",
        "content",
        "content_hash",
        "simhash",
        "tags",
        "published_at",
        "fetched_at",
        "emitted_at",
        "schema_version",
        "story",
    ]
    assert set(wire()) == set(required)
    assert wire()["schema_version"] == 1


def test_without_a_summary_of_its_own_an_event_has_its_title_its_content_or_its_address() -> None:
    assert wire(summary="Team · Seats: 10 → 12")["summary"] == "Team · Seats: 10 → 12"
    assert wire(title="Low tide")["summary"] == "Low tide"
    assert wire(title="", content="One\ntwo")["summary"] == "One two"
    assert wire(title="", content="", url="https://a.test/b")["summary"] == "https://a.test/b"
    assert len(str(wire(title="w " * 200)["summary"])) <= MOST_SUMMARY


def test_absent_fields_are_null_empty_or_left_out_by_the_contract() -> None:
    event = wire(title="", published_at=None)
    assert (event["title"], event["author"], event["published_at"]) == ("", "", None)
    assert not {"diff", "delta", "signature", "key_id", "signed_at", "alert_type", "content_truncated"} & set(event)


def test_a_change_carries_its_diff_and_delta() -> None:
    delta = Delta((Op("insert", 0, text="x"),), DeltaStats(1, 0, 0, 0))
    event = wire(diff=Diff(("x",), (), ()), delta=delta)
    assert event["diff"] == {"added": ["x"], "removed": [], "changed": [], "truncated": False}
    assert event["delta"] == {
        "v": 1,
        "granularity": "paragraph",
        "ops": [{"op": "insert", "para": 0, "text": "x"}],
        "stats": {"added": 1, "removed": 0, "changed": 0, "unchanged": 0},
        "truncated": False,
    }


def test_emitted_is_never_before_fetched_even_when_the_clock_steps_back() -> None:
    event = wire(fetched_at=Millis(NOW + 3_600_000))
    assert event["fetched_at"] == event["emitted_at"]


def test_truncation_and_alert_type_are_present_only_when_true() -> None:
    event = wire(content_truncated=True, alert_type="source_quiet")
    assert (event["content_truncated"], event["alert_type"]) == (True, "source_quiet")

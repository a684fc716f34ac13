"""The list of open streams: numbers that are never given twice, and what is asked when somebody looks."""

from __future__ import annotations

from actors.open_streams import OpenStreams, Whose
from storage.records.identity import Millis, Seq


def test_a_stream_is_listed_for_as_long_as_it_is_open_under_a_number_of_its_own() -> None:
    found, places = OpenStreams(), [Seq(1)]
    plain = {"since": Millis(0), "sent": lambda: 0, "close": lambda: None}
    with found.listed(Whose("k", "desk"), "", "/v1/stream", cursor=lambda: places[-1], **plain) as first:
        places.append(Seq(2))
        assert [one.cursor() for one in found.all()] == [2] and found.find(first.number) is first
    assert not found.all() and len(found) == 0 and found.find(first.number) is None
    with found.listed(Whose("k", "desk"), "", "/v1/stream", cursor=lambda: None, **plain) as second:
        assert second.number != first.number

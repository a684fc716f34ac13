"""The list of open streams: numbers are never reused, and the position is read live."""

from __future__ import annotations

from types import SimpleNamespace

from actors.overseer.overseer import OpenStreams, StreamOwner
from storage.records.identity import Millis, Seq


def test_a_stream_is_listed_for_as_long_as_it_is_open_under_a_number_of_its_own() -> None:
    found, place = OpenStreams(), SimpleNamespace(cursor=Seq(1), sent=0)
    first = found.add(StreamOwner("k", "desk"), "", "/v1/stream", Millis(0), progress=place, close=lambda: None)
    place.cursor = Seq(2)
    (one,) = found.all()
    assert one.progress is not None and one.progress.cursor == 2 and found.find(first) is one
    found.drop(first)
    assert not found.all() and len(found) == 0 and found.find(first) is None
    assert found.add(StreamOwner("k", "desk"), "", "/v1/stream", Millis(0), progress=None, close=lambda: None) != first

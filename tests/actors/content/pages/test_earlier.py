from __future__ import annotations

from msgspec.structs import replace

from actors.content.changes.diff import compare
from actors.content.pages.earlier import Paragraph, undone
from storage.records.event import Delta


def test_a_delta_that_was_cut_or_does_not_fit_ends_the_chain() -> None:
    delta = compare(["one", "two"], ["one", "three words here", "two"])[1]
    now = [Paragraph(text) for text in ("one", "three words here", "two")]
    assert [one.text for one in undone(now, delta) or ()] == ["one", "two"]
    assert undone(now, replace(delta, truncated=True)) is None
    assert undone(now[:2], delta) is None, "another number of texts"
    assert undone([Paragraph("one"), Paragraph("another"), Paragraph("two")], delta) is None, "another text there"
    assert undone([Paragraph("x")], Delta((compare(["y"], ["z"])[1].ops[0],), delta.stats)) is None

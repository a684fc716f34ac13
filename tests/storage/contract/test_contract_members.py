"""Members on every engine: after a beat a member is inside and sees its own entry."""

from __future__ import annotations

from storage.records.member import Says
from storage.sql.storage import Storage


async def test_a_beat_adds_a_member_with_its_fields(storage: Storage) -> None:
    says = Says(version="1", address="http://node.example", sources=3)
    view = await storage.members.beat(says)
    assert view.inside() == (storage.members.me,)
    mine = view.member(storage.members.me)
    assert mine is not None and (mine.says, mine.left) == (says, False)
    again = await storage.members.beat(says)
    assert again.number == view.number, "nobody came and nobody went"
    assert (await storage.members.view()).inside() == view.inside()

"""Entering and leaving, as one member sees it at one moment."""

from __future__ import annotations

from msgspec.structs import replace

from extras.cluster.members.view_change import KEPT, LEASE, ViewChange, due
from storage.records.member import LEFT, Member, View

AT = 10_000.0
ME = Member("me", inside=True, since=AT - LEASE, until=AT + LEASE)


def seen(*others: Member, me: Member = ME) -> ViewChange | None:
    return due(View(1, AT, (me, *others)), "me")


def test_while_all_beat_nothing_is_due() -> None:
    assert seen(Member("other", inside=True, since=AT, until=AT + 0.1)) is None


def test_a_waiting_member_joins_at_anyones_check() -> None:
    fresh = replace(ME, since=AT)
    assert seen(Member("other", until=AT + LEASE), me=fresh) == ViewChange(comes=("other",))
    assert seen(me=replace(fresh, inside=False)) == ViewChange(comes=("me",))


def test_a_late_member_is_removed_only_after_a_whole_lease_of_beats() -> None:
    late = Member("late", inside=True, since=0.0, until=AT - 0.1)
    assert seen(late) == ViewChange(goes=("late",))
    assert seen(late, me=replace(ME, since=AT - LEASE + 0.1)) is None, "the first one back after an outage"
    assert seen(late, me=replace(ME, until=AT - 0.1)) is None, "a member whose own lease is over"
    assert due(View(1, AT, (late,)), "stranger") is None


def test_a_member_that_left_is_removed_at_once() -> None:
    gone = Member("gone", inside=True, since=AT, until=LEFT)
    assert seen(gone, me=replace(ME, since=AT)) == ViewChange(goes=("gone",))


def test_rows_of_long_gone_members_are_dropped_at_the_next_change() -> None:
    old, new = AT - KEPT - 1, AT - KEPT + 1
    rows = [
        Member("left long ago", since=old, until=LEFT),
        Member("left", since=new, until=LEFT),
        Member("late long ago", until=old),
        Member("late", until=new),
    ]
    assert seen(*rows) is None
    knocks = Member("new", until=AT + LEASE)
    assert seen(*rows, knocks) == ViewChange(("new",), (), ("left long ago", "late long ago"))

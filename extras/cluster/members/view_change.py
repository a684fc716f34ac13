"""The change of the view that a member should make: members that enter or leave, rows to delete. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from storage.records.member import Member, View

LEASE: Final = 5.0  # seconds that one beat keeps a member inside
BREAK: Final = LEASE / 2  # a member with a longer pause between two beats, in seconds, counts as newly back
KEPT: Final = 600.0  # seconds that a departed member stays in the view, so that others see how it left


class ViewChange(NamedTuple):
    """A change of the view, by id: members that enter, members that leave, and rows to delete."""

    comes: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


def due(view: View, me: str, lease: float = LEASE) -> ViewChange | None:
    """Return the change that member `me` should make, None for none. Members with a current lease enter; members that
    left go. A late member goes only if `me` has sent beats for a whole lease without a break: after a database outage
    all leases have expired, and the first member to return must not remove the others.
    """
    mine = view.member(me)
    may_put_out = mine is not None and mine.until > view.at and mine.since <= view.at - lease
    comes = tuple(each.id for each in view.members if not each.inside and each.until > view.at)
    goes = tuple(
        each.id for each in view.members if each.inside and (each.left or (may_put_out and each.until < view.at))
    )
    if not comes and not goes:
        return None
    return ViewChange(comes, goes, tuple(each.id for each in view.members if _is_forgotten(each, view.at)))


def _is_forgotten(member: Member, at: float) -> bool:
    return not member.inside and (member.since if member.left else member.until) < at - KEPT

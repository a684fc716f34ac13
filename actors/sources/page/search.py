"""The search for a text on a page: reported, left out, or missing; by the page's memory and the current page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from actors.content.messages.requests import Findings, FindRequest, Spot
from actors.egress.http import FetchedResponse
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.looks.reading import in_jail, page_patience
from actors.sources.ports import Ports
from storage.records import note
from storage.records.identity import Millis, seq_at
from storage.records.times import spoken

_OF_A_LIST = (
    "It is read as a list: of its items only addresses are remembered, and no other text of it is told. "
    "With a look now it can be said whether the page has it."
)
SHOWN = 200
"""Characters shown of a block."""


async def search(
    ports: Ports, view: SourceView, kept: note.StoredMemory, asked: ExplainSource, today: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text on a page. Raises LookFailed."""
    source = view.effective
    is_list = source.follow != "none"  # lists store only URLs
    body, content_type = (None, "") if today is None else (today.body, today.content_type)
    request = FindRequest(
        asked.text, None if is_list else kept.tier or None, body, content_type, source.selector, source.ignore
    )
    deadline = page_patience(ports.settings.parse_deadline, body or b"")
    answer = await in_jail(ports.world.jail, "find_text", msgspec.msgpack.encode(request), deadline=deadline)
    found = msgspec.msgpack.decode(answer, type=Findings)
    first = max((one.at for one in note.read(kept.notes) if one.came == "baseline"), default=source.created_at)
    is_whole = (await ports.storage.log.bounds()).floor < seq_at(first)
    return list(on_a_page(view, found, Past(first, is_whole), looked=today is not None))


class Past(NamedTuple):
    """The start of watching this part of the page, and whether all events since then are stored."""

    first: Millis
    is_whole: bool


def on_a_page(view: SourceView, found: Findings, past: Past, *, looked: bool) -> Iterator[Reason]:
    """Yield the reasons for a text by a page's memory and its current body."""
    if found.trouble is not None:
        yield Reason("failed", f"Looked at now, it was not what one came for: {found.trouble}.")
    if found.now is not None:
        yield from _now(found.now, is_told=found.told is not None)
    elif found.elsewhere is not None:
        text = found.elsewhere.text[:SHOWN]
        yield Reason("outside", f"It is on the page now, outside of {_narrowing(view)}.", text=text)
    elif looked and found.trouble is None:
        yield Reason("absent", "Looked at now, it is not on the page.")
    if found.told is not None:
        yield Reason("there", _there(found, past), text=found.told.text[:SHOWN])
    elif not looked:
        yield Reason("absent", _OF_A_LIST if view.source.follow != "none" else _absent(view, cut=found.cut))


def _now(spot: Spot, *, is_told: bool) -> Iterator[Reason]:
    """Yield the reasons for a block on the current page."""
    text, here = spot.text[:SHOWN], f"It is on the page now, in block {spot.place},"
    if spot.aside:
        says = f"It is on the page now, but not as content ({spot.aside}); what stands there is never told."
        yield Reason("furniture", f"{says} A `selector` on it would watch it.", text=text)
    elif spot.known == "same" and not is_told:
        yield Reason("known", f"{here} and differs from what is known only in what changes by itself.", text=text)
    elif spot.known == "seen":
        yield Reason("known", f"{here} and a look has seen it without telling it: it is no news any more.", text=text)
    elif not is_told:
        yield Reason("due", f"{here} and is new: the next look that finds it weighs it.", text=text)


def _there(found: Findings, past: Past) -> str:
    place = found.told.place if found.told is not None else 0
    here = f"It is{' on the page now and' if found.now is not None else ''} in what is known of the page, block {place}"
    first = f"it was there at the first look, on {spoken(past.first)}, and that is told to nobody"
    if past.is_whole:
        return f"{here}, and no event told it: {first}."
    return f"{here}, and no event that is still kept told it: either {first}, or its event has been deleted since."


def _absent(view: SourceView, *, cut: bool) -> str:
    last = view.hot.last_success_at
    when = "" if last is None else f" as of the last look, on {spoken(last)}"
    says = f"It is not in what is known of the page{when}."
    if view.effective.selector is not None or view.effective.ignore:
        says += f" Only what is inside of {_narrowing(view)} is watched."
    else:
        says += " Menus, side bars and footers are not remembered."
    return says + (" The page is longer than what is remembered of it." if cut else "")


def _narrowing(view: SourceView) -> str:
    if view.effective.selector is None:
        return "what `ignore` leaves"
    rest = " and `ignore`" if view.effective.ignore else ""
    return f"the selector `{view.effective.selector}`{rest}"

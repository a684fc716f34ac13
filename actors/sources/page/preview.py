"""The preview of watching a page and the search for a text on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from actors.content.messages.readings import selector_kind
from actors.content.messages.requests import (
    Fault,
    Findings,
    FindRequest,
    PagePreviewAnswer,
    PageRequest,
    SelectorsRequest,
    Spot,
)
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.messages.previews import PagePreview, Preview
from actors.messages.requests import DetectRequest
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.sources.checks.body_reader import hints_of_response, in_jail, page_deadline
from actors.sources.checks.source_fetch import pace_preview
from actors.sources.detection.classify import Classification, domain_error
from actors.sources.ports import Ports
from storage.records import trail
from storage.records.identity import Millis, seq_at
from storage.records.message import Message, joined, message


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The wanted part of a page: the matches of `selector` (None: all of it), without those of `ignore`."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.selector is not None or bool(self.ignore)


async def check_selectors(ports: Ports, part: Narrowing) -> None:
    """Raise Unprocessable at the first invalid selector, with the position of the fault."""
    if not part:
        return
    request = SelectorsRequest(part.selector, part.ignore)
    try:
        faults = await in_jail(ports.world.jail, "selectors", request, list[Fault])
    except LookFailed as failure:
        raise Unprocessable(f"the selectors can't be read: {failure.reason}", "body.selector") from None
    for fault in faults[:1]:
        where = "body.selector" if fault.index is None else f"body.ignore[{fault.index}]"
        raise Unprocessable(fault.reason, where, part.selector if fault.index is None else part.ignore[fault.index])


async def check_css(ports: Ports, selector: str, where: str) -> None:
    """Raise Unprocessable unless a selector is CSS, for browsers."""
    if selector_kind(selector) != "css":
        raise Unprocessable(f"{selector!r} is not CSS: wait_for takes a CSS selector", where, selector)
    try:
        await check_selectors(ports, Narrowing(selector))
    except Unprocessable as error:
        raise Unprocessable(error.detail, where, selector) from None


async def preview_page(ports: Ports, fetched: FetchedResponse, part: Narrowing) -> PagePreview:
    """Return the watched content of a page. Raises Unprocessable: a wall, too slow a selector."""
    request = PageRequest(fetched.body, fetched.content_type, fetched.url, part.selector, part.ignore)
    try:
        deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
        answer = await in_jail(ports.world.jail, "preview_page", request, PagePreviewAnswer, deadline=deadline)
    except LookFailed as failure:
        if part and isinstance(failure, ReadingStopped) and failure.too_slow:  # most likely due to the selectors
            says = "applying the selectors to this page takes too long: write simpler ones"
            raise Unprocessable(says, _blamed(part)) from None
        raise domain_error(failure, fetched.url) from None
    if (found := answer.page) is None:
        raise Unprocessable(answer.no_parts, _blamed(part))
    if found.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {found.trouble}", "body.url", fetched.url)
    return found


def nothing_chosen(page: PagePreview, selector: str | None) -> str:
    """Return a sentence if a selector matches nothing now, else ""."""
    if page.matched != 0:
        return ""
    has = f"; the page has {', '.join(page.has)}" if page.has else ""
    return f"the selector {selector!r} matches nothing now{has}"


def _blamed(part: Narrowing) -> str:
    return "body.selector" if part.selector is not None else "body.ignore"


async def preview(ports: Ports, found: Classification, asked: DetectRequest) -> Preview:
    """Return the preview of a classified page. Raises Unprocessable, Overloaded."""
    assert found.fetched is not None, "a page was fetched"
    page = await preview_page(ports, found.fetched, Narrowing(asked.selector, asked.ignore))
    rendered = found.fetched.rendered is not None
    pace = pace_preview(ports, found.at, hints_of_response(found.fetched), (), rendered=rendered)
    return Preview(found.at, page=page, pace=pace, robots=found.robots, rendering=found.rendering)


_OF_A_LIST = message(
    "It is read as a list: only the addresses of its items are stored, and its other texts are not reported. "
    "Check now to search the page."
)
SHOWN = 200
"""Characters shown of a block."""


async def search(
    ports: Ports, view: SourceView, kept: trail.StoredMemory, asked: ExplainSource, today: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text on a page. Raises LookFailed."""
    source = view.effective
    is_list = source.follow != "none"  # lists store only URLs
    body, content_type = (None, "") if today is None else (today.body, today.content_type)
    request = FindRequest(
        asked.text, None if is_list else kept.tier or None, body, content_type, source.selector, source.ignore
    )
    deadline = page_deadline(ports.settings.parse_deadline, body or b"")
    found = await in_jail(ports.world.jail, "find_text", request, Findings, deadline=deadline)
    first = max((one.at for one in trail.read_notes(kept.notes) if one.came == "baseline"), default=source.created_at)
    is_whole = (await ports.storage.log.bounds()).floor < seq_at(first)
    return list(on_a_page(view, found, Past(first, is_whole), looked=today is not None))


class Past(NamedTuple):
    """The start of watching this part of the page, and whether all events since then are stored."""

    first: Millis
    is_whole: bool


def on_a_page(view: SourceView, found: Findings, past: Past, *, looked: bool) -> Iterator[Reason]:
    if found.trouble is not None:
        yield Reason(
            "failed", message("Checked now, it was not the expected page: %(reason)s.", reason=str(found.trouble))
        )
    if found.now is not None:
        yield from _now(found.now, is_told=found.told is not None)
    elif found.elsewhere is not None:
        text = found.elsewhere.text[:SHOWN]
        says = message("It is on the page now, outside of %(part)s.", part=_narrowing(view))
        yield Reason("outside", says, text=text)
    elif looked and found.trouble is None:
        yield Reason("absent", message("Checked now: it is not on the page."))
    if found.told is not None:
        yield Reason("there", _there(found, past), text=found.told.text[:SHOWN])
    elif not looked:
        yield Reason("absent", _OF_A_LIST if view.source.follow != "none" else _absent(view, cut=found.cut))


def _now(spot: Spot, *, is_told: bool) -> Iterator[Reason]:
    """Yield the reasons for a block on the current page."""
    text, place = spot.text[:SHOWN], spot.place
    if spot.aside:
        says = "It is on the page now, but not as content (%(reason)s), so it is never reported."
        watch = message("A `selector` on it would watch it.")
        yield Reason("furniture", joined([message(says, reason=spot.aside), watch]), text=text)
    elif spot.known == "same" and not is_told:
        says = (
            "It is on the page now, in block %(place)s. It differs from the stored page only in counters and the like."
        )
        yield Reason("known", message(says, place=place), text=text)
    elif spot.known == "seen":
        says = (
            "It is on the page now, in block %(place)s. An earlier check saw it without reporting it, so it is not new."
        )
        yield Reason("known", message(says, place=place), text=text)
    elif not is_told:
        says = "It is on the page now, in block %(place)s, and is new: the next check decides about it."
        yield Reason("due", message(says, place=place), text=text)


def _there(found: Findings, past: Past) -> Message:
    place = found.told.place if found.told is not None else 0
    here = message("It is in the stored page, block %(place)s", place=place)
    if found.now is not None:
        here = message("It is on the page now and in the stored page, block %(place)s", place=place)
    first = message("it was there at the first check, on %(at)s, and the baseline is not reported", at=past.first)
    if past.is_whole:
        return message("%(rest)s, and no event reported it: %(reason)s.", rest=here, reason=first)
    says = "%(rest)s, and no stored event reported it: either %(reason)s, or its event has been deleted."
    return message(says, rest=here, reason=first)


def _absent(view: SourceView, *, cut: bool) -> Message:
    last = view.hot.last_success_at
    says = message("The stored page does not contain it.")
    if last is not None:
        says = message("The page of the last check, on %(at)s, does not contain it.", at=last)
    narrow = message("Menus, side bars and footers are not stored.")
    if view.effective.selector is not None or view.effective.ignore:
        narrow = message("Only %(part)s is watched.", part=_narrowing(view))
    return joined([says, narrow, message("The page is too long to be stored whole.") if cut else None])


def _narrowing(view: SourceView) -> Message:
    if view.effective.selector is None:
        return message("the page without the `ignore` parts")
    if view.effective.ignore:
        return message("the selector `%(selector)s` and `ignore`", selector=view.effective.selector)
    return message("the selector `%(selector)s`", selector=view.effective.selector)

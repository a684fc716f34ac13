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
from actors.egress.failures import CheckFailed, ReadingStopped
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
class PagePart:
    """The wanted part of a page: the matches of `selector` (None: all of it), without those of `ignore`."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.selector is not None or bool(self.ignore)


async def check_selectors(ports: Ports, part: PagePart) -> None:
    """Raise Unprocessable at the first invalid selector, with the position of the fault."""
    if not part:
        return
    request = SelectorsRequest(part.selector, part.ignore)
    try:
        faults = await in_jail(ports.world.jail, "selectors", request, list[Fault])
    except CheckFailed as failure:
        raise Unprocessable(f"the selectors can't be read: {failure.reason}", "body.selector") from None
    for fault in faults[:1]:
        where = "body.selector" if fault.index is None else f"body.ignore[{fault.index}]"
        raise Unprocessable(fault.reason, where, part.selector if fault.index is None else part.ignore[fault.index])


async def check_css(ports: Ports, selector: str, where: str) -> None:
    """Raise Unprocessable unless a selector is CSS, for browsers."""
    if selector_kind(selector) != "css":
        raise Unprocessable(f"{selector!r} is not CSS: wait_for takes a CSS selector", where, selector)
    try:
        await check_selectors(ports, PagePart(selector))
    except Unprocessable as error:
        raise Unprocessable(error.detail, where, selector) from None


async def preview_page(ports: Ports, fetched: FetchedResponse, part: PagePart) -> PagePreview:
    """Return the watched content of a page. Raises Unprocessable: a wall, too slow a selector."""
    request = PageRequest(fetched.body, fetched.content_type, fetched.url, part.selector, part.ignore)
    try:
        deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
        answer = await in_jail(ports.world.jail, "preview_page", request, PagePreviewAnswer, deadline=deadline)
    except CheckFailed as failure:
        if part and isinstance(failure, ReadingStopped) and failure.too_slow:  # most likely due to the selectors
            says = "applying the selectors to this page takes too long: write simpler ones"
            raise Unprocessable(says, _location(part)) from None
        raise domain_error(failure, fetched.url) from None
    if (page := answer.page) is None:
        raise Unprocessable(answer.no_parts, _location(part))
    if page.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {page.trouble}", "body.url", fetched.url)
    return page


def no_match_text(page: PagePreview, selector: str | None) -> str:
    if page.matched != 0:
        return ""
    alternatives = f"; the page has {', '.join(page.has)}" if page.has else ""
    return f"the selector {selector!r} matches nothing now{alternatives}"


def _location(part: PagePart) -> str:
    return "body.selector" if part.selector is not None else "body.ignore"


async def preview(ports: Ports, classification: Classification, request: DetectRequest) -> Preview:
    """Return the preview of a classified page. Raises Unprocessable, Overloaded."""
    fetched, at = classification.fetched, classification.at
    assert fetched is not None, "a page was fetched"
    page = await preview_page(ports, fetched, PagePart(request.selector, request.ignore))
    pace = pace_preview(ports, at, hints_of_response(fetched), (), rendered=fetched.rendered is not None)
    return Preview(at, page=page, pace=pace, robots=classification.robots, rendering=classification.rendering)


_OF_A_LIST = message(
    "It is read as a list: only the addresses of its items are stored, and its other texts are not reported. "
    "Check now to search the page."
)
SHOWN = 200
"""Characters shown of a block."""


async def search(
    ports: Ports, view: SourceView, memory: trail.StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text on a page. Raises CheckFailed."""
    source = view.effective
    known = None if source.follow != "none" else memory.tier or None  # lists store only URLs
    body, content_type = (None, "") if fetched is None else (fetched.body, fetched.content_type)
    request = FindRequest(question.text, known, body, content_type, source.selector, source.ignore)
    deadline = page_deadline(ports.settings.parse_deadline, body or b"")
    findings = await in_jail(ports.world.jail, "find_text", request, Findings, deadline=deadline)
    baselines = (note.at for note in trail.read_notes(memory.notes) if note.came == "baseline")
    first_check = max(baselines, default=source.created_at)
    is_whole = (await ports.storage.log.bounds()).floor < seq_at(first_check)
    return list(page_reasons(view, findings, EventHistory(first_check, is_whole), is_checked=fetched is not None))


class EventHistory(NamedTuple):
    """The start of watching this part of the page, and whether all events since then are stored."""

    first: Millis
    is_whole: bool


def page_reasons(view: SourceView, findings: Findings, history: EventHistory, *, is_checked: bool) -> Iterator[Reason]:
    if findings.trouble is not None:
        trouble = str(findings.trouble)
        yield Reason("failed", message("Checked now, it was not the expected page: %(reason)s.", reason=trouble))
    if findings.now is not None:
        yield from _current_reasons(findings.now, is_reported=findings.told is not None)
    elif findings.elsewhere is not None:
        text = findings.elsewhere.text[:SHOWN]
        says = message("It is on the page now, outside of %(part)s.", part=_part_text(view))
        yield Reason("outside", says, text=text)
    elif is_checked and findings.trouble is None:
        yield Reason("absent", message("Checked now: it is not on the page."))
    if findings.told is not None:
        yield Reason("there", _baseline_text(findings, history), text=findings.told.text[:SHOWN])
    elif not is_checked:
        yield Reason("absent", _OF_A_LIST if view.source.follow != "none" else _absent_text(view, cut=findings.cut))


def _current_reasons(spot: Spot, *, is_reported: bool) -> Iterator[Reason]:
    text, place = spot.text[:SHOWN], spot.place
    if spot.aside:
        says = "It is on the page now, but not as content (%(reason)s), so it is never reported."
        watch = message("A `selector` on it would watch it.")
        yield Reason("furniture", joined([message(says, reason=spot.aside), watch]), text=text)
    elif spot.known == "same" and not is_reported:
        says = (
            "It is on the page now, in block %(place)s. It differs from the stored page only in counters and the like."
        )
        yield Reason("known", message(says, place=place), text=text)
    elif spot.known == "seen":
        says = (
            "It is on the page now, in block %(place)s. An earlier check saw it without reporting it, so it is not new."
        )
        yield Reason("known", message(says, place=place), text=text)
    elif not is_reported:
        says = "It is on the page now, in block %(place)s, and is new: the next check decides about it."
        yield Reason("due", message(says, place=place), text=text)


def _baseline_text(findings: Findings, history: EventHistory) -> Message:
    place = findings.told.place if findings.told is not None else 0
    here = message("It is in the stored page, block %(place)s", place=place)
    if findings.now is not None:
        here = message("It is on the page now and in the stored page, block %(place)s", place=place)
    first = message("it was there at the first check, on %(at)s, and the baseline is not reported", at=history.first)
    if history.is_whole:
        return message("%(rest)s, and no event reported it: %(reason)s.", rest=here, reason=first)
    says = "%(rest)s, and no stored event reported it: either %(reason)s, or its event has been deleted."
    return message(says, rest=here, reason=first)


def _absent_text(view: SourceView, *, cut: bool) -> Message:
    last = view.hot.last_success_at
    reason = message("The stored page does not contain it.")
    if last is not None:
        reason = message("The page of the last check, on %(at)s, does not contain it.", at=last)
    watched = message("Menus, side bars and footers are not stored.")
    if view.effective.selector is not None or view.effective.ignore:
        watched = message("Only %(part)s is watched.", part=_part_text(view))
    return joined([reason, watched, message("The page is too long to be stored whole.") if cut else None])


def _part_text(view: SourceView) -> Message:
    if view.effective.selector is None:
        return message("the page without the `ignore` parts")
    if view.effective.ignore:
        return message("the selector `%(selector)s` and `ignore`", selector=view.effective.selector)
    return message("the selector `%(selector)s`", selector=view.effective.selector)

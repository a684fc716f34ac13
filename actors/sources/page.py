"""The tier of pages: compares a page's text with the settled one. It reports a page only when its content really
changed, and a list's new items one by one.

`SharedBlocks` remembers the content of each host's watched pages, and shows a check the blocks that other pages
share. It is fed from memories that checks read and write anyway, so an unchanged page costs nothing, and it refills
after a restart.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from actors import notices
from actors.content import messages
from actors.content.changes.difference import shared_keys, stored_keys
from actors.content.changes.memory import began_at, decode_memory, placed
from actors.content.pages.traits import ASIDE, HEADING, ITEM
from actors.content.wording.words import of_text
from actors.egress.failures import Blame, CheckFailed, ReadingStopped
from actors.egress.headers import modified
from actors.egress.http import FetchedResponse
from actors.errors import Overloaded, Unprocessable
from actors.messages.declaring import made_of
from actors.messages.requests import DetectRequest, PagePreview, Preview
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, ReportedBlock, ReportedPage, SourceView
from actors.sources.checks.fetch import (
    BodyCheck,
    BodyReading,
    feed_deadline,
    hints_of_response,
    in_jail,
    lost_type,
    may_be_no_page,
    page_deadline,
)
from actors.sources.checks.source_fetch import pace_preview
from actors.sources.detection import Classification, domain_error
from actors.sources.following import drafts_of, note_of
from actors.sources.ports import Ports
from actors.world import Jail
from storage.records.checks import Note, NoteOutcome, Part, StoredMemory, read_notes
from storage.records.event import REVERTED, UPDATED, Draft, StandingValues
from storage.records.identity import Millis, SourceId, seq_at
from storage.records.message import Message, joined, message
from storage.records.source import Source


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
    request = messages.SelectorsRequest(part.selector, part.ignore)
    try:
        faults = await in_jail(ports.world.jail, "selectors", request, list[messages.Fault])
    except CheckFailed as failure:
        raise Unprocessable(f"the selectors can't be read: {failure.reason}", "body.selector") from None
    for fault in faults[:1]:
        where = "body.selector" if fault.index is None else f"body.ignore[{fault.index}]"
        raise Unprocessable(fault.reason, where, part.selector if fault.index is None else part.ignore[fault.index])


async def check_css(ports: Ports, selector: str, where: str) -> None:
    """Raise Unprocessable unless a selector is CSS, for browsers."""
    if messages.selector_kind(selector) != "css":
        raise Unprocessable(f"{selector!r} is not CSS: wait_for takes a CSS selector", where, selector)
    try:
        await check_selectors(ports, PagePart(selector))
    except Unprocessable as error:
        raise Unprocessable(error.detail, where, selector) from None


async def preview_page(ports: Ports, fetched: FetchedResponse, part: PagePart) -> PagePreview:
    """Return the watched content of a page. Raises Unprocessable: a wall, too slow a selector."""
    request = messages.PageRequest(fetched.body, fetched.content_type, fetched.url, part.selector, part.ignore)
    try:
        deadline = page_deadline(ports.settings.parse_deadline, fetched.body)
        answer = await in_jail(ports.world.jail, "preview_page", request, messages.PagePreviewAnswer, deadline=deadline)
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
SHOWN = 200  # characters shown of a block


async def search(
    ports: Ports, view: SourceView, memory: StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text on a page. Raises CheckFailed."""
    source = view.effective
    known = None if source.follow != "none" else memory.tier or None  # lists store only URLs
    body, content_type = (None, "") if fetched is None else (fetched.body, fetched.content_type)
    request = messages.FindRequest(question.text, known, body, content_type, source.selector, source.ignore)
    deadline = page_deadline(ports.settings.parse_deadline, body or b"")
    findings = await in_jail(ports.world.jail, "find_text", request, messages.Findings, deadline=deadline)
    baselines = (note.at for note in read_notes(memory.notes) if note.came == "baseline")
    first_check = max(baselines, default=source.created_at)
    is_whole = (await ports.storage.log.bounds()).floor < seq_at(first_check)
    return list(page_reasons(view, findings, EventHistory(first_check, is_whole), is_checked=fetched is not None))


class EventHistory(NamedTuple):
    """The start of watching this part of the page, and whether all events since then are stored."""

    first: Millis
    is_whole: bool


def page_reasons(
    view: SourceView, findings: messages.Findings, history: EventHistory, *, is_checked: bool
) -> Iterator[Reason]:
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


def _current_reasons(spot: messages.Spot, *, is_reported: bool) -> Iterator[Reason]:
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


def _baseline_text(findings: messages.Findings, history: EventHistory) -> Message:
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


_TOLD = 8  # blocks that a note on a reported change names; its diff shows them all


class PageReader:
    """Reads a page, compares it with the settled one, and decides; tracks content that pages of one host share."""

    accept = "text/html, application/xhtml+xml, */*;q=0.5"
    robots = True

    def __init__(self, deadline: float) -> None:
        self._shared_blocks, self._deadline = SharedBlocks(), deadline
        self._digests = dict[SourceId, bytes]()
        """Of each page's last check, which saves judging the same page again (see `churn`)."""

    async def read(self, jail: Jail, check: BodyCheck) -> BodyReading:
        """Return a draft with its diff if the content changed; of a list, one for each new item. Raises CheckFailed."""
        return await (self._read_page if check.source.follow == "none" else self._read_list)(jail, check)

    async def _read_page(self, jail: Jail, check: BodyCheck) -> BodyReading:
        source, base, fetched, at, since, number = check
        request = messages.PageRequest(
            fetched.body,
            fetched.content_type,
            fetched.url,
            source.selector,
            source.ignore,
            base or None,
            noise=source.noise,
            bar=_threshold(source),
            shared=self._shared(source, base),
            at=at,
            number=number,
            was=_original_format(source) if base else "",
            last=self._digests.pop(source.id, b""),
        )
        if base and may_be_no_page(fetched.body):
            await _raise_if_type_lost(jail, source, fetched)
        try:
            deadline = page_deadline(self._deadline, fetched.body)
            result = await in_jail(jail, "look_page", request, messages.PageLook, deadline=deadline)
        except CheckFailed as failure:
            if base and not isinstance(failure, ReadingStopped):
                await _raise_if_type_lost(jail, source, fetched)
            raise
        if result.trouble is not None:
            raise CheckFailed(Blame.CONTENT, f"not the page itself: {result.trouble}", status=fetched.status)
        if result.digests:
            self._digests[source.id] = result.digests
        memory = None if result.memory == base else result.memory
        changed = result.kind in {"changed", "moved"}
        drafts = (_draft(source, result, fetched, at),) if changed else ()
        if memory is not None and source.selector is None:
            self._shared_blocks.learn(_host(source), source.id, memory)
        note = None if result.kind == "unchanged" else _note(source, result, at, since)
        return BodyReading(
            drafts,
            memory,
            changed,
            hints_of_response(fetched),
            again_soon=result.soon,
            unsettled=result.unsettled,
            times=_dates(fetched, at) if changed else (),
            note=note,
            title=result.title if result.kind != "held" else "",  # a page's temporary replacement may disappear
            remark=result.remark,
            watched_since=began_at(result.memory) if changed else 0,
        )

    async def _read_list(self, jail: Jail, check: BodyCheck) -> BodyReading:
        source, base, fetched, at, since, _ = check
        part, original = (source.selector, source.ignore), _original_format(source) if base else ""
        request = messages.ListRequest(
            fetched.body, fetched.content_type, fetched.url, *part, base or None, was=original
        )
        try:
            deadline = feed_deadline(self._deadline, fetched.body)  # large sitemaps get more
            result = await in_jail(jail, "look_list", request, messages.ListLook, deadline=deadline)
            if result.trouble is not None:
                raise CheckFailed(Blame.CONTENT, f"not the page itself: {result.trouble}", status=fetched.status)
        except CheckFailed as failure:
            if base and not isinstance(failure, ReadingStopped):
                await _raise_if_type_lost(jail, source, fetched)
            raise
        return BodyReading(
            drafts_of(source, result, at),
            result.memory,
            changed=bool(result.new or result.bulk),
            hints=hints_of_response(fetched),
            note=note_of(result, at, since) if result.memory is not None or result.new else None,
            title=result.title,
            remark=result.remark,
            files=result.files,
        )

    async def first(self, jail: Jail, check: BodyCheck, feed: messages.FeedReading | None) -> BodyReading:
        return await self.read(jail, check._replace(number=1))

    def forget(self, source: SourceId) -> None:
        self._shared_blocks.drop(source)
        self._digests.pop(source, None)

    def _shared(self, source: Source, base: bytes) -> tuple[str, ...]:
        """Return the blocks that the host's other pages share; none for a selected part of a page."""
        if not base or source.selector is not None:
            return ()
        self._shared_blocks.learn(_host(source), source.id, base)
        return self._shared_blocks.shared(_host(source), source.id)


async def _raise_if_type_lost(jail: Jail, source: Source, fetched: FetchedResponse) -> None:
    original = _original_format(source)
    failure = await lost_type(jail, fetched, "html", original) if original else None
    if failure is not None:
        raise failure


def _original_format(source: Source) -> str:
    """Return the original format of a page; "" if its type was forced."""
    if source.detection.forced or source.type != source.detection.type:
        return ""
    return source.detection.format or "html"


def _dates(fetched: FetchedResponse, at: Millis) -> tuple[Millis, ...]:
    """Return the page's own date of the change. Only the content decides whether it changed."""
    moment = modified(fetched.headers, at / 1000)
    return () if moment is None else (Millis(round(1000 * moment)),)


def _host(source: Source) -> str:
    return (urlsplit(source.watch_url).hostname or "").removeprefix("www.")


def _threshold(source: Source) -> float:
    return messages.EMIT if source.bar is None else source.bar


def _note(source: Source, result: messages.PageLook, at: Millis, since: Millis | None) -> Note:
    reported = [Part(part.text, "news", part.key, part.came, part.score, told=True) for part in result.weighed[:_TOLD]]
    parts = tuple(reported + [Part(part.text, part.rule, part.key, part.came, part.score) for part in result.withheld])
    is_reported = result.kind in {"changed", "moved"}
    outcome: NoteOutcome = "told" if is_reported else result.kind  # type: ignore[assignment]  # all but "unchanged"
    if outcome == "baseline":
        return Note(at, outcome, result.reason)
    return Note(at, outcome, result.reason, since, result.score, _threshold(source), parts)


def _draft(source: Source, result: messages.PageLook, fetched: FetchedResponse, at: Millis) -> Draft:
    if result.kind == "moved":
        target = result.moved_to or "a login"
        text = f"The page now leads to {target}, which is another page: {result.title}"
        title = f"A page now leads elsewhere: {source.called}"
        notice = notices.notice_draft("source_moved", source.url, title, text, at, of_source=source.tags)
        # Readers that apply all differences continue from here.
        return replace(notice, diff=result.diff, delta=result.delta, summary=of_text(f"→ {target}"))
    assert result.delta is not None and result.delta.ops, "a change always says what changed"
    return made_of(
        Draft,
        result,
        source_type="html",
        source_url=source.url,
        url=fetched.url,
        content_truncated=result.truncated,
        tags=tuple(dict.fromkeys((*source.tags, UPDATED, *((REVERTED,) if result.reverted else ())))),
        fetched_at=at,
        practice=source.practice is not None,
    )


def reported_page(base: bytes) -> ReportedPage | None:
    """Return the texts in a page's memory; None if it can't be read."""
    memory = decode_memory(base)
    if memory is None:
        return None
    state = placed(memory)
    places = state.places + (None,) * (len(state.texts) - len(state.places))
    blocks = tuple(
        ReportedBlock(text, bool(trait & HEADING), bool(trait & ITEM), bool(trait & ASIDE), *(place or ("", "")))
        for text, trait, place in zip(state.texts, state.traits, places, strict=False)
    )
    return ReportedPage(blocks, len(state.keys) - len(state.texts), len(memory.since) + len(memory.absent))


async def standing_values(jail: Jail, source: Source, base: bytes) -> StandingValues:
    """Return the values in a page's memory. A worker reads them, as the texts are untrusted. Raises Overloaded."""
    request = messages.StandingRequest(base, exact="json" in source.detection.format)
    try:
        return await in_jail(jail, "standing_values", request, StandingValues)
    except CheckFailed as failure:
        raise Overloaded(f"the values could not be read: {failure.reason}") from None


MOST_PAGES = 4_000
MOST_OF_A_HOST = 8  # pages that are remembered, in all and of one host; the hosts unused for longest go first


@dataclass(slots=True)
class _Host:
    """Pages as (checksum of the memory, packed keys). `answers` are of these pages: any change empties it."""

    pages: dict[SourceId, tuple[int, bytes]] = field(default_factory=dict)
    answers: dict[SourceId, tuple[str, ...]] = field(default_factory=dict)


class SharedBlocks:
    """The register. Deterministic: the same memories in the same order give the same answers."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._pages = 0

    def __repr__(self) -> str:
        return f"<SharedBlocks {self._pages} pages of {len(self._hosts)} hosts>"

    def learn(self, host: str, source: SourceId, memory: bytes) -> None:
        known = self._hosts.pop(host, _Host())
        self._hosts[host] = known  # the newest last
        checksum = zlib.crc32(memory)
        before = known.pages.get(source)
        if before is None and len(known.pages) >= MOST_OF_A_HOST:
            return
        if before is None or before[0] != checksum:
            known.pages[source] = checksum, bytes.fromhex("".join(stored_keys(memory)))
            known.answers.clear()
            self._pages += before is None
            while self._pages > MOST_PAGES:
                self._pages -= len(self._hosts.pop(next(iter(self._hosts))).pages)

    def shared(self, host: str, source: SourceId) -> tuple[str, ...]:
        known = self._hosts.get(host)
        if known is None:
            return ()
        if source not in known.answers:
            others = sorted(other for other in known.pages if other != source)
            known.answers[source] = shared_keys(_unpacked(known.pages[other][1]) for other in others)
        return known.answers[source]

    def drop(self, source: SourceId) -> None:
        for host in [host for host, known in self._hosts.items() if source in known.pages]:
            known = self._hosts[host]
            del known.pages[source]
            known.answers.clear()
            self._pages -= 1
            if not known.pages:
                del self._hosts[host]


def _unpacked(packed: bytes) -> tuple[str, ...]:
    digits = packed.hex()
    return tuple(digits[i : i + 16] for i in range(0, len(digits), 16))

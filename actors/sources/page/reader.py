"""Pages without a feed: reported only when the content really changed; lists, one draft for each new item.

`SharedBlocks` remembers the content of each host's watched pages, and shows a check the blocks that other pages share.
It is fed from memories that checks read and write anyway, so an unchanged page costs nothing, and it refills after a
restart.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from msgspec.structs import replace

from actors import notices
from actors.content.changes.difference import shared_keys, stored_keys
from actors.content.changes.memory import began_at, decode_memory, placed
from actors.content.messages.readings import FeedReading
from actors.content.messages.requests import EMIT, ListLook, ListRequest, PageLook, PageRequest, StandingRequest
from actors.content.pages.traits import ASIDE, HEADING, ITEM
from actors.content.wording.spans import of_text
from actors.egress.failures import Blame, CheckFailed, ReadingStopped
from actors.egress.headers import modified
from actors.egress.http import FetchedResponse
from actors.errors import Overloaded
from actors.messages.views import ReportedBlock, ReportedPage
from actors.sources.checks.body_reader import (
    BodyCheck,
    BodyReading,
    feed_deadline,
    hints_of_response,
    in_jail,
    lost_type,
    may_be_no_page,
    page_deadline,
)
from actors.sources.following import drafts_of, note_of
from actors.world import Jail
from storage.records.event import REVERTED, UPDATED, Draft, StandingValues
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.trail import Came, Note, Part

_TOLD = 8
"""Blocks that a note on a reported change names; its diff shows them all."""


class PageReader:
    """Reads a page, compares it with the settled one, and decides; tracks content that pages of one host share."""

    accept = "text/html, application/xhtml+xml, */*;q=0.5"
    robots = True

    def __init__(self, deadline: float) -> None:
        self._shared_blocks, self._deadline = SharedBlocks(), deadline

    async def read(self, jail: Jail, check: BodyCheck) -> BodyReading:
        """Return a draft with its diff if the content changed; of a list, one for each new item. Raises CheckFailed."""
        return await (self._read_page if check.source.follow == "none" else self._read_list)(jail, check)

    async def _read_page(self, jail: Jail, check: BodyCheck) -> BodyReading:
        source, base, fetched, at, since, number = check
        request = PageRequest(
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
        )
        if base and may_be_no_page(fetched.body):
            await _raise_if_type_lost(jail, source, fetched)
        try:
            deadline = page_deadline(self._deadline, fetched.body)
            result = await in_jail(jail, "look_page", request, PageLook, deadline=deadline)
        except CheckFailed as failure:
            if base and not isinstance(failure, ReadingStopped):
                await _raise_if_type_lost(jail, source, fetched)
            raise
        if result.trouble is not None:
            raise CheckFailed(Blame.CONTENT, f"not the page itself: {result.trouble}", status=fetched.status)
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
        request = ListRequest(fetched.body, fetched.content_type, fetched.url, *part, base or None, was=original)
        try:
            deadline = feed_deadline(self._deadline, fetched.body)  # large sitemaps get more
            result = await in_jail(jail, "look_list", request, ListLook, deadline=deadline)
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

    async def first(self, jail: Jail, check: BodyCheck, feed: FeedReading | None) -> BodyReading:
        return await self.read(jail, check._replace(number=1))

    def forget(self, source: SourceId) -> None:
        self._shared_blocks.drop(source)

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
    return EMIT if source.bar is None else source.bar


def _note(source: Source, result: PageLook, at: Millis, since: Millis | None) -> Note:
    reported = [Part(part.text, "news", part.key, part.came, part.score, told=True) for part in result.weighed[:_TOLD]]
    parts = tuple(reported + [Part(part.text, part.rule, part.key, part.came, part.score) for part in result.withheld])
    is_reported = result.kind in {"changed", "moved"}
    outcome: Came = "told" if is_reported else result.kind  # type: ignore[assignment]  # all but "unchanged"
    if outcome == "baseline":
        return Note(at, outcome, result.reason)
    return Note(at, outcome, result.reason, since, result.score, _threshold(source), parts)


def _draft(source: Source, result: PageLook, fetched: FetchedResponse, at: Millis) -> Draft:
    if result.kind == "moved":
        target = result.moved_to or "a login"
        text = f"The page now leads to {target}, which is another page: {result.title}"
        title = f"A page now leads elsewhere: {source.called}"
        notice = notices.notice_draft("source_moved", source.url, title, text, at, of_source=source.tags)
        # Readers that apply all differences continue from here.
        return replace(notice, diff=result.diff, delta=result.delta, summary=of_text(f"→ {target}"))
    assert result.delta is not None and result.delta.ops, "a change always says what changed"
    return Draft(
        source_type="html",
        source_url=source.url,
        url=fetched.url,
        title=result.title,
        author=result.author,
        content=result.content,
        content_truncated=result.truncated,
        content_hash=result.content_hash,
        simhash=result.simhash,
        tags=tuple(dict.fromkeys((*source.tags, UPDATED, *((REVERTED,) if result.reverted else ())))),
        published_at=result.published_at,
        fetched_at=at,
        practice=source.practice is not None,
        diff=result.diff,
        delta=result.delta,
        summary=result.summary,
        changes=result.changes,
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
    request = StandingRequest(base, exact="json" in source.detection.format)
    try:
        return await in_jail(jail, "standing_values", request, StandingValues)
    except CheckFailed as failure:
        raise Overloaded(f"the values could not be read: {failure.reason}") from None


MOST_PAGES = 4_000
MOST_OF_A_HOST = 8
"""Pages that are remembered, in all and of one host; the hosts unused for longest go first."""


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

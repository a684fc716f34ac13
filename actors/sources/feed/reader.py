"""Feeds: RSS, Atom, JSON Feed. New and materially edited entries are reported, replaced feeds are not.

A feed that moves to another system often gives every entry another id and link. `seen` recognises such entries by their
text; if they are as many as those that stayed, they are held: events of the source that no alert gets, with one notice.
A feed that renames its entries in every response is held only once.

A feed without any known entry may show fresh entries or another system's archive. Entries dated after all seen ones are
reported, and so are all entries if the feed was empty or was replaced as a whole before: that is its pace. The first
such replacement of at least ten entries without such dates is held, with a notice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages import BodyRequest, Entry, FeedReading, link_form
from actors.content.wording.words import folded, holds
from actors.egress.failures import Blame, CheckFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.messages.requests import DetectRequest, FeedPreview, Preview
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.notices import notice_draft
from actors.sources.checks.fetch import BodyCheck, BodyReading, feed_deadline, in_jail, lost_type
from actors.sources.checks.progress import draft_event, draft_of
from actors.sources.checks.source_fetch import pace_preview
from actors.sources.detection import Classification, domain_error
from actors.sources.explanation import IN_BASELINE
from actors.sources.feed import seen
from actors.sources.feed.seen import Manner
from actors.sources.ports import Ports
from actors.sources.schedule.cadence import Hints
from actors.world import Jail
from storage.records.checks import MOST_PARTS, Note, NoteOutcome, Part, StoredMemory
from storage.records.event import NEW, RESET, UPDATED, Draft
from storage.records.event import NEW as NEW_ENTRY
from storage.records.identity import Millis, SourceId
from storage.records.message import joined, message
from storage.records.source import Source

Entries: TypeAlias = Sequence[Entry]
NEW_REASON = "new: its identity was unknown"
EDITED = "edited: its identity is known, its text is new"
HELD = "held (in the log as change:reset, for no alert): the feed has moved, or all of it was new at once, by old dates"
QUIET = "not reported: its lines changed as in most entries, or take turns (an edit that stays is reported)"


def baseline_note(feed: FeedReading, backfill: Entries, at: Millis) -> Note:
    """Return the note on the first check; `backfill`: the newest ones, as requested."""
    entries, backfilled = feed.entries, frozenset(entry.key for entry in backfill)
    rows = [
        *_parts(backfill, NEW_REASON, told=True),
        *_parts([e for e in entries if e.key not in backfilled], IN_BASELINE),
    ]
    reason = f"First check: {len(entries)} entries were there.{_omissions(feed)}"
    return Note(at, "baseline", reason, parts=tuple(rows[:MOST_PARTS]), counts=_counts(entries, told=len(backfill)))


def check_note(
    check: BodyCheck, feed: FeedReading, decision: NewEntriesDecision, *, new: int, edited: Entries, quiet: Entries
) -> Note:
    """Return the note on a later check. new: entries that were unknown. quiet: edited ones that are not reported."""
    rows = [*_parts(decision.reported, NEW_REASON, told=True), *_parts(edited, EDITED, told=True)]
    rows += [*_parts(decision.held, HELD), *_parts(quiet, QUIET)]
    reported, held = len(decision.reported) + len(edited), len(decision.held)
    counts = _counts(feed.entries, new=new, told=reported, edited=len(edited), held=held)
    counts |= {"quiet": len(quiet)} if quiet else {}
    outcome: NoteOutcome = "told" if reported else "held" if held else "churn"
    reason, parts = _reason(counts) + _omissions(feed), tuple(rows[:MOST_PARTS])
    return Note(check.at, outcome, reason, check.since, parts=parts, counts=counts)


def _reason(counts: dict[str, int]) -> str:
    words = [f"{counts[name]} {name}" for name in ("new", "edited", "held", "quiet") if counts.get(name)]
    if not words:
        return (
            f"All {counts['entries']} entries had been seen and say what they said: "
            "only dates, order, white space or the document around them changed."
        )
    return f"Of {counts['entries']} entries: {', '.join(words)}."


def _omissions(feed: FeedReading) -> str:
    text = " The document ends early, so missing entries do not count as removed." if feed.cut else ""
    return f"{text} {feed.left_out:,} more entries were left out." if feed.left_out else text


def _counts(entries: Entries, **more: int) -> dict[str, int]:
    different = len({entry.key for entry in entries})
    return {"entries": different, "duplicates": len(entries) - different, **more}


def _parts(entries: Entries, rule: str, *, told: bool = False) -> Iterator[Part]:
    for entry in entries:
        yield Part(entry.title or entry.content, rule, entry.key, told=told)


FEWEST_ENTRIES = 10

_BRIDGE = re.compile(r"bridge returned error \d+|rss reader not yet whitelist", re.IGNORECASE)
"""The start of RSS-Bridge's and Nitter's error titles."""
_REPORT = re.compile(r"bridge returned error \d+! ?\(\d+\)", re.IGNORECASE)
_PLAIN = re.compile(r"(?:an )?(?:unknown |internal |server )?error(?: has)?(?: occurr?ed)?[.!]?", re.IGNORECASE)
_MOST_REPORTS = 3


class NewEntriesDecision(Struct, frozen=True):
    """The decision on unknown and renamed entries: `reported` go out; `held` do not, and a notice names them."""

    reported: tuple[Entry, ...]
    held: tuple[Entry, ...]
    manner: Manner


def decide(
    count: int, new: Entries, before: Manner, newest: Millis | None, *, moved: Entries = (), was_empty: bool = False
) -> NewEntriesDecision:
    """Decide on the new and the moved ones among `count` entries of a known feed. newest: the latest date seen."""
    if moved and 2 * len(moved) >= count - len(new):
        held_entries = () if before is Manner.RENAMED else tuple(moved)
        return NewEntriesDecision(tuple(new), held_entries, Manner.RENAMED)
    if count < FEWEST_ENTRIES or len(new) < count or was_empty:
        return NewEntriesDecision(tuple(new), (), before if before is Manner.TURNS_OVER else Manner.PLAIN)
    newer = tuple(entry for entry in new if is_newer(entry, newest))
    if len(newer) >= len(new) / 2:
        return NewEntriesDecision(tuple(new), (), before)
    if before in (Manner.HELD, Manner.TURNS_OVER):
        return NewEntriesDecision(tuple(new), (), Manner.TURNS_OVER)
    return NewEntriesDecision(newer, tuple(entry for entry in new if not is_newer(entry, newest)), Manner.HELD)


def error_report(feed: FeedReading) -> str | None:
    titles = [entry.title.strip() for entry in feed.entries]
    if 1 <= len(titles) <= _MOST_REPORTS and all(_BRIDGE.match(title) for title in titles):
        return titles[0][:200]
    return titles[0] if len(titles) == 1 and _PLAIN.fullmatch(titles[0]) else None


def is_newer(entry: Entry, newest: Millis | None) -> bool:
    return newest is not None and entry.published_at is not None and entry.published_at > newest


_NAMED = 20
_TITLE = 100  # held entries that a notice names, and characters of each


class FeedReader:
    """Reads a feed's document. deadline: a worker's seconds for an ordinary one; large ones get more."""

    accept = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
    robots = False

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    async def read(self, jail: Jail, check: BodyCheck) -> BodyReading:
        """Return drafts of the new and edited entries, a moved feed's held; at the first check, of the newest
        `backfill` only. Raises CheckFailed, also for a bridge's error report.
        """
        return read_document(check, await self.document(jail, check.fetched))

    async def first(self, jail: Jail, check: BodyCheck, feed: FeedReading | None) -> BodyReading:
        if feed is None:
            return await self.read(jail, check)
        return read_document(check, without_reports(feed, check.fetched))

    def forget(self, source: SourceId) -> None:
        """Do nothing: feeds share no state."""

    async def document(self, jail: Jail, fetched: FetchedResponse) -> FeedReading:
        request = BodyRequest(fetched.body, fetched.content_type, fetched.url)
        deadline = feed_deadline(self._deadline, fetched.body)
        try:
            feed = await in_jail(jail, "look_feed", request, FeedReading, deadline=deadline)
        except ReadingStopped:
            raise
        except CheckFailed as failure:
            raise (await lost_type(jail, fetched, "feed") or failure) from None
        return without_reports(feed, fetched)


def without_reports(feed: FeedReading, fetched: FetchedResponse) -> FeedReading:
    """Return a feed without a bridge's error reports. Raises CheckFailed if nothing else is left."""
    report = error_report(feed)
    if report is not None:
        why = f"the feed holds nothing but an error report: {report}"
        raise CheckFailed(Blame.REMOTE_TRANSIENT, why, status=fetched.status)
    return replace(feed, entries=tuple(e for e in feed.entries if not _REPORT.fullmatch(e.title.strip())))


def read_document(check: BodyCheck, feed: FeedReading) -> BodyReading:
    prints = [fingerprint_of(entry) for entry in feed.entries]
    comparison = seen.compare(
        check.base, prints, number=check.number, now=check.at, cut=feed.cut, cut_entry=feed.cut_entry
    )
    reading = _reading(check, feed, comparison)
    left_out = f"The feed has more entries than are read: {feed.left_out:,} were left out." if feed.left_out else ""
    unsettled = comparison.unsettled or feed.cut  # the same cut document counts as whole the next time
    return replace(reading, title=feed.title, hints=hints_of(feed, check.fetched), unsettled=unsettled, remark=left_out)


def _reading(check: BodyCheck, feed: FeedReading, comparison: seen.Comparison) -> BodyReading:
    source, base, _, at, since, _ = check
    new = [feed.entries[i] for i in comparison.new]
    if not base:
        chosen = oldest_first([(entry, NEW_ENTRY) for entry in new])[max(0, len(new) - source.backfill) :]
        backfill = tuple(draft_of(source, entry, NEW_ENTRY, at) for entry, _ in chosen)
        note = baseline_note(feed, [entry for entry, _ in reversed(chosen)], at)
        return BodyReading(backfill, comparison.memory, False, Hints(), times=times_of(new), note=note)
    moved = [feed.entries[i] for i in comparison.moved]
    count = len({entry.key for i, entry in enumerate(feed.entries) if i != comparison.left_out})
    decision = decide(
        count, new, seen.manner_of(base), comparison.newest or since, moved=moved, was_empty=seen.was_empty(base)
    )
    held = frozenset(entry.key for entry in decision.held)
    edited = [entry for i in comparison.updated if (entry := feed.entries[i]).key not in held]
    pieces = ((decision.held, RESET), (decision.reported, NEW_ENTRY), (edited, UPDATED))
    chosen = oldest_first([(entry, change) for entries, change in pieces for entry in entries])
    drafts = tuple(draft_of(source, entry, change, at) for entry, change in chosen)
    if decision.held:
        drafts = (_reset_notice(source, decision, len(moved), at), *drafts)
    quiet = [feed.entries[i] for i in comparison.quiet]
    note = check_note(check, feed, decision, new=len(new), edited=edited, quiet=quiet)
    memory = seen.with_emptiness(base if comparison.memory is None else comparison.memory, empty=not feed.entries)
    memory = memory if comparison.memory is None else seen.with_manner(memory, decision.manner)
    changed, stored = bool(decision.reported or edited), None if memory == base else memory
    return BodyReading(drafts, stored, changed, Hints(), times=times_of(decision.reported), note=note)


def fingerprint_of(entry: Entry) -> seen.EntryFingerprint:
    has_id = entry.identity.startswith("guid") and not entry.key.startswith(entry.url or " ")
    link, date = link_form(entry.url), entry.published_at
    return seen.EntryFingerprint(entry.key, entry.fingerprint, link, entry.aliases, entry.prints, date, has_id)


def times_of(entries: Entries) -> tuple[Millis, ...]:
    return tuple(entry.published_at for entry in entries if entry.published_at is not None)


def _reset_notice(source: Source, decision: NewEntriesDecision, moved: int, at: Millis) -> Draft:
    held = len(decision.held)
    if moved:
        text = f"{held} entries of {source.watch_url} have other ids and links: the feed has moved. "
    else:
        text = f"{held} entries of {source.watch_url} are new at once, and nothing else is left. "
    text += f"Each is in the log with the tag {RESET}, for no alert; whatever comes next is reported as always."
    if not moved:
        titles = "; ".join(entry.title[:_TITLE] or entry.url for entry in decision.held[:_NAMED])
        text += f" No alert has seen: {titles}{'; and others' if held > _NAMED else ''}."
    title = f"A feed has moved: {source.called}" if moved else f"Most of a feed is new at once: {source.called}"
    return notice_draft("source_reset", source.url, title, text, at, source_type="feed", of_source=source.tags)


def oldest_first(chosen: list[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
    """Return entries in the order of reporting: by date if all have one, else the feed's, which is newest first."""
    reverse = chosen[::-1]
    if any(entry.published_at is None for entry, _ in chosen):
        return reverse
    return sorted(reverse, key=lambda pair: pair[0].published_at or 0)


def hints_of(feed: FeedReading, fetched: FetchedResponse) -> Hints:
    hints, ttl = feed.hints, float(max(feed.hints.ttl_s or 0, feed.hints.period_s or 0))
    return Hints(fetched.max_age or 0.0, ttl, hints.skip_hours, hints.skip_days)


NEWEST: Final = 10
MOST_BACKFILL: Final = 50


async def preview(ports: Ports, classification: Classification, request: DetectRequest) -> Preview:
    """Return the preview of a classified feed. Raises Unprocessable, Overloaded."""
    assert classification.fetched is not None and classification.feed is not None, "it was read at detection"
    try:
        feed = without_reports(classification.feed, classification.fetched)
    except CheckFailed as failure:
        raise domain_error(failure, classification.watch_url) from None
    pace = pace_preview(ports, classification.at, hints_of(feed, classification.fetched), times_of(feed.entries))
    different = list({entry.key: entry for entry in reversed(feed.entries)}.values())[::-1]
    newest = [entry for entry, _ in oldest_first([(entry, NEW) for entry in different])][::-1]
    shown = FeedPreview(
        title=feed.title,
        format=feed.format,
        url=feed.url,
        entries=len(feed.entries),
        undated=sum(entry.published_at is None for entry in feed.entries),
        identities=dict(Counter(entry.identity for entry in feed.entries)),
        newest=tuple(draft_event(entry, classification.watch_url, entry.identity) for entry in newest[:NEWEST]),
        backfill=min(MOST_BACKFILL, len(newest)),
        damaged=feed.damaged,
        hubs=feed.hubs,
        paging=dict(feed.paging),
    )
    return Preview(classification.at, feed=shown, pace=pace)


_NOT_NOTED = message("No note of a check contains it.")
NOT_IN_MEMORY = joined([_NOT_NOTED, message("For a feed only identities are stored. Check now to search the feed.")])
Known: TypeAlias = Literal["new", "edited", "seen"]


async def search(
    ports: Ports, view: SourceView, memory: StoredMemory, question: ExplainSource, fetched: FetchedResponse | None
) -> list[Reason]:
    """Return reasons that explain a text in a feed. Raises CheckFailed."""
    text = folded(question.text)
    if fetched is None or not memory.tier:
        return [Reason("absent", NOT_IN_MEMORY)]
    feed = await FeedReader(ports.settings.parse_deadline).document(ports.world.jail, fetched)
    comparison = seen.compare(memory.tier, [fingerprint_of(entry) for entry in feed.entries], number=view.hot.looks + 1)
    for position, entry in enumerate(feed.entries):
        await trio.lowlevel.checkpoint()
        if holds(entry.title, text) or text in folded(entry.content):
            is_new, is_edited = position in comparison.new, position in comparison.updated
            return [feed_reason(entry, "new" if is_new else "edited" if is_edited else "seen")]
    return [feed_reason(None, "seen")]


def feed_reason(entry: Entry | None, state: Known) -> Reason:
    if entry is None:
        return Reason("absent", message("Checked now: no entry of the feed contains it."))
    text = entry.title or entry.content
    title = text[:80]
    if state == "seen":
        reason = message(
            "The entry “%(title)s” is in the feed now, and an earlier check saw it with this identity (“%(key)s”) and "
            "this text. Without an event, it was there at the first check or was held.",
            title=title,
            key=entry.key[:80],
        )
        return Reason("there", reason, text=text)
    change = message("its text has changed since the last check")
    if state == "new":
        change = message("its identity is new")
    text_due = "The entry “%(title)s” is in the feed now, and %(reason)s: the next check reports it."
    return Reason("due", message(text_due, title=title, reason=change), text=text)

"""Feeds: RSS, Atom, JSON Feed. An entry is known by its identity; one that was edited materially is told again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.content.messages.readings import Entry, FeedReading, link_form
from actors.content.messages.requests import FeedRequest
from actors.egress.failures import Blame, LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.notices import draft
from actors.sources.feed.notes import Turned, baseline_note, turn_note
from actors.sources.feed.reset import error_report, is_fresh, is_report, turn_of
from actors.sources.feed.seen import Mark, compare, manner_of, was_empty, with_emptiness, with_manner
from actors.sources.looks.drafts import draft_of
from actors.sources.looks.reading import Reading, in_jail, patience
from actors.sources.polling.type_drift import loss
from actors.sources.schedule.cadence import Hints
from actors.world import Jail
from storage.records.event import NEW, RESET, UPDATED, Draft
from storage.records.identity import Millis, SourceId
from storage.records.source import Source


class FeedReader:
    """Reads a feed's document. deadline: the seconds that a worker has for an ordinary one; large ones get more."""

    accept = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
    robots = False

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    async def read(
        self,
        jail: Jail,
        source: Source,
        base: bytes,
        fetched: FetchedResponse,
        at: Millis,
        *,
        since: Millis | None = None,
        number: int = 0,
    ) -> Reading:
        """Return drafts of the entries that are new or edited. At the first look, of the newest `backfill` only.

        A feed that is new as a whole is held: its entries are for no alert, and that is said once.

        Raises LookFailed, also for a bridge's error report.
        """
        return reading_of(source, base, await self.document(jail, fetched), fetched, at, since=since)

    async def first(
        self, jail: Jail, source: Source, fetched: FetchedResponse, at: Millis, known: FeedReading | None
    ) -> Reading:
        """Return the first reading; a body that was classified as a feed was read as one for that."""
        if known is None:
            return await self.read(jail, source, b"", fetched, at)
        return reading_of(source, b"", without_reports(known, fetched), fetched, at)

    def forget(self, source: SourceId) -> None:
        """Do nothing: each feed is read by itself."""

    async def document(self, jail: Jail, fetched: FetchedResponse) -> FeedReading:
        """Return the feed in a body. Raises LookFailed."""
        request = FeedRequest(fetched.body, fetched.content_type, fetched.url)
        deadline = patience(self._deadline, fetched.body)
        try:
            answer = await in_jail(jail, "look_feed", msgspec.msgpack.encode(request), deadline=deadline)
        except LookFailed as failure:
            raise await _lost(jail, fetched, failure) from None
        return without_reports(msgspec.msgpack.decode(answer, type=FeedReading), fetched)


def without_reports(feed: FeedReading, fetched: FetchedResponse) -> FeedReading:
    """Return a feed without a bridge's error reports. Raises LookFailed when it holds nothing else."""
    report = error_report(feed)
    if report is not None:
        why = f"the feed holds nothing but an error report: {report}"
        raise LookFailed(Blame.REMOTE_TRANSIENT, why, status=fetched.status)
    return replace(feed, entries=tuple(entry for entry in feed.entries if not is_report(entry)))


def reading_of(
    source: Source, base: bytes, feed: FeedReading, fetched: FetchedResponse, at: Millis, *, since: Millis | None = None
) -> Reading:
    """Return what a look at a feed tells, by the memory of the last one (see `FeedReader.read`)."""
    return replace(_compared(source, base, feed, fetched, at, since=since), title=feed.title)


def _compared(
    source: Source, base: bytes, feed: FeedReading, fetched: FetchedResponse, at: Millis, *, since: Millis | None
) -> Reading:
    found = compare(base, [mark_of(entry, since) for entry in feed.entries])
    new = [feed.entries[i] for i in found.new]
    edited = [feed.entries[i] for i in found.updated]
    hints = hints_of(feed, fetched)
    if not base:
        chosen = oldest_first([(entry, NEW) for entry in new])[max(0, len(new) - source.backfill) :]
        told = tuple(draft_of(source, entry, NEW, at) for entry, _ in chosen)
        note = baseline_note(feed.entries, [entry for entry, _ in reversed(chosen)], at)
        return Reading(told, found.memory, False, hints, times=times_of(new), note=note)
    if found.memory is None:
        memory = with_emptiness(base, empty=not feed.entries)
        note = turn_note(feed.entries, Turned(), at, since)
        return Reading((), None if memory == base else memory, False, hints, note=note)
    count = len({entry.key for entry in feed.entries})
    turn = turn_of(count, new, manner_of(base), since, was_empty=was_empty(base))
    pieces = ((turn.held, RESET), (turn.told, NEW), (edited, UPDATED))
    drafts = _drafts(source, [(entry, change) for entries, change in pieces for entry in entries], at)
    if turn.say:
        drafts = (_reset(source, len(turn.held), at), *drafts)
    changed = bool(turn.told or edited)
    note = turn_note(feed.entries, Turned(new, turn.told, edited), at, since)
    memory = with_manner(found.memory, turn.manner)
    return Reading(drafts, memory, changed, hints, times=times_of(turn.told), note=note)


async def _lost(jail: Jail, fetched: FetchedResponse, failure: LookFailed) -> LookFailed:
    """Return what a body that is no feed says of itself; as it was, when reading it took too long."""
    if isinstance(failure, ReadingStopped):
        return failure
    return await loss(jail, fetched, "feed") or failure


def mark_of(entry: Entry, since: Millis | None) -> Mark:
    """Return what of an entry is compared; `since` is the last good look."""
    return Mark(entry.key, entry.fingerprint, link_form(entry.url), entry.aliases, is_fresh(entry, since))


def _drafts(source: Source, chosen: list[tuple[Entry, str]], at: Millis) -> tuple[Draft, ...]:
    return tuple(draft_of(source, entry, change, at) for entry, change in oldest_first(chosen))


def times_of(entries: Sequence[Entry]) -> tuple[Millis, ...]:
    """Return when entries came, by the feed's own word."""
    return tuple(entry.published_at for entry in entries if entry.published_at is not None)


def _reset(source: Source, held: int, at: Millis) -> Draft:
    says = (
        f"{held} entries of {source.watch_url} are new at once, as after a move to another system. "
        f"Each is in the log with the tag {RESET}, for no alert; whatever comes next is told as always."
    )
    return draft(
        "source_reset",
        source.url,
        f"Most of a feed is new at once: {source.called}",
        says,
        at,
        source_type="feed",
        of_source=source.tags,
    )


def oldest_first(chosen: list[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
    """Return entries in the order of telling.

    Feeds list the newest first; where every entry has a date, the dates decide, and ties keep that order.
    """
    reverse = chosen[::-1]
    if any(entry.published_at is None for entry, _ in chosen):
        return reverse
    return sorted(reverse, key=lambda pair: pair[0].published_at or 0)


def hints_of(feed: FeedReading, fetched: FetchedResponse) -> Hints:
    """Return what the feed and its response's headers say of its pace."""
    said = feed.hints
    return Hints(
        max_age=fetched.max_age or 0.0,
        ttl=float(max(said.ttl_s or 0, said.period_s or 0)),
        skip_hours=said.skip_hours,
        skip_days=said.skip_days,
    )

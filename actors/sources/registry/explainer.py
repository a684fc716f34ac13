"""Explains why a text was not reported, from the log, the notes, the tier's memory and, on request, a check.

That check is as polite as any other (robots.txt, the host's turn, at most one in `cadence_floor` seconds) and does not
change the source.
"""

from __future__ import annotations

import msgspec
import trio
from msgspec import UNSET

from actors.content.wording.words import folded, holds
from actors.egress.failures import CheckFailed
from actors.egress.hosts import INTERACTIVE
from actors.egress.http import FetchedResponse
from actors.errors import UrlRefused
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, ReportedPage, SourceExplanation
from actors.sources import explanation as sentences
from actors.sources.checks.fetch import as_failure
from actors.sources.checks.source_fetch import fetch_for_user
from actors.sources.index import SourceIndex
from actors.sources.page.reader import reported_page, standing_values
from actors.sources.ports import LiveSource, Ports
from actors.sources.tiers import BEHAVIOURS
from storage.records import trail
from storage.records.event import NEW, Event, Filter
from storage.records.identity import Millis, SourceId, millis_of, seq_at
from storage.records.message import message
from storage.records.tiers import ORDINARY, WITH_DIFF, Kind

PATIENCE = 8.0
"""Seconds for a check that a user waits for; a host's queue may be longer."""
AT_ONCE = 10
MOST_READS = 30
"""Reads of the log for an answer, newest first: 300 events, or fewer if others are dense between them."""
_KINDS = (*ORDINARY, Kind.PRACTICE)
_DAY = 86_400_000
"""Milliseconds of a possible step back of the clock since the newest event."""
_event = msgspec.json.Decoder(Event)


class Explainer:
    """Answers questions about sources; changes nothing."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self._ports, self._table = ports, table

    async def explain(self, question: ExplainSource) -> SourceExplanation:
        """Return the explanation. Raises NotFound."""
        live, view = self._table.get(question.source), self._table.describe(question.source)
        stored = await self._ports.storage.sources.get(question.source)
        memory = trail.opened(stored.base if stored is not None else b"")
        notes = trail.read_notes(memory.notes)
        text = folded(question.text)
        if not text:
            reasons = [*sentences.check_reasons(notes)]
        else:
            reasons = [*await self._reported(question.source, text), *sentences.note_reasons(notes, text)]
            if live.source.tier.polled or not reasons:  # the log and notes are all there is on frames
                reasons += await self._in_memory(live, memory, question)
        state = sentences.state_text(self._table.describe(question.source), self._ports.world.now())
        return SourceExplanation(view, sentences.best_first(reasons), state)

    async def reported_page(self, source: SourceId, *, values: bool = False) -> ReportedPage | None:
        """Return a page as last reported; None for other tiers or an unread page. values: include its current values.
        Raises NotFound; Overloaded if no worker could read the values.
        """
        live = self._table.get(source)
        stored = await self._ports.storage.sources.get(source)
        base = trail.opened(stored.base).tier if stored is not None and stored.base else b""
        page = reported_page(base) if base and live.source.tier.has_diff and live.source.follow == "none" else None
        if page is None or not values:
            return page
        return page._replace(standing=await standing_values(self._ports.world.jail, live.source, base))

    async def _reported(self, source: SourceId, text: str) -> list[Reason]:
        log = self._ports.storage.log
        at = seq_at(Millis(self._ports.world.now() + _DAY))
        for _ in range(MOST_READS):
            page = await log.read_back(at, AT_ONCE, Filter(sources=(source,), kinds=_KINDS))
            for stored in page.events:
                await trio.lowlevel.checkpoint()
                event = _event.decode(stored.body)
                if _reports(event, text):
                    return [sentences.reported_reason(event, millis_of(stored.seq))]
            if not page.scanned or page.scanned == at:
                break
            at = page.scanned
        return []

    async def _in_memory(self, live: LiveSource, memory: trail.StoredMemory, question: ExplainSource) -> list[Reason]:
        view = self._table.describe(question.source)
        fetched, reasons = await self._checked(live, question)
        try:
            reasons += await BEHAVIOURS[view.source.type].search(self._ports, view, memory, question, fetched)
        except CheckFailed as failure:
            reasons.append(Reason("failed", message("It could not be read: %(reason)s.", reason=failure.reason)))
        return reasons

    async def _checked(self, live: LiveSource, question: ExplainSource) -> tuple[FetchedResponse | None, list[Reason]]:
        if not (question.check_now and live.source.tier.polled):
            return None, []
        now = self._ports.world.now()

        def begin() -> None:
            wait = self._table.earliest_check(live) - now
            if wait > 0 or not live.source.enabled:
                raise _NotNow(sentences.too_soon(wait, enabled=live.source.enabled))
            live.requested_at = now

        reader = self._table.readers[live.source.type]
        try:
            with trio.fail_after(PATIENCE):
                return (await fetch_for_user(self._ports, live, INTERACTIVE, reader, begin)).fetched, []
        except _NotNow as error:
            return None, [Reason("failed", error.args[0])]
        except trio.TooSlowError:
            return None, [Reason("failed", message("It could not be checked now: its host has a queue, or is slow."))]
        except (CheckFailed, UrlRefused) as error:
            reason = message("Checked now, it failed: %(reason)s.", reason=as_failure(error).reason)
            return None, [Reason("failed", reason, now)]


class _NotNow(Exception):
    """Politeness forbids a check, or the source is paused: a Message."""


def _reports(event: Event, wanted_text: str) -> bool:
    """Return whether an event reports a text: for a page, in its difference; for an item or a frame, anywhere."""
    if event.source_type not in WITH_DIFF or (event.diff is UNSET and NEW in event.tags):
        return holds(event.title, wanted_text) or wanted_text in folded(event.content)
    if event.diff is UNSET:
        return False
    diff = event.diff
    texts = (*diff.added, *diff.removed, *(text for pair in diff.changed for text in (pair.before, pair.after)))
    return any(holds(text, wanted_text) for text in texts)

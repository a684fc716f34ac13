"""From a source's draft to the wire form of an event, with a position and id that only grow. Pure.

RFC 9562 section 6.2, method 1: milliseconds, then a counter of 15 bits. The time part never decreases, whatever the
wall clock shows; a full counter borrows the next millisecond. A new millisecond starts its counter low, but not at
zero, so that ids cannot be guessed from their time. `storage.records.identity` has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from actors.content.wording.words import of_text
from actors.messages.declaring import made_of
from storage.records.event import Draft, Event
from storage.records.identity import COUNTER_BITS, START, Millis, Seq, SourceId, id_of, rfc3339

SCHEMA_VERSION = 1
SCHEMA_PATH = "/schemas/stream-event/1.json"
_OPTIONAL = ("content_truncated", "diff", "delta", "changes", "unread", "alert_type", "heartbeat")


def build(event_id: str, source: SourceId, draft: Draft, base_url: str, now: Millis) -> Event:
    """Build an event. base_url: without a final slash. `emitted_at` is now, but never before `fetched_at`: the clock
    may have stepped back between the check and the commit.
    """
    return made_of(
        Event,
        draft,
        schema=base_url + SCHEMA_PATH,
        id=event_id,
        source_id=source,
        summary=draft.summary or of_text(draft.title, draft.content, draft.url, draft.source_url),
        published_at=None if draft.published_at is None else rfc3339(draft.published_at),
        fetched_at=rfc3339(draft.fetched_at),
        emitted_at=rfc3339(max(now, draft.fetched_at)),
        schema_version=SCHEMA_VERSION,
        **{name: getattr(draft, name) or UNSET for name in _OPTIONAL},
        story=(draft.story or event_id) if draft.alert_type is None else UNSET,
    )


_TAIL_BITS = 59
_FRESH_BITS = 8


class Identifiers:
    """Mints positions and ids, in the engine's transaction and so in the order of commits. `bits(n)`: n random bits."""

    def __init__(self, now: Callable[[], Millis], bits: Callable[[int], int]) -> None:
        self._now, self._bits = now, bits
        self._last: Seq = START

    def raise_floor(self, floor: Seq) -> None:
        self._last = max(self._last, floor)

    def mint(self) -> tuple[Seq, str]:
        now = self._now()
        if now > self._last >> COUNTER_BITS:
            self._last = Seq(now << COUNTER_BITS | self._bits(_FRESH_BITS))
        else:
            self._last = Seq(self._last + 1)
        return self._last, id_of(self._last, self._bits(_TAIL_BITS))

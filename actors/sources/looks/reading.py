"""The reader of a polled tier: a fetched body goes in, drafts and the memory to keep come out."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from actors.content.messages.readings import FeedReading, is_pdf
from actors.egress.failures import Blame, LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.sources.schedule.cadence import Hints
from actors.world import Jail, TaskRefused, WorkerDied, WorkerTooSlow
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId
from storage.records.note import Note
from storage.records.source import Source

_PDF = 8
"""Times as long for a PDF as for a page."""
_ORDINARY = 1 << 20
"""Bytes. A feed of so many takes up to half a second of a core that others use, too."""


class Reading(Struct, frozen=True):
    """What a body held. `drafts` are oldest first; `base` None: the memory stays as it is.

    `changed` feeds the cadence; `again_soon` asks for another look at the floor, to settle a doubt; after an
    `unsettled` one the next look reads the body even if it is the same, for what stays may be told.
    `times` are when the news came, by the source's own word; at the first look, when all that is there came.
    `note` is for who asks why; None when there is nothing to say. `title` is what the page or feed calls itself.
    `remark` is a sentence for the source's health that costs it nothing. `files` are those of a sitemap's index that
    are to be read. `began` is when the page was first looked at as it is watched now; 0 where nobody asks or knows.
    """

    drafts: tuple[Draft, ...]
    base: bytes | None
    changed: bool
    hints: Hints
    again_soon: bool = False
    unsettled: bool = False
    times: tuple[Millis, ...] = ()
    note: Note | None = None
    title: str = ""
    remark: str = ""
    files: tuple[str, ...] = ()
    began: int = 0


class BodyReader(Protocol):
    """How a tier that polls reads a body. One for all its sources."""

    accept: str
    robots: bool

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
        """Read a body against the memory `base` (b"" at the first look), which the last good look `since` left.

        number: of the look, with those that failed or found the same bytes. Raises LookFailed.
        """

    async def first(
        self, jail: Jail, source: Source, fetched: FetchedResponse, at: Millis, known: FeedReading | None
    ) -> Reading:
        """Read the body that classified a source; `known` is what detection has read of it. Raises LookFailed."""

    def forget(self, source: SourceId) -> None:
        """Drop what is known of a source that is gone."""


async def in_jail(jail: Jail, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
    """Run a task on hostile bytes; its failures are looks that failed because of the content."""
    try:
        return await jail.call(task, request, deadline=deadline)
    except TaskRefused as error:
        raise LookFailed(Blame.CONTENT, error.reason) from None
    except WorkerTooSlow:
        says = "parse_timeout: reading the body took too long and was stopped"
        raise ReadingStopped(says, too_slow=True) from None
    except WorkerDied:
        says = "parse_killed: reading the body took too much memory and was stopped"
        raise ReadingStopped(says, too_slow=False) from None


def patience(deadline: float, body: bytes) -> float:
    """Return the seconds for reading a body as a feed: more for one that is large, since each entry takes its time."""
    return max(deadline * (1 + len(body) / _ORDINARY), page_patience(deadline, body))


def page_patience(deadline: float, body: bytes) -> float:
    """Return the seconds for reading a body as a page: more for a PDF, whose pages take 25 ms each."""
    return deadline * (_PDF if is_pdf(body) else 1)


def body_hints(fetched: FetchedResponse) -> Hints:
    """Return what the response's headers say of the origin's pace."""
    return Hints(max_age=fetched.max_age or 0.0)

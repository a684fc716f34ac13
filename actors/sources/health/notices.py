"""A source's notices about itself: it fails, it has gone quiet, all is well again. Pure.

That it fails is told by how long that has lasted, whatever the flag says: each alert hears of it when the run of
failures is as old as its `notice_after`, and alerts that wait for the same time share one notice. Answers that can be
read only now and then are no run; they are told to all when they have made the flag fall. That it has gone quiet is
told by the flag alone, since only its own past says what is a long silence.

What was told is part of the health (`Telling`), which is saved in the same commit as the notice: so a restart repeats
nothing, and the end of a trouble is told to those who know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from actors.notices import EVERYBODY, AlertType, draft, telling_of, telling_of_the_end
from actors.sources.health.score import span
from storage.records.event import Draft
from storage.records.health import Health, Telling
from storage.records.identity import Millis
from storage.records.source import Source
from storage.records.times import spoken

Reached = Callable[[int | None, float], int | None]
"""Given the `notice_after` up to which was told (None: nobody was) and how many seconds a trouble has lasted, the
longest that is due now; None when none is.
"""
_TITLES: Final[dict[AlertType, str]] = {
    "source_failing": "A source is failing",
    "source_quiet": "A source has gone quiet",
    "source_recovered": "A source works again",
}


def news(
    source: Source, before: Health, after: Health, at: Millis, reached: Reached
) -> tuple[Health, tuple[Draft, ...]]:
    """Return what a change of health, or the mere passing of time, is worth telling; and the health that knows it."""
    if source.practice is not None or source.detection.pending:
        # Nobody hears of practice, nor that what was kept until it answers has yet to do so.
        return after, ()
    if after.down_since is None and after.flag == "ok":
        if after.told is None:
            return after, ()
        return replace(after, told=None), (_recovered(source, before, after.told, at),)
    drafts: list[Draft] = []
    if before.flag == "ok" and after.flag != "ok" and after.cause == "yield":
        drafts.append(_said(source, "source_quiet", after.reason, at))
        after = replace(after, told=replace(after.told or Telling(at), at=at, quiet=True))
    known = None if after.told is None else after.told.failing
    now_due = _due(after, known, at, reached)
    if now_due is not None:
        drafts.append(_said(source, "source_failing", _failing(after, at), at, telling_of(known, now_due)))
        after = replace(after, told=replace(after.told or Telling(at), at=at, failing=now_due))
    return after, tuple(drafts)


def _due(health: Health, known: int | None, at: Millis, reached: Reached) -> int | None:
    if health.down_since is not None:
        return reached(known, (at - health.down_since) / 1000)
    return EVERYBODY if health.cause == "partial" and health.flag != "ok" and known is None else None


def _failing(health: Health, at: Millis) -> str:
    since = health.down_since
    if since is None:
        return health.reason
    lasts = f"No look has worked since {spoken(since)}, for {span((at - since) / 1000)}."
    return f"{lasts} {health.reason}"


def _recovered(source: Source, before: Health, told: Telling, at: Millis) -> Draft:
    tags = telling_of_the_end(None if told.quiet else told.failing, told.at)
    return _said(source, "source_recovered", f"Before that: {before.reason}", at, tags)


def _said(source: Source, kind: AlertType, says: str, at: Millis, tags: tuple[str, ...] = ()) -> Draft:
    return draft(
        kind,
        source.url,
        f"{_TITLES[kind]}: {source.called}",
        says,
        at,
        source_type=source.type,
        tags=tags,
        of_source=source.tags,
    )

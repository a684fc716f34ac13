"""A source's notices about itself: it fails, has gone quiet, has recovered. Pure.

Failure is reported by its duration, whatever the flag: each alert gets it when the run of failures is as old as its
`notice_after`, and alerts with the same delay share one notice. Intermittently unreadable answers are no run; all
alerts get a notice once they lower the flag. Quiet is reported by the flag alone, since only the source's own past
defines a long silence.

The health records the notices sent (`Telling`) and is saved in the same commit. So a restart repeats none, and the
recovery goes to those who got the failure.
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
"""Given the notified `notice_after` (None: none yet) and a trouble's seconds, the longest one due now, or None."""
_TITLES: Final[dict[AlertType, str]] = {
    "source_failing": "A source is failing",
    "source_quiet": "A source has gone quiet",
    "source_recovered": "A source works again",
}


def news(
    source: Source, before: Health, after: Health, at: Millis, reached: Reached
) -> tuple[Health, tuple[Draft, ...]]:
    """Return the notices due after a change of health or the passing of time, and the health that records them."""
    if source.practice is not None or source.detection.pending:
        # Practice sources, and sources that have never answered, send no notices.
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

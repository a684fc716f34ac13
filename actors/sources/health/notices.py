"""A source's notices about itself: it fails, has gone quiet, has recovered; and the timer of a failing source.

Failure is reported by its duration, whatever the flag: each alert gets it when the run of failures is as old as its
`notice_after`, and alerts with the same delay share one notice. Intermittently unreadable answers are no run; all
alerts get a notice once they lower the flag. Quiet is reported by the flag alone. The health records the notices sent
(`OpenNotices`) in the same commit, so a restart repeats none, and the recovery goes to those who got the failure.

No notice goes out while the source may not be at fault: while our own network is down or checks are paused, and after
that, or after a time without watching, until a check confirms the trouble.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final

import trio
from msgspec.structs import replace

from actors.messages.sources import SourceMessage
from actors.notices import EVERYBODY, AlertType, failure_tags, notice_draft, recovery_tags
from actors.sources.health.score import span
from actors.sources.ports import LiveSource, Ports
from storage.records.event import Draft
from storage.records.identity import Millis, spoken
from storage.records.source import Health, OpenNotices, Source, SourceRuntime

DueDelay = Callable[[int | None, float], int | None]
"""Given the notified `notice_after` (None: none yet) and a trouble's seconds, the longest one due now, or None."""
_TITLES: Final[dict[AlertType, str]] = {
    "source_failing": "A source is failing",
    "source_quiet": "A source has gone quiet",
    "source_recovered": "A source works again",
}


def due_notices(
    source: Source, before: Health, after: Health, at: Millis, due_delay: DueDelay
) -> tuple[Health, tuple[Draft, ...]]:
    """Return the notices due after a change of health or the passing of time, and the health that records them."""
    if source.practice is not None or source.detection.pending:
        # Practice sources, and sources that have never answered, send no notices.
        return after, ()
    if after.down_since is None and after.flag == "ok":
        if after.told is None:
            return after, ()
        tags = recovery_tags(None if after.told.quiet else after.told.failing, after.told.at)
        notice = _notice(source, "source_recovered", f"Before that: {before.reason}", at, tags)
        return replace(after, told=None), (notice,)
    drafts: list[Draft] = []
    if before.flag == "ok" and after.flag != "ok" and after.cause == "yield":
        drafts.append(_notice(source, "source_quiet", after.reason, at))
        after = replace(after, told=replace(after.told or OpenNotices(at), at=at, quiet=True))
    notified = None if after.told is None else after.told.failing
    delay = _due(after, notified, at, due_delay)
    if delay is not None:
        text = after.reason
        if (since := after.down_since) is not None:
            text = f"No check has succeeded since {spoken(since)}, for {span((at - since) / 1000)}. {text}"
        drafts.append(_notice(source, "source_failing", text, at, failure_tags(notified, delay)))
        after = replace(after, told=replace(after.told or OpenNotices(at), at=at, failing=delay))
    return after, tuple(drafts)


def _due(health: Health, notified: int | None, at: Millis, due_delay: DueDelay) -> int | None:
    if health.down_since is not None:
        return due_delay(notified, (at - health.down_since) / 1000)
    return EVERYBODY if health.cause == "partial" and health.flag != "ok" and notified is None else None


def _notice(source: Source, kind: AlertType, text: str, at: Millis, tags: tuple[str, ...] = ()) -> Draft:
    title, type = f"{_TITLES[kind]}: {source.called}", source.type
    return notice_draft(kind, source.url, title, text, at, source_type=type, tags=tags, of_source=source.tags)


SendNotices = Callable[[SourceRuntime, tuple[Draft, ...]], Awaitable[None]]
"""Commits notices together with the state that records them."""


class FailureTimer:
    """One source's timer. Call `on_check` after each check."""

    __slots__ = ("_checked_at", "_live", "_ports")

    def __init__(self, ports: Ports, live: LiveSource) -> None:
        self._ports, self._live = ports, live
        self._checked_at = trio.current_time()

    def on_check(self, *, local: bool = False) -> None:
        """Record a finished check; local: it failed by our own fault, which confirms nothing."""
        self._checked_at = trio.current_time()
        self._live.unconfirmed = local

    def due_notices(self, before: Health, after: Health, at: Millis) -> tuple[Health, tuple[Draft, ...]]:
        return due_notices(self._live.source, before, after, at, self._due_delay)

    async def sleep(self, wait: float, send: SendNotices) -> SourceMessage | None:
        """Wait this many seconds, or for a message; send due notices in between."""
        until = trio.current_time() + max(0.0, wait)
        while True:
            with (
                trio.CancelScope(deadline=min(until, self._next_due())) as scope,
                self._ports.failure_delays.cancel_on_change(scope),
            ):
                return await self._live.mailbox.receive()
            if trio.current_time() >= until:
                return None
            hot = self._live.hot
            health, drafts = self.due_notices(hot.health, hot.health, self._ports.world.now())
            if drafts:
                await send(replace(hot, health=health), drafts)
                if self._live.hot.health.told != health.told:
                    self._live.unconfirmed = True  # it could not be committed: the next check retries

    def _next_due(self) -> float:
        health, source = self._live.hot.health, self._live.source
        since, notified = health.down_since, None if health.told is None else health.told.failing
        if since is None or source.practice is not None or source.detection.pending or self._is_unconfirmed():
            return math.inf
        delay = self._ports.failure_delays.next_delay(source, notified)
        if delay is None:
            return math.inf
        # Add a millisecond, so that rounding never wakes it too early.
        return trio.current_time() + max(0.0, (since + 1 - self._ports.world.now()) / 1000 + delay)

    def _due_delay(self, notified: int | None, seconds: float) -> int | None:
        if self._is_unconfirmed():
            return None
        return self._ports.failure_delays.due_delay(self._live.source, notified, seconds)

    def _is_unconfirmed(self) -> bool:
        line, gate = self._ports.egress.uplink, self._ports.pause_switch
        self._live.unconfirmed |= line.down or gate.is_closed or line.recovered_at > self._checked_at
        return self._live.unconfirmed

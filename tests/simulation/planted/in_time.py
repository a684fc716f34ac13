"""Bugs of reports and their times: batches and moves of feeds, alerts on frames, notices of troubles."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.notices import recovery_tags
from actors.sources.admission import Admission
from actors.sources.feed.reader import NewEntriesDecision, decide
from actors.sources.health import notices as troubles
from actors.sources.health.notices import FailureTimer
from actors.sources.polling import PolledSource
from storage.records import event
from storage.records.event import Draft
from storage.records.source import Harvest
from storage.records.tiers import TIERS, Kind


def batches_are_moves() -> AbstractContextManager[Any]:
    """A batch of entries with one date counts as undated, and is held."""

    def wrong(count: int, new: Any, before: Any, newest: Any, **more: Any) -> NewEntriesDecision:
        dates = {entry.published_at for entry in new}
        undated = [replace(entry, published_at=None) for entry in new] if len(dates) <= len(new) / 2 else new
        return decide(count, undated, before, newest, **more)

    return patch("actors.sources.feed.reader.decide", wrong)


def held_entries_vanish() -> AbstractContextManager[Any]:
    """Held entries are remembered, but never reach the log."""
    right = PolledSource._send

    async def wrong(self: PolledSource, harvest: Harvest, *, checked: bool = False) -> None:
        drafts = tuple(draft for draft in harvest.drafts if "change:reset" not in draft.tags)
        await right(self, replace(harvest, drafts=drafts), checked=checked)

    return patch.object(PolledSource, "_send", wrong)


def held_entries_matched() -> AbstractContextManager[Any]:
    """The matcher treats a held entry like any other."""

    def wrong(draft: Draft) -> int:
        return Kind.NOTICE if draft.alert_type is not None else TIERS[draft.source_type].kinds[0]

    return patch.object(event, "kind_of", wrong)


def alerts_read_now_and_then() -> AbstractContextManager[Any]:
    """A push source learns of a new alert some seconds late."""

    async def wrong(self: Admission, alerts: Any) -> None:
        pass

    return patch.object(Admission, "set_alerts", wrong)


def reported_at_checks_only() -> AbstractContextManager[Any]:
    """Notices of a trouble come only with checks."""
    return patch.object(FailureTimer, "_next_due", lambda self: math.inf)


def reported_and_forgotten() -> AbstractContextManager[Any]:
    """The notice is committed without the state that records it: the next life repeats it."""
    right = PolledSource._send

    async def wrong(self: PolledSource, harvest: Harvest) -> None:
        state = harvest.state
        if state is None or all(draft.alert_type != "source_failing" for draft in harvest.drafts):
            return await right(self, harvest)
        await right(self, replace(harvest, state=replace(state, hot=self._live.hot)))
        self._live.hot = state.hot
        return None

    return patch.object(PolledSource, "_send", wrong)


def the_end_is_for_all() -> AbstractContextManager[Any]:
    """The notice of a recovery also goes to alerts that never got the notice of the failure."""
    return patch.object(troubles, "recovery_tags", lambda failing, at: recovery_tags(None, at))

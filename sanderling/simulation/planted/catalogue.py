"""All planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sanderling.simulation.planted import delivering, log, streams

Plant = Callable[[], AbstractContextManager[Any]]

PLANTS: tuple[Plant, ...] = (
    log.acknowledged_before_the_commit,
    log.minted_before_the_commit,
    log.state_and_events_in_two_commits,
    log.ids_by_the_wall_clock,
    log.unseen_stays_unseen,
    streams.resumes_with_the_last_event,
    streams.live_without_replay,
    streams.spins_behind_the_ring,
    delivering.claimed_for_ever,
    delivering.matches_after_the_cursor,
    delivering.given_up_after_two,
)

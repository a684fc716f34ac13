"""All planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sanderling.simulation.planted import delivering, log, streams, watching

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
    watching.validators_lost_at_a_304,
    watching.validators_sent_everywhere,
    watching.retry_after_ignored,
    watching.dates_by_our_clock,
    watching.throttled_at_a_steady_pace,
    watching.crawl_delay_ignored,
    watching.twins_apart,
    watching.robots_forgotten,
    watching.redirects_unguarded,
    watching.compared_with_the_last_look,
    watching.walls_told,
    watching.identity_by_title,
    watching.absent_entries_forgotten,
    watching.resets_told,
    watching.state_without_its_base,
    watching.breaker_never_half_open,
    watching.outages_blamed_on_sources,
    watching.all_back_at_once,
    watching.dead_connections_kept,
)

"""All planted bugs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from sanderling.simulation.planted import delivering, in_time, letters, log, streams, watching

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
    in_time.batches_are_moves,
    in_time.held_entries_vanish,
    in_time.held_entries_matched,
    in_time.alerts_read_now_and_then,
    in_time.told_at_looks_only,
    in_time.told_and_forgotten,
    in_time.the_end_is_for_all,
)

OF_LETTERS: tuple[Plant, ...] = (
    letters.encoded_again,
    letters.another_id,
    letters.signed_at_first,
    letters.old_secrets_sign_for_ever,
    letters.old_secrets_stop_at_once,
    letters.redirects_are_success,
    letters.silence_is_success,
    letters.wishes_ignored,
    letters.gone_is_a_failure,
    letters.one_success_does_not_count,
    letters.settled_before_the_post,
    letters.checked_once,
    letters.tests_are_marked,
    letters.refusals_listed_as_500,
    letters.probes_never,
    letters.probes_in_crowds,
    letters.too_many_at_once,
    letters.no_room_to_mind,
    letters.slow_ones_take_all,
    letters.older_ones_first,
    letters.in_two_digests,
    letters.frozen_by_elapsed_days,
    letters.quiet_hours_drop,
    letters.quiet_hours_unheard,
    letters.disabled_drops,
    letters.edits_lose,
    letters.disabled_untold,
    letters.debts_paid_late,
)
"""Those that a correspondence shows."""

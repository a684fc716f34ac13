"""The files to mutate, and the tests for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ROOMS: Mapping[str, Sequence[str]] = {
    "recorder": ("actors/recorder",),
    "matcher": ("actors/matcher.py",),
    "delivery": ("actors/delivery",),
    "source": ("actors/sources",),
    "reader": ("api/streams/reader.py", "api/streams/streams.py", "api/nouns/streams.py", "storage/tail.py"),
    "retention": ("actors/recorder/pruner.py", "storage/retention.py"),
    "registry": (
        "actors/sources/registry/actor.py",
        "actors/sources/registry/service.py",
        "actors/sources/registry/previewer.py",
        "actors/sources/registry/validation.py",
        "actors/sources/index.py",
        "actors/delivery/registry.py",
    ),
    "digest": (
        "actors/delivery/schedule.py",
        "actors/hours.py",
        "actors/delivery/schedule.py",
        "actors/delivery/claims.py",
        "storage/sql/stores/outbox.py",
    ),
    "supervision": ("supervision",),
    "storage": (
        "storage/sqlite/engine.py",
        "storage/sql/stores/log.py",
        "storage/sql/stores/sources.py",
        "storage/sql/stores/alerts.py",
        "storage/sql/stores/log.py",
        "storage/sqlite/engine.py",
        "storage/sqlite/engine.py",
        "storage/append.py",
    ),
    "hub": ("extras/publish/hub.py", "extras/publish/hub.py", "extras/publish/hub.py"),
    "feeds-out": ("extras/publish",),
    "replica": ("extras/cluster/replica", "storage/sqlite/engine.py"),
    "heartbeat": ("actors/coverage.py",),
    "coverage": (
        "actors/coverage.py",
        "storage/records/coverage.py",
        "storage/records/coverage.py",
        "storage/sql/stores/sources.py",
        "actors/sources/registry/actor.py",
    ),
    "cookies": ("actors/egress/cookies.py", "actors/sources/session_cookies.py", "actors/sources/lending.py"),
    "browser": ("extras/browser/pool.py", "extras/browser/holder.py", "extras/browser/holder.py"),
    "apply": ("extras/apply",),
    "members": ("extras/cluster/members",),
    "webpush": ("extras/webpush",),
}
"""Files, or whole folders, by room. A file in several rooms is drawn more often."""
TESTS: Sequence[str] = (
    "tests/actors/recorder",
    "tests/actors/matcher",
    "tests/actors/delivery",
    "tests/actors/sources",
    "tests/supervision",
    "tests/storage/contract",
    "tests/storage",
    "tests/actors",
    "tests/api/streams/test_reader.py",
    "tests/api/nouns/test_stream.py",
    "tests/api/streams/test_streams.py",
    "tests/api/streams/test_sse.py",
    "tests/api/nouns/test_events.py",
    "tests/api/nouns/test_replay.py",
)
"""The tests to run. Each mutant is shown only to those that run its line. Simulated worlds run nearly every line,
and have their own stage."""
FALLBACK: Mapping[str, Sequence[str]] = {
    "recorder": ("tests/actors/recorder",),
    "matcher": ("tests/actors/matcher",),
    "delivery": ("tests/actors/delivery",),
    "source": ("tests/actors/sources",),
    "reader": (
        "tests/api/streams/test_reader.py",
        "tests/api/nouns/test_stream.py",
        "tests/api/streams/test_streams.py",
    ),
    "retention": ("tests/actors/recorder/test_pruner.py", "tests/storage/test_retention.py"),
    "registry": ("tests/actors/sources/registry/test_registry.py", "tests/actors/delivery"),
    "digest": ("tests/actors/delivery", "tests/storage/contract/test_contract_outbox.py"),
    "supervision": ("tests/supervision",),
    "storage": ("tests/storage/contract", "tests/storage"),
    "hosts": ("tests/actors/egress/test_hosts.py", "tests/actors/egress/test_reopening.py"),
    "hub": ("tests/extras/publish", "tests/test_bursts.py"),
    "feeds-out": ("tests/extras/publish", "tests/test_bursts.py"),
    "replica": ("tests/extras/cluster/replica",),
    "heartbeat": ("tests/actors/coverage",),
    "coverage": (
        "tests/actors/coverage/test_shifts.py",
        "tests/actors/sources/registry/test_tallies.py",
        "tests/storage/records/test_coverage.py",
        "tests/storage/records/test_shift.py",
        "tests/storage/records/test_tally.py",
        "tests/storage/contract/test_contract_coverage.py",
        "tests/api/nouns/test_coverage.py",
    ),
    "cookies": (
        "tests/actors/egress/test_cookies.py",
        "tests/actors/sources/test_session_cookies.py",
        "tests/actors/sources/test_lending.py",
        "tests/actors/sources/checks/test_renewal.py",
    ),
    "browser": ("tests/extras/browser",),
    "apply": ("tests/extras/apply",),
    "members": ("tests/extras/cluster/members",),
    "webpush": ("tests/extras/webpush",),
}
"""Tests for lines that run only at import, so that no test runs them; with `--only`, all tests of its rooms."""
WORLDS: Mapping[str, tuple[str, int]] = {
    **dict.fromkeys(("matcher", "delivery", "digest"), ("deliveries", 20)),
    **dict.fromkeys(("hub", "feeds-out"), ("hub", 1)),
    "replica": ("standby", 1),
    "heartbeat": ("heartbeats", 1),
    "coverage": ("coverage", 1),
    "cookies": ("members", 1),
    "members": ("nodes", 1),
}
"""The kind of world that is about a room, and how many to run at once; these get half of the simulation time."""

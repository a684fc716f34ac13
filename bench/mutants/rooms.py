"""The files to mutate, and the tests for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ROOMS: Mapping[str, Sequence[str]] = {
    "recorder": ("actors/recorder",),
    "matcher": ("actors/matcher",),
    "delivery": ("actors/delivery",),
    "source": ("actors/sources",),
    "reader": ("api/streams/reader.py", "api/streams/streams.py", "api/v1/stream.py", "storage/tail.py"),
    "retention": ("actors/pruner.py", "storage/retention.py"),
    "registry": (
        "actors/sources/registry/actor.py",
        "actors/sources/registry/service.py",
        "actors/sources/registry/previewer.py",
        "actors/sources/registry/checks.py",
        "actors/sources/index.py",
        "actors/delivery/registry.py",
    ),
    "digest": (
        "actors/delivery/digest.py",
        "actors/hours.py",
        "actors/delivery/schedule.py",
        "actors/delivery/schedule.py",
        "actors/delivery/gathering.py",
        "storage/sql/stores/outbox.py",
    ),
    "supervision": ("supervision",),
    "storage": (
        "storage/sqlite/engine/writer.py",
        "storage/sql/stores/log.py",
        "storage/sql/stores/sources.py",
        "storage/sql/stores/alerts.py",
        "storage/sql/stores/scan.py",
        "storage/sqlite/engine/wal.py",
        "storage/sqlite/engine/connection.py",
        "storage/append.py",
    ),
}
"""Files, or whole folders, by room. A file in several rooms is drawn more often."""
ASIDE: Sequence[str] = ("supervision/examples",)
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
    "tests/api/v1/test_stream.py",
    "tests/api/streams/test_streams.py",
    "tests/api/streams/test_sse.py",
    "tests/api/v1/test_events.py",
    "tests/api/v1/test_replay.py",
)
"""The tests to run. Each mutant is shown only to those that run its line. Simulated worlds run nearly every line,
and have their own stage."""
FALLBACK: Mapping[str, Sequence[str]] = {
    "recorder": ("tests/actors/recorder",),
    "matcher": ("tests/actors/matcher",),
    "delivery": ("tests/actors/delivery",),
    "source": ("tests/actors/sources",),
    "reader": ("tests/api/streams/test_reader.py", "tests/api/v1/test_stream.py", "tests/api/streams/test_streams.py"),
    "retention": ("tests/actors/test_pruner.py", "tests/storage/test_retention.py"),
    "registry": ("tests/actors/sources/registry/test_registry.py", "tests/actors/delivery"),
    "digest": ("tests/actors/delivery", "tests/storage/contract/test_contract_outbox.py"),
    "supervision": ("tests/supervision",),
    "storage": ("tests/storage/contract", "tests/storage"),
    "hosts": ("tests/actors/egress/test_hosts.py", "tests/actors/egress/test_reopening.py"),
}
"""Tests for lines that run only at import, so that no test runs them."""
DELIVERIES = frozenset({"matcher", "delivery", "digest"})
"""Rooms that delivery worlds cover; these get half of the simulation time."""

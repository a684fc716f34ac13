"""Which files are mutated, and which tests are asked about them."""

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
        "actors/day_spans.py",
        "actors/delivery/quiet.py",
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
        "storage/sqlite/engine/free_space.py",
        "storage/append.py",
    ),
}
"""Files, or folders with all their files, by room. One file may be of several rooms: it is drawn as often."""
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
"""Who is asked. Of these, each mutant is shown only to those tests that come through its line. Simulated worlds come
through nearly every line, and have a turn of their own."""
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
"""Tests for a line that no test comes through while it runs, as it is read with its module."""
DELIVERIES = frozenset({"matcher", "delivery", "digest"})
"""Rooms that the worlds of deliveries are about; they get half of the simulation's time."""

"""The PostgreSQL servers that a start refuses, and its warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from extras.cluster.postgres.server import ServerFacts, ahead_of, judge

GOOD = ServerFacts(
    version=150_000,
    encoding="UTF8",
    settings={"fsync": "on", "full_page_writes": "on", "synchronous_commit": "remote_apply"},
    ahead=2.0,
    writable=True,
    may_create=True,
    asynchronous=(),
    log_lock=(2.0, 7),
    pooled=True,
    listens=True,
)


def test_a_good_server_gives_no_word() -> None:
    assert list(judge(GOOD)) == []
    assert list(judge(replace(GOOD, asynchronous=None, log_lock=None, pooled=False, listens=False))) == []


@pytest.mark.parametrize(
    ("change", "refuses", "says"),
    [
        ({"version": 149_999}, True, "PostgreSQL 14 is too old"),
        ({"encoding": "SQL_ASCII"}, True, "encoding is SQL_ASCII"),
        ({"settings": {**GOOD.settings, "fsync": "off"}}, True, "fsync is off"),
        ({"settings": {**GOOD.settings, "full_page_writes": "off"}}, True, "full_page_writes is off"),
        ({"settings": {**GOOD.settings, "synchronous_commit": "off"}}, True, "synchronous_commit is off"),
        ({"writable": False, "may_create": False}, True, "takes no writes"),
        ({"may_create": False}, True, "may not make tables"),
        ({"ahead": 2.1}, False, "2.1 s ahead of ours"),
        ({"ahead": -60.0}, False, "60.0 s behind ours"),
        ({"ahead": -60.1}, True, "60.1 s behind ours"),
        ({"asynchronous": ("b", "c")}, False, "standby b, c"),
        ({"log_lock": (3.0, 7)}, False, "process 7 has held the log's lock for 3 s"),
        ({"listens": False}, False, "PgBouncer"),
    ],
)
def test_one_thing_that_is_wrong_is_one_verdict_with_a_way_out(
    change: dict[str, Any], refuses: bool, says: str
) -> None:
    (verdict,) = judge(replace(GOOD, **change))
    assert verdict.refuses is refuses
    assert says in verdict.says
    assert verdict.do


@pytest.mark.parametrize(("server", "ahead"), [(100.0, 0.0), (103.0, 0.0), (163.5, 60.5), (39.0, -61.0)])
def test_a_slow_line_is_no_wrong_clock(server: float, ahead: float) -> None:
    assert ahead_of(100.0, server, 103.0) == ahead

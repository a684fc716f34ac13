"""Changes to a database at rest: a page of it is damaged, or a backup replaces it."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from tests.simulation.bending import bend
from tests.simulation.drawing.worlds import draw_epilogue, draw_standby
from tests.simulation.run import simulate_program


@pytest.mark.parametrize("table", ["log", "alert", "outbox", "source_hot"])
def test_r10_damage_under_a_running_service_is_reported_everywhere_and_the_rest_works(table: str) -> None:
    result = simulate_program(draw_epilogue("1", table), patience=3600.0)
    assert [str(violation) for violation in result.violations] == []


@pytest.mark.parametrize("table", ["log", "source_hot", "destination", "cursor"])
def test_r10_a_service_that_meets_damage_at_its_start_says_so_and_stands(table: str) -> None:
    """Damaged sources or destinations ended every life within seconds, and even readers got no answer."""
    result = simulate_program(draw_epilogue("2", f"at rest {table}"), patience=3600.0)
    assert [str(violation) for violation in result.violations] == []
    afterwards = result.facts.afterwards
    assert afterwards is not None
    assert afterwards.ready[0] == 503


def test_after_a_restore_ids_are_unique_and_a_future_cursor_gets_all_new_events() -> None:
    result = simulate_program(draw_epilogue("1", "restore"), patience=3600.0)
    assert [str(violation) for violation in result.violations] == []
    afterwards = result.facts.afterwards
    assert afterwards is not None
    assert afterwards.new
    assert afterwards.known.keys() - afterwards.kept.keys(), "what came after the backup was lost"


@pytest.mark.parametrize("kind", ["take over", "take over alive"])
def test_a_standby_takes_over_within_its_promise_and_the_other_service_stops(kind: str) -> None:
    result = simulate_program(draw_standby("3", kind), patience=3600.0)
    assert [str(violation) for violation in result.violations] == []
    afterwards = result.facts.afterwards
    assert afterwards is not None
    assert len(afterwards.owed) > 50
    assert any(step.says for step in result.facts.followed), "the place was away at some step"


@pytest.mark.parametrize("without", ["", " WITHOUT ROWID"])
def test_a_damaged_page_is_noticed_by_its_reader(without: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"CREATE TABLE things(id INTEGER PRIMARY KEY, body BLOB){without}")
        connection.executemany("INSERT INTO things VALUES(?, ?)", [(number, b"x" * 500) for number in range(200)])
        assert bend(connection, "things", random.Random(1)) > 1
        with pytest.raises(sqlite3.DatabaseError, match="malformed"):
            connection.execute("SELECT id, length(body) FROM things WHERE body>x'00'").fetchall()

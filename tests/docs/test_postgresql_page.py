"""The role and database of docs/postgresql.md are enough for the service."""

from __future__ import annotations

import pytest

from extras.cluster.postgres.engine import all_steps, connect, upgrade
from tests.docs.blocks import the
from tests.support.postgres import cluster

pytestmark = pytest.mark.real


def test_the_role_of_the_page_makes_the_tables_of_the_service() -> None:
    server = cluster()
    server.run("DROP DATABASE IF EXISTS sanderling")
    server.run("DROP ROLE IF EXISTS sanderling")
    for statement in the("docs/postgresql.md", "sql").split(";"):
        if statement.strip():
            server.run(statement)
    made = connect(f"host={server.folder} dbname=sanderling user=sanderling")
    upgrade(made, all_steps())
    assert made.execute("SHOW server_encoding").fetchall() == [("UTF8",)]
    made.close()

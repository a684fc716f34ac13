"""The engine on PostgreSQL, for one node so far: psycopg in threads of its own, under the stores of `storage/sql`.

Start with `database.py` (opening), then `engine/writer.py` (the log's lock, and a commit that is never cancelled).
`steps/` has the schema as numbered SQL. No setting chooses this engine yet: docs/decisions/postgresql-engine.md says
how far it is. May import what storage may, psycopg and threading.
"""

from storage.postgres.database import open_postgres

__all__ = ["open_postgres"]

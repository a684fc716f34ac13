"""The engine on PostgreSQL, for one node or several: psycopg in its own threads, under the stores of `storage/sql`.

Start with `database.py` (opening), then `engine.py` (the log's lock, and a commit that is never cancelled). `steps/`
has the schema as numbered SQL. May import what storage may, psycopg and threading. As psycopg is an extra, this file
imports nothing.
"""

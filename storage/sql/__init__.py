"""The common part of the SQL engines: the stores, and the thread that writes for them.

A store submits jobs, which run inside a transaction of the engine, and reads, which run on a read-only connection.
Every statement uses `?` as its placeholder; an engine with another SQL dialect replaces the words that differ. Start
with `storage.py`, which has all stores; each file of `stores/` is one noun. May import whatever storage may.
"""

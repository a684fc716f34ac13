"""The database as such: connections, the folder and its lock, the writer's thread, readers, tables.

Start with `writer.py`: one transaction for whatever waits. `migrations.py` has the tables.
"""

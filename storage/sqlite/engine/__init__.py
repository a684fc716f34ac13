"""The database: connections, the folder and its lock, the writer's thread, readers, tables.

Start with `writer.py`: one transaction for all waiting jobs. `migrations.py` has the tables.
"""

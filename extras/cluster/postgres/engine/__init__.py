"""The database: connections, the writing threads, readers, the schema's steps, the watch. Start with `writer.py`."""

"""The embedded engine: one SQLite database in WAL mode, one writer thread, a few read-only connections.

Start with `database.py` (opening), then `engine.py` (group commit, the only way to write). `open_sqlite` opens the
engine, `open_keys` the keys for commands. May import what storage may, sqlite3, threading and nacl.
"""

from storage.sqlite.database import open_keys, open_sqlite

__all__ = ["open_keys", "open_sqlite"]

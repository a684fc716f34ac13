"""The embedded engine: one SQLite database in WAL mode, one writer thread, a few read-only connections.

Start with `database.py` (opening, and the stores on one screen), then `engine/writer.py` (group commit, the only way to
write); `in_loop.py` is the same engine without threads or files. Each file of `stores/` is one noun of
`storage/interface`. `open_sqlite` opens the engine, `open_keys` is the command line's way in. May import what storage
may, sqlite3, threading and nacl.
"""

from storage.sqlite.database import open_keys, open_sqlite

__all__ = ["open_keys", "open_sqlite"]

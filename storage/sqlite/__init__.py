"""The embedded engine: one SQLite database in WAL mode, one writer thread, a few read-only connections.

Start with `database.py` (opening, and the stores on one screen), then `writer.py` (group commit, the only way to
write). `folder.py` holds what lies beside the database, `unlocking.py` finds the key of what is sealed in it
(`vault.py`); each other file is one noun of `storage/interface`. `open_sqlite` opens the engine, `open_keys` is the
command line's door. May import what storage may, sqlite3, threading and nacl.
"""

from storage.sqlite.database import open_keys, open_sqlite

__all__ = ["open_keys", "open_sqlite"]

-- The dashboard's password, the link to set it, and sessions.
-- One row each: there is one password, and one link.
CREATE TABLE password(
    one INTEGER PRIMARY KEY CHECK(one = 1), hashed TEXT NOT NULL, set_at INTEGER NOT NULL
) STRICT;
CREATE TABLE set_up_link(
    one INTEGER PRIMARY KEY CHECK(one = 1), sha256 TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE session(
    id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    agent TEXT NOT NULL, address TEXT NOT NULL
) STRICT;

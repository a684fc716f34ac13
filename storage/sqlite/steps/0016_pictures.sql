-- Screenshots of rendered pages.
CREATE TABLE picture(
    number INTEGER PRIMARY KEY, key INTEGER NOT NULL REFERENCES source(key) ON DELETE CASCADE,
    seq INTEGER NOT NULL, at INTEGER NOT NULL, media TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL,
    UNIQUE(key, seq)
) STRICT;
CREATE INDEX picture_at ON picture(at, size);

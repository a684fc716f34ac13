-- Publications, and retracted events.
-- token_hash: admits readers. sealed: the token itself, to show the address.
CREATE TABLE publication(
    id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, body BLOB NOT NULL,
    sealed BLOB
) STRICT;
CREATE TABLE retraction(seq INTEGER PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
-- Number of retractions and restorations, so that feeds without other changes get a new version.
INSERT INTO fact VALUES('retractions', 0);

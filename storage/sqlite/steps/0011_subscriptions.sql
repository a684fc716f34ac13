-- sealed: its secret. Retry state has its own columns, because it changes with each attempt.
CREATE TABLE subscription(
    id TEXT PRIMARY KEY, publication TEXT NOT NULL REFERENCES publication(id) ON DELETE CASCADE,
    token_hash TEXT NOT NULL, ending TEXT NOT NULL, callback TEXT NOT NULL, body BLOB NOT NULL, sealed BLOB,
    cursor INTEGER NOT NULL, attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, error TEXT NOT NULL,
    UNIQUE(publication, ending, callback)
) STRICT;

-- The dashboard's saved views.
CREATE TABLE saved_view(id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

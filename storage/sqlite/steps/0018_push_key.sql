-- The key for push services. One row: existing subscriptions are bound to it.
CREATE TABLE push_key(
    one INTEGER PRIMARY KEY CHECK(one = 1), public TEXT NOT NULL, sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

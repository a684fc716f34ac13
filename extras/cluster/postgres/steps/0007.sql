-- The key that push services know the service by (storage/records/access.py). One row: what subscribed with it knows no other.
CREATE TABLE push_key(
    one INTEGER PRIMARY KEY CHECK(one = 1), public TEXT COLLATE "C" NOT NULL, sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
UPDATE schema SET version = 7;

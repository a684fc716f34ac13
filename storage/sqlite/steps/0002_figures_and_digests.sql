-- Counters of alerts and destinations in their own columns, and frozen digests.
-- Columns for values that change apart from the record, so that an edit of the record does not reset them.
ALTER TABLE alert ADD COLUMN match_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alert ADD COLUMN last_match_at INTEGER;
ALTER TABLE destination ADD COLUMN last_delivery_at INTEGER;
-- A digest is attached to the outbox row of its last event, and delivered in that event's place.
CREATE TABLE digest(
    destination INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY(destination, seq),
    FOREIGN KEY(destination, seq) REFERENCES outbox(destination, seq) ON DELETE CASCADE
) STRICT;

-- Webhook bins with their captures, responses of idempotent calls, and marks of final attempts.
-- token: the unguessable part of the capture address.
CREATE TABLE bin(
    id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT;
-- number: in order of arrival over all bins, since the oldest goes first when space runs out. size: its weight.
-- With its rowid, as rows may have 256 KiB.
CREATE TABLE capture(
    number INTEGER PRIMARY KEY, bin TEXT NOT NULL REFERENCES bin(id) ON DELETE CASCADE, size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX capture_bin ON capture(bin, number);
-- The weight of all captures. Kept by triggers, because foreign keys delete captures with their bin.
INSERT INTO fact VALUES('captured', 0);
CREATE TRIGGER capture_came AFTER INSERT ON capture BEGIN
    UPDATE fact SET value = value + NEW.size WHERE name = 'captured'; END;
CREATE TRIGGER capture_went AFTER DELETE ON capture BEGIN
    UPDATE fact SET value = value - OLD.size WHERE name = 'captured'; END;
-- Calls with an Idempotency-Key: see storage/records/access.py.
CREATE TABLE call(
    key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, at INTEGER NOT NULL, id TEXT NOT NULL, answer BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX call_at ON call(at);
-- dead: whether this attempt gave up the delivery; such attempts outlive the newest 1,000.
ALTER TABLE attempt ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;
CREATE INDEX attempt_dead ON attempt(destination, number) WHERE dead;

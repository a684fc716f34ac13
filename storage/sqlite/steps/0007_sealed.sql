-- Sealed secrets; plain ones are sealed now. Free pages may still hold them: see `upgrade.scrub`.
-- box: the mark of the key that seals all secrets; see master_key.py.
CREATE TABLE vault(one INTEGER PRIMARY KEY CHECK(one = 1), box BLOB NOT NULL) STRICT;
-- The sealed part of the record. None: it has no secret.
ALTER TABLE destination ADD COLUMN sealed BLOB;
ALTER TABLE source ADD COLUMN sealed BLOB;

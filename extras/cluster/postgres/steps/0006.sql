-- The cookies that a source's origin has renewed, in a box; see storage/secrets.py.
ALTER TABLE source_hot ADD COLUMN jar BYTEA;
UPDATE schema SET version = 6;

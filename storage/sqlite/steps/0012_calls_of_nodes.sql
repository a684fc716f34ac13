-- Which node runs an idempotent call.
ALTER TABLE call ADD COLUMN node TEXT NOT NULL DEFAULT '';

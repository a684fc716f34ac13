-- Saved views of the dashboard's lists.
CREATE TABLE saved_view(id TEXT COLLATE "C" PRIMARY KEY, created_at BIGINT NOT NULL, body BYTEA NOT NULL);
UPDATE schema SET version = 2;

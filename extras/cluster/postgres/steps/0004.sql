-- Defaults of tags, and how often any of them was changed; see storage/records/source.py.
CREATE TABLE tag_defaults(tag TEXT COLLATE "C" PRIMARY KEY, body BYTEA NOT NULL);
INSERT INTO fact(name, value) VALUES('tag_defaults', 0);
UPDATE schema SET version = 4;

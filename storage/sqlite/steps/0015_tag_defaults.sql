-- Defaults of tags, and how often any was changed.
CREATE TABLE tag_defaults(tag TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
INSERT INTO fact VALUES('tag_defaults', 0);

-- Each stored state has a version, the alerts with their destinations a revision.
ALTER TABLE source_hot ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
INSERT INTO fact VALUES('alerts', 0), ('alerts_at', 0);

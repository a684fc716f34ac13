-- By which marks the events of a week are found that may tell the same; see storage/sql/stores/log.py.
CREATE TABLE story_mark(mark BIGINT PRIMARY KEY, seq BIGINT NOT NULL);
INSERT INTO fact(name, value) VALUES('stories', 0);
-- Which event of a story an alert has met, where it meets each story once.
CREATE TABLE alert_story(
    alert TEXT COLLATE "C" NOT NULL, story BIGINT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY(alert, story)
);
CREATE INDEX alert_story_of ON alert_story(story);
UPDATE schema SET version = 8;

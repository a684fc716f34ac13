-- Marks that find a week's events of the same story, and the stories that an alert has matched.
CREATE TABLE story_mark(mark INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
INSERT INTO fact VALUES('stories', 0);
CREATE TABLE alert_story(
    alert TEXT NOT NULL, story INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(alert, story)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_story_of ON alert_story(story);

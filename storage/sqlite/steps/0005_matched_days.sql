-- How many events an alert matched on each of the last days.
-- The day leads: each write deletes the oldest days, and mostly there are none.
CREATE TABLE matched_day(
    day INTEGER NOT NULL, alert TEXT NOT NULL REFERENCES alert(id) ON DELETE CASCADE, events INTEGER NOT NULL,
    PRIMARY KEY(day, alert)
) STRICT, WITHOUT ROWID;
CREATE INDEX matched_day_alert ON matched_day(alert);

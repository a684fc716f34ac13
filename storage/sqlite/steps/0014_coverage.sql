-- Checks by day and hour, and the shifts with the periods on record.
-- Periods with one steady clock; see storage/records/coverage.py.
CREATE TABLE shift(
    number INTEGER PRIMARY KEY, node TEXT NOT NULL, began INTEGER NOT NULL, saved INTEGER NOT NULL,
    until INTEGER, after TEXT NOT NULL
) STRICT;
-- A source's checks of one day, by hour; see storage/records/coverage.py. The day leads: days come and go together.
CREATE TABLE look_day(
    day INTEGER NOT NULL, key INTEGER NOT NULL, body BLOB NOT NULL, sums BLOB NOT NULL, PRIMARY KEY(day, key)
) STRICT, WITHOUT ROWID;

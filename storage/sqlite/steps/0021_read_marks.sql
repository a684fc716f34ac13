-- The events that each person has read, '' for the owner of the service's password. whole: all up to this one.
CREATE TABLE read_mark(
    person TEXT NOT NULL, whole INTEGER NOT NULL, seq INTEGER NOT NULL, read INTEGER NOT NULL,
    PRIMARY KEY(person, whole, seq)
) STRICT, WITHOUT ROWID;

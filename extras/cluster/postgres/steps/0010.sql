-- The events that each person has read, '' for the owner of the service's password. whole: all up to this one.
CREATE TABLE read_mark(
    person TEXT COLLATE "C" NOT NULL, whole INTEGER NOT NULL, seq BIGINT NOT NULL, read INTEGER NOT NULL,
    PRIMARY KEY(person, whole, seq)
);
UPDATE schema SET version = 10;

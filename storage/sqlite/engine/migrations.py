"""The tables, as the steps that made them. A released step never changes; new steps are added below it.

A step, its record and its count in `user_version` are one transaction: a failing step leaves nothing, and an older
program refuses a newer database instead of misreading it. The log only gains columns: rebuilding it would copy it.

A database from elsewhere must have exactly the schema of its version (`check_schema`): an added trigger, view or table
would run, or be read, as ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from storage.errors import Corrupt, NewerSchema
from storage.secrets.sealing import mark, seal_plain
from storage.secrets.vault import Vault
from storage.sqlite.engine.connection import UNTRUSTED, connect, translated

if TYPE_CHECKING:
    from sqlite_utils import Database


class MigrationStep(NamedTuple):
    """One step. name: as the database records it. then: runs after the statements, with the key that seals secrets; a
    new database has no key yet.
    """

    name: str
    statements: Sequence[str]
    then: Callable[[sqlite3.Connection, Vault | None], None]


def step(
    name: str,
    *statements: str,
    then: Callable[[sqlite3.Connection, Vault | None], None] = lambda _connection, _vault: None,
) -> MigrationStep:
    return MigrationStep(name, statements, then)


def _seal(connection: sqlite3.Connection, vault: Vault | None) -> None:
    if vault is not None:
        mark(connection, vault)
        seal_plain(connection, vault)
        connection.execute("INSERT INTO fact SELECT 'scrub', 1 WHERE EXISTS (SELECT 1 FROM signing_key)")


STEPS: Sequence[MigrationStep] = (
    step(
        "first",
        # Counters of the whole database: `epoch` of the newest start, `floor` of the log.
        "CREATE TABLE fact(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "INSERT INTO fact VALUES('epoch', 0), ('floor', 0)",
        # A source's number is permanent: events of a deleted source can still be found by its id.
        "CREATE TABLE source_key(key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT",
        # codec: 0 is the plain body.
        """CREATE TABLE log(
            seq INTEGER PRIMARY KEY, source INTEGER NOT NULL, kind INTEGER NOT NULL,
            codec INTEGER NOT NULL, body BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX log_source ON log(source)",
        """CREATE TABLE source(
            key INTEGER PRIMARY KEY REFERENCES source_key(key), url TEXT NOT NULL UNIQUE, body BLOB NOT NULL
        ) STRICT""",
        # Two tables, because hot is 450 bytes and changes at every check, base up to 12 KB and with the content.
        """CREATE TABLE source_hot(
            key INTEGER PRIMARY KEY REFERENCES source(key) ON DELETE CASCADE, body BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE source_base(
            key INTEGER PRIMARY KEY REFERENCES source(key) ON DELETE CASCADE, body BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE api_key(
            id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
            last_used_at INTEGER, body BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE signing_key(
            key_id TEXT PRIMARY KEY, seed BLOB NOT NULL, created_at INTEGER NOT NULL, state TEXT NOT NULL
        ) STRICT""",
        "CREATE TABLE alert(id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
        """CREATE TABLE destination(
            key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
            alert TEXT NOT NULL REFERENCES alert(id) ON DELETE CASCADE, created_at INTEGER NOT NULL, body BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX destination_alert ON destination(alert)",
        "CREATE TABLE cursor(name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        # event: the event's id, known once the row was claimed.
        """CREATE TABLE outbox(
            destination INTEGER NOT NULL REFERENCES destination(key) ON DELETE CASCADE, seq INTEGER NOT NULL,
            claimed INTEGER NOT NULL, due INTEGER NOT NULL, first_due INTEGER NOT NULL, attempts INTEGER NOT NULL,
            event TEXT, PRIMARY KEY(destination, seq)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX outbox_due ON outbox(destination, claimed, due)",
        # number: counts a destination's attempts; the newest 1,000 are kept.
        """CREATE TABLE attempt(
            destination INTEGER NOT NULL REFERENCES destination(key) ON DELETE CASCADE, number INTEGER NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY(destination, number)
        ) STRICT, WITHOUT ROWID""",
    ),
    step(
        "figures_and_digests",
        # Counters of alerts and destinations in their own columns, and frozen digests.
        # Columns for values that change apart from the record, so that an edit of the record does not reset them.
        "ALTER TABLE alert ADD COLUMN match_count INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE alert ADD COLUMN last_match_at INTEGER",
        "ALTER TABLE destination ADD COLUMN last_delivery_at INTEGER",
        # A digest is attached to the outbox row of its last event, and delivered in that event's place.
        """CREATE TABLE digest(
            destination INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY(destination, seq),
            FOREIGN KEY(destination, seq) REFERENCES outbox(destination, seq) ON DELETE CASCADE
        ) STRICT""",
    ),
    step(
        "bins_and_calls",
        # Webhook bins with their captures, responses of idempotent calls, and marks of final attempts.
        # token: the unguessable part of the capture address.
        """CREATE TABLE bin(
            id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
        ) STRICT""",
        # number: in order of arrival over all bins, since the oldest goes first when space runs out. size: its weight.
        # With its rowid, as rows may have 256 KiB.
        """CREATE TABLE capture(
            number INTEGER PRIMARY KEY, bin TEXT NOT NULL REFERENCES bin(id) ON DELETE CASCADE, size INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX capture_bin ON capture(bin, number)",
        # The weight of all captures. Kept by triggers, because foreign keys delete captures with their bin.
        "INSERT INTO fact VALUES('captured', 0)",
        """CREATE TRIGGER capture_came AFTER INSERT ON capture BEGIN
            UPDATE fact SET value = value + NEW.size WHERE name = 'captured'; END""",
        """CREATE TRIGGER capture_went AFTER DELETE ON capture BEGIN
            UPDATE fact SET value = value - OLD.size WHERE name = 'captured'; END""",
        # Calls with an Idempotency-Key: see storage/records/key.py.
        """CREATE TABLE call(
            key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, at INTEGER NOT NULL, id TEXT NOT NULL, answer BLOB
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX call_at ON call(at)",
        # dead: whether this attempt gave up the delivery; such attempts outlive the newest 1,000.
        "ALTER TABLE attempt ADD COLUMN dead INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX attempt_dead ON attempt(destination, number) WHERE dead",
    ),
    step(
        "dashboard",
        # The dashboard's password, the link to set it, and sessions.
        # One row each: there is one password, and one link.
        """CREATE TABLE password(
            one INTEGER PRIMARY KEY CHECK(one = 1), hashed TEXT NOT NULL, set_at INTEGER NOT NULL
        ) STRICT""",
        """CREATE TABLE set_up_link(
            one INTEGER PRIMARY KEY CHECK(one = 1), sha256 TEXT NOT NULL, created_at INTEGER NOT NULL
        ) STRICT""",
        """CREATE TABLE session(
            id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
            agent TEXT NOT NULL, address TEXT NOT NULL
        ) STRICT""",
    ),
    step(
        "matched_days",
        # How many events an alert matched on each of the last days.
        # The day leads: each write deletes the oldest days, and mostly there are none.
        """CREATE TABLE matched_day(
            day INTEGER NOT NULL, alert TEXT NOT NULL REFERENCES alert(id) ON DELETE CASCADE, events INTEGER NOT NULL,
            PRIMARY KEY(day, alert)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX matched_day_alert ON matched_day(alert)",
    ),
    step(
        "public_keys",
        # Public keys: those of other instances that signed imported events, and our own.
        # x: the public key, base64url, as published.
        "CREATE TABLE public_key(key_id TEXT PRIMARY KEY, x TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT",
    ),
    step(
        "sealed",
        # Sealed secrets; plain ones are sealed now. Free pages may still hold them: see `upgrade.scrub`.
        # box: the mark of the key that seals all secrets; see master_key.py.
        "CREATE TABLE vault(one INTEGER PRIMARY KEY CHECK(one = 1), box BLOB NOT NULL) STRICT",
        # The sealed part of the record. None: it has no secret.
        "ALTER TABLE destination ADD COLUMN sealed BLOB",
        "ALTER TABLE source ADD COLUMN sealed BLOB",
        then=_seal,
    ),
    step(
        "versions",
        # Each stored state has a version, the alerts with their destinations a revision.
        "ALTER TABLE source_hot ADD COLUMN version INTEGER NOT NULL DEFAULT 0",
        "INSERT INTO fact VALUES('alerts', 0), ('alerts_at', 0)",
    ),
    step(
        "private",
        # The sealed credentials for a destination's receiver. None: it needs none.
        "ALTER TABLE destination ADD COLUMN private BLOB",
    ),
    step(
        "publications",
        # Publications, and retracted events.
        # token_hash: admits readers. sealed: the token itself, to show the address.
        """CREATE TABLE publication(
            id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, body BLOB NOT NULL,
            sealed BLOB
        ) STRICT""",
        "CREATE TABLE retraction(seq INTEGER PRIMARY KEY, event TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
        # Number of retractions and restorations, so that feeds without other changes get a new version.
        "INSERT INTO fact VALUES('retractions', 0)",
    ),
    step(
        "subscriptions",
        # sealed: its secret. Retry state has its own columns, because it changes with each attempt.
        """CREATE TABLE subscription(
            id TEXT PRIMARY KEY, publication TEXT NOT NULL REFERENCES publication(id) ON DELETE CASCADE,
            token_hash TEXT NOT NULL, ending TEXT NOT NULL, callback TEXT NOT NULL, body BLOB NOT NULL, sealed BLOB,
            cursor INTEGER NOT NULL, attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, error TEXT NOT NULL,
            UNIQUE(publication, ending, callback)
        ) STRICT""",
    ),
    step(
        "calls_of_nodes",
        # Which node runs an idempotent call.
        "ALTER TABLE call ADD COLUMN node TEXT NOT NULL DEFAULT ''",
    ),
    step(
        "saved_views",
        # The dashboard's saved views.
        "CREATE TABLE saved_view(id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
    ),
    step(
        "coverage",
        # Checks by day and hour, and the shifts with the periods on record.
        # Periods with one steady clock; see storage/records/coverage.py.
        """CREATE TABLE shift(
            number INTEGER PRIMARY KEY, node TEXT NOT NULL, began INTEGER NOT NULL, saved INTEGER NOT NULL,
            until INTEGER, after TEXT NOT NULL
        ) STRICT""",
        # A source's checks of one day, by hour; see storage/records/tally.py. The day leads: days come and go together.
        """CREATE TABLE look_day(
            day INTEGER NOT NULL, key INTEGER NOT NULL, body BLOB NOT NULL, sums BLOB NOT NULL, PRIMARY KEY(day, key)
        ) STRICT, WITHOUT ROWID""",
    ),
    step(
        "tag_defaults",
        # Defaults of tags, and how often any was changed.
        "CREATE TABLE tag_defaults(tag TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT",
        "INSERT INTO fact VALUES('tag_defaults', 0)",
    ),
    step(
        "pictures",
        # Screenshots of rendered pages.
        """CREATE TABLE picture(
            number INTEGER PRIMARY KEY, key INTEGER NOT NULL REFERENCES source(key) ON DELETE CASCADE,
            seq INTEGER NOT NULL, at INTEGER NOT NULL, media TEXT NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL,
            UNIQUE(key, seq)
        ) STRICT""",
        "CREATE INDEX picture_at ON picture(at, size)",
    ),
    step(
        "cookie_jars",
        # Cookies that a source's origin renewed, sealed. None: none was.
        "ALTER TABLE source_hot ADD COLUMN jar BLOB",
    ),
    step(
        "push_key",
        # The key for push services. One row: existing subscriptions are bound to it.
        """CREATE TABLE push_key(
            one INTEGER PRIMARY KEY CHECK(one = 1), public TEXT NOT NULL, sealed BLOB NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT""",
    ),
    step(
        "stories",
        # Marks that find a week's events of the same story, and the stories that an alert has matched.
        "CREATE TABLE story_mark(mark INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT",
        "INSERT INTO fact VALUES('stories', 0)",
        """CREATE TABLE alert_story(
            alert TEXT NOT NULL, story INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(alert, story)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX alert_story_of ON alert_story(story)",
    ),
    step(
        "people",
        # People with roles, invitations, who changed what; and the OAuth clients that act for them.
        """CREATE TABLE person(
            id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, issuer TEXT NOT NULL, subject TEXT NOT NULL,
            hashed TEXT NOT NULL, totp BLOB, disabled INTEGER NOT NULL, created_at INTEGER NOT NULL
        ) STRICT""",
        "CREATE UNIQUE INDEX person_email ON person(email) WHERE email<>''",
        "CREATE UNIQUE INDEX person_subject ON person(issuer, subject) WHERE issuer<>''",
        """CREATE TABLE membership(
            person TEXT NOT NULL REFERENCES person(id) ON DELETE CASCADE, space_id INTEGER NOT NULL DEFAULT 1,
            role TEXT NOT NULL, PRIMARY KEY(person, space_id)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE invitation(
            id TEXT PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, email TEXT NOT NULL, role TEXT NOT NULL,
            by TEXT NOT NULL, created_at INTEGER NOT NULL, space_id INTEGER NOT NULL DEFAULT 1
        ) STRICT""",
        """CREATE TABLE activity(
            id TEXT PRIMARY KEY, at INTEGER NOT NULL, person TEXT NOT NULL, by TEXT NOT NULL, operation TEXT NOT NULL,
            object TEXT NOT NULL, before BLOB, after BLOB, space_id INTEGER NOT NULL DEFAULT 1
        ) STRICT""",
        "CREATE INDEX activity_at ON activity(at)",
        "CREATE TABLE oauth_client(id TEXT PRIMARY KEY, used_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
        "CREATE TABLE oauth_code(sha256 TEXT PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
        """CREATE TABLE oauth_grant(
            id TEXT PRIMARY KEY, person TEXT NOT NULL, refresh TEXT NOT NULL UNIQUE, at INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT""",
        "ALTER TABLE session ADD COLUMN person TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE api_key ADD COLUMN person TEXT NOT NULL DEFAULT ''",
        # The space of each record; there is one so far.
        "ALTER TABLE source ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE tag_defaults ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE alert ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE destination ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE bin ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE publication ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE saved_view ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE api_key ADD COLUMN space_id INTEGER NOT NULL DEFAULT 1",
    ),
)


def version_of(connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS) -> int:
    """Return how many steps a database has run. Raises NewerSchema if that is more than this program knows."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert isinstance(version, int)
    if version > len(steps):
        raise NewerSchema(f"the data have schema {version}, this program knows {len(steps)}: use a newer Sanderling")
    return version


def migrate(
    connection: sqlite3.Connection, steps: Sequence[MigrationStep] = STEPS, *, vault: Vault | None = None
) -> None:
    """Bring a database up to this program's schema. Raises NewerSchema; a failing step raises and leaves nothing.

    vault: seals secrets that older programs left plain; only a new database can do without.
    """
    if version_of(connection, steps) == len(steps):
        return
    from sqlite_utils import Database, Migrations  # noqa: PLC0415  (a third of a second that only a first start pays)

    migrations = Migrations("sanderling")
    for number, one in enumerate(steps, 1):
        migrations(name=f"{number:04d}_{one.name}")(_counted(number, one, vault))
    migrations.apply(Database(connection, execute_plugins=False))


def _counted(number: int, one: MigrationStep, vault: Vault | None) -> Callable[[Database], None]:
    def run(db: Database) -> None:
        for statement in one.statements:
            db.conn.execute(statement)
        one.then(db.conn, vault)
        db.conn.execute(f"PRAGMA user_version={number}")

    return run


_SCHEMA = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'"
_OF_THE_LIBRARY = "_sqlite_migrations"  # sqlite-utils' own table, whose text depends on the library's version
_Part = tuple[str, str, str, str]


def check_schema(database: Path) -> None:
    """Compare a database's schema with the result of this program's steps. Raises Corrupt, NewerSchema, Unavailable."""
    with closing(connect(database, UNTRUSTED)) as connection, translated():
        found, version = _parts(connection), version_of(connection)
    if not version:
        raise Corrupt("the database is not one of Sanderling's")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, STEPS[:version])
        wanted = _parts(fresh)
    if odd := sorted(found ^ wanted):
        type, name, _table, _text = odd[0]
        raise Corrupt(f"its schema is not Sanderling's of version {version}: {type} {name!r:.80}")


def _parts(connection: sqlite3.Connection) -> set[_Part]:
    rows = connection.execute(_SCHEMA).fetchall()
    return {
        (type, name, table, "" if name == _OF_THE_LIBRARY else re.sub(r"\s+", " ", text))
        for type, name, table, text in rows
    }

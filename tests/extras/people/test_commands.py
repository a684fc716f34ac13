"""`sanderling people`, and the keys of people."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import json, to_builtins

from actors.settings import Settings
from extras.people import commands
from extras.people.fields import PersonRecord
from sanderling import keyring
from sanderling.exits import CommandFailed
from storage.sql.stores import people
from tests.extras.people.test_operations import ANNA
from tests.sanderling.client.documented import client, record_of, run

PERSON = to_builtins(record_of(PersonRecord))


def test_people_are_listed_invited_changed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(commands.listed, client(asked))
    run(commands.invite, client(asked), "--role", "editor", "--email", "anna@example.com")
    run(commands.give_role, client(asked), PERSON["name"], "reader")
    run(commands.disable, client(asked), PERSON["email"])
    run(commands.enable, client(asked), PERSON["email"])
    run(commands.remove, client(asked), PERSON["name"], "--yes")
    written = [one for one in asked if not one[0].startswith("GET")]
    path = f"/v1/people/{PERSON['id']}"
    assert written == [
        ("POST /v1/invitations", {"role": "editor", "email": "anna@example.com"}),
        (f"PATCH {path}", {"role": "reader"}),
        (f"PATCH {path}", {"disabled": True}),
        (f"PATCH {path}", {"disabled": False}),
        (f"DELETE {path}", None),
    ]
    assert PERSON["email"] in capsys.readouterr().out


def opened(folder: Path) -> Any:
    """Return the database of a stopped service."""
    return sqlite3.connect(folder / "sanderling.db", isolation_level=None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(data=str(tmp_path / "data"))
    keyring.create(found, "first", ["stream:read"])
    with closing(opened(tmp_path / "data")) as connection:
        connection.execute(people._ADD, (ANNA, "Anna", "anna@example.com", "", "", "hash", 0, 1))
        connection.execute(people._JOIN, (ANNA, "reader"))
    return found


def activity(settings: Settings) -> list[tuple[str, str, Any, Any]]:
    with closing(opened(Path(settings.data))) as connection:
        rows = connection.execute("SELECT operation, object, before, after FROM activity ORDER BY id").fetchall()
    return [(operation, object, *(body and json.decode(body) for body in more)) for operation, object, *more in rows]


def test_a_key_of_a_person_expires_and_never_exceeds_the_role(settings: Settings) -> None:
    key, _ = keyring.create(settings, "anna", ["stream:read"], person="Anna@example.com", days=90)
    assert key.person == ANNA and key.expires_at == key.created_at + 90 * 86_400_000
    shown = keyring.key_document(key)
    assert shown["person"] == ANNA and shown["expires_at"]
    with pytest.raises(CommandFailed, match="does not include admin"):
        keyring.create(settings, "anna", ["admin"], person=ANNA)
    with pytest.raises(CommandFailed, match="no such person"):
        keyring.create(settings, "bo", ["stream:read"], person="bo@example.com")


def test_making_and_revoking_a_key_is_recorded_without_it(settings: Settings) -> None:
    key, plaintext = keyring.create(settings, "news", ["stream:read"])
    keyring.revoke(settings, "news")
    *_, made, gone = sorted(activity(settings), key=lambda one: one[2] is not None)
    shown = {"name": "news", "prefix": key.prefix, "scopes": ["stream:read"], "person": ""}
    assert made == ("keys create", f"/v1/keys/{key.id}", None, shown)
    assert gone == ("keys revoke", f"/v1/keys/{key.id}", shown, None)
    assert plaintext not in repr(activity(settings)) and key.sha256 not in repr(activity(settings))

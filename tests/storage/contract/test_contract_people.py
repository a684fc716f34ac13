"""Access to the dashboard: the password, its link, sessions."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.access import IDLE, LIFE, Password, Session, SetUpLink
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW
from tests.storage.contract.engines import Engine

PASSWORD = Password("argon2id of it", NOW)
LINK = SetUpLink("sha of a link", NOW)


def a_session(name: str = "one", at: int = NOW) -> Session:
    return Session(name, f"sha of {name}", Millis(at), Millis(at), "Browser 1.0", "192.0.2.1")


async def test_a_new_database_has_no_account(storage: Storage) -> None:
    people = storage.people
    assert await people.password() is None
    assert await people.link() is None
    assert list(await people.sessions()) == []
    assert await people.session("sha of one") is None


async def test_a_link_sets_the_password_once_and_signs_in(storage: Storage) -> None:
    people = storage.people
    await people.offer(LINK)
    assert await people.settle(PASSWORD, a_session(), link=LINK.sha256)
    assert await people.password() == PASSWORD
    assert await people.session("sha of one") == a_session()
    assert await people.link() is None
    assert not await people.settle(Password("another", NOW), a_session("two"), link=LINK.sha256)
    assert await people.password() == PASSWORD
    assert list(await people.sessions()) == [a_session()]


async def test_a_newer_link_takes_the_place_of_an_older_one(storage: Storage) -> None:
    people = storage.people
    await people.offer(LINK)
    newer = SetUpLink("sha of a newer link", Millis(NOW + 1))
    await people.offer(newer)
    assert not await people.settle(PASSWORD, a_session(), link=LINK.sha256)
    assert await people.link() == newer
    assert await people.password() is None


async def test_another_password_ends_every_session_and_any_link(storage: Storage) -> None:
    people = storage.people
    await people.settle(PASSWORD, a_session())
    assert await people.sign_in(a_session("two"), PASSWORD)
    await people.offer(LINK)
    other = Password("argon2id of another", Millis(NOW + 1))
    assert await people.settle(other, a_session("three"))
    assert [one.id for one in await people.sessions()] == ["three"]
    assert await people.link() is None


async def test_an_old_password_does_not_sign_in(storage: Storage) -> None:
    await storage.people.settle(Password("argon2id of another", NOW), a_session())
    assert not await storage.people.sign_in(a_session("late"), PASSWORD)
    assert await storage.people.session("sha of late") is None


async def test_a_session_that_was_ended_is_gone_at_the_very_next_call(storage: Storage) -> None:
    people = storage.people
    await people.settle(PASSWORD, a_session())
    assert await people.sign_out("one")
    assert await people.session("sha of one") is None
    assert not await people.sign_out("one")


async def test_the_session_used_last_comes_first_and_use_is_remembered(engine: Engine) -> None:
    storage = await engine.start()
    await storage.people.settle(PASSWORD, a_session())
    await storage.people.sign_in(a_session("two"), PASSWORD)
    await storage.people.touch({"two": Millis(NOW + 5), "unknown": NOW})
    await storage.people.touch({"one": Millis(NOW + 7)})
    await storage.aclose()
    again = await engine.start()
    assert [(one.id, one.seen_at) for one in await again.people.sessions()] == [("one", NOW + 7), ("two", NOW + 5)]
    assert await again.people.password() == PASSWORD
    await again.aclose()


async def test_sessions_that_are_old_or_idle_are_swept(storage: Storage) -> None:
    people = storage.people
    await people.settle(PASSWORD, a_session("idle"))
    old = a_session("old", NOW - 1)
    await people.sign_in(replace(old, seen_at=Millis(NOW + LIFE - 2)), PASSWORD)
    await people.sign_in(replace(a_session("used"), seen_at=Millis(NOW + 1)), PASSWORD)
    assert await people.sweep(Millis(NOW + IDLE - 1), 10) == 0
    assert await people.sweep(Millis(NOW + IDLE), 10) == 1
    assert [one.id for one in await people.sessions()] == ["old", "used"]
    assert await people.sweep(Millis(NOW + LIFE - 1), 1) == 1
    assert await people.sweep(Millis(NOW + LIFE - 1), 10) == 1
    assert list(await people.sessions()) == []

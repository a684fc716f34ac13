"""People and roles, and the end of access with a lost role, on every engine."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.access import INVITATION_LIFE, Activity, ApiKey, Invitation, Person, Role, Session
from storage.records.identity import Millis
from storage.sql.storage import Storage

NOW = Millis(1_800_000_000_000)


def a_person(name: str, role: Role = "editor") -> Person:
    return Person(id=name, name=name.title(), email=f"{name}@example.test", role=role, created_at=NOW)


def a_session(person: str) -> Session:
    return Session(f"session of {person}", f"hash of {person}", NOW, NOW, person=person)


async def test_a_person_is_found_by_id_email_in_any_case_and_subject(storage: Storage) -> None:
    anna = replace(a_person("anna"), issuer="https://issuer.test", subject="7")
    assert await storage.accounts.add(anna)
    found = (
        await storage.accounts.get("anna"),
        await storage.accounts.by_email("Anna@Example.test"),
        await storage.accounts.by_subject("https://issuer.test", "7"),
    )
    assert found == (anna, anna, anna)
    assert await storage.accounts.by_email("") is None


async def test_a_second_person_with_the_same_email_is_refused(storage: Storage) -> None:
    assert await storage.accounts.add(a_person("anna"))
    assert not await storage.accounts.add(replace(a_person("other"), email="anna@example.test"))
    assert [one.id for one in await storage.accounts.all()] == ["anna"]


async def test_an_invitation_makes_one_person_and_stays_if_the_email_is_taken(storage: Storage) -> None:
    invitation = Invitation("i", "sha", "", "reader", "Owner", NOW)
    await storage.accounts.invite(invitation)
    await storage.accounts.add(a_person("anna"))
    assert not await storage.accounts.add(replace(a_person("bo"), email="anna@example.test"), invitation="sha")
    assert await storage.accounts.invitation("sha", NOW) == invitation
    assert await storage.accounts.add(a_person("bo"), invitation="sha")
    assert not await storage.accounts.add(a_person("cy"), invitation="sha")


async def test_an_invitation_ends_after_a_week(storage: Storage) -> None:
    await storage.accounts.invite(Invitation("i", "sha", "", "reader", "Owner", NOW))
    assert await storage.accounts.invitation("sha", Millis(NOW + INVITATION_LIFE - 1)) is not None
    assert await storage.accounts.invitation("sha", Millis(NOW + INVITATION_LIFE)) is None


async def test_a_changed_role_ends_the_sessions_of_that_person_only(storage: Storage) -> None:
    for name in ("anna", "bo"):
        await storage.accounts.add(a_person(name))
        await storage.people.open(a_session(name))
    assert await storage.accounts.change(replace(a_person("anna"), role="reader"), password_set=False)
    assert await storage.people.session("hash of anna") is None
    kept = await storage.people.session("hash of bo")
    assert kept is not None
    assert (kept.name, kept.role) == ("Bo", "editor")


async def test_a_key_has_no_scope_that_its_person_lacks(storage: Storage) -> None:
    await storage.accounts.add(a_person("anna"))
    scopes = ("admin", "sources:write", "stream:read:prices")
    await storage.keys.add(ApiKey("k", "k", "svc_", "sha", scopes, NOW, person="anna"))
    found = await storage.keys.by_hash("sha")
    assert found is not None
    assert found.scopes == ("sources:write", "stream:read:prices")
    await storage.accounts.change(replace(a_person("anna"), role="reader"), password_set=True)
    found = await storage.keys.by_hash("sha")
    assert found is not None
    assert found.scopes == ("stream:read:prices",)
    await storage.accounts.change(replace(a_person("anna"), disabled=True), password_set=True)
    assert await storage.keys.by_hash("sha") is None


async def test_a_key_ends_when_it_expires(storage: Storage) -> None:
    await storage.keys.add(ApiKey("k", "k", "svc_", "sha", ("stream:read",), NOW, expires_at=Millis(NOW + 10)))
    assert await storage.keys.by_hash("sha", Millis(NOW + 9)) is not None
    assert await storage.keys.by_hash("sha", Millis(NOW + 10)) is None


async def test_the_last_owner_stays_while_the_service_has_no_password(storage: Storage) -> None:
    for name in ("anna", "bo"):
        await storage.accounts.add(a_person(name, "owner"))
    assert await storage.accounts.remove("bo", password_set=False)
    assert not await storage.accounts.remove("anna", password_set=False)
    assert not await storage.accounts.change(a_person("anna", "editor"), password_set=False)
    assert not await storage.accounts.change(replace(a_person("anna", "owner"), disabled=True), password_set=False)
    assert await storage.accounts.remove("anna", password_set=True)


async def test_a_removed_person_leaves_no_session_and_no_key(storage: Storage) -> None:
    await storage.accounts.add(a_person("anna"))
    await storage.people.open(a_session("anna"))
    await storage.keys.add(ApiKey("k", "k", "svc_", "sha", ("stream:read",), NOW, person="anna"))
    assert await storage.accounts.remove("anna", password_set=True)
    assert await storage.people.sessions() == []
    assert await storage.keys.all() == []


async def test_a_second_factor_is_kept_sealed(storage: Storage) -> None:
    await storage.accounts.add(a_person("anna"))
    assert await storage.accounts.totp("anna") is None
    await storage.accounts.set_totp("anna", b"twenty secret bytes!")
    assert await storage.accounts.totp("anna") == b"twenty secret bytes!"
    found = await storage.accounts.get("anna")
    assert found is not None
    assert found.totp


async def test_activity_is_read_newest_first_and_kept_for_90_days(storage: Storage) -> None:
    day = 86_400_000
    for number in range(3):
        at = Millis(NOW + number * 60 * day)
        await storage.accounts.record(
            Activity(id=f"{number}", at=at, person="", by="Owner", operation="POST /v1/sources", after=b"{}")
        )
    assert [one.id for one in await storage.accounts.activity("9", 2)] == ["2", "1"]
    assert [one.id for one in await storage.accounts.activity("1", 2)] == ["0"]
    assert await storage.accounts.sweep(Millis(NOW + 120 * day), 10) == 1
    assert [one.id for one in await storage.accounts.activity("9", 9)] == ["2", "1"]

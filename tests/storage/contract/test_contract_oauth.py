"""Apps, codes, grants and their tokens, on every engine."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.access import (
    CODE_KEPT,
    CODE_LIFE,
    FRESH_CLIENT,
    GRANT_LIFE,
    MOST_CLIENTS,
    UNUSED_CLIENT,
    ApiKey,
    OAuthClient,
    OAuthCode,
    OAuthGrant,
    RefreshToken,
)
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.test_contract_accounts import NOW, a_person

FIRST = RefreshToken("family", "turn 1")


def a_client(name: str = "app", at: int = NOW) -> OAuthClient:
    return OAuthClient(name, name.title(), ("https://app.test/back",), Millis(at))


def a_grant(id: str = "grant", person: str = "", client: str = "app") -> OAuthGrant:
    scopes = ("stream:read", "sources:write")
    return OAuthGrant(
        id=id, person=person, client=client, app="App", host="app.test", scopes=scopes, resource="/mcp", created_at=NOW
    )


def a_code(grant: OAuthGrant | None = None, at: int = NOW) -> OAuthCode:
    given = grant or a_grant()
    return OAuthCode(
        sha256=f"code {given.id}", at=Millis(at), redirect="https://app.test/back", challenge="x", grant=given
    )


def a_token(grant: OAuthGrant | None = None, turn: str = "1", at: int = NOW) -> ApiKey:
    given = grant or a_grant()
    scopes = given.scopes
    return ApiKey(
        given.id, given.app, "svc_", f"token {given.id} {turn}", scopes, Millis(at), person=given.person, grant=given.id
    )


async def granted(storage: Storage, grant: OAuthGrant, family: str = "family") -> None:
    await storage.oauth.put_code(a_code(grant))
    taken = await storage.oauth.take_code(f"code {grant.id}", NOW)
    assert taken is not None
    assert await storage.oauth.begin(taken, RefreshToken(family, "turn 1"), a_token(grant))


async def test_a_registered_app_is_found_and_ends_unused_after_a_day(storage: Storage) -> None:
    assert await storage.oauth.put_client(a_client(), NOW)
    assert await storage.oauth.client("app") == a_client()
    assert await storage.oauth.put_client(a_client("other"), Millis(NOW + UNUSED_CLIENT))
    assert await storage.oauth.client("app") is None


async def test_an_app_with_a_consent_stays_and_a_newer_document_replaces_it(storage: Storage) -> None:
    await storage.oauth.put_client(a_client(), NOW)
    await granted(storage, a_grant())
    newer = replace(a_client(), name="Renamed")
    assert await storage.oauth.put_client(newer, Millis(NOW + UNUSED_CLIENT))
    assert await storage.oauth.put_client(a_client("other"), Millis(NOW + 2 * GRANT_LIFE))
    assert await storage.oauth.client("app") == newer


async def test_the_oldest_unused_app_gives_way_and_fresh_ones_do_not(storage: Storage) -> None:
    for number in range(MOST_CLIENTS):
        assert await storage.oauth.put_client(a_client(f"app {number}"), Millis(NOW + number))
    assert not await storage.oauth.put_client(a_client("late"), Millis(NOW + FRESH_CLIENT - 1))
    assert await storage.oauth.put_client(a_client("late"), Millis(NOW + FRESH_CLIENT))
    assert await storage.oauth.client("app 0") is None
    assert await storage.oauth.client("app 1") is not None


async def test_a_code_works_once_and_its_second_use_ends_the_grant(storage: Storage) -> None:
    await granted(storage, a_grant())
    assert await storage.keys.by_hash("token grant 1") is not None
    assert await storage.oauth.take_code("code grant", NOW) is None
    assert await storage.keys.by_hash("token grant 1") is None
    assert await storage.oauth.grants(NOW) == []


async def test_a_code_used_twice_before_its_tokens_are_made_makes_none(storage: Storage) -> None:
    await storage.oauth.put_code(a_code())
    taken = await storage.oauth.take_code("code grant", NOW)
    assert taken == a_code()
    assert await storage.oauth.take_code("code grant", NOW) is None
    assert not await storage.oauth.begin(a_code(), FIRST, a_token())
    assert await storage.keys.by_hash("token grant 1") is None


async def test_a_code_makes_tokens_once(storage: Storage) -> None:
    await granted(storage, a_grant())
    assert not await storage.oauth.begin(a_code(), RefreshToken("another", "1"), replace(a_token(), id="another"))
    assert [one.id for one in await storage.oauth.grants(NOW)] == ["grant"]


async def test_an_old_code_is_refused_and_swept(storage: Storage) -> None:
    await storage.oauth.put_code(a_code())
    assert await storage.oauth.take_code("code grant", Millis(NOW + CODE_LIFE)) is None
    await storage.oauth.put_code(a_code(a_grant("other"), NOW + CODE_KEPT))
    assert await storage.oauth.take_code("code grant", NOW) is None
    assert await storage.oauth.take_code("code other", Millis(NOW + CODE_KEPT)) is not None


async def test_a_renewal_replaces_both_tokens(storage: Storage) -> None:
    await granted(storage, a_grant())
    grant = await storage.oauth.by_refresh(FIRST, NOW)
    assert grant == a_grant()
    assert await storage.oauth.renew(grant, FIRST, "turn 2", a_token(turn="2"))
    assert await storage.keys.by_hash("token grant 1") is None
    renewed = await storage.keys.by_hash("token grant 2")
    assert renewed is not None
    assert renewed.scopes == grant.scopes
    assert await storage.oauth.by_refresh(RefreshToken("family", "turn 2"), NOW) == grant


async def test_an_old_refresh_token_ends_the_grant_with_its_tokens(storage: Storage) -> None:
    await granted(storage, a_grant())
    assert await storage.oauth.renew(a_grant(), FIRST, "turn 2", a_token(turn="2"))
    assert await storage.oauth.by_refresh(FIRST, NOW) is None
    assert await storage.oauth.by_refresh(RefreshToken("family", "turn 2"), NOW) is None
    assert await storage.keys.by_hash("token grant 2") is None


async def test_of_two_renewals_at_once_the_second_ends_the_grant(storage: Storage) -> None:
    await granted(storage, a_grant())
    assert await storage.oauth.renew(a_grant(), FIRST, "turn 2", a_token(turn="2"))
    assert not await storage.oauth.renew(a_grant(), FIRST, "turn 3", a_token(turn="3"))
    assert await storage.keys.by_hash("token grant 2") is None
    assert await storage.oauth.grants(NOW) == []


async def test_an_unknown_family_ends_nothing(storage: Storage) -> None:
    await granted(storage, a_grant())
    assert await storage.oauth.by_refresh(RefreshToken("unknown", "turn 1"), NOW) is None
    assert await storage.oauth.by_refresh(FIRST, NOW) is not None


async def test_a_grant_ends_unless_renewed(storage: Storage) -> None:
    await granted(storage, a_grant())
    await granted(storage, a_grant("other"), "another family")
    assert await storage.oauth.by_refresh(FIRST, Millis(NOW + GRANT_LIFE)) is None
    assert await storage.oauth.grants(Millis(NOW + GRANT_LIFE)) == []
    await storage.oauth.put_code(a_code(a_grant("third"), NOW + GRANT_LIFE))
    assert await storage.oauth.grants(NOW) == []


async def test_a_token_has_no_scope_that_its_person_lacks_and_ends_with_the_access(storage: Storage) -> None:
    await storage.accounts.add(a_person("anna"))
    await granted(storage, a_grant(person="anna"))
    await storage.accounts.change(a_person("anna", "reader"), password_set=True)
    token = await storage.keys.by_hash("token grant 1")
    assert token is not None
    assert token.scopes == ("stream:read",)
    await storage.accounts.change(replace(a_person("anna"), disabled=True), password_set=True)
    assert await storage.oauth.by_refresh(FIRST, NOW) is None
    await storage.oauth.put_code(a_code(a_grant("late", person="anna")))
    taken = await storage.oauth.take_code("code late", NOW)
    assert taken is not None
    assert not await storage.oauth.begin(taken, RefreshToken("late", "1"), a_token(taken.grant))
    await storage.accounts.remove("anna", password_set=True)
    assert await storage.oauth.grants(NOW) == []


async def test_grants_tell_their_last_use_and_end_with_their_token(storage: Storage) -> None:
    await granted(storage, a_grant())
    await storage.keys.touch({"grant": Millis(NOW + 5)})
    assert await storage.oauth.grants(NOW) == [replace(a_grant(), last_used_at=Millis(NOW + 5))]
    assert await storage.keys.all() == []
    assert await storage.oauth.end("grant")
    assert await storage.keys.by_hash("token grant 1") is None
    assert not await storage.oauth.end("grant")


async def test_no_record_shows_a_hash(storage: Storage) -> None:
    assert "code" not in repr(a_code()).replace("OAuthCode", "")

"""Planted leaks of OAuth: a walk through the flow, with a thief in it, notices each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import trio
from msgspec.structs import replace

from api import key_face
from api.auth import identify
from extras.people.oauth import endpoint, operations, tokens
from storage.records import access
from storage.records.access import OAuthGrant, RefreshToken
from storage.records.identity import Millis
from storage.sql.stores import people as key_store
from storage.sql.stores import people as oauth_store
from storage.sql.writing import Transaction, first_row
from tests.api.house import BASE_URL, House, make_house, running
from tests.extras.people.oauth.app import BACK, App, person, signed_in

Plant = Callable[[], AbstractContextManager[Any]]


async def leaks(house: House) -> Sequence[str]:
    """Return the forbidden gains of a thief, an app and a person."""
    found = list[str]()

    async def gets(what: str, app: App, method: str, path: str, **more: Any) -> None:
        if (await app.ask(method, path, **more)).status_code < 400:
            found.append(what)

    anna = await person(house, "anna", "owner")
    app = App(house)
    await app.register()
    await anna.get(app.address(redirect_uri=f"{BACK}.evil.test/"))
    if anna.answer.status_code == 200:
        found.append("another redirect URI")
    back = await app.consent(anna, "stream:read sources:read", "stream:read", "sources:read", "admin", "sources:write")
    if (await app.exchange(back["code"], code_verifier="w" * 43)).status_code == 200:
        found.append("a code without its verifier")
    back = await app.consent(anna, "stream:read sources:read", "stream:read", "sources:read", "admin", "sources:write")
    await app.exchange(back["code"])
    if set(app.tokens["scope"].split()) - {"stream:read", "sources:read"}:
        found.append("a scope that was not asked for")
    await gets("another resource", app, "GET", "/v1/sources")
    await trio.sleep(3_600)
    await gets("an expired token", app, "DELETE", "/mcp", params={})
    if (await app.tool("sources")).status_code == 200:
        found.append("an expired token")
    first = app.tokens["refresh_token"]
    await app.renew()
    good = dict(app.tokens)
    if (await app.renew(first)).status_code == 200:
        found.append("an old refresh token")
    app.tokens = good
    if (await app.tool("sources")).status_code == 200:
        found.append("a token after the theft")
    whole = App(house, resource=BASE_URL)
    await whole.connect(anna, "stream:read sources:read sources:write")
    owner = await house.storage.accounts.get("anna")
    assert owner is not None
    await house.storage.accounts.change(replace(owner, role="reader"), password_set=True)
    await gets("a scope that the role lacks", whole, "POST", "/v1/sources", json={"url": "https://a.test/"})
    eve = App(house, resource=BASE_URL)
    await eve.connect(await person(house, "eve", "reader"), "stream:read")
    for grant in await house.storage.oauth.grants(house.context.world.now()):
        if grant.person == "anna":
            await gets("the end of another's app", eve, "DELETE", f"/v1/apps/{grant.id}")
    await whole.revoke(whole.tokens["access_token"])
    await gets("a revoked token", whole, "GET", "/v1/sources")
    await signed_in(house)
    return found


async def of_any_path(headers: Any, query: Any, keys: Any, now: Any, path: str) -> Any:
    return await identify(headers, query, keys, now, "/mcp")


def refused_only(*_: Any) -> bool:
    return True


async def without_turns(self: Any, refresh: RefreshToken, now: Millis) -> OAuthGrant | None:
    row = await first_row(self._readers, oauth_store._BY_REFRESH, refresh.family)
    return None if row is None else oauth_store._grant(row[0])


async def renewed_always(self: Any, grant: OAuthGrant, old: RefreshToken, turn: str, key: Any) -> bool:
    real: bool = await RENEW(self, grant, RefreshToken(old.family, await _turn_of(self, old)), turn, key)
    return real


async def _turn_of(self: Any, old: RefreshToken) -> str:
    row = await first_row(self._readers, oauth_store._BY_REFRESH, old.family)
    return str(row[1])


RENEW = oauth_store.OAuth.renew


@contextmanager
def turns_ignored() -> Iterator[None]:
    store = oauth_store.OAuth
    with patch.object(store, "by_refresh", without_turns), patch.object(store, "renew", renewed_always):
        yield


@contextmanager
def role_ignored() -> Iterator[None]:
    key_store._key.cache_clear()
    with patch.object(access, "allowed", lambda scopes, role: tuple(scopes)):
        yield
    key_store._key.cache_clear()


def grant_alone(transaction: Transaction, grant_id: str) -> bool:
    return transaction.execute("DELETE FROM oauth_grant WHERE id=?", (grant_id,)).rowcount > 0


PLANTS: dict[str, tuple[Plant, str]] = {
    "the resource is not checked": (lambda: patch.object(key_face, "identify", of_any_path), "another resource"),
    "PKCE is not compared": (lambda: patch.object(tokens, "fits", lambda *_: True), "a code without its verifier"),
    "a redirect URI matches by its beginning": (
        lambda: patch.object(endpoint, "matches", lambda given, those: any(given.startswith(one) for one in those)),
        "another redirect URI",
    ),
    "the role is not intersected": (role_ignored, "a scope that the role lacks"),
    "a ticked scope counts though it was not offered": (
        lambda: patch.object(tokens, "chosen", lambda offered, ticked: tuple(ticked)),
        "a scope that was not asked for",
    ),
    "an old refresh token works": (turns_ignored, "an old refresh token"),
    "an old refresh token is refused and the grant stays": (
        lambda: patch.object(oauth_store, "_end", refused_only),
        "a token after the theft",
    ),
    "a grant ends without its token": (lambda: patch.object(oauth_store, "_end", grant_alone), "a revoked token"),
    "tokens do not expire": (
        lambda: patch.object(tokens, "TOKEN_LIFE", Millis(86_400_000)),
        "an expired token",
    ),
    "anyone ends any app": (lambda: patch.object(operations, "shown_to", lambda *_: True), "the end of another's app"),
}
"""bug: how to plant it, and the leak that the walk then finds."""


async def walked() -> Sequence[str]:
    async with running(make_house()) as house:
        return await leaks(house)


async def test_the_walk_finds_no_leak(autojump_clock: object) -> None:
    assert await walked() == []


@pytest.mark.parametrize("bug", PLANTS)
async def test_the_walk_finds(bug: str, autojump_clock: object) -> None:
    plant, leak = PLANTS[bug]
    with plant():
        assert leak in await walked()

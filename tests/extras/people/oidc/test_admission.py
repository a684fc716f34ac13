"""Who a person is, and the role that issuer, invitation and settings give them."""

from __future__ import annotations

from hashlib import sha256

import pytest
import trio
from msgspec.structs import replace

from extras.people.oidc.admission import claimed, role_of
from extras.people.settings import PeopleSettings
from storage.records.access import Invitation, Password, Person, Role
from storage.records.identity import Millis
from tests.api.dashboard.browser import Browser
from tests.extras.people.oidc.conftest import Harbour, MakeHarbour
from tests.support.build import NOW
from tests.support.disks import set_password

GROUPS = {"oidc_reader_groups": ("gulls",), "oidc_editor_groups": ("terns",), "oidc_owner_groups": ("keepers",)}


async def the_only_one(harbour: Harbour) -> Person:
    (person,) = await harbour.house.storage.accounts.all()
    return person


def an_invitation(email: str, role: Role = "editor") -> Invitation:
    return Invitation("i1", sha256(b"i1").hexdigest(), email, role, "the keeper", Millis(NOW))


@pytest.mark.parametrize(
    ("groups", "default", "role"),
    [
        (["gulls"], "", "reader"),
        (["terns", "gulls"], "", "editor"),
        (["gulls", "keepers"], "", "owner"),
        ([], "reader", "reader"),
        (["others"], "", None),
        (None, "", None),
        ("terns", "", "editor"),
        ([{"name": "keepers"}, 7], "", None),
    ],
)
def test_the_highest_group_gives_the_role(groups: object, default: str, role: str | None) -> None:
    settings = PeopleSettings(
        oidc_issuer="https://id.test",
        oidc_client_id="c",
        oidc_client_secret_file="f",
        oidc_default_role=default,
        **GROUPS,
    )
    assert role_of(claimed({"sub": "1", "groups": groups}, "groups").groups, settings) == role


def test_groups_may_be_at_a_path() -> None:
    found = claimed({"sub": "1", "realm_access": {"roles": ["terns"]}}, "realm_access.roles")
    assert found.groups == {"terns"}
    assert claimed({"sub": "1", "https://a.test/groups": ["terns"]}, "https://a.test/groups").groups == {"terns"}


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_only_a_verified_address_counts(verified: object) -> None:
    assert claimed({"sub": "1", "email": "Ada@Sea.test", "email_verified": verified}, "groups").email == ""
    assert claimed({"sub": "1", "email": "Ada@Sea.test", "email_verified": True}, "groups").email == "ada@sea.test"


async def test_groups_change_the_role_at_each_sign_in(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        set_password(harbour.house.storage.disk, Password("hash", NOW))
        for groups, role in ((["gulls"], "reader"), (["keepers"], "owner"), (["terns"], "editor")):
            harbour.provider.claims["groups"] = groups
            await harbour.sign_in()
            assert (await the_only_one(harbour)).role == role
        assert await harbour.sessions() == 1, "a changed role ends the sessions before"


async def test_groups_without_a_role_end_a_persons_access(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        await harbour.sign_in()
        assert await harbour.sessions() == 1
        harbour.provider.claims["groups"] = ["others"]
        assert "has no access to this service" in await harbour.sign_in()
        assert await harbour.sessions() == 0 and (await the_only_one(harbour)).disabled
        harbour.provider.claims["groups"] = ["gulls"]
        assert "This account is disabled." in await harbour.sign_in()


async def test_a_missing_claim_refuses_and_disables_nobody(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        await harbour.sign_in()
        del harbour.provider.claims["groups"]
        harbour.provider.userinfo = {"sub": "ada-1"}
        assert "has no access to this service" in await harbour.sign_in()
        assert not (await the_only_one(harbour)).disabled


async def test_the_last_owner_does_not_lose_the_role_to_the_issuer(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        harbour.provider.claims["groups"] = ["keepers"]
        await harbour.sign_in()
        harbour.provider.claims["groups"] = ["gulls"]
        assert "You are the last owner here" in await harbour.sign_in()
        assert (await the_only_one(harbour)).role == "owner"


async def test_a_stranger_without_a_role_is_refused_and_leaves_no_account(harbours: MakeHarbour) -> None:
    async with harbours(oidc_default_role="") as harbour:
        assert "has no access to this service" in await harbour.sign_in()
        assert await harbour.house.storage.accounts.all() == []


async def test_a_person_renamed_at_the_issuer_keeps_the_account(harbour: Harbour) -> None:
    harbour.provider.claims |= {"email": "ada@sea.test", "email_verified": True}
    await harbour.sign_in()
    was = await the_only_one(harbour)
    harbour.provider.claims |= {"name": "Ada Tern", "email": "tern@sea.test"}
    await harbour.sign_in()
    now = await the_only_one(harbour)
    assert (now.id, now.name, now.email) == (was.id, "Ada Tern", "tern@sea.test")


async def test_an_address_that_another_person_has_is_not_taken_over(harbour: Harbour) -> None:
    accounts = harbour.house.storage.accounts
    other = Person(id="other", name="Bo", email="bo@sea.test", role="owner", created_at=Millis(NOW), hashed="h")
    assert await accounts.add(other)
    harbour.provider.claims |= {"email": "bo@sea.test", "email_verified": True}
    assert "Another account here has your e-mail address." in await harbour.sign_in()
    assert list(await accounts.all()) == [other] and await harbour.sessions() == 0
    harbour.provider.claims["email"] = "ada@sea.test"
    await harbour.sign_in()
    harbour.provider.claims["email"] = "bo@sea.test"
    await harbour.sign_in()
    ada = await accounts.by_subject("https://id.test", "ada-1")
    assert ada is not None and ada.email == "ada@sea.test" and await harbour.sessions() == 1


async def test_a_verified_address_joins_its_invitation_once(harbours: MakeHarbour) -> None:
    async with harbours(oidc_default_role="") as harbour:
        accounts = harbour.house.storage.accounts
        await accounts.invite(an_invitation("ada@sea.test"))
        harbour.provider.claims |= {"email": "Ada@sea.test", "email_verified": False}
        assert "has no access" in await harbour.sign_in()
        harbour.provider.claims["email_verified"] = True
        await harbour.sign_in()
        ada = await the_only_one(harbour)
        assert ada.role == "editor" and await accounts.invitations(Millis(NOW)) == []
        (joined,) = await accounts.activity("~", 9)
        assert (joined.person, joined.operation) == (ada.id, "GET /sign-in/oidc/callback")
        harbour.provider.claims["sub"] = "someone-else"
        assert "has no access" in await harbour.sign_in()


async def test_groups_decide_the_role_of_an_invited_person_too(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        await harbour.house.storage.accounts.invite(an_invitation("ada@sea.test", "owner"))
        harbour.provider.claims |= {"email": "ada@sea.test", "email_verified": True}
        await harbour.sign_in()
        assert (await the_only_one(harbour)).role == "reader"


async def test_an_owners_choice_stays_when_no_groups_are_set(harbour: Harbour) -> None:
    await harbour.sign_in()
    assert await harbour.house.storage.accounts.change(
        replace(await the_only_one(harbour), role="owner"), password_set=True
    )
    await harbour.sign_in()
    assert (await the_only_one(harbour)).role == "owner"


async def test_claims_that_only_userinfo_has_are_asked_for(harbours: MakeHarbour) -> None:
    async with harbours(**GROUPS) as harbour:
        harbour.provider.claims = {"sub": "ada-1"}
        harbour.provider.userinfo = {"sub": "ada-1", "name": "Ada", "groups": ["terns"], "iss": "https://evil.test"}
        await harbour.sign_in()
        person = await the_only_one(harbour)
        assert (person.name, person.role) == ("Ada", "editor")
        (asked,) = [one for one in harbour.provider.seen if one.target == "/userinfo"]
        assert asked.headers["authorization"] == "Bearer access"


async def test_two_tabs_that_sign_in_at_the_same_moment_make_one_person(harbour: Harbour) -> None:
    other = Browser(harbour.house)
    async with other.client:
        backs = []
        for browser in (harbour.browser, other):
            await browser.get("/sign-in/oidc", follow=False)
            backs.append(harbour.provider.back(browser.answer.headers["Location"]))
        async with trio.open_nursery() as nursery:
            for browser, back in zip((harbour.browser, other), backs, strict=True):
                nursery.start_soon(browser.get, back)
    assert await harbour.sessions() == 2 and (await the_only_one(harbour)).subject == "ada-1"

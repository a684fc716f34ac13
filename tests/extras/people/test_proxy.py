"""Sign-in by a proxy's header: only from trusted proxies; people, roles and names follow it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from actors.setting_table import with_values
from actors.settings import Settings
from extras.people.settings import PeopleSettings
from tests.api.dashboard.browser import Browser
from tests.api.house import House, make_house, running
from tests.extras.people.test_signing_in import a_person

AUTHELIA = {"auth_header": "Remote-User"}
OAUTH2_PROXY = {
    "auth_header": "X-Forwarded-User",
    "auth_header_name": "X-Forwarded-Preferred-Username",
    "auth_header_email": "X-Forwarded-Email",
    "auth_header_groups": "X-Forwarded-Groups",
}
ROLES = ("admins=owner", "staff=editor", "guests=reader")


def settings(trusted: str, named: dict[str, Any]) -> dict[str, Any]:
    return {"trusted_proxies": (trusted,), "auth_roles": ROLES, **named}


def headers(named: dict[str, Any], user: str, groups: str, name: str = "Anna", email: str = "") -> dict[str, str]:
    rest = PeopleSettings()
    return {
        named["auth_header"]: user,
        named.get("auth_header_name", rest.auth_header_name): name,
        named.get("auth_header_email", rest.auth_header_email): email or f"{user}@example.com",
        named.get("auth_header_groups", rest.auth_header_groups): groups,
    }


def through(browser: Browser, *given: Any, **more: str) -> Browser:
    """Send these headers with each request, as a proxy does."""
    browser.client.headers.update(headers(*given, **more))
    return browser


@pytest.fixture(params=[AUTHELIA, OAUTH2_PROXY], ids=["Authelia", "oauth2-proxy"])
def named(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


@pytest.fixture
async def house(autojump_clock: object, named: dict[str, Any]) -> AsyncIterator[House]:
    async with running(make_house(**settings("127.0.0.0/8", named))) as house:
        yield house


@pytest.fixture
async def elsewhere(autojump_clock: object, named: dict[str, Any]) -> AsyncIterator[House]:
    """A service whose trusted proxy is another machine."""
    async with running(make_house(**settings("10.0.0.1/32", named))) as house:
        yield house


async def test_a_person_is_made_at_the_first_visit_and_the_groups_give_the_role(
    house: House, stranger: Browser, named: dict[str, Any]
) -> None:
    await through(stranger, named, "anna", "guests, staff", "Anna B").get("/sources")
    for _ in range(2):
        await through(stranger, named, "anna", "guests, staff").get("/sources")
        assert (stranger.path, stranger.answer.status_code) == ("/sources", 200)
    (person,) = await house.storage.accounts.all()
    assert (person.issuer, person.subject, person.role) == ("header", "anna", "editor")
    assert (person.email, person.hashed) == ("anna@example.com", "")
    assert len(await house.storage.people.sessions()) == 1
    (joined,) = await house.storage.accounts.activity("~", 9)
    assert (joined.person, joined.by, joined.operation) == (person.id, "Anna B", "GET /sign-in/proxy")
    assert joined.object == f"/v1/people/{person.id}" and b'"role":"editor"' in (joined.after or b"")


async def test_the_header_counts_only_from_trusted_proxies(elsewhere: House, named: dict[str, Any]) -> None:
    browser = Browser(elsewhere)
    async with browser.client:
        for path in ("/", "/sign-in/proxy", "/people"):
            await through(browser, named, "anna", "admins").get(path)
            assert "Sign in" in browser.text or browser.answer.status_code == 403 or "Almost there" in browser.text
    assert (await elsewhere.storage.accounts.all(), await elsewhere.storage.people.sessions()) == ([], [])


async def test_a_demoted_group_demotes_at_the_next_request(
    house: House, stranger: Browser, named: dict[str, Any]
) -> None:
    await through(stranger, named, "anna", "admins").get("/people")
    assert stranger.answer.status_code == 200
    await through(stranger, named, "anna", "guests").get("/people", follow=False)
    assert stranger.answer.status_code == 303
    answer = await stranger.client.get("/sign-in/proxy", headers=headers(named, "anna", "guests"))
    assert answer.status_code == 303
    answer = await stranger.client.get("/people", headers=headers(named, "anna", "guests"))
    assert answer.status_code == 403
    answer = await stranger.client.get("/sign-in/proxy", headers=headers(named, "anna", ""))
    assert answer.status_code == 403 and await house.storage.people.sessions() == []


async def test_a_session_counts_only_with_its_own_header(
    house: House, stranger: Browser, named: dict[str, Any]
) -> None:
    await through(stranger, named, "anna", "admins").get("/")
    for name in headers(named, "anna", "admins"):
        del stranger.client.headers[name]
    assert (await stranger.get("/people", follow=False)).headers["Location"].startswith("/sign-in?")
    answer = await stranger.client.get("/people", headers=headers(named, "bo", "guests"))
    assert answer.headers["Location"].startswith("/sign-in/proxy?")


async def test_a_header_that_arrives_twice_is_refused(house: House, named: dict[str, Any]) -> None:
    async with house.stranger() as client:
        twice = [(named["auth_header"], "anna"), (named["auth_header"], "root")]
        assert (await client.get("/", headers=twice)).status_code == 403
    assert await house.storage.accounts.all() == []


async def test_a_disabled_person_stays_out(house: House, stranger: Browser, named: dict[str, Any]) -> None:
    await through(stranger, named, "anna", "admins").get("/")
    (person,) = await house.storage.accounts.all()
    await house.storage.accounts.change(replace(person, disabled=True), password_set=True)
    await through(stranger, named, "anna", "admins").get("/sign-in/proxy", follow=False)
    assert stranger.answer.status_code == 403


async def test_an_address_of_another_person_is_not_taken_over(
    house: House, stranger: Browser, named: dict[str, Any]
) -> None:
    anna = await a_person(house, "owner")
    await through(stranger, named, "mallory", "guests", email=anna.email).get("/")
    (other,) = [one for one in await house.storage.accounts.all() if one.id != anna.id]
    assert (other.email, other.role) == ("", "reader")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"auth_header": "Remote-User", "auth_roles": ROLES}, "trusted_proxies is not"),
        ({"auth_header": "Remote User", "trusted_proxies": ("10.0.0.1/32",)}, "write the name of a header"),
        ({"auth_header": "Remote-User", "trusted_proxies": ("10.0.0.1/32",)}, "nobody would have a role"),
        ({"auth_roles": ("staff=root",)}, "is no role"),
        ({"auth_default_role": "root"}, "is no role"),
    ],
)
def test_settings_that_let_anyone_or_nobody_in_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        with_values(Settings(), **given)

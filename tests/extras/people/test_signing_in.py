"""Joining, signing in by e-mail, second factors, own sessions; pages by role."""

from __future__ import annotations

import re
from base64 import b32decode
from collections.abc import AsyncIterator

import pytest
import trio

from extras.people import factor as codes
from storage.records.access import Password, Person, Role
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.extras.people.test_operations import ANNA
from tests.support.build import NOW
from tests.support.disks import set_password

PASSWORD = "gulls over the harbour wall"


@pytest.fixture
async def anna(house: House) -> Person:
    return await a_person(house)


async def a_person(house: House, role: Role = "reader", **more: object) -> Person:
    fields = {"id": ANNA, "name": "Anna", "email": "anna@example.com", "hashed": f"hash of {PASSWORD}"} | more
    person = Person(role=role, created_at=NOW, **fields)  # type: ignore[arg-type]  # the test's own fields
    assert await house.storage.accounts.add(person)
    return person


async def signed_in(browser: Browser, **more: str) -> Browser:
    await browser.get("/sign-in")
    await browser.submit("/sign-in", {"email": "Anna@example.com", "password": PASSWORD, **more})
    return browser


@pytest.fixture
async def reader(house: House, stranger: Browser, anna: Person) -> AsyncIterator[Browser]:
    yield await signed_in(stranger)


async def test_without_people_the_sign_in_page_asks_only_for_the_password(house: House, stranger: Browser) -> None:
    set_password(house.storage.disk, Password("a hash", NOW))
    await stranger.get("/sign-in")
    assert set(stranger.page.xpath("//input/@name")) == {"token", "next", "password"}


async def test_an_invited_person_joins_once_and_has_the_role(house: House, browser: Browser) -> None:
    await browser.get("/people")
    await browser.submit("/people/invite", {"role": "reader", "email": "anna@example.com"})
    (link,) = set(re.findall(r"http://sanderling.test/join#[A-Za-z0-9_-]{43}", browser.answer.text))
    fields = {"code": link, "name": " Anna ", "email": "Anna@example.com", "password": PASSWORD, "again": PASSWORD}
    joining = Browser(house)
    async with joining.client:
        await joining.get("/join")
        await joining.submit("/join", fields | {"email": "bo@example.com"})
        assert joining.answer.status_code == 422 and "another address" in joining.text
        await joining.submit("/join", fields | {"password": "password12", "again": "password12"})
        assert "Too easy to guess" in joining.text
        await joining.submit("/join", fields)
        assert joining.path == "/", joining.text
        (person,) = await house.storage.accounts.all()
        assert (person.name, person.email, person.role) == ("Anna", "anna@example.com", "reader")
        assert (await joining.get("/people")).status_code == 403
    again = Browser(house)
    async with again.client:
        await again.get("/join")
        await again.submit("/join", fields | {"email": "anna@example.com"})
        assert again.answer.status_code == 422 and "invalid" in again.text


async def test_a_reader_sees_no_button_and_no_place_that_the_role_does_not_include(
    house: House, reader: Browser, browser: Browser
) -> None:
    await house.publish("one")
    for path in ("/", "/sources", "/alerts", "/destinations", "/publications", "/webhook-bins", "/settings", "/more"):
        assert (await reader.get(path)).status_code == 200
        actions = {str(one) for one in reader.page.xpath("//form[@method='post']/@action")}
        assert {one for one in actions if not one.startswith(("/settings", "/sign-out"))} == set(), path
        links = {str(one) for one in reader.page.xpath("//a/@href")}
        assert not links & {"/people", "/keys", "/system", "/activity", "/alerts/new", "/sources/add"}, path
        assert "/sources" in links
    await browser.get("/more")
    assert {"/people", "/keys"} <= {str(one) for one in browser.page.xpath("//a/@href")}


@pytest.mark.parametrize("email", ["nobody@example.com", "anna@example.com"])
async def test_a_wrong_address_and_a_wrong_password_get_the_same_answer_after_one_hash(
    house: House, stranger: Browser, anna: Person, email: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords, hashes = house.context.world.passwords, []
    hash, fits = passwords.hash, passwords.fits

    async def counted_hash(password: str) -> str:
        hashes.append(1)
        return await hash(password)

    async def counted_fits(password: str, hashed: str) -> bool:
        hashes.append(1)
        return await fits(password, hashed)

    monkeypatch.setattr(passwords, "hash", counted_hash)
    monkeypatch.setattr(passwords, "fits", counted_fits)
    await stranger.get("/sign-in")
    await stranger.submit("/sign-in", {"email": email, "password": "a wrong one"})
    assert stranger.answer.status_code == 422 and "Wrong e-mail, password or code." in stranger.text
    assert hashes == [1]


async def test_attempts_for_one_person_are_limited(house: House, stranger: Browser, anna: Person) -> None:
    await stranger.get("/sign-in")
    for _ in range(6):
        await stranger.submit("/sign-in", {"email": "anna@example.com", "password": "a wrong one"})
    assert "Too many attempts" in stranger.text


async def test_signing_in_gives_another_session_and_leads_only_to_pages_of_ours(
    house: House, stranger: Browser, anna: Person
) -> None:
    await stranger.get("/sign-in")
    before = dict(stranger.client.cookies)
    await stranger.get("/sign-in?next=//evil.test")
    fields = {"email": anna.email, "password": PASSWORD, "next": "//evil.test"}
    await stranger.submit("/sign-in", fields, follow=False)
    assert stranger.answer.headers["Location"] == "/"
    after = dict(stranger.client.cookies)
    assert not set(before.values()) & {value for name, value in after.items() if name.startswith("session")}
    (first,) = await house.storage.people.sessions()
    await stranger.client.post(
        "/sign-in",
        data={**fields, "token": (await _token(stranger))},
        headers={"Origin": "http://sanderling.test"},
    )
    assert first.id not in {one.id for one in await house.storage.people.sessions()}


async def _token(browser: Browser) -> str:
    await browser.get("/settings")
    return browser.token


async def test_a_disabled_person_is_out_at_once(house: House, reader: Browser, browser: Browser) -> None:
    await browser.get(f"/people/{ANNA}")
    await browser.submit(f"/people/{ANNA}/disable")
    assert (await reader.get("/", follow=False)).status_code == 303
    await signed_in(reader)
    assert reader.answer.status_code == 422 and "Wrong" in reader.text


async def test_a_new_role_ends_the_sessions(house: House, reader: Browser, browser: Browser) -> None:
    await browser.get(f"/people/{ANNA}")
    await browser.submit(f"/people/{ANNA}/role", {"role": "editor"})
    assert (await reader.get("/", follow=False)).status_code == 303
    await signed_in(reader)
    assert (await reader.get("/sources/add")).status_code == 200


async def test_a_person_changes_the_own_password_and_sees_only_the_own_sessions(
    house: House, reader: Browser, browser: Browser
) -> None:
    new = "a ferry leaves at nine sharp"
    await reader.get("/settings")
    assert len(reader.page.xpath("//form[contains(@action, '/settings/sessions/')]")) == 1
    (owner,) = [one for one in await house.storage.people.sessions() if not one.person]
    await reader.post(f"/settings/sessions/{owner.id}/end")
    await reader.post("/settings/sessions/end-others")
    assert (await browser.get("/settings", follow=False)).status_code == 200
    await reader.get("/settings")
    await reader.submit("/settings/password", {"present": PASSWORD, "password": new, "again": new})
    assert "Password changed" in reader.text
    person = await house.storage.accounts.get(ANNA)
    assert person is not None and person.hashed == f"hash of {new}"
    assert (await browser.get("/settings", follow=False)).status_code == 200


async def with_factor(reader: Browser) -> tuple[bytes, str]:
    """Set up a second factor; return its secret and a recovery code."""
    await reader.get("/settings/factor")
    secret = dict(reader.form("/settings/factor").form_values())["secret"]
    now = reader.house.context.world.now()
    fields = {"present": PASSWORD, "code": codes.code_at(b32decode(secret), now // codes.STEP)}
    await reader.submit("/settings/factor", fields)
    assert "Recovery codes" in reader.text, reader.text
    (shown,) = reader.page.xpath("//*[contains(text(), '-') and string-length(normalize-space(text())) > 190]/text()")
    return b32decode(secret), str(shown).split()[0]


async def test_a_second_factor_is_needed_from_then_on_and_each_code_works_once(house: House, reader: Browser) -> None:
    secret, recovery = await with_factor(reader)
    step = house.context.world.now() // codes.STEP + 1
    fresh = Browser(house)
    async with fresh.client:
        await signed_in(fresh)
        assert "Enter the code of your app" in fresh.text
        await signed_in(fresh, code=codes.code_at(secret, step))
        assert fresh.path == "/"
        await fresh.submit("/sign-out")
        for code in (codes.code_at(secret, step), "000000"):
            await trio.sleep(60)
            await signed_in(fresh, code=code)
            assert "Wrong code" in fresh.text
        await trio.sleep(60)
        await signed_in(fresh, code=recovery)
        assert fresh.path == "/"
        await fresh.submit("/sign-out")
        await trio.sleep(60)
        await signed_in(fresh, code=recovery)
        assert "Wrong code" in fresh.text


async def test_codes_are_guessed_only_slowly(house: House, reader: Browser) -> None:
    """The limit is that of the person, not of the browser."""
    await with_factor(reader)
    await reader.submit("/sign-out")
    fresh = Browser(house)
    async with fresh.client:
        for browser in (reader, reader, reader, fresh, fresh):
            await signed_in(browser, code="000000")
            assert "Wrong code" in browser.text
        await signed_in(fresh, code="000000")
        assert "Too many attempts" in fresh.text


async def test_an_owner_removes_a_lost_second_factor(house: House, reader: Browser, browser: Browser) -> None:
    await with_factor(reader)
    await browser.get(f"/people/{ANNA}")
    await browser.submit(f"/people/{ANNA}/forget-factor")
    assert await house.storage.accounts.totp(ANNA) is None


async def test_people_have_their_own_read_marks(house: House, browser: Browser, reader: Browser) -> None:
    await house.publish("Ferry", "Tides")
    await reader.get("/stream/read")
    await reader.submit("/stream/read")
    assert not reader.page.xpath("//li[@class='unread']")
    await browser.get("/stream/read")
    assert len(browser.page.xpath("//li[@class='unread']")) == 2

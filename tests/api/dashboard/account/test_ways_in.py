"""Signing in: rate limits, weak passwords, set-up links and fresh sessions keep strangers out and the owner in."""

from __future__ import annotations

import random
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest
import trio

import actors.language as catalogue_folder
from api.dashboard.account.entry import LINK_LIFE, new_link
from api.dashboard.account.keys import FRESH
from api.dashboard.account.passwords import is_common
from api.dashboard.sessions import MOST_WAITING, OF_ONE, OF_STRANGERS, Attempts, browser_mark, known_browser
from api.problems import Refusal
from api.ratelimit import Limiter
from storage.records.access import Password
from storage.records.identity import Millis
from tests.api.dashboard.browser import PASSWORD, Browser, signed_in
from tests.api.house import House, make_house, running
from tests.support.build import NOW
from tests.support.disks import set_password

GOOD = {"password": "gulls over the harbour", "again": "gulls over the harbour"}


def tries_of(house: House) -> Attempts:
    return Attempts(Limiter(), house.storage.people)


async def try_once(attempts: Attempts, address: str, browser: str = "") -> float:
    """Return the seconds that an attempt waited."""
    began = trio.current_time()
    async with attempts.one(address, browser):
        return trio.current_time() - began


# --- S9 --------------------------------------------------------------------------------------------------------------


async def test_s9_a_new_address_waits_behind_unknown_addresses_and_is_not_refused(autojump_clock: object) -> None:
    attempts = tries_of(make_house())
    for number in range(OF_STRANGERS.burst):
        assert await try_once(attempts, f"192.0.2.{number // OF_ONE.burst}") == 0
    assert 0 < await try_once(attempts, "198.51.100.7") <= 2


async def test_x14_s9_addresses_and_browsers_that_have_signed_in_pass_by_the_queue(autojump_clock: object) -> None:
    house = make_house()
    attempts = tries_of(house)
    attempts.succeeded("198.51.100.7")
    for number in range(OF_STRANGERS.burst):
        await try_once(attempts, f"192.0.2.{number // OF_ONE.burst}")
    async with trio.open_nursery() as nursery:
        for number in range(MOST_WAITING):
            nursery.start_soon(try_once, attempts, f"203.0.113.{number}")
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(Refusal):
            await try_once(attempts, "203.0.113.200")
        assert await try_once(attempts, "198.51.100.7") == 0
        assert await try_once(attempts, "203.0.113.1", "a browser") == 0


async def test_s9_one_address_takes_few_of_the_places_in_the_queue(autojump_clock: object) -> None:
    attempts = tries_of(make_house())
    for number in range(OF_STRANGERS.burst):
        await try_once(attempts, f"192.0.2.{number // OF_ONE.burst}")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(try_once, attempts, "203.0.113.1")
        nursery.start_soon(try_once, attempts, "203.0.113.1")
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(Refusal):
            await try_once(attempts, "203.0.113.1")


async def test_s9_the_owner_signs_in_and_changes_the_password_while_the_same_proxy_carries_guesses(
    house: House, browser: Browser, stranger: Browser, autojump_clock: object
) -> None:
    """All come from one address, as behind an untrusted proxy; the cookie identifies the owner's browser."""
    await stranger.get("/sign-in")
    for _ in range(OF_ONE.burst + 2):
        await stranger.submit("/sign-in", {"password": "a guess"})
    assert "Too many attempts" in stranger.text
    await browser.get("/settings")
    await browser.submit("/settings/password", {"present": PASSWORD, **GOOD})
    assert "Password changed" in browser.text
    await browser.submit("/sign-out")
    await browser.submit("/sign-in", {"password": GOOD["password"]})
    assert browser.path == "/"


async def test_s9_a_known_browser_guesses_no_faster_than_an_address(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    await browser.submit("/sign-out")
    for _ in range(OF_ONE.burst + 1):
        await browser.submit("/sign-in", {"password": "a guess"})
    assert "Too many attempts" in browser.text


def test_s9_only_this_service_makes_the_mark_of_a_browser_and_a_new_password_ends_it() -> None:
    password = Password("hash of one", NOW)
    mark = browser_mark("nonce", password)
    assert known_browser(mark, password) == "nonce"
    assert known_browser(mark, Password("hash of another", NOW)) == known_browser(mark, None) == ""
    assert [known_browser(bad, password) for bad in ("", "nonce", "nonce.", ".", mark + "0", "é." + mark)] == [""] * 6


# --- S14 -------------------------------------------------------------------------------------------------------------


COMMON = """
1234567890 0987654321 9876543210 1234512345 qwertyuiop qwerty12345 qwerty123456 asdfghjkl; zxcvbnm,./ 1q2w3e4r5t
1qaz2wsx3edc zaq12wsxcde3 !QAZ2wsx#EDC qazwsxedcrfv password12 password123 Password1! P@ssw0rd!2026 passwordpassword
letmein123 letmein2026 welcome2026 iloveyou12 iloveyou2024! michael1985 jennifer99 football2023 liverpool1 starwars77
summer2026! Winter2025! abc123abc123 abcdefghij abcd123456 dragonmaster monkeydragon12 administrator drowssap123
sanderling sanderling1 Sanderling!1 trustno1trustno1 superman123 chocolate1 1122334455
"""


@pytest.mark.parametrize("password", COMMON.split())
def test_x14_s14_the_commonest_passwords_are_refused(password: str) -> None:
    assert is_common(password)


SWEDISH = """
sommar2026 fotboll123 hejhejhej1 lösenord12 Lösenord123! jag_älskar_dig stockholm1
Vinter2025! älskling12 motdepasse1 contraseña1
"""


@pytest.mark.parametrize(
    "password", [*(each.replace("_", " ") for each in SWEDISH.split()), "motdepasse1", "contraseña1"]
)
def test_the_commonest_passwords_of_the_dashboards_languages_are_refused(password: str) -> None:
    assert is_common(password)


def test_no_language_of_the_dashboard_is_without_words() -> None:
    catalogues = Path(catalogue_folder.__file__).parent.glob("*.po")
    assert [each.stem for each in catalogues] == ["sv"], "give common_words.py those of the new language"


@pytest.mark.parametrize(
    "password",
    [
        *("correct horse battery staple", "a better sentence", "gulls over the harbour wall", "ruddy turnstone 4"),
        *("xK9#qLmZ2p", "tmVq83-lsoA", "korrekt häst batteri", "今日は海へ行きましょうか", "nine gulls at dusk"),
    ],
)
def test_s14_sentences_and_chance_are_taken(password: str) -> None:
    assert not is_common(password)


async def test_s14_the_form_says_why(house: House, browser: Browser) -> None:
    await browser.get("/settings")
    weak = {"present": PASSWORD, "password": "letmein123", "again": "letmein123"}
    await browser.submit("/settings/password", weak)
    assert browser.answer.status_code == 422 and "Too easy to guess" in browser.text


# --- S16 -------------------------------------------------------------------------------------------------------------


async def test_s16_a_set_up_link_ends_after_an_hour(house: House, stranger: Browser) -> None:
    now = house.context.world.now()
    path, link = new_link(random.Random("link").randbytes, Millis(now - LINK_LIFE))
    await house.storage.people.offer(link)
    assert (await stranger.get(path)).status_code == 404
    await stranger.get("/sign-in")
    token = stranger.token
    path, link = new_link(random.Random("other").randbytes, Millis(now - LINK_LIFE + 60_000))
    await house.storage.people.offer(link)
    await stranger.get(path)
    assert stranger.answer.status_code == 200
    await house.storage.people.offer(type(link)(link.sha256, Millis(now - LINK_LIFE)))
    await stranger.post("/set-up", {"code": path.partition("#")[2], **GOOD}, token=token or stranger.token)
    assert await house.storage.people.password() is None


async def test_x14_s16_the_secret_is_in_no_request_but_the_forms(house: House, stranger: Browser) -> None:
    path, link = new_link(random.Random("link").randbytes, house.context.world.now())
    assert path.startswith("/set-up#") and "?" not in path
    await house.storage.people.offer(link)
    await stranger.get(path)
    assert stranger.answer.request.url.raw_path == b"/set-up"
    (field,) = stranger.page.xpath("//input[@name='code']")
    assert "data-fragment" in field.attrib and not field.get("value")
    await stranger.submit("/set-up", {"code": "A" * 43, **GOOD})
    assert stranger.answer.status_code == 422 and "This code is invalid" in stranger.text
    await stranger.submit("/set-up", {"code": f"http://sanderling.test{path} ", **GOOD})
    assert stranger.path == "/"


# --- S20 -------------------------------------------------------------------------------------------------------------


async def test_x14_s20_a_key_asks_for_the_password_when_signing_in_is_a_while_ago(autojump_clock: object) -> None:
    async with running(make_house()) as house, AsyncExitStack() as stack:
        browser = await signed_in(house)
        await stack.enter_async_context(aclosing(browser.client))
        await browser.get("/keys/new")
        assert not browser.page.xpath("//input[@name='present']")
        await trio.sleep(FRESH / 1000 + 1)
        await browser.get("/keys/new")
        wish = {"name": "later", "scopes": ["stream:read"]}
        for present, says in (("", "Enter the password again"), ("a guess", "Wrong password")):
            await browser.submit("/keys/new", {**wish, "present": present})
            assert browser.answer.status_code == 422 and says in browser.text
        assert await house.storage.keys.all() == []
        await browser.submit("/keys/new", {**wish, "present": PASSWORD})
        assert [key.name for key in await house.storage.keys.all()] == ["later"]


def test_s20_the_policy_for_scripts_is_named() -> None:
    from api.dashboard.face import POLICY

    assert "trusted-types sanderling-pages" in POLICY.split("; ")


async def test_s9_only_a_known_browser_or_address_skips_the_sign_in_queue(house: House) -> None:
    set_password(house.storage.disk, Password(f"hash of {PASSWORD}", NOW))
    attempts = tries_of(house)
    assert not await attempts._is_known("192.0.2.1")
    attempts.succeeded("192.0.2.1")
    assert await attempts._is_known("192.0.2.1")


async def test_a_preset_ticks_the_scopes_of_a_common_key(browser: Browser) -> None:
    await browser.get("/keys/new")
    links = {link.text: link.get("href") for link in browser.page.xpath("//nav[@aria-label='Common keys']//a")}
    await browser.get(links["Read only"])
    ticked = browser.page.xpath("//input[@name='scopes'][@checked]/@value")
    assert len(ticked) == 5 and all(scope.endswith(":read") for scope in ticked)
    await browser.get(links["An agent"])
    assert "sources:write" in browser.page.xpath("//input[@name='scopes'][@checked]/@value")
    assert browser.page.xpath("//nav//a[@aria-current][text()='An agent']")

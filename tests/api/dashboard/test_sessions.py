"""Sessions: renewed at each change of rights, ended at once, in cookies hidden from scripts (X14)."""

from __future__ import annotations

from contextlib import aclosing

import pytest
import trio

from api.dashboard.sessions import Sessions, hashed
from storage.records.access import IDLE, LIFE, Password
from tests.api.dashboard.browser import PASSWORD, Browser, signed_in
from tests.api.house import House, make_house, running
from tests.support.build import NOW
from tests.support.disks import set_password
from tests.support.in_loop import Disk, InLoopStorage

DAY = 86_400.0


def cookie(browser: Browser) -> str:
    return next(value for name, value in browser.client.cookies.items() if name.startswith("session"))


async def test_x14_signing_in_gives_another_session_than_any_before(house: House, browser: Browser) -> None:
    before = cookie(browser)
    await browser.get("/sign-in?next=/keys")
    assert browser.path == "/keys"
    await browser.submit("/sign-out")
    browser.client.cookies.set("session", before)
    await browser.get("/keys")
    assert browser.path.startswith("/sign-in"), "a session that was ended stays so"
    await browser.submit("/sign-in", {"password": PASSWORD})
    assert browser.path == "/keys"
    assert before not in [one for one in browser.client.cookies.jar if one.value == before and one.domain]


async def test_x14_a_planted_session_is_not_used(house: House, stranger: Browser) -> None:
    set_password(house.storage.disk, Password(f"hash of {PASSWORD}", NOW))
    planted = "x" * 43
    stranger.client.cookies.set("session", planted, domain="sanderling.test", path="/")
    await stranger.get("/sign-in")
    await stranger.submit("/sign-in", {"password": PASSWORD})
    assert stranger.path == "/"
    assert await house.storage.people.session(hashed(planted)) is None


async def test_x14_a_new_password_ends_all_other_sessions_and_renews_this_one(house: House, browser: Browser) -> None:
    other = await signed_in(house)
    async with aclosing(other.client):
        before = cookie(browser)
        await browser.get("/settings")
        assert "2 browsers" in browser.text
        wrong = {"present": "not it at all", "password": "another good one", "again": "another good one"}
        await browser.submit("/settings/password", wrong)
        assert browser.answer.status_code == 422 and "Wrong password" in browser.text
        for new, says in ((("short", "short"), "At least 10"), (("aaaaaaaaaaaaaa",) * 2, "Too few different")):
            fields = {"present": PASSWORD, "password": new[0], "again": new[1]}
            await browser.submit("/settings/password", fields)
            assert says in browser.text
        good = {"present": PASSWORD, "password": "a better sentence", "again": "a better sentence"}
        await browser.submit("/settings/password", good)
        assert browser.path == "/settings" and "Password changed" in browser.text
        assert cookie(browser) != before
        await other.get("/keys")
        assert other.path.startswith("/sign-in")
        await other.submit("/sign-in", {"password": PASSWORD})
        assert "Wrong password" in other.text


async def test_x14_a_session_ended_in_another_browser_is_refused_at_its_next_request(
    house: House, browser: Browser
) -> None:
    other = await signed_in(house)
    async with aclosing(other.client):
        await browser.get("/settings")
        mine = hashed(cookie(browser))
        (theirs,) = [one for one in await house.storage.people.sessions() if one.sha256 != mine]
        await browser.submit(f"/settings/sessions/{theirs.id}/end")
        assert "ended" in browser.text
        ended = await other.get("/keys", follow=False)
        assert ended.status_code == 303
    await browser.get("/settings")
    assert "1 browser" in browser.text
    mine = [action for action in browser.page.xpath("//form/@action") if "/sessions/" in action]
    await browser.submit(str(mine[0]))
    assert browser.path.startswith("/sign-in")


async def test_all_others_are_signed_out_at_once(house: House, browser: Browser) -> None:
    other = await signed_in(house)
    async with aclosing(other.client):
        await browser.get("/settings")
        await browser.submit("/settings/sessions/end-others")
        assert "All other browsers" in browser.text
        assert (await other.get("/", follow=False)).status_code == 303


async def test_an_idle_session_ends_early_and_a_used_one_at_its_maximum_age(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    for _ in range(4):
        await trio.sleep(IDLE / 1000 - DAY)
        assert (await browser.get("/", follow=False)).status_code == 200
    await trio.sleep(LIFE / 1000 - 4 * (IDLE / 1000 - DAY))
    assert (await browser.get("/", follow=False)).status_code == 303


async def test_an_unused_session_ends(house: House, browser: Browser, autojump_clock: object) -> None:
    await trio.sleep(IDLE / 1000 + 1)
    assert (await browser.get("/", follow=False)).status_code == 303


async def test_x14_a_session_that_ends_ends_its_live_streams_within_a_second(
    house: House, browser: Browser, autojump_clock: object
) -> None:
    async with browser.client.stream("GET", "/live") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        (mine,) = await house.storage.people.sessions()
        await house.storage.people.sign_out(mine.id)
        with trio.fail_after(1):
            async for _ in answer.aiter_bytes():
                pass


async def test_attempts_are_counted_by_address(house: House, stranger: Browser, autojump_clock: object) -> None:
    set_password(house.storage.disk, Password(f"hash of {PASSWORD}", NOW))
    await stranger.get("/sign-in")
    for _ in range(5):
        await stranger.submit("/sign-in", {"password": "a guess"})
        assert "Wrong password" in stranger.text
    await stranger.submit("/sign-in", {"password": PASSWORD})
    assert "Too many attempts" in stranger.text
    await trio.sleep(31)
    await stranger.submit("/sign-in", {"password": PASSWORD})
    assert stranger.path == "/"


@pytest.mark.parametrize(
    ("base_url", "names"),
    [
        ("https://watch.test", ("__Host-session", "__Host-visitor")),
        ("http://127.0.0.1:8080", ("session-8080", "visitor-8080")),
    ],
)
async def test_x14_cookies_are_strict_unreadable_and_on_https_bound_to_the_host(
    base_url: str, names: tuple[str, ...]
) -> None:
    house, disk = make_house(base_url=base_url), Disk()
    sessions = Sessions(house.context.world, InLoopStorage(disk, disk.start("test")).people, base_url)
    _, cookie = sessions.begin("Browser\r\n1.0", "192.0.2.1")
    assert cookie.startswith(f"{names[0]}=")
    assert "; HttpOnly; Path=/; SameSite=Strict" in cookie
    assert "Domain" not in cookie
    assert ("; Secure;" in cookie) is base_url.startswith("https")
    assert sessions.farewell().startswith(f"{names[0]}=;") and "Max-Age=0" in sessions.farewell()


async def test_a_link_on_another_site_makes_one_detour_through_a_page_of_ours(stranger: Browser) -> None:
    answer = await stranger.get("/keys?x=%22%3E%3Cb%3E", follow=False, **{"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    (refresh,) = stranger.page.xpath("//meta[@http-equiv='refresh']/@content")
    assert refresh == "0;url=/keys?x=%22%3E%3Cb%3E"
    again = await stranger.get("/keys", follow=False, **{"Sec-Fetch-Site": "same-origin"})
    assert again.status_code == 303


@pytest.mark.parametrize(
    "evil",
    ["https://evil.test", "//evil.test", "/\\evil.test", "/%09/evil.test", "javascript:alert(1)", "/x\r\nX: y", "evil"],
)
async def test_x13_signing_in_never_redirects_to_another_site(house: House, stranger: Browser, evil: str) -> None:
    set_password(house.storage.disk, Password(f"hash of {PASSWORD}", NOW))
    await stranger.client.get("/sign-in", params={"next": evil})
    await stranger.get("/sign-in")
    answer = await stranger.submit("/sign-in", {"password": PASSWORD, "next": evil}, follow=False)
    assert answer.status_code == 303
    location = answer.headers["Location"]
    assert location == "/" or (location.startswith("/%09/") and "//" not in location)


async def test_set_up_links_are_good_once_and_for_the_newest_only(stranger: Browser) -> None:
    answer = await stranger.get("/set-up")
    assert answer.status_code == 404
    assert "no longer works" in stranger.text and not stranger.page.forms


async def test_no_line_of_the_log_holds_a_set_up_key_or_a_cookie(autojump_clock: object) -> None:
    async with running(make_house()) as house:
        browser = await signed_in(house)
        await browser.get("/set-up?key=the-secret-of-the-link")
        await browser.get("/keys")
        written = repr(house.logs)
        assert "the-secret-of-the-link" not in written
        assert cookie(browser) not in written and PASSWORD not in written
        assert "/set-up" in written

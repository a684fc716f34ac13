"""Every screen of the table: session, Origin, token, headers, and forms with their token (X13, X14)."""

from __future__ import annotations

import re

import pytest
import trio

from api.app import SCREENS
from api.dashboard.face import POLICY, Dashboard
from api.dashboard.forms import Form
from api.dashboard.rendering import asset
from api.dashboard.screen import Go, Page, Screen, Visit
from tests.api.dashboard.browser import Browser
from tests.api.house import BASE_URL, House
from tests.api.walk import the_app
from tests.support.build import a_source_id

CLOSED = [screen for screen in SCREENS if screen.access == "session"]
CHANGES = [screen for screen in SCREENS if screen.method == "POST" and screen.access != "link"]
PAGES = [screen for screen in CLOSED if screen.method == "GET" and not screen.live]


def path_of(screen: Screen) -> str:
    return re.sub(r"{\w+}", str(a_source_id(1)), screen.path)


async def test_x13_without_a_session_every_screen_leads_to_the_sign_in_page(
    stranger: Browser, subtests: pytest.Subtests
) -> None:
    for screen in CLOSED:
        with subtests.test(screen.label):
            await trio.sleep(60)  # a stranger's requests are limited
            if screen.method == "POST":
                answer = await stranger.post(path_of(screen), follow=False, token="x")
            else:
                answer = await stranger.get(path_of(screen), follow=False)
            if screen.live:
                assert answer.status_code == 401
            else:
                assert answer.status_code == 303
                assert answer.headers["Location"].startswith("/sign-in")
                assert not answer.content


async def test_x13_a_change_with_a_foreign_origin_or_token_is_refused(
    browser: Browser, subtests: pytest.Subtests
) -> None:
    token = browser.token
    foreign = ("https://evil.test", "null", BASE_URL + ".evil.test", "file://sanderling.test")
    wrong = ("", "x", token[:-1], token.upper())
    for number, screen in enumerate(CHANGES):
        with subtests.test(screen.label):
            await trio.sleep(60)
            path = path_of(screen)
            for origin in foreign[number % 2 :: 2]:
                answer = await browser.post(path, token=token, headers={"Origin": origin}, follow=False)
                assert answer.status_code == 403, origin
            answer = await browser.client.post(path, data={"token": token})
            assert answer.status_code == 403, "without an Origin, and nothing that says that it is ours"
            for bad in wrong[number % 2 :: 2]:
                answer = await browser.post(path, token=bad, follow=False)
                assert answer.status_code == 403, bad
            assert (await browser.post(path, {"token": [token, token]}, token=token, follow=False)).status_code == 403


async def test_x13_a_token_of_another_browser_is_worth_nothing(
    house: House, browser: Browser, subtests: pytest.Subtests
) -> None:
    for screen in CHANGES:
        with subtests.test(screen.label):
            other = Browser(house)
            async with other.client:
                await other.get("/sign-in")
                assert (await browser.post(path_of(screen), token=other.token, follow=False)).status_code == 403


async def test_a_change_is_no_get(browser: Browser, subtests: pytest.Subtests) -> None:
    for screen in CHANGES:
        with subtests.test(screen.label):
            answer = await browser.get(path_of(screen), follow=False)
            if ("GET", screen.path) in {(one.method, one.path) for one in SCREENS}:
                assert answer.status_code in (200, 303, 404)
            else:
                assert answer.status_code in (404, 405)


async def test_every_page_has_the_policy_and_holds_to_it(browser: Browser, subtests: pytest.Subtests) -> None:
    for screen in PAGES:
        with subtests.test(screen.label):
            answer = await browser.get(path_of(screen), follow=False)
            assert answer.status_code in (200, 303, 404), browser.text
            headers = answer.headers
            assert headers["Content-Security-Policy"] == POLICY
            assert headers["Cache-Control"] == "no-store"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"
            if answer.status_code == 303:
                continue
            assert len(answer.content) <= 60_000
            held_to_the_policy(browser)
            if answer.headers["Content-Type"].startswith("text/html"):
                taken_by_the_script(answer.text)
            forms_carry_their_token(browser)
            labelled(browser)


def held_to_the_policy(browser: Browser) -> None:
    page = browser.page
    assert not page.xpath("//style | //@style | //script[not(@src)] | //iframe | //object | //base")
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    for url in page.xpath("//script/@src | //link/@href | //img/@src | //form/@action"):
        assert url.startswith("/") and not url.startswith("//"), url
    for link in page.xpath("//a[@href]"):
        if not link.get("href").startswith(("/", "#", "?")):
            assert link.get("href").startswith(("http://", "https://"))
            assert link.get("rel") == "noopener noreferrer"


def taken_by_the_script(text: str) -> None:
    """Assert that the text has only tags that the script's own pattern accepts (S20)."""
    found = re.search(r"^const TAG = /(.+)/gi;$", asset("dashboard.js").body.decode(), re.M)
    assert found is not None
    assert "<" not in re.sub(found[1].replace("\\/", "/"), "", text, flags=re.IGNORECASE)


def forms_carry_their_token(browser: Browser) -> None:
    for form in browser.page.forms:
        tokens = form.xpath(".//input[@name='token']/@value")
        assert tokens == ([browser.token] if form.method == "POST" else []), form.get("action")


def labelled(browser: Browser) -> None:
    page = browser.page
    assert page.get("lang") == "en" and page.xpath("//title")[0].text and page.xpath("//meta[@name='viewport']")
    assert len(page.xpath("//h1")) == 1 and len(page.xpath("//main")) == 1
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids)), "an id is there twice"
    for field in page.xpath("//input[not(@type='hidden') and not(@hidden)] | //select | //textarea"):
        name = field.get("id")
        assert field.xpath("ancestor::label") or page.xpath(f"//label[@for='{name}']") or field.get("aria-label"), name
    for picture in page.xpath("//svg"):
        assert picture.get("aria-hidden") or (picture.get("role") == "img" and picture.get("aria-label"))


async def a_page(visit: Visit) -> Page:
    return Page("error.html", "")


async def a_change(visit: Visit) -> Go:
    return Go("/")


def test_x13_a_change_without_protection_cannot_be_written_down() -> None:
    class NoForm:
        pass

    for wrong in ({"method": "POST"}, {"form": Form}, {"method": "POST", "form": NoForm}):
        with pytest.raises(ValueError, match="form"):
            Screen(path="/x", run=a_change, **wrong)
    for path in ("/bins/x", "/x/"):
        with pytest.raises(ValueError, match="slash"):
            Screen(path=path, run=a_page)


def test_a_screen_cannot_take_a_path_of_the_api() -> None:
    app = the_app()
    with pytest.raises(ValueError, match="/v1 is another face's"):
        Dashboard(app, (Screen(path="/v1/x", run=a_page),))
    with pytest.raises(ValueError, match="there already"):
        Dashboard(app, (Screen(path="/x", run=a_page), Screen(path="/x", run=a_page)))
    with pytest.raises(ValueError, match="every page a Screen"):
        app.route("/open")(lambda: "open")


async def test_two_slashes_lead_to_neither_face(house: House) -> None:
    key = await house.key()
    for path in ("//v1/sources", "//sources", "//", "//healthz", "//static/x"):
        for accept in ("text/html", "application/json"):
            head = f"GET {path} HTTP/1.1\r\nHost: sanderling.test\r\nAccept: {accept}\r\nX-API-Key: {key}\r\n\r\n"
            stream = await house.raw(head.encode())
            assert (await stream.receive_some(2_000)).startswith(b"HTTP/1.1 404 "), (path, accept)


async def test_a_key_opens_no_page_and_a_cookie_no_route_of_the_api(house: House, browser: Browser) -> None:
    key = await house.key()
    async with house.stranger(Authorization=f"Bearer {key}") as program:
        assert (await program.get("/stream")).status_code == 303
        assert (await program.head("/live")).status_code == 401
    for path in ("/v1/sources", "/v1/stream", "/v1/admin/tree"):
        assert (await browser.client.get(path)).status_code == 401

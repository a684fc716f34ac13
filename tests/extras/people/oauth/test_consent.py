"""The consent page: it names the app, its host and each scope; errors are shown there, and nothing redirects."""

from __future__ import annotations

import pytest
import trio

from tests.api.dashboard.browser import Browser
from tests.api.dashboard.browser import signed_in as by_password
from tests.api.house import House
from tests.extras.people.oauth.app import App, person, sent_back, signed_in


async def test_the_page_names_app_host_and_each_scope_in_words(house: House) -> None:
    app, browser = App(house), await person(house, "anna")
    await app.register()
    await browser.get(app.address("stream:read stream:read:prices sources:write"))
    assert "Assistant asks to use this service for you, Anna." in browser.text
    assert "assistant.test" in browser.text
    assert "May read all events, live and past." in browser.text
    assert "May read the channel prices." in browser.text
    assert "May add, edit and delete sources" in browser.text
    assert "frame-ancestors 'none'" in browser.answer.headers["Content-Security-Policy"]


async def test_the_page_speaks_swedish(house: House) -> None:
    app, browser = App(house), await person(house, "anna")
    await app.register()
    await browser.get(app.address(), **{"Accept-Language": "sv"})
    assert "Anslut Assistant" in browser.text
    assert "Tillåt" in browser.text


async def test_a_person_may_untick_a_scope(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.connect(browser, "stream:read sources:read sources:write", "stream:read")
    assert app.tokens["scope"] == "stream:read"


async def test_a_tick_that_the_app_did_not_ask_for_is_ignored(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.connect(browser, "stream:read", "stream:read", "admin", "sources:write")
    assert app.tokens["scope"] == "stream:read"


async def test_admin_is_offered_by_name_only_and_not_ticked(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.register()
    await browser.get(app.address(""))
    assert browser.page.xpath("//input[@name='scopes']/@value") == ["sources:read", "stream:read", "alerts:read"]
    await browser.get(app.address("admin stream:read"))
    assert browser.page.xpath("//input[@name='scopes'][@checked]/@value") == ["stream:read"]


async def test_a_reader_is_offered_what_the_role_has(house: House) -> None:
    app, browser = App(house), await person(house, "rut", "reader")
    await app.connect(browser, "stream:read sources:write admin", "stream:read", "sources:write", "admin")
    assert app.tokens["scope"] == "stream:read"
    await browser.get(app.address("sources:write"))
    assert "Your role includes nothing that it asks for." in browser.text
    assert not browser.page.xpath("//input[@name='scopes']")


async def test_a_denial_goes_back_without_a_code(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.register()
    await browser.get(app.address())
    await browser.submit("/oauth/authorize", {"decision": "deny"})
    back = sent_back(browser)
    assert (back["error"], back["state"], "code" in back) == ("access_denied", "s t&te", False)


async def test_a_consent_to_nothing_or_without_events_for_the_tools_is_shown_again(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.register()
    for scopes, says in (([], "Choose at least one"), (["sources:read"], "needs stream:read")):
        await browser.get(app.address())
        await browser.submit("/oauth/authorize", {"decision": "allow", "scopes": scopes})
        assert browser.answer.status_code == 422
        assert says in browser.text
    await browser.submit("/oauth/authorize", {"decision": "allow", "scopes": ["stream:read"]})
    assert (await app.exchange(sent_back(browser)["code"])).status_code == 200


async def test_a_stranger_signs_in_first_and_comes_back(house: House, stranger: Browser) -> None:
    app = App(house)
    await app.register()
    await (await by_password(house)).client.aclose()
    await stranger.get(app.address(prompt="consent", nonce="n"))
    assert stranger.path.startswith("/sign-in?next=")
    await stranger.submit("/sign-in", {"password": "correct horse battery staple"})
    assert "Connect Assistant" in stranger.text
    await stranger.submit("/oauth/authorize", {"decision": "allow"})
    assert (await app.exchange(sent_back(stranger)["code"])).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "unknown"},
        {"redirect_uri": "https://assistant.test/back/more"},
        {"redirect_uri": "https://assistant.test/back?x=1"},
        {"redirect_uri": "https://assistant.test.evil.test/back"},
        {"redirect_uri": "https://assistant.test@evil.test/back"},
        {"redirect_uri": "http://assistant.test/back"},
        {"redirect_uri": "https://assistant.test:444/back"},
        {"redirect_uri": "javascript:alert(1)"},
        {"response_type": "token"},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": ""},
        {"code_challenge": ""},
        {"resource": "https://other.test/mcp"},
    ],
    ids=str,
)
async def test_an_invalid_request_is_shown_and_goes_nowhere(house: House, wrong: dict[str, str]) -> None:
    app, browser = App(house), await signed_in(house)
    await app.register()
    await browser.get(app.address(**wrong))
    assert browser.answer.status_code in (400, 404)
    assert "Location" not in browser.answer.headers
    assert not browser.page.xpath("//meta[@http-equiv='refresh'] | //a[contains(@href, 'evil')]")
    await browser.get(app.address())
    await browser.submit("/oauth/authorize", {"decision": "allow", "code_challenge_method": "S256", **wrong})
    assert browser.answer.status_code in (400, 404, 422)
    assert not browser.page.xpath("//meta[@http-equiv='refresh']")


async def test_a_consent_needs_the_token_of_its_own_page_and_origin(house: House) -> None:
    app, browser, other = App(house), await signed_in(house), await person(house, "eva")
    await app.register()
    await browser.get(app.address())
    await other.get(app.address())
    await browser.submit("/oauth/authorize", {"token": [other.token], "decision": "allow"})
    assert browser.answer.status_code == 403
    await browser.get(app.address())
    await browser.submit("/oauth/authorize", {"decision": "allow"}, headers={"Origin": "https://evil.test"})
    assert browser.answer.status_code == 403
    assert not browser.page.xpath("//meta[@http-equiv='refresh']")


async def test_an_app_on_the_own_machine_may_use_any_port(house: House) -> None:
    app, browser = App(house, redirects=["http://127.0.0.1:1/back", "http://[::1]/back"]), await signed_in(house)
    await app.register()
    for uri in ("http://127.0.0.1:53211/back", "http://[::1]:9/back"):
        back = await app.consent(browser, redirect_uri=uri)
        assert back["to"] == uri
        assert (await app.exchange(back["code"], redirect_uri=uri)).status_code == 200
    await browser.get(app.address(redirect_uri="http://127.0.0.1:53211/other"))
    assert browser.answer.status_code == 400


async def test_a_hostile_name_stays_a_name(house: House) -> None:
    name = "<img src=x onerror=alert(1)>\u202e\nYou trust me"
    app, browser = App(house, name=name), await signed_in(house)
    await app.register()
    await browser.get(app.address())
    assert not browser.page.xpath("//img[@src='x']")
    assert "\u202e" not in browser.text
    assert "You trust me asks to use this service" in browser.text


async def test_a_forgotten_app_is_told_to_connect_again(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    await app.register()
    await trio.sleep(86_400)
    other = App(house)
    await other.register()
    fresh = await signed_in(house)
    await fresh.get(app.address())
    assert fresh.answer.status_code == 404
    assert "is not registered here" in fresh.text
    await browser.client.aclose()


async def test_a_consent_is_in_the_activity_without_its_code(house: House) -> None:
    app, browser = App(house), await person(house, "anna")
    await app.register()
    back = await app.consent(browser)
    (one,) = await house.storage.accounts.activity("z", 10)
    assert (one.person, one.by, one.operation) == ("anna", "Anna", "POST /oauth/authorize")
    assert one.after is not None
    assert b"Assistant" in one.after
    assert back["code"].encode() not in one.after

"""Display preferences: set in Settings, stored in the browser, applied from the first byte."""

from __future__ import annotations

import pytest

from api.dashboard.sessions import NONE, Preferences, preferences_of
from tests.api.dashboard.browser import Browser

WISHES = {"language": "sv", "theme": "dark", "density": "compact", "zone": "Asia/Kolkata"}


@pytest.mark.parametrize(
    ("cookies", "kept"),
    [
        ({}, NONE),
        (WISHES, Preferences("sv", "dark", "compact", "Asia/Kolkata")),
        ({"language": "tlh", "theme": "pink", "density": "9", "zone": "../etc/passwd"}, NONE),
    ],
)
def test_an_invalid_preference_is_left_to_the_browser(cookies: dict[str, str], kept: Preferences) -> None:
    assert preferences_of(cookies) == kept


async def test_the_settings_are_saved_and_apply_at_once(browser: Browser) -> None:
    await browser.get("/settings")
    await browser.submit("/settings/wishes", WISHES)
    page = browser.page
    assert (page.get("lang"), page.get("data-theme"), page.get("data-density")) == ("sv", "dark", "compact")
    assert page.xpath("//meta[@name='color-scheme']/@content") == ["dark"]
    assert page.xpath("//meta[@name='theme-color']/@content") == ["#12171a"]
    assert "Sparat." in browser.text and "Inställningar" in browser.text
    chosen = {one.getparent().get("name"): one.get("value") for one in page.xpath("//option[@selected]")}
    assert chosen == {"language": "sv", "theme": "dark", "density": "compact"}
    assert page.xpath("//input[@name='zone']/@value") == ["Asia/Kolkata"]
    for name in WISHES:
        (cookie,) = [one for one in browser.client.cookies.jar if one.name == name]
        assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "Strict"
    await browser.submit("/settings/wishes", {"language": "", "theme": "", "density": "comfortable", "zone": ""})
    assert browser.page.get("lang") == "en" and browser.page.get("data-theme") is None
    assert not {one.name for one in browser.client.cookies.jar} & (WISHES.keys() - {"density"})


async def test_a_zone_or_a_language_that_is_not_there_is_refused(browser: Browser) -> None:
    await browser.get("/settings")
    await browser.submit("/settings/wishes", {"zone": "Atlantis/Capital"})
    assert browser.answer.status_code == 422 and "There is no such time zone." in browser.text
    await browser.submit("/settings/wishes", {"zone": "", "language": "tlh"})
    assert browser.answer.status_code == 422 and "Choose one from the list." in browser.text


async def test_the_page_of_an_error_has_them_too(browser: Browser) -> None:
    browser.client.cookies.set("language", "sv")
    browser.client.cookies.set("theme", "light")
    await browser.get("/sources/nothing")
    assert (browser.page.get("lang"), browser.page.get("data-theme")) == ("sv", "light")
    assert "Finns inte" in browser.text and "Det finns ingen sådan" in browser.text


async def test_scripts_get_the_words_of_another_language_and_english_pages_carry_none(browser: Browser) -> None:
    await browser.get("/")
    assert browser.page.get("data-words") is None
    await browser.get("/", **{"Accept-Language": "sv-FI, sv;q=0.9"})
    assert '"Copied": "Kopierat"' in browser.page.get("data-words")


async def test_the_settings_have_a_menu_of_their_sections(browser: Browser) -> None:
    await browser.get("/settings")
    menu = browser.page.xpath("//main//nav//a/@href")
    assert menu == ["#display", "#notifications", "#sessions", "#password", "/system"]
    assert all(browser.page.xpath(f"//section[@id='{to[1:]}']/h2") for to in menu[:-1])

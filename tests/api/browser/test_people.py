"""Several people: an owner invites, a reader joins in another browser, and the owner puts the reader out."""

from __future__ import annotations

import re

from tests.api.browser.axe import check
from tests.api.browser.conftest import NewTab

PASSWORD = "gulls over the harbour wall"


def test_a_reader_joins_sees_no_buttons_and_is_put_out(new_tab: NewTab) -> None:
    owner, reader = new_tab(), new_tab(stranger=True)
    owner.open("/people").fill(email="anna@example.com").press("Make a link").sees("Invitation made.")
    link = re.search(r"/join#[A-Za-z0-9_-]{43}", owner.page.content())
    assert link is not None
    reader.open(link[0]).sees("You have been invited")
    reader.fill(name="Anna", email="anna@example.com", password=PASSWORD, again=PASSWORD).press("Join").sees("Today")
    reader.open("/sources").sees("Sources")
    assert reader.page.locator("form[action='/sources/look']").count() == 0
    assert reader.page.locator("nav a[href='/people']").count() == 0
    owner.open("/people").sees("anna@example.com")
    assert owner.page.locator("form[action='/sources/look']").count() == 1
    assert check(owner) == []
    owner.follow("Anna").sees("Signs in by")
    assert check(owner) == []
    owner.press("Disable").sees("Anna is out")
    reader.open("/sources").sees("Sign in")
    assert reader.path == "/sign-in?next=%2Fsources"
    owner.open("/activity").sees("POST /people/{id}/disable")
    owner.page.locator("main details summary").first.click()
    owner.sees("true")
    assert check(owner) == []

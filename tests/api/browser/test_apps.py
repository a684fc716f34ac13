"""The consent page and the list of apps in Chromium: axe, phones, no frame, and the way back to the app."""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.api.browser import axe
from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Origin
from tests.api.browser.service import Service
from tests.extras.people.oauth.app import VERIFIER, challenge_of


def an_app(service: Service, **more: Any) -> tuple[str, dict[str, str]]:
    """Register an app; return its id, and its address on the service."""
    body = {"client_name": "A program", "redirect_uris": ["http://127.0.0.1/back"]}
    client = httpx.post(f"{service.url}/oauth/register", json=body).json()["client_id"]
    asked = {
        "client_id": client,
        "redirect_uri": "http://127.0.0.1/back",
        "response_type": "code",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        "scope": "stream:read stream:read:prices sources:read sources:write alerts:read alerts:write admin",
        **more,
    }
    return f"/oauth/authorize?{urlencode(asked)}", asked


def test_axe_finds_nothing_on_the_pages_of_apps(new_tab: NewTab, service: Service, origin: Origin) -> None:
    origin.says["/back"] = Answer("Connected.")
    path, asked = an_app(service, redirect_uri=f"{origin.url}/back")
    tab = new_tab()
    tab.open("/apps").sees("No connected apps")
    assert axe.check(tab) == []
    tab.open(path).sees("A program on your own computer.")
    assert axe.check(tab) == []
    for box in tab.page.get_by_role("checkbox").all():
        box.uncheck()
    tab.page.get_by_role("button", name="Allow").click()
    tab.sees("Choose at least one: an app without any can do nothing.")
    assert axe.check(tab) == []
    tab.page.get_by_label("stream:read", exact=False).first.check()
    tab.page.get_by_role("button", name="Allow").click()
    tab.page.wait_for_url(f"{origin.url}/back?code=*")
    assert [one for one in tab.problems if "/back?code=" not in one] == []
    tab.problems.clear()  # the way back to the app
    code = httpx.URL(tab.page.url).params["code"]
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, **asked}
    assert httpx.post(f"{service.url}/oauth/token", data=form).status_code == 200
    tab.open("/apps").sees("A program")
    assert axe.check(tab) == []
    tab.press("Disconnect").sees("A program is disconnected.")


def test_another_sites_page_cannot_show_the_consent_in_a_frame(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    path, _ = an_app(service)
    origin.says["/frame"] = Answer(f"<iframe src='{service.url}{escape(path)}'></iframe>")
    tab = new_tab()
    tab.page.goto(f"{origin.url}/frame")
    tab.page.wait_for_load_state("load")
    assert not any(frame.query_selector("form") for frame in tab.page.frames)
    tab.problems.clear()  # the browser reports the refused frame

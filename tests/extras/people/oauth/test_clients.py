"""Apps: their redirect URIs, and metadata documents at the URL that is their id."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import trio

from actors.egress.failures import Blame, CheckFailed
from actors.egress.http import FetchRequest, RedirectElsewhere
from actors.egress.url import parse_url
from extras.people.oauth import endpoint
from extras.people.oauth.endpoint import DOCUMENT_LIMIT, ClientRefused, check_redirect, is_document, matches
from tests.api.house import House
from tests.extras.people.oauth.app import App, signed_in

ID = "https://assistant.test/app.json"
DOCUMENT = {"client_id": ID, "client_name": "Documented", "redirect_uris": ["https://assistant.test/back"]}


@dataclass
class Site:
    """Serves documents by their URL, or fails."""

    said: Any = field(default_factory=lambda: dict(DOCUMENT))
    asked: list[FetchRequest] = field(default_factory=list)

    async def get(self, wish: FetchRequest) -> SimpleNamespace:
        self.asked.append(wish)
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is None:
            await trio.sleep_forever()
        return SimpleNamespace(body=msgspec.json.encode(self.said))


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site()
    way = SimpleNamespace(deliver=site, aclose=trio.lowlevel.checkpoint)
    monkeypatch.setattr(endpoint, "network_transport", lambda *_: way)
    return site


@pytest.mark.parametrize(
    "uri",
    ["https://a.test/back", "https://a.test:8443/back?x=1", "http://127.0.0.1/back", "http://[::1]:9/", "http://localhost:3/x"],
)  # fmt: skip
def test_a_redirect_uri_is_https_or_on_the_own_machine(uri: str) -> None:
    check_redirect(uri)
    assert matches(uri, [uri])


@pytest.mark.parametrize(
    "uri",
    [
        "http://a.test/back",
        "http://127.0.0.2/back",
        "http://localhost.evil.test/",
        "https://a.test/#x",
        "https://user@a.test/",
        "https:///back",
        "https://a.test\\@evil.test/",
        "https://a.test/ x",
        "https://a.test:x/",
        "javascript:alert(1)",
        "data:text/html,x",
        "cursor://back",
        "//a.test/",
        "",
        "https://a.test/" + "x" * 2_048,
    ],
)
def test_nothing_else_is_a_redirect_uri(uri: str) -> None:
    with pytest.raises(ClientRefused) as refused:
        check_redirect(uri)
    assert refused.value.error == "invalid_redirect_uri"


def test_only_the_port_on_the_own_machine_may_differ() -> None:
    assert not matches("https://a.test:444/x", ["https://a.test/x"])
    assert not matches("http://127.0.0.1:4/x?y=1", ["http://127.0.0.1/x"])
    assert not matches("http://localhost:4/x", ["http://127.0.0.1/x"])
    assert not matches("", ["https://a.test/x"])
    assert not matches("nonsense", ["nonsens"])


@pytest.mark.parametrize(
    "id", ["http://a.test/x", "https://a.test", "https://a.test/", "https://a.test/./x", "abc", ""]
)
def test_these_ids_are_no_documents(id: str) -> None:
    assert not is_document(id)


async def test_an_app_with_a_document_needs_no_registration(house: House, site: Site) -> None:
    app, browser = App(house, id=ID), await signed_in(house)
    back = await app.consent(browser)
    assert (await app.exchange(back["code"])).status_code == 200
    await browser.get(app.address())
    assert "Documented asks to use this service" in browser.text
    assert "Its description comes from assistant.test." in browser.text
    assert [(one.url.text, one.limit) for one in site.asked] == [(ID, DOCUMENT_LIMIT)]


async def test_a_document_is_fetched_again_after_ten_minutes(house: House, site: Site) -> None:
    app, browser = App(house, id=ID), await signed_in(house)
    await browser.get(app.address())
    site.said["redirect_uris"] = ["https://assistant.test/new"]
    await trio.sleep(600)
    await browser.get(app.address())
    assert browser.answer.status_code in (400, 404)
    assert len(site.asked) == 2


async def test_a_stranger_makes_the_service_fetch_nothing(house: House, site: Site) -> None:
    await house.stranger().get(App(house, id=ID).address())
    assert site.asked == []


@pytest.mark.parametrize(
    "said",
    [
        {**DOCUMENT, "client_id": "https://assistant.test/other.json"},
        {**DOCUMENT, "token_endpoint_auth_method": "client_secret_basic"},
        {**DOCUMENT, "redirect_uris": ["javascript:alert(1)"]},
        {**DOCUMENT, "redirect_uris": []},
        {**DOCUMENT, "grant_types": ["client_credentials"]},
        {**DOCUMENT, "redirect_uris": ["https://evil.test/back"]},
        [],
        CheckFailed(Blame.REMOTE_TRANSIENT, "refused"),
        RedirectElsewhere(parse_url("https://evil.test/app.json"), ()),
        None,
    ],
    ids=repr,
)
async def test_a_wrong_document_connects_nothing(house: House, site: Site, said: Any) -> None:
    app, browser = App(house, id=ID), await signed_in(house)
    site.said = said
    await browser.get(app.address())
    assert browser.answer.status_code in (400, 404)
    assert not browser.page.xpath("//form[@action='/oauth/authorize'] | //meta[@http-equiv='refresh']")


async def test_the_guard_refuses_a_document_inside_the_own_network(house: House) -> None:
    house.resolver.names["assistant.test"] = ("127.0.0.1",)
    app, browser = App(house, id=ID), await signed_in(house)
    await browser.get(app.address())
    assert browser.answer.status_code in (400, 404)
    assert "could not be fetched" in browser.text
    assert any(event == "egress.refused" for event, _ in house.logs)

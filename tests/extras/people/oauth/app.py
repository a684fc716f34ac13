"""A scripted app: it registers, sends its person to the consent page, trades codes, and uses the tokens."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from msgspec.structs import replace

from api.dashboard.sessions import Sessions
from storage.records.access import Person, Role
from tests.api.dashboard.browser import Browser
from tests.api.house import BASE_URL, House
from tests.support.build import NOW

BACK = "https://assistant.test/back"
VERIFIER = "v" * 43
MCP = f"{BASE_URL}/mcp"
READS = "stream:read sources:read alerts:read"


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def person(house: House, name: str, role: Role = "editor") -> Browser:
    """Return the browser of a new person, signed in."""
    made = Person(id=name, name=name.title(), email=f"{name}@people.test", role=role, created_at=NOW)
    assert await house.storage.accounts.add(made)
    return await signed_in(house, made)


async def signed_in(house: House, made: Person | None = None) -> Browser:
    """Return a browser that is signed in as a person, None: as the owner of the service's password."""
    session, cookie = Sessions.of_context(house.context).begin("Browser 1.0", "192.0.2.1")
    await house.storage.people.open(replace(session, person="" if made is None else made.id))
    browser = Browser(house)
    for name, morsel in SimpleCookie(cookie).items():
        browser.client.cookies.set(name, morsel.value)
    return browser


@dataclass
class App:
    """An app. id: "" until it registers. tokens: of the last answer."""

    house: House
    redirects: Sequence[str] = (BACK,)
    name: str = "Assistant"
    resource: str = MCP
    id: str = ""
    tokens: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.client = self.house.stranger()

    async def register(self, **more: Any) -> httpx.Response:
        body = {"client_name": self.name, "redirect_uris": list(self.redirects), **more}
        answer = await self.client.post("/oauth/register", json=body)
        self.id = answer.json().get("client_id", "")
        return answer

    def address(self, scope: str = READS, **more: str) -> str:
        """Return the address of the consent page."""
        asked = {
            "client_id": self.id,
            "redirect_uri": self.redirects[0],
            "response_type": "code",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "scope": scope,
            "state": "s t&te",
            "resource": self.resource,
            **more,
        }
        return f"/oauth/authorize?{urlencode({name: value for name, value in asked.items() if value})}"

    async def consent(self, browser: Browser, scope: str = READS, *scopes: str, **more: str) -> dict[str, str]:
        """Let the person allow it, with these scopes ticked, or as they stand; return the fields that come back."""
        await browser.get(self.address(scope, **more))
        assert browser.answer.status_code == 200, browser.text
        ticked = {"scopes": list(scopes)} if scopes else {}
        await browser.submit("/oauth/authorize", {"decision": "allow", **ticked})
        return sent_back(browser)

    async def exchange(self, code: str, **more: str | None) -> httpx.Response:
        fields = {"code": code, "code_verifier": VERIFIER, "redirect_uri": self.redirects[0], **more}
        return await self._asked(grant_type="authorization_code", **fields)

    async def renew(self, refresh: str | None = None, **more: str | None) -> httpx.Response:
        return await self._asked(
            grant_type="refresh_token", refresh_token=refresh or self.tokens["refresh_token"], **more
        )

    async def revoke(self, token: str) -> httpx.Response:
        return await self.client.post("/oauth/revoke", data={"token": token, "client_id": self.id})

    async def _asked(self, **fields: str | None) -> httpx.Response:
        fields = {"client_id": self.id, "resource": self.resource, **fields}
        sent = {name: value for name, value in fields.items() if value}
        answer = await self.client.post("/oauth/token", data=sent)
        if answer.status_code == 200:
            self.tokens = answer.json()
        return answer

    async def connect(self, browser: Browser, scope: str = READS, *scopes: str) -> dict[str, Any]:
        """Register, get a consent and tokens."""
        assert (await self.register()).status_code == 201
        back = await self.consent(browser, scope, *scopes)
        answer = await self.exchange(back["code"])
        assert answer.status_code == 200, answer.text
        return self.tokens

    async def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request with the access token."""
        headers = {"Authorization": f"Bearer {self.tokens['access_token']}"}
        return await self.client.request(method, path, headers=headers, **more)

    async def tool(self, name: str, **arguments: Any) -> httpx.Response:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        return await self.ask("POST", "/mcp", json=message)


def sent_back(browser: Browser) -> dict[str, str]:
    """Return the fields of the redirect back to the app."""
    (refresh,) = browser.page.xpath("//meta[@http-equiv='refresh']/@content")
    to = urlsplit(str(refresh).removeprefix("0;url="))
    found = {name: values[0] for name, values in parse_qs(to.query, strict_parsing=True).items()}
    return {"to": f"{to.scheme}://{to.netloc}{to.path}", **found}

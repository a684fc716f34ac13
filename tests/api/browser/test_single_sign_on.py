"""Signing in at an issuer in a browser: another site, whose cookies and redirects follow the browser's own rules."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.api.browser import axe
from tests.api.browser.conftest import PASSWORD
from tests.api.browser.service import Service, a_service
from tests.api.browser.tab import Tab
from tests.extras.people.oidc.identity_provider import CLIENT, SECRET, Provider
from tests.support.memory_network import ReceivedRequest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def serving() -> Iterator[Provider]:
    """Run an issuer at `localhost`; the service is at 127.0.0.1, which is another site to a browser."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/authorization"):
                page = f"<!doctype html><title>Harbour</title><a href='{provider.back(url + self.path)}'>Agree</a>"
                self._send(200, page.encode(), "text/html; charset=utf-8")
                return
            if self.path.startswith("/end"):
                self._send(200, b"<!doctype html><title>Harbour</title>You have left the harbour.", "text/html")
                return
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = provider.answer(ReceivedRequest(self.command, self.path, headers, body))
            self._send(answer.status, answer.body, "application/json")

        def _send(self, status: int, body: bytes, media: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://localhost:{server.server_port}"
    provider = Provider(time.time, issuer=url)  # noqa: TID251 - of the issuer, which is no part of a World
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def harbour(chromium: Browser, provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("harbour")
    (folder / "secret").write_text(SECRET, "utf-8")
    settings = {
        "ISSUER": provider.issuer,
        "CLIENT_ID": CLIENT,
        "CLIENT_SECRET_FILE": str(folder / "secret"),
        "EDITOR_GROUPS": "gulls",
        "NAME": "Harbour",
        "NETWORKS": "127.0.0.0/8,::1/128",
    }
    variables = {f"SANDERLING_OIDC_{name}": value for name, value in settings.items()}
    with a_service(folder / "data", **variables) as service:
        with chromium.new_context() as context:
            tab = Tab(context, service.url).open(service.set_up_link())
            tab.fill(password=PASSWORD, again=PASSWORD).press("Set the password and begin")
            tab.page.wait_for_url(f"{service.url}/")
        yield service


@pytest.fixture
def visitor(chromium: Browser, harbour: Service, provider: Provider) -> Iterator[Tab]:
    with chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce") as context:
        tab = Tab(context, harbour.url)
        yield tab
        assert [one for one in tab.problems if not one.startswith(f"request to {provider.issuer}")] == []


def at_issuer(tab: Tab) -> Tab:
    """Agree at the issuer, and wait for our page."""
    tab.page.get_by_role("link", name="Agree").click()
    return tab


def test_a_person_signs_in_at_another_site_and_stays_signed_in(visitor: Tab, provider: Provider) -> None:
    provider.claims["groups"] = ["gulls"]
    visitor.open("/sources").follow("Sign in with Harbour")
    at_issuer(visitor).page.wait_for_url(f"{visitor.url}/sources")
    visitor.open("/settings").sees("Settings")
    cookies = {one["name"].partition("-")[0]: one for one in visitor.context.cookies(visitor.url)}
    assert (cookies["session"]["sameSite"], cookies["session"]["httpOnly"]) == ("Strict", True)
    visitor.open("/keys").sees("Your role does not include this.")
    visitor.problems[:] = [one for one in visitor.problems if "403" not in one]
    visitor.open("/settings")
    visitor.page.locator("header").get_by_role("button", name="Sign out").click()
    visitor.sees("You have signed out.")
    assert axe.check(visitor) == []
    visitor.follow("Sign out at Harbour too")
    visitor.page.get_by_text("You have left the harbour.").wait_for()


def test_a_person_without_a_role_reads_why(visitor: Tab, provider: Provider) -> None:
    provider.claims["groups"] = ["others"]
    provider.claims["sub"] = "bo-2"
    visitor.open("/sign-in").follow("Sign in with Harbour")
    at_issuer(visitor).sees("Your account at Harbour has no access to this service.")
    visitor.problems[:] = [one for one in visitor.problems if "403" not in one]
    assert axe.check(visitor) == []
    visitor.follow("Sign in another way").sees("Sign in with Harbour")


def test_the_password_works_beside_it(visitor: Tab) -> None:
    visitor.open("/sign-in").sees("Sign in with Harbour")
    visitor.fill(password=PASSWORD).press("Sign in").sees("Today")

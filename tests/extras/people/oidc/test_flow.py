"""The flow of signing in at an issuer, from the button to the session, and signing out there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import trio

from actors.setting_table import with_values
from actors.settings import Settings
from extras.people.oidc.secret import ports
from sanderling.exits import CommandFailed
from storage.records.access import Password
from tests.api.house import BASE_URL
from tests.extras.people.oidc.conftest import Harbour, MakeHarbour
from tests.extras.people.oidc.identity_provider import ADDRESS, ALGORITHMS, CLIENT, ISSUER, Provider, public
from tests.support.build import NOW
from tests.support.disks import set_password
from tests.support.memory_network import Answer, web


async def test_a_stranger_signs_in_and_lands_on_the_page_that_was_asked_for(harbour: Harbour) -> None:
    await harbour.browser.get("/sources")
    (link,) = harbour.browser.page.xpath("//a[contains(., 'Sign in with Harbour')]/@href")
    assert link == "/sign-in/oidc?next=%2Fsources"
    await harbour.browser.get(link, follow=False)
    await harbour.come_back(harbour.provider.back(harbour.browser.answer.headers["Location"]))
    assert harbour.browser.path == "/sources" and harbour.browser.answer.status_code == 200
    (person,) = await harbour.house.storage.accounts.all()
    assert (person.name, person.role, person.issuer, person.subject) == ("Ada", "reader", ISSUER, "ada-1")


@pytest.mark.parametrize("alg", list(ALGORITHMS))
async def test_each_algorithm_of_the_list_signs_in(harbour: Harbour, alg: str) -> None:
    harbour.provider.alg, harbour.provider.keys = alg, [public(ALGORITHMS[alg], "one")]
    await harbour.sign_in()
    assert await harbour.sessions() == 1


async def test_the_cookie_of_a_sign_in_is_lax_short_and_ends_with_it(harbour: Harbour) -> None:
    await harbour.browser.get("/sign-in/oidc", follow=False)
    cookie = harbour.browser.answer.headers["Set-Cookie"]
    assert cookie.startswith("oidc-journey=") and "; Max-Age=600;" in cookie
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    await harbour.browser.get(harbour.provider.back(harbour.browser.answer.headers["Location"]), follow=False)
    cookies = harbour.browser.answer.headers.get_list("Set-Cookie")
    assert any(one.startswith("session=") and "SameSite=Strict" in one for one in cookies)
    assert any(one.startswith("oidc-journey=; ") and "Max-Age=0" in one for one in cookies)


async def test_a_callback_from_another_site_is_asked_for_again_by_our_own_page(harbour: Harbour) -> None:
    await harbour.browser.get("/sign-in/oidc", follow=False)
    back = harbour.provider.back(harbour.browser.answer.headers["Location"])
    await harbour.browser.get(back, **{"Sec-Fetch-Site": "cross-site"})
    (content,) = harbour.browser.page.xpath("//meta[@http-equiv='refresh']/@content")
    assert content == f"0;url={back}" and await harbour.sessions() == 0
    await harbour.browser.get(back, **{"Sec-Fetch-Site": "same-origin"})
    assert await harbour.sessions() == 1


async def test_signing_in_again_ends_the_browsers_former_session(harbour: Harbour) -> None:
    await harbour.sign_in()
    await harbour.sign_in()
    assert await harbour.sessions() == 1 and len(await harbour.house.storage.accounts.all()) == 1


async def test_a_page_elsewhere_is_not_gone_to_after_signing_in(harbour: Harbour) -> None:
    for target in ("//evil.test/", "https://evil.test/", "/\\evil.test"):
        await harbour.sign_in(target)
        assert harbour.browser.path == "/" and str(harbour.browser.answer.url).startswith(BASE_URL)


async def test_an_issuer_that_is_down_leaves_the_password(harbour: Harbour) -> None:
    set_password(harbour.house.storage.disk, Password("hash of the old harbour wall", NOW))
    del harbour.network.servers[ADDRESS, 443]
    await harbour.browser.get("/sign-in/oidc")
    assert harbour.browser.answer.status_code == 503
    assert "Harbour can't sign you in now." in harbour.browser.text
    assert "can't connect to id.test" in harbour.why()
    await harbour.browser.get("/sign-in")
    await harbour.browser.submit("/sign-in", {"password": "the old harbour wall"})
    assert harbour.browser.answer.status_code == 200 and await harbour.sessions() == 1


async def test_a_failing_issuer_is_not_asked_by_each_stranger(harbour: Harbour) -> None:
    harbour.provider.answers["/.well-known/openid-configuration"] = Answer(500)
    for _ in range(5):
        await harbour.browser.get("/sign-in/oidc")
    assert harbour.provider.asked("/.well-known/openid-configuration") == 1
    await trio.sleep(6)
    del harbour.provider.answers["/.well-known/openid-configuration"]
    await harbour.sign_in()
    assert await harbour.sessions() == 1


async def test_an_issuer_that_never_answers_costs_ten_seconds(harbour: Harbour) -> None:
    harbour.network.deaf.add(ADDRESS)
    start = trio.current_time()
    await harbour.browser.get("/sign-in/oidc")
    assert harbour.browser.answer.status_code == 503 and trio.current_time() - start <= 10.5


async def test_new_keys_are_found_at_once_but_asked_for_once_a_minute(harbour: Harbour) -> None:
    await harbour.sign_in()
    await trio.sleep(61)
    harbour.provider.kid, harbour.provider.keys = "two", [public(ALGORITHMS["RS256"], "two")]
    await harbour.sign_in()
    assert (await harbour.sessions(), harbour.provider.asked("/jwks")) == (1, 2)
    harbour.provider.kid = "three"
    for _ in range(3):
        await harbour.sign_in()
    assert harbour.provider.asked("/jwks") == 2 and harbour.why() == "ID token: no key of the issuer fits it"
    await trio.sleep(61)
    await harbour.sign_in()
    assert harbour.provider.asked("/jwks") == 3


async def test_a_withdrawn_key_works_for_ten_minutes_at_most(harbour: Harbour) -> None:
    await harbour.sign_in()
    harbour.provider.keys = [public(ALGORITHMS["RS256"], "another")]
    await trio.sleep(601)
    await harbour.sign_in()
    assert harbour.why() == "ID token: no key of the issuer fits it"


@pytest.mark.parametrize(
    ("claims", "admitted"),
    [
        ({"exp": -59}, True),
        ({"exp": -61}, False),
        ({"iat": 59}, True),
        ({"iat": 61}, False),
        ({"nbf": 59}, True),
        ({"nbf": 61}, False),
    ],
)
async def test_clocks_may_differ_by_a_minute(harbour: Harbour, claims: dict[str, int], admitted: bool) -> None:
    now = int(harbour.provider.wall())
    harbour.provider.more = {name: now + seconds for name, seconds in claims.items()}
    await harbour.sign_in()
    assert await harbour.sessions() == int(admitted)


async def test_a_sign_in_waits_ten_minutes_for_its_person(harbour: Harbour) -> None:
    await harbour.browser.get("/sign-in/oidc", follow=False)
    first = harbour.provider.back(harbour.browser.answer.headers["Location"])
    await trio.sleep(601)
    text = await harbour.come_back(first)
    assert "This sign-in took too long" in text and await harbour.sessions() == 0


async def test_the_code_goes_with_the_secret_and_the_verifier_only_to_the_issuer(harbour: Harbour) -> None:
    await harbour.sign_in()
    (request,) = [one for one in harbour.provider.seen if one.method == "POST"]
    form = parse_qs(request.body.decode())
    assert form["redirect_uri"] == [f"{BASE_URL}/sign-in/oidc/callback"] and form["client_id"] == [CLIENT]
    assert "client_secret" not in form and len(form["code_verifier"][0]) == 43
    (started,) = [one for one in harbour.provider.seen if one.target.startswith("/jwks")]
    assert form["code_verifier"][0] not in str(harbour.house.logs) and "authorization" not in started.headers


async def test_an_issuer_that_wants_the_secret_in_the_form_gets_it_there(harbour: Harbour) -> None:
    harbour.provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    await harbour.sign_in()
    (request,) = [one for one in harbour.provider.seen if one.method == "POST"]
    assert parse_qs(request.body.decode())["client_secret"] == ["the client's s3cret"]


async def test_a_refusal_by_the_issuer_is_shown_by_its_code_alone(harbour: Harbour) -> None:
    harbour.provider.bend = lambda given: (
        given.pop("code"),
        given.update(error="access_denied", error_description="x"),
    )
    assert "Harbour did not sign you in (access_denied)." in await harbour.sign_in()
    harbour.provider.bend = lambda given: (given.pop("code"), given.update(error="<b>call 555-0100</b>"))
    assert "Harbour did not sign you in (error)." in await harbour.sign_in()


async def test_signing_out_offers_to_sign_out_at_the_issuer(harbour: Harbour) -> None:
    await harbour.sign_in()
    await harbour.browser.get("/settings")
    await harbour.browser.submit("/sign-out")
    (link,) = harbour.browser.page.xpath("//a[contains(., 'Sign out at Harbour too')]/@href")
    await harbour.browser.get(link, follow=False)
    url = urlsplit(harbour.browser.answer.headers["Location"])
    assert f"{url.scheme}://{url.netloc}{url.path}" == f"{ISSUER}/end"
    assert parse_qs(url.query) == {"client_id": [CLIENT], "post_logout_redirect_uri": [f"{BASE_URL}/sign-in"]}
    await harbour.browser.get("/sign-in?out=1")
    assert "Sign out at Harbour too" not in harbour.browser.text


async def test_without_an_issuer_there_is_neither_button_nor_page(harbours: MakeHarbour) -> None:
    empty = {"oidc_issuer": "", "oidc_client_id": "", "oidc_client_secret_file": "", "oidc_name": ""}
    async with harbours(oidc_default_role="", **empty) as harbour:
        await harbour.browser.get("/sign-in")
        assert "Sign in with" not in harbour.browser.text
        for path in ("/sign-in/oidc", "/sign-in/oidc/callback?code=a&state=b", "/sign-in/oidc/leave"):
            await harbour.browser.get(path)
            assert harbour.browser.answer.status_code == 404


async def test_an_issuer_in_a_private_network_needs_the_setting(harbours: MakeHarbour) -> None:
    async with harbours(allow_networks=("10.0.0.0/8",)) as closed:
        closed.network.add("id.test", "10.0.0.9", web(closed.provider.answer), 443)
        await closed.browser.get("/sign-in/oidc")
        assert closed.browser.answer.status_code == 503 and "OIDC_NETWORKS" in closed.why()
    async with harbours(oidc_networks=("10.0.0.0/8",)) as opened:
        opened.network.add("id.test", "10.0.0.9", web(opened.provider.answer), 443)
        await opened.sign_in()
        assert await opened.sessions() == 1


def test_the_service_does_not_start_without_the_secret(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    settings = with_values(Settings(), oidc_issuer=ISSUER, oidc_client_id=CLIENT, oidc_client_secret_file=str(secret))
    secret.write_text("s3cret", "utf-8")
    assert ports(settings, print) == {} == ports(Settings(), print)
    secret.write_text("\n", "utf-8")
    with pytest.raises(CommandFailed, match="oidc_client_secret_file is empty"):
        ports(settings, print)
    secret.unlink()
    with pytest.raises(CommandFailed, match="can't be read: No such file"):
        ports(settings, print)


def test_no_record_shows_its_secrets() -> None:
    from extras.people.oidc.documents import Tokens
    from extras.people.oidc.journey import Journey

    shown = repr(Journey(b"seed" * 8, 7)) + repr(Tokens("id", "access", "Bearer"))
    assert "seed" not in shown and "access" not in shown and Provider.__name__ == "Provider"

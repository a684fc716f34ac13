"""Headers and cookies over the redirects of one check: kept or dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio

from actors.egress.hosts import INTERACTIVE
from actors.errors import Unprocessable, UrlRefused
from actors.sources.checks.access import NO_ACCESS, Renewal
from actors.sources.checks.fetch import fetch
from storage.records.source import Validators
from tests.actors.sources.harness import ADDRESS, SITE, rss, watching
from tests.support.memory_network import Answer, ReceivedRequest, web

URL = f"https://{SITE}/feed"
FEED = Answer(200, rss("a"))
Serve = Callable[[ReceivedRequest], Answer]


def cookie_of(asked: ReceivedRequest) -> str:
    return asked.headers.get("cookie", "")


def moved(to: str, *, sets: str = "") -> Answer:
    return Answer(302, b"", {"location": to, **({"set-cookie": sets} if sets else {})})


def site(serve: Serve) -> Serve:
    return lambda asked: Answer(404) if asked.target == "/robots.txt" else serve(asked)


async def test_a_cookie_is_sent_to_later_redirects_and_dropped_after_the_check(autojump_clock: object) -> None:
    asked: list[ReceivedRequest] = []
    async with watching() as (service, _):
        wall = site(lambda one: FEED if cookie_of(one) == "seen=1" else moved(URL, sets="seen=1; Path=/; Secure"))
        service.network.servers[ADDRESS, 443] = web(wall, asked)
        source = (await service.add(URL)).view.source.id
        await trio.sleep(3600)
        hot = service.registry.table.describe(source).hot
        assert hot.last_error is None and hot.cookies == ""
        sent = [cookie_of(one) for one in asked if one.target == "/feed"]
        assert len(sent) > 4 and sent == ["", "seen=1"] * (len(sent) // 2)


async def test_a_cookie_never_leaves_the_origin_that_set_it(autojump_clock: object) -> None:
    asked: list[ReceivedRequest] = []
    elsewhere: list[ReceivedRequest] = []
    async with watching() as (service, _):
        first = site(lambda one: moved("https://sub.site.example/x", sets=f"a=1; Domain={SITE}; Path=/"))
        service.network.servers[ADDRESS, 443] = web(first, asked)
        other = site(lambda one: FEED if "b=2" in cookie_of(one) else moved("/x", sets="b=2; Domain=example"))
        service.network.add("sub.site.example", "93.184.220.1", web(other, elsewhere), 443)
        with pytest.raises(Unprocessable, match="more than 5 redirects"):
            await service.add(URL)
        assert {cookie_of(one) for one in elsewhere} == {""}, "neither the other host's nor one of a top level"


async def test_x3_validators_do_not_cross_origins(autojump_clock: object) -> None:
    asked: list[ReceivedRequest] = []
    elsewhere: list[ReceivedRequest] = []
    async with watching() as (service, _):
        service.network.servers[ADDRESS, 443] = web(site(lambda one: moved("https://other.example/x")), asked)
        service.network.add("other.example", "93.184.220.1", web(site(lambda one: FEED), elsewhere), 443)
        renewal, known = Renewal(service.ports, NO_ACCESS, None), Validators(etag='"secret"')
        await fetch(
            service.ports,
            INTERACTIVE,
            URL,
            accept="*/*",
            robots=False,
            renewal=renewal,
            validators=known,
        )
    assert ["if-none-match" in one.headers for one in (*asked, *elsewhere)] == [True, False]


async def test_cookies_on_the_way_are_not_mixed_with_those_that_the_user_gave(autojump_clock: object) -> None:
    asked: list[ReceivedRequest] = []
    elsewhere: list[ReceivedRequest] = []
    async with watching() as (service, _):
        service.network.servers[ADDRESS, 443] = web(site(lambda one: moved("https://other.example/x")), asked)
        wall = site(lambda one: moved(URL + "?back", sets="c=3; Path=/") if not elsewhere[1:] else FEED)
        service.network.add("other.example", "93.184.220.1", web(wall, elsewhere), 443)
        source = (await service.add(URL, headers="Cookie: session=t0")).view.source.id
        assert {cookie_of(one) for one in asked if one.target != "/robots.txt"} == {"session=t0"}
        assert all("session" not in cookie_of(one) for one in elsewhere)
        assert "c=3" not in service.registry.table.describe(source).hot.cookies


async def test_raw_utf_8_in_a_redirect_is_encoded_as_browsers_do(autojump_clock: object) -> None:
    asked: list[ReceivedRequest] = []
    async with watching() as (service, _):
        raw = "/flüsse/ö?q=ü".encode().decode("latin-1")
        service.network.servers[ADDRESS, 443] = web(
            site(lambda one: moved(raw) if one.target == "/feed" else FEED), asked
        )
        await service.add(URL)
        assert asked[-1].target == "/fl%C3%BCsse/%C3%B6?q=%C3%BC"


@pytest.mark.parametrize(
    "to", ["http://127.0.0.1/x", "https://ｌｏｃａｌｈｏｓｔ/x", "https://[::1]/ö", "//169.254.169.254/ö"]
)
async def test_the_guard_checks_a_rewritten_redirect(autojump_clock: object, to: str) -> None:
    async with watching() as (service, _):
        raw = to.encode().decode("latin-1")
        service.network.servers[ADDRESS, 443] = web(site(lambda one: moved(raw)), [])
        with pytest.raises(UrlRefused):
            await service.add(URL)

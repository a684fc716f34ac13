"""Random paths, queries, heads and bodies on every route without a key: no 500, no logged fault."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import trio

from api.app import make_app
from api.ratelimit import STRANGERS
from tests.api.house import House, make_house, running
from tests.extras.publish.test_endpoint import published
from tests.support.build import a_source_id

BESIDE = ("/published/{token}", "/published/{token}.rss", "/published/{token}/{event}", "/hub", "/bins/{token}", "/x")
"""Paths outside of the table of routes."""
PIECES = (
    *("", "=", "&", ";", "?", "#", "%", "%FF", "%00", "%0d%0a", "%C3%A9", "+", "[]", "..", "//", "{{7*7}}", "\u00e9"),
    *("before", "limit", "cursor", "from", "to", "q", "keyword", "source", "format", "lang", "next", "hub.mode", "id"),
    *("1", "-1", "0", "1e999", "9" * 400, "true", "null", "NaN", "2026-02-30T25:00:00Z", "\x7f", "a" * 3000, "🐦"),
    *(str(a_source_id(1)), "00000000-0000-0000-0000-000000000000", "subscribe", "https://a.test/", "http://[::1"),
)
HEADS = ("Accept", "Accept-Language", "Cookie", "If-None-Match", "If-Modified-Since", "Range", "Origin", "Content-Type")


def drawn(chance: random.Random, most: int) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(0, most)))


def query(chance: random.Random) -> bytes:
    """Return a query with few or many parameters, some repeated, some in no valid encoding."""
    pairs = [f"{drawn(chance, 2)}={drawn(chance, 3)}" for _ in range(chance.choice((0, 1, 2, 40, 300)))]
    return ascii_of("&".join(pairs + pairs[:1] * chance.choice((0, 0, 30))))[:7000]


def ascii_of(text: str) -> bytes:
    return "".join(each if "!" <= each <= "~" and each != "#" else quote(each) for each in text).encode()


def head(text: str) -> str:
    return "".join(each for each in text if each.isprintable())[:2000]


def routes(house: House) -> Iterator[tuple[str, str]]:
    """Yield each method and path of the API and the dashboard, and those in `BESIDE`."""
    for rule in make_app(house.context).url_map.iter_rules():
        for method in sorted(rule.methods or ()):
            yield method, re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", r"{\1}", rule.rule)
    for path in BESIDE:
        yield from ((method, path) for method in ("GET", "HEAD", "POST", "DELETE"))


async def ask_all(seeds: range) -> tuple[int, int]:
    """Return the numbers of requests sent and answered."""
    sent = answered = 0
    house = make_house()
    async with running(house):
        async with await house.client() as owner:
            tokens = [(await published(owner))["url"].rpartition("/")[2], str(a_source_id(1)), "x"]
        async with house.stranger() as stranger:
            for seed in seeds:
                for number, (method, path) in enumerate(routes(house)):
                    chance = random.Random(f"{seed}/{method}/{path}")
                    sent, answered = sent + 1, answered + await ask(house, stranger, method, path, tokens, chance)
                    if number % 50 == 49:
                        await trio.sleep(STRANGERS.burst / STRANGERS.rate)
    return sent, answered


async def ask(
    house: House, client: httpx.AsyncClient, method: str, path: str, tokens: list[str], chance: random.Random
) -> bool:
    """Return whether an answer came."""
    place = re.sub(r"\{\w+\}", lambda _: chance.choice((*tokens, drawn(chance, 2) or "y")), path)
    place = ascii_of(place.replace("?", ""))[:3000]
    asked = query(chance)
    heads = {name: head(drawn(chance, 3)) for name in HEADS if not chance.randrange(3)}
    body = drawn(chance, 4).encode() if method in ("POST", "PUT", "PATCH") else b""
    request = client.build_request(method, "/", headers={n: v.encode() for n, v in heads.items()}, content=body)
    request.url = request.url.copy_with(raw_path=place + b"?" + asked)
    with trio.move_on_after(30) as waited:
        answer = await client.send(request, stream=True)
        await answer.aclose()
        assert answer.status_code != 500, (method, place, asked, heads, body)
    faults = [each for each in house.logs if each[0] == "http.fault"]
    assert not faults, (method, place, asked, heads, body, faults)
    return not waited.cancelled_caught


async def test_no_route_answers_an_unauthenticated_client_with_a_500(autojump_clock: object) -> None:
    sent, answered = await ask_all(range(1))
    assert answered == sent > 100


async def test_no_route_answers_any_unauthenticated_request_with_a_500(autojump_clock: object) -> None:
    sent, answered = await ask_all(range(1, 7))
    assert answered == sent > 600

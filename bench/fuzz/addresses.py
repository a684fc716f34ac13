"""Addresses, and robots.txt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import httpx
from protego import Protego

from actors.content.bodies.robots_text import reduce_to
from actors.egress.address import check_address
from actors.egress.headers import PRODUCT
from actors.egress.url import LENGTH_LIMIT, Url, join, parse_url
from actors.errors import UrlRefused
from bench.fuzz import examples
from bench.fuzz.chance import Chance

BASE = parse_url("https://shore.example/a/b?c")
HOSTS = (
    "shore.example",
    "EXAMPLE.com.",
    "[::1]",
    "[2606::1%25eth0]",
    "1.2.3.4",
    "0x7f.1",
    "017700000001",
    "a_b.x",
    "ß.de",
)
PATHS = ("/", "/private", "/private/open", "/no/x", "/nox", "/ä?q=1", "/%C3%A4?", "/a%2Fb", "/*$")
AGENTS = ("*", "sanderling", "Sanderling", "other", "a b", "")
FIELDS = ("Disallow", "Allow", "disallow ", "Crawl-delay", "Sitemap", "User-agent", "Noindex", "")


def an_address(chance: Chance) -> tuple[str, str]:
    """Return a URL and a reference found there."""
    url = chance.choice(examples.URLS)
    if chance.often(0.4):
        scheme = chance.choice(("http", "https", "ws", "wss", "HTTPS", "ftp", "file"))
        port = chance.choice(("", ":", ":80", ":8443", ":65536", ":0x50", ":\u0661"))
        url = f"{scheme}://{chance.choice(HOSTS)}{port}/{chance.text(12)}"
    bent = chance.bent_text(url, examples.URLS) if chance.often(0.7) else url
    return bent, chance.choice((chance.text(20), chance.bent_text(chance.choice(examples.URLS))))


def url(case: tuple[str, str]) -> None:
    """It is refused by a rule, or has one normal form whose host every URL parser agrees on."""
    text, reference = case
    for candidate in (text, f"http://{text}"):
        with suppress(UrlRefused):
            _is_one(parse_url(candidate))
    with suppress(UrlRefused):
        _is_one(join(BASE, reference))
    with suppress(UrlRefused):
        _is_one(join(parse_url(text), reference))


def _is_one(url: Url) -> None:
    assert parse_url(url.text) == url
    assert url.text.isascii()
    assert url.text.isprintable()
    assert len(url.text) <= LENGTH_LIMIT
    assert httpx.URL(url.text).raw_host.decode().strip("[]") == url.host
    assert join(url, "") == parse_url(url.sent)  # a reference brings its own fragment (RFC 3986, 5.2.2)
    with suppress(UrlRefused):
        check_address(url.host, ())


def a_robots(chance: Chance) -> tuple[str, bool]:
    """Return a robots.txt and whether it is well-formed: then protego alone must agree with us."""
    if chance.often(0.5):
        text = chance.bent_text(chance.choice(examples.ROBOTS), examples.ROBOTS)
        return text.encode("utf-8", "replace").decode("utf-8-sig"), False
    lines: list[str] = []
    for _ in range(chance.randrange(5)):
        lines += [f"User-agent: {chance.choice(('*', 'sanderling', 'other'))}" for _ in range(chance.choice((1, 1, 2)))]
        paths = [*PATHS, "/*x$", "", "/" + chance.utf8(6).split("#")[0].strip()]
        lines += [
            f"{chance.choice(('Allow', 'Disallow'))}: {chance.choice(paths)}" for _ in range(1 + chance.randrange(4))
        ]
    return "\n".join(line.replace("\n", "") for line in lines), not any("\x00" in line for line in lines)


def robots(case: tuple[str, bool]) -> None:
    """Only our rules remain, in one group; for a well-formed file they decide like the whole file."""
    text, well_formed = case
    ours = reduce_to(PRODUCT, text)
    assert reduce_to(PRODUCT, ours) == ours
    rules = Protego.parse(ours)
    delay = rules.crawl_delay(PRODUCT)
    assert delay is None or isinstance(delay, int | float)
    verdicts = [rules.can_fetch(f"https://shore.example{path}", PRODUCT) for path in PATHS]
    if well_formed:
        assert verdicts == _of_the_whole(text)


def _of_the_whole(text: str) -> Sequence[bool]:
    whole = Protego.parse(text)
    return [whole.can_fetch(f"https://shore.example{path}", PRODUCT) for path in PATHS]

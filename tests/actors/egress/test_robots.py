from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio
from trio.abc import Clock

from actors.content.bodies.robots_text import reduce_to
from actors.egress import robots
from actors.egress.failures import Blame, CheckFailed
from actors.egress.guard import Guard
from actors.egress.hosts import FAILURES_TO_OPEN, HostOpen, Hosts
from actors.egress.http import HttpClient
from actors.egress.robots import RETRY, SIZE_LIMIT, Robots, RobotsVerdict
from actors.egress.url import parse_url
from actors.world import ResolveFailed, WorkerTooSlow
from tests.support.inline_jail import InlineJail
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, settings, web


@dataclass
class Site:
    network: MemoryNetwork
    answer: Answer = field(default_factory=Answer)
    asked: list[ReceivedRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.jail = InlineJail()
        self.world = a_world(self.network, jail=self.jail)
        http = HttpClient(self.world, settings(), Guard(self.network, self.network, ()))
        self.hosts = Hosts(self.world, settings())
        self.robots = Robots(http, self.world, self.hosts)
        self.network.add("a.example", "93.184.216.34", web(lambda asked: self.answer, self.asked))

    def says(self, text: str | bytes, status: int = 200, **headers: str) -> None:
        body = text if isinstance(text, bytes) else text.encode()
        self.answer = Answer(status, body, {k.replace("_", "-"): v for k, v in headers.items()})

    async def verdict(self, target: str = "/page") -> RobotsVerdict:
        return await self.robots.verdict(parse_url(f"http://a.example{target}"))


@pytest.fixture
def site(nursery: trio.Nursery) -> Site:
    return Site(MemoryNetwork(nursery))


OURS = "User-agent: sanderling\nDisallow: /no\n"


@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow: /\n", "/x", False),
        ("User-agent: *\nDisallow:\n", "/x", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: sanderling\nAllow: /\n", "/x", True),
        ("User-agent: SANDERLING\nDisallow: /\n", "/x", False),
        ("User-agent: Sanderling/2.0\nDisallow: /\n", "/x", False),
        ("User-agent: sanderlings\nDisallow: /\n", "/x", True),
        ("User-agent: other\nUser-agent: sanderling\nDisallow: /\n", "/x", False),
        ("User-agent: sanderling\nDisallow: /a\nUser-agent: other\nDisallow: /b\n", "/b", True),
        ("User-agent: sanderling\nDisallow: /a\nUser-agent: *\nUser-agent: sanderling\nDisallow: /b\n", "/b", False),
        ("User-agent: sanderling\nDisallow: /a\nAllow: /a/b\n", "/a/b/c", True),
        ("User-agent: sanderling\nAllow: /a/b\nDisallow: /a\n", "/a/b/c", True),
        ("User-agent: sanderling\nDisallow: /a\nAllow: /a\n", "/a", True),
        ("User-agent: sanderling\nDisallow: /*.php$\n", "/x/y.php", False),
        ("User-agent: sanderling\nDisallow: /*.php$\n", "/x/y.php?z", True),
        ("User-agent: sanderling\nDisallow: /a%3Cb\n", "/a%3cb", False),
        ("User-agent: sanderling\nDisallow: /%C3%A4\n", "/ä", False),
        ("User-agent: sanderling\nDisallow: /ä\n", "/%c3%a4", False),
        ("\ufeffUser-agent: *\r\nDisallow: /x # why\r\n", "/x", False),
        ("User-agent: *\rDisallow: /x\r", "/x", False),
        ("Sitemap: http://a.example/s.xml\nUser-agent: *\nSitemap: x\nDisallow: /x\n", "/x", False),
        ("Disallow: /x\n", "/x", True),
        ("User-agent: *\nNoindex: /\nDisallow: /x\n", "/x", False),
        ("User-agent: *\nDisallow: /x\n", "/robots.txt", True),
        ("<html><body>not found</body></html>", "/x", True),
        (b"\x00\xff\xfe\x00garbage", "/x", True),
    ],
)  # fmt: skip
async def test_rfc_9309_decides(
    autojump_clock: Clock, site: Site, text: str | bytes, target: str, allowed: bool
) -> None:
    site.says(text)
    verdict = await site.verdict(target)
    assert verdict.allowed is allowed
    assert (verdict.blame is None) is allowed


async def test_a_refusal_by_robots_txt_names_the_rule_and_is_permanent(autojump_clock: Clock, site: Site) -> None:
    site.says(OURS)
    failed = (await site.verdict("/no/1")).refusal()
    assert failed.blame is Blame.REMOTE_PERMANENT
    assert failed.reason == "robots.txt of http://a.example forbids /no/1"


async def test_a_crawl_delay_is_reported(autojump_clock: Clock, site: Site) -> None:
    site.says("User-agent: *\nCrawl-delay: 7.5\nDisallow: /x\n")
    assert (await site.verdict()).crawl_delay == 7.5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_an_unavailable_robots_txt_allows_all(autojump_clock: Clock, site: Site, status: int) -> None:
    site.says("User-agent: *\nDisallow: /", status)
    assert (await site.verdict()).allowed


async def test_redirects_are_followed_in_turn_and_endless_ones_allow_all(autojump_clock: Clock, site: Site) -> None:
    site.says("", 301, location="/robots.txt")
    assert (await site.verdict()).allowed
    assert len(site.asked) == 6
    assert trio.current_time() == pytest.approx(5.0)


async def test_a_redirect_obeys_the_robots_txt_of_its_target_in_that_hosts_turn(
    autojump_clock: Clock, site: Site
) -> None:
    asked = [trio.current_time()]

    def other(seen: ReceivedRequest) -> Answer:
        asked.append(trio.current_time())
        return Answer(200, OURS.encode())

    site.network.add("other.example", "93.184.216.35", web(other))
    site.says("", 302, location="http://other.example/rules")
    async with site.hosts.turn("other.example"):
        pass
    assert not (await site.verdict("/no")).allowed
    assert asked == [0.0, 1.0]
    assert (await site.verdict("/yes")).allowed


@pytest.mark.parametrize("location", ["http://inside.example/robots.txt", "http://127.0.0.1/robots.txt", "file:///x"])
async def test_x3_a_robots_txt_that_leads_inside_is_not_followed_and_forbids_all(
    autojump_clock: Clock, site: Site, location: str
) -> None:
    site.network.names["inside.example"] = [("10.0.0.7",)]
    site.says("", 302, location=location)
    assert not (await site.verdict()).allowed
    assert {address for address, _ in site.network.connected} == {"93.184.216.34"}


async def test_a_site_that_throttles_its_robots_txt_is_left_alone_and_blamed_for_nothing(
    autojump_clock: Clock, site: Site
) -> None:
    site.says("", 429, retry_after="900")
    assert (await site.verdict()).allowed
    assert site.hosts.resting("a.example") == pytest.approx(900)
    await trio.sleep(901)
    site.says(OURS)
    assert not (await site.verdict("/no")).allowed, "it is asked again as soon as it may be"


async def test_a_robots_txt_behind_a_host_that_rests_is_unknown_and_not_a_failure(
    autojump_clock: Clock, site: Site
) -> None:
    site.says("", 302, location="http://other.example/robots.txt")
    site.hosts.hold("other.example", 100.0)
    with pytest.raises(HostOpen):
        await site.verdict()


@pytest.mark.parametrize("status", [200, 404])
async def test_b2_a_probe_that_brings_robots_txt_has_shown_that_the_host_is_back(
    autojump_clock: Clock, site: Site, status: int
) -> None:
    """Otherwise a page with an expired robots.txt found the host still resting, for up to 36 min more."""
    for n in range(FAILURES_TO_OPEN):
        site.hosts.failed("a.example", f"source {n % 2}")
    rest = site.hosts.resting("a.example")
    assert rest > 0
    await trio.sleep(rest)
    site.says("", status)
    assert (await site.verdict()).allowed
    async with site.hosts.turn("a.example"):
        pass


@pytest.mark.parametrize("answer", [Answer(500), Answer(503), Answer(200, b"x", after=40), Answer(200, b"xx", cut=1)])
async def test_an_unreachable_robots_txt_forbids_all_until_it_can_be_had(
    autojump_clock: Clock, site: Site, answer: Answer
) -> None:
    site.answer = answer
    verdict = await site.verdict()
    assert not verdict.allowed
    assert verdict.blame is Blame.REMOTE_TRANSIENT
    site.says(OURS)
    assert not (await site.verdict()).allowed  # not fetched again at once
    assert len(site.asked) == 1
    await trio.sleep(301)
    assert (await site.verdict()).allowed


async def test_an_older_copy_serves_while_the_site_is_unreachable(autojump_clock: Clock, site: Site) -> None:
    site.says(OURS)
    assert (await site.verdict()).allowed
    await trio.sleep(25 * 3600)
    site.answer = Answer(500)
    assert (await site.verdict()).allowed
    assert not (await site.verdict("/no")).allowed
    assert len(site.asked) == 2


async def test_a_copy_is_cached_for_a_day_or_its_own_lifetime(autojump_clock: Clock, site: Site) -> None:
    site.says(OURS)
    await site.verdict()
    await trio.sleep(23 * 3600)
    await site.verdict()
    assert len(site.asked) == 1
    site.says(OURS, cache_control="max-age=3600")
    await trio.sleep(2 * 3600)
    await site.verdict()
    await trio.sleep(3000)
    await site.verdict()
    assert len(site.asked) == 2
    await trio.sleep(700)
    await site.verdict()
    assert len(site.asked) == 3


async def test_a_fault_of_our_own_is_no_verdict(autojump_clock: Clock, site: Site) -> None:
    site.network.names["a.example"] = [ResolveFailed("resolver silent", local=True)]
    with pytest.raises(CheckFailed) as caught:
        await site.verdict()
    assert caught.value.blame is Blame.LOCAL


async def test_concurrent_requests_share_one_fetch(autojump_clock: Clock, site: Site) -> None:
    site.answer = Answer(200, OURS.encode(), after=3)
    found: list[RobotsVerdict] = []

    async def ask() -> None:
        found.append(await site.verdict())

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ask)
    assert len(site.asked) == 1
    assert len(found) == 50


async def test_no_more_than_500_kib_count(autojump_clock: Clock, site: Site) -> None:
    filler = b"# " + b"x" * 1000 + b"\n"
    site.says(OURS.encode() + filler * 600 + b"User-agent: sanderling\nDisallow: /late\n")
    assert len(site.answer.body) > SIZE_LIMIT
    assert not (await site.verdict("/no")).allowed
    assert (await site.verdict("/late")).allowed


async def test_the_cache_is_bounded(autojump_clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "MOST_ORIGINS", 20)
    site.says(OURS)
    serve = site.network.servers["93.184.216.34", 80]
    for number in range(50):
        site.network.names[f"h{number}.example"] = [("93.184.216.34",)]
        site.network.servers["93.184.216.34", 80] = serve
        await site.robots.verdict(parse_url(f"http://h{number}.example/"))
    assert len(site.robots._sites) == 20


async def test_the_cache_counts_no_copy_that_was_dropped_while_it_was_fetched(
    autojump_clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "MOST_ORIGINS", 20)
    site.answer = Answer(200, OURS.encode(), after=3)
    serve = site.network.servers["93.184.216.34", 80]
    async with trio.open_nursery() as nursery:
        for number in range(100):
            site.network.names[f"h{number}.example"] = [("93.184.216.34",)]
            site.network.servers["93.184.216.34", 80] = serve
            nursery.start_soon(site.robots.verdict, parse_url(f"http://h{number}.example/"))
    held = site.robots._sites.values()
    assert len(held) == 20 and site.robots._bytes == sum(len(each.text) for each in held)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: bot{n}\n" for n in range(2000)) + "Disallow: /x\n" * 20_000,
        "User-agent: *\n" + "Disallow: /a*b\n" * 30_000,
        "User-agent: *\nDisallow: /" + "*a" * 200_000,
        "\u2028User-agent: x" * 30_000,
    ],
    ids=["agents times rules", "many rules", "many stars", "line separators"],
)
def test_hostile_files_are_reduced_in_linear_time(text: str) -> None:
    start = time.process_time()
    reduced = reduce_to("sanderling", text)
    assert time.process_time() - start < 0.5
    assert len(reduced) <= 2 * len(text)


RULES = "User-agent: *\n" + "".join(f"Disallow: /a*{n}$\n" for n in range(20_000)) + "Disallow: /last\n"


async def test_x10_s10_all_rules_of_a_long_file_count_and_a_worker_reads_it_once_for_each_url(
    autojump_clock: Clock, site: Site
) -> None:
    site.says(RULES)
    assert len(RULES) < SIZE_LIMIT
    for _ in range(3):
        assert not (await site.verdict("/last")).allowed
        assert not (await site.verdict("/ab19999")).allowed
        assert (await site.verdict("/b")).allowed
    assert site.jail.calls == 3 and len(site.asked) == 1


async def test_s10_a_short_file_takes_no_worker(autojump_clock: Clock, site: Site) -> None:
    site.says(OURS)
    assert not (await site.verdict("/no")).allowed
    assert site.jail.calls == 0


async def test_s10_an_unreadable_file_is_the_sites_fault_and_not_fetched_each_time(
    autojump_clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*args: Any, **more: Any) -> bytes:
        raise WorkerTooSlow("more than 10 s")

    site.says(RULES)
    monkeypatch.setattr(site.jail, "call", slow)
    with pytest.raises(CheckFailed) as failed:
        await site.verdict("/b")
    assert failed.value.blame is Blame.CONTENT
    assert not (await site.verdict("/b")).allowed and len(site.asked) == 1
    monkeypatch.undo()
    await trio.sleep(RETRY)
    assert (await site.verdict("/b")).allowed


DATED = {"expires": "Thu, 01 Jan 1970 01:00:00 GMT", "date": "Thu, 01 Jan 1970 00:00:00 GMT"}


@pytest.mark.parametrize("status", [200, 401, 403, 404, 410, 429, 451])
@pytest.mark.parametrize(
    ("headers", "lasts"),
    [
        ({"cache-control": "max-age=3600"}, 3600),
        ({"cache-control": "public, max-age=7200", "age": "3600"}, 3600),
        ({"cache-control": "max-age=60"}, robots.SHORTEST),
        ({"cache-control": "no-cache"}, robots.SHORTEST),
        ({"cache-control": "no-store, max-age=3600"}, robots.SHORTEST),
        ({"cache-control": "max-age=31536000"}, robots.LONGEST),
        (DATED, 3600),
        ({"expires": "0"}, robots.SHORTEST),
        ({**DATED, "cache-control": "max-age=7200"}, 7200),
        ({}, None),
    ],
)
async def test_an_answer_serves_as_long_as_it_says_and_at_most_a_day(
    autojump_clock: Clock, site: Site, status: int, headers: dict[str, str], lasts: float | None
) -> None:
    if lasts is None:
        lasts = robots.SHORTEST if status == 429 else robots.LONGEST
    site.answer = Answer(status, b"", headers)
    await site.verdict()
    await trio.sleep(lasts - 5)
    await site.verdict()
    assert len(site.asked) == 1
    await trio.sleep(10)
    await site.verdict()
    assert len(site.asked) == 2


@pytest.mark.parametrize("status", [500, 503, 520])
async def test_an_unreachable_robots_txt_is_fetched_again_soon_after_any_error(
    autojump_clock: Clock, site: Site, status: int
) -> None:
    site.says("", status, cache_control="max-age=86400")
    assert not (await site.verdict()).allowed
    site.says("")
    await trio.sleep(RETRY + 1)
    assert (await site.verdict()).allowed

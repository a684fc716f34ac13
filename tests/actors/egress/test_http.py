from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_network

import pytest
import trio
import trio.testing
from trio.abc import Clock

from actors.egress.failures import Blame, CheckFailed, CheckRefused
from actors.egress.guard import Guard
from actors.egress.http import FetchedResponse, FetchRequest, HttpClient, RedirectElsewhere
from actors.egress.transport import MOST_IDLE
from actors.egress.url import Url, parse_url
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world, settings, web

HOOK = "https://a.example/hook"
FIRST, SECOND = "93.184.216.34", "93.184.216.35"


@dataclass
class Site:
    """Two hosts, a.example and b.example, over http and https; a test sets their pages by URL."""

    network: MemoryNetwork
    http: HttpClient
    pages: dict[str, Answer] = field(default_factory=dict)
    seen: list[tuple[str, ReceivedRequest]] = field(default_factory=list)

    async def get(self, url: str, **given: object) -> FetchedResponse:
        wish, hops = FetchRequest(parse_url(url), **given), ()  # type: ignore[arg-type]  # any field of it
        while True:
            try:
                return await self.http.get(wish, hops)
            except RedirectElsewhere as redirect:
                wish, hops = replace(wish, url=redirect.url), redirect.hops

    async def failure(self, url: str, **given: object) -> CheckFailed:
        with pytest.raises(CheckFailed) as caught:
            await self.get(url, **given)
        return caught.value


@pytest.fixture
async def site(nursery: trio.Nursery) -> AsyncIterator[Site]:
    network = MemoryNetwork(nursery)
    guard = Guard(network, network, ())
    found = Site(network, HttpClient(a_world(network), settings(body_limit=1 << 16), guard))
    for host, address in (("a.example", FIRST), ("b.example", SECOND)):
        for scheme, port in (("http", 80), ("https", 443)):
            network.add(host, address, web(_pages(found, f"{scheme}://{host}")), port)
    yield found
    await found.http.aclose()
    await trio.sleep(100)  # servers notice after their own waits
    assert network.open_streams == 0


def _pages(site: Site, origin: str) -> Callable[[ReceivedRequest], Answer]:
    def answer(asked: ReceivedRequest) -> Answer:
        site.seen.append((origin, asked))
        return site.pages.get(origin + asked.target, Answer(404))

    return answer


async def test_a_check_returns_the_body_and_values_of_the_headers(autojump_clock: Clock, site: Site) -> None:
    headers = {
        "Content-Type": "application/rss+xml",
        "ETag": '"v1"',
        "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        "Cache-Control": "max-age=300",
        "Content-Encoding": "gzip",
    }
    packed = gzip.compress(b"<rss/>" * 1000)
    site.pages["http://a.example/feed"] = Answer(200, packed, headers, after=1.5)
    found = await site.get("http://a.example/feed")
    assert (found.status, found.body, found.url) == (200, b"<rss/>" * 1000, "http://a.example/feed")
    assert (found.content_type, found.etag, found.max_age) == ("application/rss+xml", '"v1"', 300.0)
    assert found.last_modified == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert (found.wire_bytes, found.elapsed_ms, found.hops) == (len(packed), 1500, ())


async def test_a_request_identifies_us_and_says_nothing_else(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(200, b"x", {"Set-Cookie": "id=1; Path=/"})
    for _ in range(2):
        await site.get("http://a.example/")
    _, asked = site.seen[-1]
    assert set(asked.headers) == {"host", "user-agent", "accept", "accept-encoding"}
    assert asked.headers["user-agent"].startswith("sanderling/")
    assert asked.headers["host"] == "a.example"


async def test_an_unchanged_page_costs_a_304(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(304, headers={"ETag": '"v1"'})
    found = await site.get("http://a.example/", etag='W/"v\xe4"', last_modified="yesterday")
    assert (found.status, found.body) == (304, b"")
    _, asked = site.seen[-1]
    assert (asked.headers["if-none-match"], asked.headers["if-modified-since"]) == ('W/"v\xe4"', "yesterday")


async def test_an_unrequested_304_is_a_failure(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(304)
    assert (await site.failure("http://a.example/")).blame is Blame.REMOTE_TRANSIENT


async def test_redirects_are_followed_and_named(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/old"] = Answer(301, headers={"Location": "/new?x#y"})
    site.pages["http://a.example/new?x"] = Answer(308, headers={"Location": "https://b.example/"})
    site.pages["https://b.example/"] = Answer(200, b"here")
    found = await site.get("http://a.example/old")
    assert (found.url, found.body) == ("https://b.example/", b"here")
    assert found.hops == ("http://a.example/old", "http://a.example/new?x")
    assert site.network.secured == ["b.example"]


async def test_x3_five_redirects_are_followed_and_a_sixth_is_not(autojump_clock: Clock, site: Site) -> None:
    for n in range(6):
        site.pages[f"http://a.example/{n}"] = Answer(302, headers={"Location": f"/{n + 1}"})
    site.pages["http://a.example/6"] = Answer(200, b"end")
    assert (await site.get("http://a.example/1")).body == b"end"
    failed = await site.failure("http://a.example/0")
    assert (failed.blame, failed.status) == (Blame.REMOTE_TRANSIENT, 302)


@pytest.mark.parametrize(
    ("location", "rule"),
    [
        ("http://127.0.0.1/", "address-loopback"),
        ("http://169.254.169.254/latest/meta-data", "address-metadata"),
        ("http://[::ffff:10.0.0.1]/", "address-private"),
        ("http://inside.example/", "address-private"),
        ("http://0x7f.1/", "url-host-spelling"),
        ("//user:pw@b.example/", "url-userinfo"),
        ("file:///etc/passwd", "url-scheme"),
        ("gopher://b.example/", "url-scheme"),
        ("data:text/plain,x", "url-scheme"),
        ("ws://b.example/", "url-scheme"),
        ("http://b.example:22/", "url-port"),
        ("\\\\b.example\\", "url-backslash"),
    ],
)
async def test_x3_each_hop_is_guarded(autojump_clock: Clock, site: Site, location: str, rule: str) -> None:
    site.network.names["inside.example"] = [("10.0.0.1",)]
    site.pages["http://a.example/"] = Answer(302, headers={"Location": location})
    failed = await site.failure("http://a.example/")
    assert isinstance(failed, CheckRefused)
    assert (failed.refusal.rule, failed.blame) == (rule, Blame.REMOTE_PERMANENT)
    assert site.network.connected == [(FIRST, 80)]


async def test_x3_https_never_redirects_to_http(autojump_clock: Clock, site: Site) -> None:
    site.pages["https://a.example/"] = Answer(302, headers={"Location": "http://a.example/"})
    failed = await site.failure("https://a.example/")
    assert isinstance(failed, CheckRefused)
    assert failed.refusal.rule == "url-downgrade"


async def test_validators_go_to_the_url_that_gave_them(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(302, headers={"Location": "https://b.example/x"})
    site.pages["https://b.example/x"] = Answer(304)
    found = await site.get("http://a.example/", etag='"v"', validated="https://b.example/x")
    assert found.status == 304
    assert ["if-none-match" in asked.headers for _, asked in site.seen] == [False, True]


async def test_x2_each_connection_is_guarded(autojump_clock: Clock, site: Site) -> None:
    site.network.names["a.example"] = [(FIRST,), ("127.0.0.1",)]
    site.pages["http://a.example/"] = Answer(200, b"x")
    await site.get("http://a.example/")
    assert isinstance(await site.failure("http://a.example/"), CheckRefused)
    assert site.network.connected == [(FIRST, 80)]


@pytest.mark.parametrize(
    ("answer", "blame"),
    [
        (Answer(404), Blame.REMOTE_PERMANENT),
        (Answer(500, b"oops"), Blame.REMOTE_TRANSIENT),
        (Answer(204), Blame.CONTENT),
        (Answer(302), Blame.REMOTE_TRANSIENT),
        (Answer(429), Blame.THROTTLED),
        (Answer(503, headers={"Retry-After": "Fri, 15 Jan 2027 08:10:00 GMT"}), Blame.THROTTLED),
        (Answer(200, b"x" * 70_000), Blame.CONTENT),
        (Answer(200, gzip.compress(bytes(70_000), mtime=0), {"Content-Encoding": "gzip"}), Blame.CONTENT),
        (
            Answer(200, gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), {"Content-Encoding": "gzip, gzip"}),
            Blame.CONTENT,
        ),
        (Answer(200, b"\x00 no gzip, and no text", {"Content-Encoding": "gzip"}), Blame.CONTENT),
        (Answer(200, gzip.compress(bytes(999), mtime=0)[:-5], {"Content-Encoding": "gzip"}), Blame.REMOTE_TRANSIENT),
        (Answer(200, b"x" * 1000, cut=500), Blame.REMOTE_TRANSIENT),
        (Answer(200, b"x", after=31), Blame.REMOTE_TRANSIENT),
        (Answer(200, b"x", pause=31), Blame.REMOTE_TRANSIENT),
    ],
)
async def test_a_bad_response_is_blamed_on_the_right_side(
    autojump_clock: Clock, site: Site, answer: Answer, blame: Blame
) -> None:
    site.pages["http://a.example/"] = answer
    assert (await site.failure("http://a.example/")).blame is blame
    assert trio.current_time() <= 30.01


async def test_b4_a_throttled_answer_says_how_long(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(429, headers={"Retry-After": "120"})
    assert (await site.failure("http://a.example/")).retry_after == 120.0


async def test_a_body_can_be_cut_at_a_limit_of_its_own(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(200, b"x" * 70_000)
    assert len((await site.get("http://a.example/", limit=1000, cut=True)).body) == 1000


async def test_the_deadline_covers_the_answer(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(302, headers={"Location": "/1"}, after=31)
    assert "30 s" in (await site.failure("http://a.example/")).reason
    assert trio.current_time() == pytest.approx(30)


async def test_an_endless_drip_is_stopped_by_the_deadline(autojump_clock: Clock, site: Site) -> None:
    async def drip(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send_all(b"x")
            await trio.sleep(1)

    site.network.servers[FIRST, 80] = drip
    assert (await site.failure("http://a.example/")).blame is Blame.REMOTE_TRANSIENT
    assert trio.current_time() == pytest.approx(30)


@pytest.mark.parametrize(
    "said",
    [b"", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nA" + b"a" * 200_000, b"HTTP/1.1 99\r\n\r\n"],
)
async def test_a_response_that_is_not_http_is_the_servers_fault(autojump_clock: Clock, site: Site, said: bytes) -> None:
    async def talk(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(said)

    site.network.servers[FIRST, 80] = talk
    assert (await site.failure("http://a.example/")).blame is Blame.REMOTE_TRANSIENT


async def test_a_cancelled_check_closes_its_connection(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(200, b"x", after=20)
    with trio.move_on_after(5) as scope:
        await site.get("http://a.example/")
    assert scope.cancelled_caught
    await trio.sleep(60)
    assert site.network.open_streams == 0


async def test_nothing_of_the_environment_reaches_the_worker(
    autojump_clock: Clock, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://10.0.0.1:3128")
    client = HttpClient(a_world(site.network), settings(), Guard(site.network, site.network, ()))
    site.pages["http://a.example/"] = Answer(200, b"direct")
    assert (await client.get(FetchRequest(parse_url("http://a.example/")))).body == b"direct"
    assert site.network.connected == [(FIRST, 80)]


async def test_a_post_brings_any_status_and_follows_nothing(autojump_clock: Clock, site: Site) -> None:
    site.pages[HOOK] = Answer(302, b"moved" * 1000, {"Location": "/x", "Retry-After": "7"}, after=0.25)
    posted = await site.http.post(parse_url(HOOK), {"webhook-id": "1"}, b"{}")
    assert (posted.status, posted.latency_ms, posted.retry_after) == (302, 250, 7.0)
    assert posted.body == b"moved" * 1000
    _, asked = site.seen[-1]
    assert (asked.method, asked.body, asked.headers["webhook-id"]) == ("POST", b"{}", "1")


@pytest.mark.parametrize(
    ("status", "location", "moved_to"),
    [
        (301, "https://b.example/x", "https://b.example/x"),
        (308, "/ö", "https://a.example/%C3%B6"),
        (302, "http://127.0.0.1/", "http://127.0.0.1/"),
        (301, "http://[", ""),
        (200, "https://b.example/x", ""),
    ],
)
async def test_a_post_reports_a_redirect_without_following_it(
    autojump_clock: Clock, site: Site, status: int, location: str, moved_to: str
) -> None:
    site.pages[HOOK] = Answer(status, b"", {"Location": location.encode().decode("latin-1")})
    assert (await site.http.post(parse_url(HOOK), {}, b"{}")).moved_to == moved_to
    assert len(site.seen) == 1


async def test_an_answer_that_is_no_http_is_shown_as_text(autojump_clock: Clock, site: Site) -> None:
    async def shoutcast(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(b"ICY 200 OK\r\n\r\n")

    site.network.servers[FIRST, 80] = shoutcast
    assert (await site.failure("http://a.example/")).reason == (
        "the answer breaks HTTP: illegal status line: 'ICY 200 OK'"
    )


async def test_d8_a_dripping_receiver_costs_15_seconds_and_its_status_counts(autojump_clock: Clock, site: Site) -> None:
    async def drip(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send_all(b"x")
            await trio.sleep(1)

    site.network.servers[FIRST, 80] = drip
    assert (await site.http.post(parse_url("http://a.example/"), {}, b"")).status == 200
    assert trio.current_time() == pytest.approx(15)


async def test_d14_a_post_without_an_answer_is_a_failure(autojump_clock: Clock, site: Site) -> None:
    site.pages["http://a.example/"] = Answer(200, after=16)
    with pytest.raises(CheckFailed) as caught:
        await site.http.post(parse_url("http://a.example/"), {}, b"{}")
    assert caught.value.blame is Blame.REMOTE_TRANSIENT


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\x00b", "a\nb"])
async def test_x5_a_header_that_would_forge_another_is_not_sent(autojump_clock: Clock, site: Site, value: str) -> None:
    with pytest.raises(ValueError, match="can't be sent"):
        await site.http.post(parse_url("http://a.example/"), {"x": value}, b"")
    assert site.seen == []


async def test_an_idle_connection_that_the_server_gave_up_is_replaced_without_a_failure(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    async def once(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    network = MemoryNetwork(nursery)
    network.add("a.example", FIRST, once)
    client = HttpClient(a_world(network, keep_idle=60.0), settings(), Guard(network, network, ()))
    for _ in range(3):
        assert (await client.get(FetchRequest(parse_url("http://a.example/")))).body == b"x"
    assert len(network.connected) == 3
    await client.aclose()


async def test_several_idle_connections_that_the_server_gave_up_at_once_cost_no_failure(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    restarted = trio.Event()

    async def until_restart(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10_000)
        await trio.sleep(0.1)  # the other requests of the moment need a connection each
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        await restarted.wait()

    network = MemoryNetwork(nursery)
    network.add("a.example", FIRST, until_restart)
    client = HttpClient(a_world(network, keep_idle=60.0), settings(), Guard(network, network, ()))
    url = FetchRequest(parse_url("http://a.example/"))
    async with trio.open_nursery() as together:
        for _ in range(3):
            together.start_soon(client.get, url)
    restarted.set()
    await trio.testing.wait_all_tasks_blocked()
    assert (await client.get(url)).body == b"x"
    assert len(network.connected) == 4
    await client.aclose()


async def test_an_idle_connection_serves_its_own_host_only(nursery: trio.Nursery, autojump_clock: Clock) -> None:
    network = MemoryNetwork(nursery)
    for host in ("a.example", "b.example"):  # on one address, like a shared server
        network.add(host, FIRST, web(lambda asked: Answer(200, asked.headers["host"].encode())))
    client = HttpClient(
        a_world(network, keep_idle=60.0), settings(), Guard(network, network, [ip_network("10.0.0.0/8")])
    )
    for host in ("a.example", "b.example", "a.example"):
        assert (await client.get(FetchRequest(parse_url(f"http://{host}/")))).body == host.encode()
    network.names["a.example"] = [("127.0.0.1",)]  # the connection stays bound to the checked address
    assert (await client.get(FetchRequest(parse_url("http://a.example/")))).body == b"a.example"
    assert network.connected == [(FIRST, 80), (FIRST, 80)]
    await client.aclose()


async def test_an_idle_connection_is_used_again_beside_many_busy_ones(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    async def silent(stream: trio.abc.Stream) -> None:
        await trio.sleep(10)

    network = MemoryNetwork(nursery)
    network.add("slow.example", SECOND, silent)
    network.add("a.example", FIRST, web(lambda asked: Answer(200, b"x")))
    client = HttpClient(a_world(network, keep_idle=60.0), settings(), Guard(network, network, ()))
    async with trio.open_nursery() as busy:
        for _ in range(MOST_IDLE + 1):
            busy.start_soon(client.get, FetchRequest(parse_url("http://slow.example/")))
        await trio.sleep(1)
        for _ in range(3):
            await client.get(FetchRequest(parse_url("http://a.example/")))
        assert network.connected.count((FIRST, 80)) == 1
        busy.cancel_scope.cancel()
    await client.aclose()


async def test_a_connection_idle_for_too_long_is_closed_by_the_next_request_to_any_host(
    nursery: trio.Nursery, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("httpcore._async.http11.time.monotonic", trio.current_time)
    network = MemoryNetwork(nursery)
    for host, address in (("a.example", FIRST), ("b.example", SECOND)):
        network.add(host, address, web(lambda asked: Answer(200, b"x")))
    client = HttpClient(a_world(network, keep_idle=60.0), settings(), Guard(network, network, ()))
    await client.get(FetchRequest(parse_url("http://a.example/")))
    await trio.sleep(61)
    await client.get(FetchRequest(parse_url("http://b.example/")))
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == 1
    await client.aclose()


async def test_the_oldest_idle_connections_are_closed_once_there_are_too_many(
    nursery: trio.Nursery, autojump_clock: Clock
) -> None:
    network = MemoryNetwork(nursery)
    client = HttpClient(a_world(network, keep_idle=60.0), settings(), Guard(network, network, ()))
    for number in range(MOST_IDLE + 2):
        network.add(f"{number}.example", FIRST, web(lambda asked: Answer(200, b"x")))
        await client.get(FetchRequest(parse_url(f"http://{number}.example/")))
    await trio.testing.wait_all_tasks_blocked()
    assert network.open_streams == MOST_IDLE
    await client.aclose()


async def test_a_small_request_leaves_with_its_body_in_one_write(nursery: trio.Nursery, autojump_clock: Clock) -> None:
    received: list[bytes] = []

    async def serve(stream: trio.abc.Stream) -> None:
        received.append(bytes(await stream.receive_some(100_000)))
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    network = MemoryNetwork(nursery)
    network.add("a.example", FIRST, serve)
    client = HttpClient(a_world(network), settings(), Guard(network, network, ()))
    await client.post(parse_url("http://a.example/"), {}, b"the body")
    assert received[0].startswith(b"POST / HTTP/1.1\r\n")
    assert received[0].endswith(b"\r\n\r\nthe body")
    await client.aclose()


async def test_a_check_over_https_is_signed_at_each_hop_and_over_http_it_is_not(
    site: Site, autojump_clock: Clock
) -> None:
    async def sign(method: str, url: Url) -> list[tuple[str, str]]:
        return [("Signature", f"{method} {url.text}")]

    site.http.sign = sign
    site.pages["https://a.example/feed"] = Answer(301, headers={"location": "https://b.example/feed"})
    site.pages["https://b.example/feed"] = site.pages["http://a.example/feed"] = Answer(200, b"x")
    await site.get("https://a.example/feed")
    await site.get("http://a.example/feed")
    signed = [asked.headers.get("signature") for _, asked in site.seen]
    assert signed == ["GET https://a.example/feed", "GET https://b.example/feed", None]

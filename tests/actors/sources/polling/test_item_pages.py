"""Sources that follow links: each new item is reported once, with its page's text, despite any fault in between."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from actors.errors import TooSoon, Unprocessable
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource, ExplainSource
from actors.sources import following as items
from actors.sources.following import MOST_ELSEWHERE, MOST_OF_HOST, other_hosts_text
from storage.records.checks import unpack_memory
from tests.actors.sources.harness import SITE, Origin, Watching, rss, watching
from tests.storage.contract.builders import a_draft, a_source
from tests.support.build import NOW
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web

URL = f"https://{SITE}/news"
NAMES = ("anchors", "buoys", "cranes", "docks", "eels", "ferries")
MORE = ("gulls", "harbours", "islands", "jetties")


def a_list(*names: str, host: str = "", extra: str = "") -> bytes:
    rows = "".join(
        f'<li><h2><a href="{host}/news/{name}">All that is new about {name} this week</a></h2>'
        f'<p>By <a href="/authors/bo">Bo</a></p><a href="{host}/news/{name}">Read more</a></li>'
        for name in names
    )
    return (
        "<html><head><title>News of the harbour</title></head><body><nav><a href='/'>Home</a> <a href='/about'>About "
        f"the harbour</a></nav><main><h1>News</h1><ul>{rows}</ul>{extra}</main><footer>Press</footer></body></html>"
    ).encode()


def a_page(name: str) -> bytes:
    text = f"The {name} of the harbour are counted each morning by the harbour master, and were never as many as now."
    return (
        f"<html><head><title>{name} - News</title><meta name=author content='Bo Ek'></head><body><main>"
        f"<h1>All that is new about {name} this week</h1><p>{text}</p><p>{text[::-1]}</p></main></body></html>"
    ).encode()


def an_origin(*names: str) -> Origin:
    origin = Origin()
    origin.bodies["/news"] = a_list(*names)
    for name in (*NAMES, *MORE):
        origin.bodies[f"/news/{name}"] = a_page(name)
    return origin


def waiting_of(disk: Disk, source: Any) -> items.FollowQueue:
    return items.decode(unpack_memory(disk.sources()[source].base).waiting)


async def grown(run: Watching, origin: Origin, source: Any, *names: str) -> None:
    """Add items at the top of the list and check it."""
    origin.bodies["/news"] = a_list(*names, *NAMES)
    await look(run, source)


async def look(run: Watching, source: Any) -> None:
    """Check the source as soon as politeness allows, and wait for its first pages."""
    for _ in range(10):
        await trio.sleep(61)
        try:
            await run.check(source)
        except TooSoon:
            continue
        break
    await trio.sleep(5)


async def test_each_new_item_of_a_list_is_reported_once_with_the_text_of_its_page(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        assert await run.events() == []
        await grown(run, origin, source, "gulls", "harbours")
        told = await run.events()
        assert [(event["title"], event["url"]) for event in told] == [
            (f"All that is new about {name} this week", f"{URL}/{name}") for name in ("harbours", "gulls")
        ]
        assert "counted each morning" in told[0]["content"]
        assert told[0]["author"] == "Bo Ek"
        assert "change:new" in told[0]["tags"] and "unread" not in told[0] and "diff" not in told[0]
        await grown(run, origin, source, "gulls", "harbours")
        assert len(await run.events()) == 2
        assert [len(origin.looks(f"/news/{name}")) for name in ("gulls", "harbours", "anchors")] == [1, 1, 0]


async def test_a_missing_page_is_reported_at_once_as_in_the_list_with_the_reason(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        del origin.bodies["/news/gulls"]
        await grown(run, origin, source, "gulls")
        (event,) = await run.events()
        assert event["title"] == "All that is new about gulls this week"
        assert event["unread"].startswith("Its page could not be read: ")
        assert event["unread"].endswith("404 Not Found")
        assert waiting_of(run.disk, source).waiting == ()
        assert run.registry.table.get(source).hot.health.flag == "ok"


async def test_a_page_that_fails_for_a_while_is_tried_three_times(autojump_clock: Any) -> None:
    origin = an_origin(*NAMES)
    async with watching(origin) as (run, _):
        source = (await run.add(URL, follow="new_links")).view.source.id
        origin.headers["/news/gulls"] = {"content-encoding": "gzip"}  # an undecodable body is a content error
        origin.bodies["/news/gulls"] = b""
        await grown(run, origin, source, "gulls")
        assert [event["unread"][:27] for event in await run.events()] == ["Its page could not be read:"]


async def test_items_are_reported_once_over_an_end_between_check_and_page(
    autojump_clock: Any,
) -> None:
    disk, origin = Disk(), an_origin(*NAMES)
    async with watching(origin, disk=disk, follow_per_hour=1) as (run, _):
        source = (await run.add(URL, follow="new_links")).view.source.id
        await grown(run, origin, source, "gulls", "harbours", "islands")
        assert [event["url"] for event in await run.events()] == [f"{URL}/islands"]
        assert [one.url for one in waiting_of(disk, source).waiting] == [f"{URL}/harbours", f"{URL}/gulls"]
    async with watching(origin, disk=disk) as (run, _):
        await trio.sleep(120)
        told = await run.events()
        assert [event["url"] for event in told] == [f"{URL}/{name}" for name in ("islands", "harbours", "gulls")]
        assert all("counted each morning" in event["content"] for event in told)


async def test_a_source_fetches_no_more_pages_in_an_hour_than_it_may(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES), follow_per_hour=2) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        await grown(run, origin, source, *MORE)
        assert len(await run.events()) == 2
        await trio.sleep(3000)
        assert len(await run.events()) == 2
        await trio.sleep(700)
        assert len(await run.events()) == 4


async def test_an_entirely_new_list_is_reported_once_and_held(autojump_clock: Any) -> None:
    names = [f"thing {letter} of the harbour" for letter in "abcdefghijkl"]
    async with watching(an_origin()) as (run, origin):
        origin.bodies["/news"] = a_list(*names)
        source = (await run.add(URL, follow="new_links")).view.source.id
        origin.bodies["/news"] = a_list(*(f"other {name}" for name in names), host=f"https://{SITE}/moved")
        await look(run, source)
        (notice,) = await run.events()
        assert notice["alert_type"] == "source_reset"
        assert "All 12 items" in notice["content"] and "other thing a of the harbour" in notice["content"]
        assert not any(asked.target.startswith("/moved") for asked in origin.asked)


async def test_an_item_on_another_host_is_reported_but_not_fetched(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        origin.bodies["/news"] = a_list("gulls", host="https://other.example") + a_list(*NAMES)
        await look(run, source)
        (event,) = await run.events()
        assert event["unread"] == "Its page is on another host, other.example, which is not fetched."
        assert event["url"] == "https://other.example/news/gulls"


OTHER, THIRD = "https://other.example", "https://third.example"


class Abroad:
    """Two other sites on one machine, and their requests."""

    def __init__(self, run: Watching) -> None:
        self.asked: list[ReceivedRequest] = []
        self.status, self.robots = 200, b""
        run.network.add("other.example", "93.184.216.41", web(self.answer, self.asked))
        run.network.add("third.example", "93.184.216.42", web(self.answer, self.asked))
        for address in ("93.184.216.41", "93.184.216.42"):
            run.network.servers[address, 443] = run.network.servers[address, 80]

    def answer(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(200, self.robots, {"content-type": "text/plain"})
        html = {"content-type": "text/html", "set-cookie": "session=theirs; Domain=example"}
        return Answer(self.status, a_page(asked.target.rpartition("/")[2]), html)

    def hosts(self) -> list[str]:
        return [asked.headers["host"] for asked in self.asked if asked.target != "/robots.txt"]


async def test_pages_of_named_other_hosts_are_fetched_without_the_users_headers(
    autojump_clock: Any,
) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        abroad = Abroad(run)
        wish = {"follow": "new_links", "follow_hosts": ("WWW.Other.example",), "headers": "Cookie: session=s3cret"}
        view = (await run.add(URL, **wish)).view
        assert view.source.follow_hosts == ("other.example",)
        extra = a_list("gulls", host=OTHER) + a_list("docks", host=THIRD)
        origin.bodies["/news"] = a_list("harbours", *NAMES) + extra
        await look(run, view.source.id)
        told = {event["url"]: event for event in await run.events()}
        assert "counted each morning" in told[f"{OTHER}/news/gulls"]["content"]
        assert "counted each morning" in told[f"{URL}/harbours"]["content"]
        assert (
            told[f"{THIRD}/news/docks"]["unread"] == "Its page is on another host, third.example, which is not fetched."
        )
        assert abroad.hosts() == ["other.example"]
        assert abroad.asked[0].target == "/robots.txt"
        assert not [asked for asked in abroad.asked if "cookie" in asked.headers]
        assert run.registry.table.get(view.source.id).cookies.text == ""
        why = await run.registry_box.ask(lambda reply: ExplainSource(view.source.id, reply))
        says = " ".join(str(reason.says) for reason in why.reasons)
        assert "1 of them is on another host (other.example): fetched, too." in says
        assert "1 of them is on another host (third.example): not fetched." in says


async def test_pages_of_every_host_are_fetched_on_request_and_obey_robots_txt(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        abroad = Abroad(run)
        abroad.robots = b"User-agent: *\nDisallow: /news/docks"
        source = (await run.add(URL, follow="new_links", follow_hosts=("*",))).view.source.id
        origin.bodies["/news"] = a_list(*NAMES) + a_list("gulls", "docks", host=OTHER) + a_list("cranes", host=THIRD)
        await look(run, source)
        unread = {event["url"]: event.get("unread", "") for event in await run.events()}
        assert unread[f"{OTHER}/news/gulls"] == unread[f"{THIRD}/news/cranes"] == ""
        assert "robots.txt" in unread[f"{OTHER}/news/docks"]
        assert sorted(abroad.hosts()) == ["other.example", "third.example"]


async def test_a_host_that_rests_keeps_no_page_of_another_waiting_and_nothing_is_held_against_the_source(
    autojump_clock: Any,
) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        abroad = Abroad(run)
        source = (await run.add(URL, follow="new_links", follow_hosts=("other.example",))).view.source.id
        run.ports.egress.hosts.hold("other.example", 3000)
        origin.bodies["/news"] = a_list("gulls", *NAMES) + a_list("docks", "eels", host=OTHER)
        await look(run, source)
        assert [event["url"] for event in await run.events()] == [f"{URL}/gulls"]
        assert len(waiting_of(run.disk, source).waiting) == 2 and abroad.hosts() == []
        await trio.sleep(3600)
        assert len(await run.events()) == 3 and abroad.hosts() == ["other.example"] * 2
        assert run.registry.table.get(source).hot.health.flag == "ok"


def test_pages_of_other_hosts_wait_within_their_shares() -> None:
    source = a_source(1, url=URL, watch_url=URL, follow="new_links", follow_hosts=("*",))
    drafts = [a_draft("x", ("change:new",), url=f"{OTHER}/{n}", content="") for n in range(MOST_OF_HOST + 5)]
    found = items.enqueue(items.FollowQueue(), source, drafts, NOW)
    assert len(found.queue.waiting) == MOST_OF_HOST and len(found.other_hosts) == MOST_OF_HOST
    assert {draft.unread for draft in found.drafts} == {"Too many new items on other.example wait already."}
    many = [a_draft("x", ("change:new",), url=f"https://h{n}.example/x", content="") for n in range(MOST_ELSEWHERE + 5)]
    found = items.enqueue(items.FollowQueue(), source, many, NOW)
    assert len(found.queue.waiting) == MOST_ELSEWHERE and len(found.skipped_hosts) == 5
    assert other_hosts_text(found.other_hosts[:1], found.skipped_hosts) == (
        " 1 of them is on another host (h0.example): fetched, too."
        " 5 of them are on other hosts (h50.example, h51.example, h52.example and 2 more): not fetched."
    )


@pytest.mark.parametrize("host", ["https://a.example/x", "127.1", "a b", "*.*.example", ""])
async def test_an_invalid_host_is_not_followed(host: str, autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, _):
        with pytest.raises(Unprocessable, match="follow_hosts: "):
            await run.add(URL, follow="new_links", follow_hosts=(host,))


async def test_an_entry_of_a_feed_is_reported_with_the_text_of_its_page(autojump_clock: Any) -> None:
    origin = an_origin()
    origin.bodies["/feed"], origin.bodies["/gulls"] = rss(*NAMES), a_page("gulls")
    async with watching(origin) as (run, _):
        source = (await run.add(f"https://{SITE}/feed", follow="new_links", backfill=1)).view.source.id
        assert [event["content"] for event in await run.events()] == ["text of anchors"]
        origin.bodies["/feed"] = rss("gulls", *NAMES)
        await look(run, source)
        event = (await run.events())[-1]
        assert (event["title"], event["source_type"]) == ("gulls", "feed")
        assert "counted each morning" in event["content"]


async def test_a_source_that_stops_following_reports_waiting_items_as_listed(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES), follow_per_hour=1) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        await grown(run, origin, source, "gulls", "harbours")
        assert len(await run.events()) == 1
        await run.registry_box.ask(lambda reply: EditSource(source, SourcePatch(follow="none"), reply, None))
        await trio.sleep(10)
        told = await run.events()
        assert [event.get("unread") for event in told] == [None, "The source no longer follows links."]


async def test_a_websocket_has_nothing_to_follow(autojump_clock: Any) -> None:
    async with watching() as (run, _):
        with pytest.raises(Unprocessable, match=r"body\.follow: only a feed or a page has it"):
            await run.add(f"wss://{SITE}/live", follow="new_links")


async def test_no_page_is_fetched_while_the_list_itself_fails(autojump_clock: Any) -> None:
    origin = an_origin(*NAMES)
    async with watching(origin, follow_per_hour=1) as (run, _):
        source = (await run.add(URL, follow="new_links")).view.source.id
        await grown(run, origin, source, "gulls", "harbours")
        origin.status = 500
        await look(run, source)
        before = len(origin.looks("/news/gulls"))
        await trio.sleep(3 * 3600)
        assert len(origin.looks("/news/gulls")) == before
        origin.status = None
        await trio.sleep(2 * 3600)
        assert len(await run.news()) == 2


def a_sitemap(*names: str) -> bytes:
    found = "".join(f"<url><loc>https://{SITE}/news/{name}</loc></url>" for name in names)
    return f"<urlset>{found}</urlset>".encode()


def an_index(**files: str) -> bytes:
    found = "".join(
        f"<sitemap><loc>https://{SITE}/{name}.xml</loc><lastmod>{at}</lastmod></sitemap>" for name, at in files.items()
    )
    return f"<sitemapindex>{found}</sitemapindex>".encode()


async def test_a_new_url_of_a_sitemap_is_reported_with_its_pages_title(autojump_clock: Any) -> None:
    origin = an_origin()
    origin.bodies["/sitemap.xml"] = a_sitemap(*NAMES)
    async with watching(origin) as (run, _):
        source = (await run.add(f"https://{SITE}/sitemap.xml", follow="new_links")).view.source.id
        origin.bodies["/sitemap.xml"] = a_sitemap(*NAMES, "gulls")
        await look(run, source)
        (event,) = await run.events()
        assert (event["title"], event["url"]) == ("gulls - News", f"https://{SITE}/news/gulls")
        assert "counted each morning" in event["content"]


async def test_a_sitemap_that_does_not_change_costs_one_request_an_hour(autojump_clock: Any) -> None:
    origin = an_origin()
    origin.bodies |= {"/sitemap.xml": an_index(a="1", b="1"), "/a.xml": a_sitemap("eels"), "/b.xml": a_sitemap("docks")}
    async with watching(origin) as (run, _):
        await run.add(f"https://{SITE}/sitemap.xml", follow="new_links")
        await trio.sleep(600)
        assert len(origin.looks("/a.xml")) == len(origin.looks("/b.xml")) == 1
        before = len(origin.asked)
        await trio.sleep(10 * 3600)
        assert len([asked for asked in origin.asked[before:] if asked.target != "/robots.txt"]) <= 10
        assert len(origin.looks("/a.xml")) == 1
        assert await run.events() == []


async def test_a_sitemap_file_with_a_new_date_is_read_and_its_new_urls_reported(autojump_clock: Any) -> None:
    origin = an_origin()
    origin.bodies |= {"/sitemap.xml": an_index(a="1", b="1"), "/a.xml": a_sitemap("eels"), "/b.xml": a_sitemap("docks")}
    async with watching(origin) as (run, _):
        source = (await run.add(f"https://{SITE}/sitemap.xml", follow="new_links")).view.source.id
        await trio.sleep(600)
        origin.bodies["/b.xml"] = a_sitemap("docks", "gulls")
        origin.bodies["/sitemap.xml"] = an_index(a="1", b="2")
        await look(run, source)
        await trio.sleep(5)
        assert [event["url"] for event in await run.events()] == [f"https://{SITE}/news/gulls"]
        assert (len(origin.looks("/a.xml")), len(origin.looks("/b.xml"))) == (1, 2)


async def test_a_file_that_is_gone_does_not_hold_up_the_others(autojump_clock: Any) -> None:
    origin = an_origin()
    origin.bodies |= {"/sitemap.xml": an_index(a="1", gone="1"), "/a.xml": a_sitemap("eels")}
    async with watching(origin) as (run, _):
        source = (await run.add(f"https://{SITE}/sitemap.xml", follow="new_links")).view.source.id
        await trio.sleep(600)
        origin.bodies |= {"/sitemap.xml": an_index(a="2", gone="1"), "/a.xml": a_sitemap("eels", "gulls")}
        await look(run, source)
        await trio.sleep(5)
        assert [event["url"] for event in await run.events()] == [f"https://{SITE}/news/gulls"]


async def test_a_list_explains_an_unreported_text_and_names_a_reported_item(autojump_clock: Any) -> None:
    async with watching(an_origin(*NAMES)) as (run, origin):
        source = (await run.add(URL, follow="new_links")).view.source.id
        await grown(run, origin, source, "gulls")
        told = await run.registry_box.ask(lambda reply: ExplainSource(source, reply, "counted each morning"))
        assert told.reasons[0].kind == "told"
        unknown = await run.registry_box.ask(lambda reply: ExplainSource(source, reply, "anchors"))
        assert "read as a list" in str(unknown.reasons[0].says)

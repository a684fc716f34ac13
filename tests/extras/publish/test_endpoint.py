"""Publications as strangers read them: pages and feeds at an address that cannot be guessed, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import feedparser
import httpx
import pytest
import trio
from lxml import html
from msgspec.structs import replace

from actors.messages.views import SourceView
from actors.notices import notice_draft
from api.ratelimit import STRANGERS
from extras.publish import newest
from extras.publish.newest import LIFE, MOST
from storage.records.event import Draft
from storage.records.identity import COUNTER_BITS, Seq, rfc3339
from storage.records.source import SourceRuntime
from storage.sql.stores.log import EventLog
from tests.api.dashboard.hostile import PAYLOADS, shape, stays_text
from tests.api.house import BASE_URL, House, ids, make_house, running
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_why import LATER, a_page_draft
from tests.extras.publish.reading import whole_xml
from tests.support.build import NOW, a_draft, a_source, a_source_id

ENDINGS = ("atom", "rss", "json")


async def published(client: httpx.AsyncClient, **named: Any) -> dict[str, Any]:
    answer = await client.post("/v1/publications", json={"title": "Prices", **named})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def titles(reader: httpx.AsyncClient, record: dict[str, Any]) -> list[str]:
    """Return the titles in a publication, newest first; they must agree in all its forms."""
    found: list[list[str]] = []
    for ending in ("atom", "rss"):
        body = (await reader.get(record["feeds"][ending])).content
        found.append([entry.title for entry in feedparser.parse(body).entries])
    feed = (await reader.get(record["feeds"]["json"])).json()
    found.append([item["title"] for item in feed["items"]])
    shown = html.fromstring((await reader.get(record["url"])).content)
    found.append([heading.text_content() for heading in shown.xpath("//article/h3")])
    assert found == [found[0]] * 4
    return found[0]


def tagged(title: str, *tags: str) -> Draft:
    return a_draft(title, tags=tags)


# --- content ---------------------------------------------------------------------------------------------------------


async def test_without_a_key_a_publication_is_read_newest_first_as_three_feeds_and_a_page(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client)
    async with house.stranger() as reader:
        assert await titles(reader, record) == []
        events = await house.publish("one", "two", "three")
        assert await titles(reader, record) == ["three", "two", "one"]
        await house.publish("four")
        assert await titles(reader, record) == ["four", "three", "two", "one"]
        feed = feedparser.parse((await reader.get(record["feeds"]["atom"])).content)
        assert [entry.id for entry in feed.entries[1:]] == [f"urn:uuid:{id}" for id in reversed(ids(events))]
        assert feed.feed.title == "Prices" and feed.feed.id == f"urn:uuid:{record['id']}"


async def test_only_events_that_match_every_filter_are_shown(house: House, client: httpx.AsyncClient) -> None:
    prices = await made(client, filter_query="price", name="prices", channel="cheap")
    await house.publish(source=2)
    records = {
        "all": await published(client),
        "tag": await published(client, tags=["prices", "topic:ai"]),
        "source": await published(client, source_ids=[a_source_id(2)]),
        "both": await published(client, source_ids=[a_source_id(2)], tags=["prices"]),
        "alert": await published(client, alert_ids=[prices["id"].upper()]),
        "named channel": await published(client, channel="cheap"),
        "tier": await published(client, channel="html"),
        "notices": await published(client, channel="alerts"),
    }
    await house.publish(tagged("A price", "label:prices"), tagged("AI", "topic:ai"), "plain")
    await house.publish(tagged("Two", "label:prices"), "other price", source=2)
    await house.publish(a_draft("Page", source_type="html"), source=3)
    notice = notice_draft("source_failing", "https://site1.test/", "Failing: site1", "It fails.", NOW)
    practice = a_draft("Exercise", practice=True)
    await house.publish(notice, practice)
    wanted = {
        "all": ["Page", "other price", "Two", "plain", "AI", "A price"],
        "tag": ["Two", "AI", "A price"],
        "source": ["other price", "Two"],
        "both": ["Two"],
        "alert": ["other price", "A price"],
        "named channel": ["Failing: site1", "other price", "A price"],
        "tier": ["Page"],
        "notices": ["Failing: site1"],
    }
    async with house.stranger() as reader:
        for name, record in records.items():
            assert await titles(reader, record) == wanted[name], name


async def test_a_change_of_an_alert_or_publication_applies_to_earlier_events(
    house: House, client: httpx.AsyncClient
) -> None:
    alert = await made(client, filter_query="price")
    record = await published(client, alert_ids=[alert["id"]])
    await house.publish("A price", "A fare")
    async with house.stranger() as reader:
        assert await titles(reader, record) == ["A price"]
        await client.patch(f"/v1/alerts/{alert['id']}", json={"filter_query": "fare"})
        assert await titles(reader, record) == ["A fare"]
        await client.patch(f"/v1/publications/{record['id']}", json={"alert_ids": [], "title": "All"})
        assert await titles(reader, record) == ["A fare", "A price"]
        await client.patch(f"/v1/publications/{record['id']}", json={"alert_ids": [alert["id"]]})
        await client.delete(f"/v1/alerts/{alert['id']}")
        gone = await reader.get(record["feeds"]["atom"])
        assert gone.status_code == 404 and "alerts of this publication are gone" in gone.json()["detail"]


async def test_pages_follow_each_other_to_the_first_event_while_new_ones_come(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client)
    told = [f"n{number}" for number in range(2 * MOST + 7)]
    for title in told:
        await house.publish(title)
    async with house.stranger() as reader:
        for ending, next_of in {"atom": next_in_xml, "rss": next_in_xml, "json": next_in_json}.items():
            found: list[str] = []
            address: str | None = record["feeds"][ending]
            while address:
                body = (await reader.get(address)).content
                found += (
                    [item["title"] for item in json.loads(body)["items"]]
                    if ending == "json"
                    else [entry.title for entry in feedparser.parse(body).entries]
                )
                address = next_of(body)
                await house.publish(f"meanwhile in {ending}")
            assert [title for title in found if "meanwhile" not in title] == told[::-1], ending
        shown = html.fromstring((await reader.get(record["url"])).content)
        (older,) = shown.xpath("//a[@rel='next']/@href")
        rest = html.fromstring((await reader.get(older)).content)
        assert len(rest.xpath("//article")) == MOST and rest.xpath(f"//a[@href='{record['url']}']")


def next_in_xml(body: bytes) -> str | None:
    links = whole_xml(body).xpath("//*[local-name()='link'][@rel='next']/@href")
    return str(links[0]) if links else None


def next_in_json(body: bytes) -> str | None:
    address: str | None = json.loads(body).get("next_url")
    return address


async def test_one_event_shows_its_difference_and_the_verdict_on_its_signature(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client)
    (event,) = await house.publish(a_page_draft())
    async with house.stranger() as reader:
        listed = html.fromstring((await reader.get(record["url"])).content)
        (address,) = listed.xpath("//article/h3/a/@href")
        assert address == f"{record['url']}/{ids([event])[0]}"
        page = html.fromstring((await reader.get(address)).content)
        words = " ".join(page.text_content().split())
        for text in ("Prices", "It costs 19", "It costs 29", "A new paragraph", "Not verified"):
            assert text in words, text
        assert event.body.decode()[:40] in json.dumps(json.loads(page.xpath("//details/pre")[0].text)).replace(" ", "")
        atom = feedparser.parse((await reader.get(record["feeds"]["atom"])).content).entries[0]
        assert [link.href for link in atom.links if link.rel == "related"] == [address]


async def test_an_event_that_is_not_published_here_is_not_found_by_its_id(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client, tags=["prices"])
    (other,) = ids(await house.publish("secret"))
    async with house.stranger() as reader:
        for id in (other, other.upper(), "nothing", "..", "%2e%2e%2fv1", "0" * 300):
            answer = await reader.get(f"{record['url']}/{id}")
            assert answer.status_code == 404 and "secret" not in answer.text, id


async def test_noise_is_a_tombstone_and_real_restores_it(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    house.registry.views[a_source_id(1)] = SourceView(a_source(type="html"), SourceRuntime())
    (event,) = await house.publish(a_page_draft())
    await house.publish("after it", source=2)
    (id,) = ids([event])
    async with house.stranger() as reader:
        tag = (await reader.get(record["feeds"]["atom"])).headers["etag"]
        assert (await client.post(f"/v1/events/{id}/feedback", json={"verdict": "noise"})).status_code == 200
        assert await titles(reader, record) == ["after it"]
        answer = await reader.get(record["feeds"]["atom"], headers={"If-None-Match": tag})
        (stone,) = whole_xml(answer.content).iter("{http://purl.org/atompub/tombstones/1.0}deleted-entry")
        assert answer.status_code == 200 and stone.get("ref") == f"urn:uuid:{id}"
        assert (await reader.get(f"{record['url']}/{id}")).status_code == 404
        assert (await client.post(f"/v1/events/{id}/feedback", json={"verdict": "real"})).status_code == 200
        assert await titles(reader, record) == ["after it", "Prices"]
        assert b"deleted-entry" not in (await reader.get(record["feeds"]["atom"])).content


async def test_a_page_follows_accept_language_and_is_cached_per_language(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client, tags=["prices"])
    await house.publish(tagged("one", "label:prices"))
    async with house.stranger() as reader:
        swedish = await reader.get(record["url"], headers={"Accept-Language": "sv"})
        english = await reader.get(record["url"], headers={"If-None-Match": swedish.headers["etag"]})
    assert '<html lang="sv">' in swedish.text and "Följ den i en flödesläsare" in swedish.text
    assert (english.status_code, english.headers["vary"]) == (200, "Accept-Language")
    assert '<html lang="en">' in english.text and "Follow it in a feed reader" in english.text


async def test_a_page_shows_its_last_change_and_one_source_alone(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client, tags=["prices"])
    log = a_draft("Release 2", url="https://log.example/2")
    pages = [replace(a_page_draft(), title=name, url=f"https://shop.example/{name}") for name in ("Kettle", "Toaster")]
    async with house.stranger() as reader:
        empty = html.fromstring((await reader.get(record["url"])).content)
        assert "Nothing yet" in empty.text_content() and "Last change" not in empty.text_content()
        for number, draft in enumerate((log, *pages), 2):
            await house.publish(draft, source=number)
        await client.patch(f"/v1/publications/{record['id']}", json={"tags": []})
        page = html.fromstring((await reader.get(record["url"])).content)
        said = page.text_content()
        assert "Published by sanderling.test" in said and "Last change: " in said and "Times are UTC" in said
        assert set(record["feeds"].values()) == set(page.xpath("//details//a/@href"))
        links = {link.text: link.get("href") for link in page.xpath("//nav[@aria-label='Sources']//a")}
        assert list(links) == ["All sources", "log.example", "shop.example: Kettle", "shop.example: Toaster"]
        one = html.fromstring((await reader.get(links["log.example"])).content)
        assert one.xpath("//article/h3/a/text()") == ["Release 2"]
        assert one.xpath("//nav//a[@aria-current]/text()") == ["log.example"]


async def test_a_sources_events_continue_on_older_pages(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    for number in range(2 * MOST + 4):
        await house.publish(f"n{number}", source=2 + number % 2)
    async with house.stranger() as reader:
        first = html.fromstring((await reader.get(f"{record['url']}?source={a_source_id(2)}")).content)
        (older,) = first.xpath("//a[@rel='next']/@href")
        rest = html.fromstring((await reader.get(older)).content)
    assert rest.xpath("//article/h3/a/text()") == ["n2", "n0"]


async def test_a_source_in_the_address_shows_nothing_that_is_not_published(
    house: House, client: httpx.AsyncClient
) -> None:
    private, other, shown = a_source_id(2), a_source_id(3), a_source_id(4)
    house.private.add(private)
    for number in (2, 3, 4):
        await house.publish(f"from {a_source_id(number)}", source=number)
    everything, only = await published(client), await published(client, source_ids=[shown])
    async with house.stranger() as reader:
        hidden = await reader.get(f"{everything['url']}?source={private}")
        assert hidden.status_code == 200 and "from" not in hidden.text
        assert (await reader.get(f"{only['url']}?source={other}")).status_code == 404
        both = await reader.get(f"{only['url']}?source={other},{shown}")
        assert f"from {shown}" in both.text and f"from {other}" not in both.text
        assert (await reader.get(f"{only['url']}?source=x")).status_code == 400


# --- polls without news ----------------------------------------------------------------------------------------------


async def test_a_poll_that_finds_nothing_reads_no_log_and_one_that_finds_something_reads_none_either(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = await published(client, tags=["prices"])
    await house.publish(tagged("one", "label:prices"))
    reads: list[str] = []
    for name in ("read", "read_back", "get"):
        monkeypatch.setattr(EventLog, name, counted(reads, name, getattr(EventLog, name)))
    async with house.stranger() as reader:
        for ending in ENDINGS:
            address = record["feeds"][ending]
            first = await reader.get(address)
            assert first.headers["etag"].startswith('W/"')
            there = list(reads)
            for known in (first.headers["etag"], f'"x", {first.headers["etag"]}', "*"):
                again = await reader.get(address, headers={"If-None-Match": known})
                assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
            await house.publish(tagged("elsewhere", "label:other"))
            again = await reader.get(address, headers={"If-None-Match": first.headers["etag"]})
            assert again.status_code == 304, "an event of another filter changes nothing"
            await house.publish(tagged("two", "label:prices"))
            changed = await reader.get(address, headers={"If-None-Match": first.headers["etag"]})
            assert changed.status_code == 200 and b"two" in changed.content
            assert reads == there, ending
        assert reads, "the first one did"


def counted(reads: list[str], name: str, method: Any) -> Any:
    async def call(*args: Any, **kwargs: Any) -> Any:
        reads.append(name)
        return await method(*args, **kwargs)

    return call


async def test_deleted_events_leave_the_newest_page_within_an_hour(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    record = await published(client)
    await house.publish("old")
    house.mint.raise_floor(Seq(LATER << COUNTER_BITS))
    await house.publish("new")
    async with house.stranger() as reader:
        assert await titles(reader, record) == ["new", "old"]
        await house.storage.log.retain(Seq(LATER << COUNTER_BITS), 10, house.storage.lease)
        await trio.sleep(LIFE + 1)
        assert await titles(reader, record) == ["new"]


async def test_two_concurrent_requests_get_the_same(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    for number in range(5):
        await house.publish(f"n{number}")
    bodies: list[bytes] = []

    async def ask() -> None:
        async with house.stranger() as reader:
            bodies.append((await reader.get(record["feeds"]["atom"])).content)

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(ask)
    assert len(bodies) == 8 and len(set(bodies)) == 1 and b"n4" in bodies[0]


async def test_a_publication_that_leaves_the_cache_while_it_is_levelled_is_shown(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is full, and another publication is read at the same time."""
    monkeypatch.setattr(newest, "KEPT", 1)
    first, second = await published(client), await published(client)
    await house.publish("one")
    plain = newest.NewestEvents._extend

    async def slowly(self: Any, *given: Any) -> None:
        await trio.sleep(1)
        await plain(self, *given)

    monkeypatch.setattr(newest.NewestEvents, "_extend", slowly)
    found = list[int]()

    async def read(record: dict[str, Any]) -> None:
        async with house.stranger() as reader:
            found.append((await reader.get(record["feeds"]["atom"])).status_code)

    await read(first)
    await house.publish("two")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, first)
        await trio.sleep(0.5)
        nursery.start_soon(read, second)
    assert found == [200, 200, 200]


# --- access ----------------------------------------------------------------------------------------------------------


async def test_another_address_ends_the_old_one_and_a_deleted_publication_is_nowhere(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client)
    path = f"/v1/publications/{record['id']}"
    async with house.stranger() as reader:
        assert (await reader.get(record["url"])).status_code == 200
        again = (await client.post(f"{path}/address")).json()
        assert again["url"] != record["url"] and again["id"] == record["id"]
        for address in (record["url"], *record["feeds"].values()):
            assert (await reader.get(address)).status_code == 404
        assert (await reader.get(again["feeds"]["atom"])).status_code == 200
        assert (await client.delete(path)).status_code == 204
        for address in (again["url"], *again["feeds"].values()):
            assert (await reader.get(address)).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/published/",
        "/published/x",
        "/published/x.atom",
        "/published/{token}.xml",
        "/published/{token}.",
        "/published/{token}.atom.atom",
        "/published/{token}.atom/x",
        "/published/{token}/x/y",
        "/published/{token}%00",
        "/published/{token}%2e%2e",
        "/published/{other}",
        "/published/%ff%fe",
        "/published/../v1/sources",
        "/published/" + "x" * 5_000,
    ],
)
async def test_any_other_path_is_404_and_reports_nothing(house: House, client: httpx.AsyncClient, path: str) -> None:
    record = await published(client)
    token = record["url"].rpartition("/")[2]
    await house.publish("secret")
    raw = path.format(token=token, other=token.swapcase())
    stream = await house.raw(f"GET {raw} HTTP/1.1\r\nHost: sanderling.test\r\nConnection: close\r\n\r\n".encode())
    answer = b""
    while chunk := await stream.receive_some(1 << 16):
        answer += chunk
    assert b" 404 " in answer.split(b"\r\n")[0] and b"secret" not in answer and token.encode() not in answer


async def test_answers_keep_search_engines_scripts_and_referrers_out_and_set_no_cookie(
    house: House, client: httpx.AsyncClient
) -> None:
    record = await published(client)
    (id,) = ids(await house.publish("one"))
    addresses = [record["url"], *record["feeds"].values(), f"{record['url']}/{id}", f"{record['url']}x"]
    async with house.stranger(Cookie="session=x") as reader:
        for address in addresses:
            answer = await reader.get(address)
            told = answer.headers
            assert told["x-robots-tag"] == "noindex, nofollow" and told["referrer-policy"] == "no-referrer", address
            assert "script-src" not in told["content-security-policy"]
            assert told["content-security-policy"].startswith("default-src 'none'")
            assert told["x-content-type-options"] == "nosniff" and "set-cookie" not in told
            assert told["cache-control"] in ("private, no-cache", "no-store") and told["x-request-id"]
            if "html" in told["content-type"]:
                page = html.fromstring(answer.content)
                assert page.xpath("//script | //form | //iframe") == []
                for link in page.xpath("//a/@href"):
                    ours = link.startswith((BASE_URL, "/"))
                    assert not ours or "/published/" in link or link == "/.well-known/jwks.json", link


async def test_head_is_get_without_its_body_and_other_methods_are_405(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    await house.publish("one")
    async with house.stranger() as reader:
        for address in (record["url"], *record["feeds"].values()):
            get, head = await reader.get(address), await reader.head(address)
            assert (head.status_code, head.content) == (200, b"")
            same = {"date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"}
            assert {k: v for k, v in head.headers.items() if k not in same} == {
                k: v for k, v in get.headers.items() if k not in same
            }
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer = await reader.request(method, record["feeds"]["atom"], content=b"x" * 100_000)
            assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD", method


@pytest.mark.parametrize(
    "query",
    [
        "before=",
        "before=x",
        "before=-1",
        "before=" + "9" * 90,
        "before=%00",
        "before=a&before=b",
        "&".join(f"q{n}={n}" for n in range(30)),
    ],
    ids=range(7),
)
async def test_a_place_that_is_none_is_400_in_words_or_the_newest_page(
    house: House, client: httpx.AsyncClient, query: str
) -> None:
    record = await published(client)
    async with house.stranger() as reader:
        answer = await reader.get(f"{record['feeds']['atom']}?{query}")
        if query == "before=":
            assert answer.status_code == 200, "as if it were not there"
        else:
            assert answer.status_code == 400 and "id of an event" in answer.json()["detail"]


async def test_an_address_over_its_rate_gets_retry_after(autojump_clock: object) -> None:
    async with running(make_house()) as house, await house.client() as client, house.stranger() as reader:
        record = await published(client)
        for _ in range(int(STRANGERS.burst)):
            assert (await reader.get(record["feeds"]["json"])).status_code == 200
        refused = await reader.get(record["feeds"]["json"])
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
        await trio.sleep(int(refused.headers["retry-after"]))
        assert (await reader.get(record["feeds"]["json"])).status_code == 200


async def test_no_log_line_holds_an_address(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    token = record["url"].rpartition("/")[2]
    async with house.stranger() as reader:
        for address in (record["url"], record["feeds"]["atom"], f"{record['url']}/x", f"{record['url']}.zip"):
            await reader.get(address)
    house.storage.disk.full = True
    await client.patch(f"/v1/publications/{record['id']}", json={"title": "x"})
    assert token not in repr(house.logs)


# --- hostile events --------------------------------------------------------------------------------------------------


async def test_x12_hostile_texts_stay_text_on_every_page(house: House, client: httpx.AsyncClient) -> None:
    record = await published(client)
    async with house.stranger() as reader:

        async def pages() -> list[Any]:
            listed = html.fromstring((await reader.get(record["url"])).content)
            found = [listed]
            for address in listed.xpath("//article/h3/a/@href")[:3]:
                found.append(html.fromstring((await reader.get(address)).content))
            return found

        await house.publish(a_page_draft(), a_draft("Entry", author="Anna"))
        there = [shape(page) for page in await pages()]
        await house.publish(*(f"n{number}" for number in range(MOST)))
        harmless = frozenset().union(*(shape(page) for page in await pages()), *there)
        for first in range(0, len(PAYLOADS), 20):
            some = PAYLOADS[first : first + 20]
            await house.publish(
                *(a_draft(text, content=text, author=text, url=text, tags=(f"category:{text}",)) for text in some)
            )
            for page in await pages():
                stays_text(page, harmless)
            for ending in ("atom", "rss"):
                whole_xml((await reader.get(record["feeds"][ending])).content)


async def test_an_unreadable_event_is_skipped_and_reported(house: House, client: httpx.AsyncClient) -> None:
    """A later version may have written it."""
    record = await published(client)
    await house.publish("one", a_draft("two", author=7), "three")
    async with house.stranger() as reader:
        feed = feedparser.parse((await reader.get(record["feeds"]["atom"])).content)
        assert [entry.title for entry in feed.entries] == ["three", "one"]
        assert (await reader.get(record["url"])).status_code == 200
    assert re.search("published.unreadable", repr(house.logs))


# --- the end ---------------------------------------------------------------------------------------------------------


async def test_after_its_last_day_every_address_answers_410_and_a_later_day_opens_them(
    house: House, client: httpx.AsyncClient
) -> None:
    today = rfc3339(house.context.world.now())[:10]
    record = await published(client, ends_on=today)
    (event,) = ids(await house.publish("one"))
    places = [record["url"], f"{record['url']}/{event}", *record["feeds"].values()]
    async with house.stranger() as reader:
        assert [(await reader.get(place)).status_code for place in places] == [200] * 5
        assert f"Shared until {today}." in (await reader.get(record["url"])).text
        path = f"/v1/publications/{record['id']}"
        assert (await client.patch(path, json={"ends_on": "2020-02-29"})).status_code == 200
        answers = [await reader.get(place) for place in places]
        assert [answer.status_code for answer in answers] == [410] * 5
        assert all("one" not in html.fromstring(answer.content).text_content().split() for answer in answers)
        assert answers[-1].json()["detail"] == "This was shared until 2020-02-29."
        page = await reader.get(record["url"], headers={"Accept-Language": "sv"})
        assert page.status_code == 410 and "Det här delades till och med 2020-02-29." in page.text
        await client.patch(path, json={"ends_on": None})
        assert [(await reader.get(place)).status_code for place in places] == [200] * 5

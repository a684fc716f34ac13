"""Each cursor over the log: a burst of three pages and one event arrives complete, in order and once; a cursor that
takes a page for everything is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import feedparser
import httpx
import pytest
import trio

from actors.delivery.actor import MOST_CLAIMED
from actors.delivery.claims import Claims
from actors.delivery.schedule import MOST_EVENTS as OF_A_DIGEST
from actors.matcher import PAGE as OF_THE_MATCHER
from actors.matcher import Matcher
from api.nouns import events as past
from api.nouns.events import AT_ONCE as OF_HISTORY
from api.streams.export import PAGE as OF_AN_EXPORT
from api.streams.export import Export
from api.streams.reader import TURN as OF_A_STREAM
from api.streams.reader import Reader
from extras.agents.tools import _AT_ONCE as OF_AN_AGENT
from extras.agents.within import Service
from extras.publish import newest as documents
from extras.publish.formats import FORMATS, FeedPage
from extras.publish.hub import Hub
from extras.publish.newest import MOST as OF_A_FEED
from storage.sql.stores.outbox import Outbox
from storage.tail import PAGE as OF_THE_FOLLOWER
from storage.tail import Follower, Tail
from tests.actors.delivery.rig import Rig as DeliveryRig
from tests.actors.matcher.rig import Rig as MatcherRig
from tests.actors.matcher.rig import an_alert
from tests.actors.matcher.test_actor import running as matching
from tests.api.house import House, make_house, running
from tests.api.listening import listening
from tests.extras.agents.test_endpoint import sent
from tests.extras.publish.test_endpoint import next_in_json, next_in_xml, published
from tests.extras.publish.test_hub import a_hub, subscribed

HOUR = 3600.0
Cursor = Callable[[Sequence[str]], Awaitable[list[str]]]
"""Appends events of these titles at once and returns the titles that arrive, oldest first."""


def matcher(*, late: bool) -> Cursor:
    """A running matcher, or one that starts `late`, after the burst."""

    async def cursor(titles: Sequence[str]) -> list[str]:
        rig = MatcherRig()
        await rig.prepare(an_alert(query=""))
        if late:
            await rig.commit(*titles)
        async with matching(rig):
            if not late:
                await rig.commit(*titles)
            await trio.sleep(60)
            return rig.outbox()["alert-hook"]

    return cursor


async def deliveries(titles: Sequence[str]) -> list[str]:
    rig = DeliveryRig()
    await rig.prepare("hook", most_at_once=0)
    async with rig.running():
        await rig.match("hook", *titles)
        await trio.sleep(HOUR)
    return sorted((json.loads(each.body)["title"] for each in rig.arrivals), key=titles.index)


async def digests(titles: Sequence[str]) -> list[str]:
    rig = DeliveryRig()
    await rig.prepare("hook", delivery_mode="hourly")
    async with rig.running():
        await rig.match("hook", *titles)
        await trio.sleep(2 * HOUR)
    return [event["title"] for each in rig.arrivals for event in json.loads(each.body)["events"]]


async def hub(titles: Sequence[str]) -> list[str]:
    async with a_hub() as (house, callbacks), await house.client() as client:
        await subscribed(house, (await published(client))["feeds"]["atom"])
        await house.publish(*titles)
        await trio.sleep(60)
        return [title for each in callbacks.told for title in reversed(each.titles)]


def of_house(read: Callable[[House, httpx.AsyncClient, int], Awaitable[list[str]]]) -> Cursor:
    async def cursor(titles: Sequence[str]) -> list[str]:
        async with running(make_house()) as house, await house.client() as client:
            await house.publish("before")
            await house.publish(*titles)
            found = await read(house, client, len(titles))
            return [title for title in found if title != "before"]

    return cursor


def stream(since: str) -> Cursor:
    """A stream that begins before the burst: from the log, as the ring has little, or from live appends."""
    little = {"most": 16, "most_bytes": 64 << 20}

    async def cursor(titles: Sequence[str]) -> list[str]:
        with patch.object(Tail.__init__, "__kwdefaults__", little) if since else nullcontext():
            made = make_house()
        async with running(made) as house, trio.open_nursery() as nursery:
            nursery.start_soon(house.storage.follow)
            await house.publish("before")
            if since:
                await house.publish(*titles)
            async with listening(house, f"/v1/stream{since}", key=await house.key()) as heard:
                if not since:
                    await house.publish(*titles)
                found: list[str] = []
                with trio.move_on_after(60):
                    while len(found) < len(titles):
                        found += [title for title in ((await heard.event())["title"],) if title != "before"]
            nursery.cancel_scope.cancel()
        return found

    return cursor


async def follower(titles: Sequence[str]) -> list[str]:
    """The tail's follower finds events in the log that were committed without a notice to this node."""
    rig = MatcherRig()
    await rig.prepare()
    found: list[str] = []
    async with trio.open_nursery() as nursery:
        await rig.commit(*titles)
        nursery.start_soon(rig.storage.follow)
        head = rig.storage.tail.head
        with trio.move_on_after(60):
            while len(found) < len(titles):
                for each in rig.storage.tail.since(head) or ():
                    found.append(json.loads(each.stored.body)["title"])
                    head = each.stored.seq
                await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
    return found


async def history(house: House, client: httpx.AsyncClient, count: int) -> list[str]:
    found, cursor = [], {}
    while True:
        page = (await client.get("/v1/events", params={"order": "asc", "limit": 200, **cursor})).json()
        found += [event["title"] for event in page["events"]]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


async def export(house: House, client: httpx.AsyncClient, count: int) -> list[str]:
    lines = (await client.get("/v1/events/export?format=ndjson")).text.splitlines()
    return [json.loads(line)["title"] for line in lines]


async def agent(house: House, client: httpx.AsyncClient, count: int) -> list[str]:
    found, asked = [], {"since": "24h", "max_tokens": 20_000}
    while True:
        told = (await sent(client, "tools/call", name="changes_since", arguments=asked))["result"]["structuredContent"]
        found += [event["quoted"]["title"] for event in told["events"]]
        if not told["more"]:
            return found
        asked["since"] = told["next"]


def feed(ending: str) -> Callable[[House, httpx.AsyncClient, int], Awaitable[list[str]]]:
    async def read(house: House, client: httpx.AsyncClient, count: int) -> list[str]:
        found: list[str] = []
        address: str | None = (await published(client))["feeds"][ending]
        async with house.stranger() as reader:
            while address:
                body = (await reader.get(address)).content
                found += titles_of(body, ending)
                address = (next_in_json if ending == "json" else next_in_xml)(body)
        return found[::-1]

    return read


def titles_of(body: bytes, ending: str) -> list[str]:
    if ending == "json":
        return [item["title"] for item in json.loads(body)["items"]]
    return [entry.title for entry in feedparser.parse(body).entries]


CURSORS: dict[str, tuple[Cursor, int]] = {
    "matcher": (matcher(late=False), OF_THE_MATCHER),
    "matcher that starts": (matcher(late=True), OF_THE_MATCHER),
    "deliveries": (deliveries, MOST_CLAIMED),
    "digests": (digests, OF_A_DIGEST),
    "hub": (hub, OF_A_FEED),
    "follower of the log": (follower, OF_THE_FOLLOWER),
    "stream that is open": (stream(""), OF_A_STREAM),
    "stream that resumes": (stream("?since=earliest"), OF_A_STREAM),
    "history": (of_house(history), OF_HISTORY),
    "export": (of_house(export), OF_AN_EXPORT),
    "agents": (of_house(agent), OF_AN_AGENT),
    "atom": (of_house(feed("atom")), OF_A_FEED),
    "rss": (of_house(feed("rss")), OF_A_FEED),
    "json feed": (of_house(feed("json")), OF_A_FEED),
}


@pytest.mark.parametrize("name", CURSORS)
async def test_a_burst_of_three_pages_arrives_whole_in_order_and_once(name: str, autojump_clock: object) -> None:
    cursor, page = CURSORS[name]
    titles = [f"e{number}" for number in range(3 * page + 1)]
    assert await cursor(titles) == titles


# --- each cursor, with the bug that a page is everything ---------------------------------------------------------

Planted = AbstractContextManager[Any]


def matches_a_page_of_the_ring() -> Planted:
    right = Matcher._match

    async def wrong(self: Matcher, events: Sequence[Any]) -> None:
        await right(self, events[:OF_THE_MATCHER])
        self._at = events[-1].seq

    return patch.object(Matcher, "_match", wrong)


def starts_with_one_page() -> Planted:
    right = Matcher._match

    async def wrong(self: Matcher, events: Sequence[Any]) -> None:
        await right(self, events)
        self._at = self._storage.tail.head

    return patch.object(Matcher, "_match", wrong)


def claims_once() -> Planted:
    right, found = Claims.claim, list[object]()

    async def wrong(self: Claims, most: int, *, digests: bool, **more: Any) -> Sequence[Any]:
        if found:
            await trio.sleep_forever()
        found.extend(claimed := await right(self, most, digests=digests, **more))
        return claimed

    return patch.object(Claims, "claim", wrong)


def gathers_once() -> Planted:
    right, found = Outbox.gathered_since, list[object]()

    async def wrong(self: Outbox, destination: str) -> Any:
        since = None if found else await right(self, destination)
        found.extend([since] if since else [])
        return since

    return patch.object(Outbox, "gathered_since", wrong)


def posts_a_page_and_goes_to_the_head() -> Planted:
    right = Hub._document

    async def wrong(self: Hub, topic: Any, newest: Any, reader: Any) -> Any:
        return (await right(self, topic, newest, reader))._replace(upto=newest.page.events[0].seq)

    return patch.object(Hub, "_document", wrong)


def follows_one_page() -> Planted:
    async def wrong(self: Follower) -> None:
        await self._tail.publish(await self._log.newer(self._tail.head, OF_THE_FOLLOWER))

    return patch.object(Follower, "_read_on", wrong)


def streams_a_turn_of_the_ring() -> Planted:
    right = Reader._of_ring

    def wrong(self: Reader, recent: Sequence[Any]) -> bytes:
        frames = right(self, recent)
        self.cursor = recent[-1].stored.seq
        return frames

    return patch.object(Reader, "_of_ring", wrong)


def resumes_with_one_page() -> Planted:
    right = Reader._read_page

    async def wrong(self: Reader) -> None:
        await right(self)
        self.cursor = self.tail.head

    return patch.object(Reader, "_read_page", wrong)


def names_no_next_page() -> Planted:
    return patch.object(past, "lead_on", lambda *_: None)


def exports_one_page() -> Planted:
    right = Export._read

    async def wrong(self: Export) -> None:
        await right(self)
        self._exhausted = True

    return patch.object(Export, "_read", wrong)


def tells_agents_of_one_page() -> Planted:
    right = Service.get

    async def wrong(self: Service, *given: Any, **named: Any) -> Any:
        found = await right(self, *given, **named)
        return found | {"next_cursor": None} if "next_cursor" in found else found

    return patch.object(Service, "get", wrong)


def links_no_older_page(ending: str) -> Callable[[], Planted]:
    def planted() -> Planted:
        right = FORMATS[ending]

        def wrong(feed: FeedPage) -> bytes:
            return right.write(feed._replace(older=""))

        return patch.object(documents, "FORMATS", MappingProxyType(FORMATS | {ending: right._replace(write=wrong)}))

    return planted


PLANTED: dict[str, Callable[[], Planted]] = {
    "matcher": matches_a_page_of_the_ring,
    "matcher that starts": starts_with_one_page,
    "deliveries": claims_once,
    "digests": gathers_once,
    "hub": posts_a_page_and_goes_to_the_head,
    "follower of the log": follows_one_page,
    "stream that is open": streams_a_turn_of_the_ring,
    "stream that resumes": resumes_with_one_page,
    "history": names_no_next_page,
    "export": exports_one_page,
    "agents": tells_agents_of_one_page,
    "atom": links_no_older_page("atom"),
    "rss": links_no_older_page("rss"),
    "json feed": links_no_older_page("json"),
}


@pytest.mark.parametrize("name", CURSORS)
async def test_a_cursor_that_takes_a_page_for_everything_is_noticed(name: str, autojump_clock: object) -> None:
    cursor, page = CURSORS[name]
    titles = [f"e{number}" for number in range(3 * page + 1)]
    with PLANTED[name]():
        found = await cursor(titles)
    assert 0 < len(found) < len(titles) and set(found) < set(titles)

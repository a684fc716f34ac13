"""The WebSub hub: a confirmed callback gets each new event once, signed, until its lease ends; failures are retried."""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import feedparser
import httpx
import pytest
import trio
import trio.lowlevel

from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.url import Url
from actors.errors import UrlRefused
from extras.publish import hub as actor
from extras.publish.hub import (
    LONGEST_LEASE,
    MOST_BYTES,
    USUAL_LEASE,
    Hub,
    Intent,
    Subscriber,
    Subscriptions,
    mailbox_of,
)
from storage.records.publication import Publication, hash_of
from storage.sql.stores.publications import Published
from tests.api.house import FakeChild, House, make_house, running
from tests.extras.publish.test_endpoint import published, tagged
from tests.support.build import a_draft

CALLBACK = "https://reader.test/in?id=7"
SECRET = "the reader's own"


class Told(NamedTuple):
    """A request that a callback received."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def titles(self) -> list[str]:
        return [entry.title for entry in feedparser.parse(self.body).entries]


@dataclass
class Callbacks:
    """The readers' callbacks: they confirm and accept every request, unless a test scripts a host."""

    asked: list[dict[str, str]] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    status: dict[str, int] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)
    challenges_wait: dict[str, float] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    closed: dict[str, Exception] = field(default_factory=dict)
    echo: bool = True

    async def check(self, url: Url) -> tuple[str, ...]:
        await trio.lowlevel.checkpoint()
        if url.host in self.closed:
            raise self.closed[url.host]
        return (self.last_address(url.host),)

    def last_address(self, host: str) -> str:
        return self.addresses.get(host, host)

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        await trio.sleep((self.challenges_wait if method == "GET" else self.waits).get(url.host, 0.001))
        status = self.status.get(url.host, 200)
        if not status:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, "no answer")
        if method == "GET":
            query = {name: values[0] for name, values in parse_qs(urlsplit(url.text).query).items()}
            self.asked.append(query)
            return PostResult(status, 1, query.get("hub.challenge", "").encode() if self.echo else b"no", None)
        self.told.append(Told(url.text, dict(headers), body))
        return PostResult(status, 1, b"", None)

    @property
    def deliver(self) -> Callbacks:
        return self

    deliver_plain = dial = deliver


@asynccontextmanager
async def a_hub(house: House | None = None) -> AsyncIterator[tuple[House, Callbacks]]:
    """Run a house with a hub that sends to scripted callbacks."""
    house, callbacks = house or make_house(), Callbacks()
    outlet: Any = callbacks
    async with running(house), trio.open_nursery() as nursery:
        child: Any = FakeChild()
        nursery.start_soon(Hub(house.context, outlet).run, child)
        await child.is_ready.wait()
        yield house, callbacks
        nursery.cancel_scope.cancel()


def wish(feed: str, **fields: str) -> dict[str, str]:
    """Return the form of a subscription request; `callback="..."` sets `hub.callback`."""
    plain = {"mode": "subscribe", "topic": feed, "callback": CALLBACK}
    return {f"hub.{name}": value for name, value in (plain | fields).items() if value is not None}


async def subscribed(house: House, topic: str, **fields: str) -> None:
    async with house.stranger() as reader:
        answer = await reader.post("/hub", data=wish(topic, **fields))
        assert answer.status_code == 202, answer.text
    await trio.sleep(1)


async def wished(house: House, record: Mapping[str, Any], callback: str, client: str) -> None:
    """Let the hub confirm a callback, as if a client had asked for it."""
    token = urlsplit(record["feeds"]["atom"]).path.rpartition("/")[2].removesuffix(".atom")
    topic, hashed = record["feeds"]["atom"], hash_of(token)
    intent = Intent("subscribe", topic, record["id"], hashed, "atom", callback, 864_000, None, client)
    mailbox_of(house.context).send_nowait(intent)
    await trio.sleep(0.01)


async def stored(house: House) -> list[Subscriber]:
    return list(await Subscriptions(house.storage).all())


@pytest.fixture
async def hub(autojump_clock: object) -> AsyncIterator[tuple[House, Callbacks]]:
    async with a_hub() as both:
        yield both


@pytest.fixture
async def client(hub: tuple[House, Callbacks]) -> AsyncIterator[httpx.AsyncClient]:
    async with await hub[0].client() as client:
        yield client


async def test_a_feed_names_its_hub_and_subscribers_get_later_entries(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client, tags=["prices"])
    await house.publish(tagged("before", "label:prices"))
    topic = record["feeds"]["atom"]
    async with house.stranger() as reader:
        answer = await reader.get(topic)
        assert answer.links["hub"]["url"] == "http://sanderling.test/hub" and answer.links["self"]["url"] == topic
        assert {link.rel: link.href for link in feedparser.parse(answer.content).feed.links}["hub"] == (
            "http://sanderling.test/hub"
        )
        told = (await reader.get(record["feeds"]["json"])).json()
        assert told["hubs"] == [{"type": "WebSub", "url": "http://sanderling.test/hub"}]
    await subscribed(house, topic, secret=SECRET)
    (asked,) = callbacks.asked
    assert asked["id"] == "7" and asked["hub.mode"] == "subscribe" and asked["hub.topic"] == topic
    assert asked["hub.lease_seconds"] == str(USUAL_LEASE) and len(asked["hub.challenge"]) == 32
    await house.publish(tagged("one", "label:prices"), tagged("elsewhere", "label:other"))
    await trio.sleep(1)
    await house.publish(tagged("two", "label:prices"), tagged("three", "label:prices"))
    await trio.sleep(1)
    assert [each.titles for each in callbacks.told] == [["one"], ["three", "two"]]
    first = callbacks.told[0]
    assert first.url == CALLBACK and first.headers["Content-Type"].startswith("application/atom+xml")
    assert first.headers["Link"] == f'<http://sanderling.test/hub>; rel="hub", <{topic}>; rel="self"'
    signature = hmac.digest(SECRET.encode(), first.body, "sha256").hex()
    assert first.headers["X-Hub-Signature"] == f"sha256={signature}"
    (kept,) = await stored(house)
    assert kept.progress.cursor == house.storage.tail.head and kept.progress.attempts == 0


async def test_json_feed_is_sent_whole_and_unsigned_without_a_secret(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    await house.publish("before")
    await subscribed(house, record["feeds"]["json"])
    await house.publish("after")
    await trio.sleep(1)
    (told,) = callbacks.told
    assert b"before" in told.body and b"after" in told.body and "X-Hub-Signature" not in told.headers


async def test_an_unconfirmed_subscription_gets_nothing(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    callbacks.echo = False
    await subscribed(house, record["feeds"]["atom"])
    callbacks.echo, callbacks.status["reader.test"] = True, 404
    await subscribed(house, record["feeds"]["atom"])
    callbacks.status["reader.test"] = 0
    await subscribed(house, record["feeds"]["atom"])
    callbacks.status.clear()
    await house.publish("one")
    await trio.sleep(1)
    assert not callbacks.told and not await stored(house)


async def test_a_subscription_ends_by_a_wish_that_is_confirmed_by_410_and_with_its_lease(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    topic = record["feeds"]["atom"]
    for name in ("a", "b", "c"):
        await subscribed(house, topic, callback=f"https://{name}.test/", lease_seconds="100")
    await subscribed(house, topic, mode="unsubscribe", callback="https://a.test/")
    assert callbacks.asked[-1]["hub.mode"] == "unsubscribe" and "hub.lease_seconds" not in callbacks.asked[-1]
    count = len(callbacks.asked)
    await subscribed(house, topic, mode="unsubscribe", callback="https://nobody.test/")
    assert len(callbacks.asked) == count, "who has not subscribed is not asked"
    callbacks.status["b.test"] = 410
    await house.publish("one")
    await trio.sleep(1)
    assert sorted(each.url for each in callbacks.told) == ["https://b.test/", "https://c.test/"]
    assert [each.subscription.callback for each in await stored(house)] == ["https://c.test/"]
    await trio.sleep(200)
    assert not await stored(house)
    await house.publish("two")
    await trio.sleep(1)
    assert len(callbacks.told) == 2


async def test_a_failing_subscriber_is_retried_with_all_events_and_delays_no_other(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    for name in ("down", "slow", "well"):
        await subscribed(house, record["feeds"]["atom"], callback=f"https://{name}.test/")
    callbacks.status["down.test"], callbacks.waits["slow.test"] = 503, 14.0
    await house.publish("one")
    await trio.sleep(1)
    assert [urlsplit(each.url).hostname for each in callbacks.told] == ["well.test", "down.test"] or [
        urlsplit(each.url).hostname for each in callbacks.told
    ] == ["down.test", "well.test"]
    await house.publish("two")
    await trio.sleep(1)
    callbacks.status.clear()
    await trio.sleep(20)
    last = {urlsplit(each.url).hostname: each.titles for each in callbacks.told}
    assert last["down.test"] == ["two", "one"] and last["well.test"] == ["two"]
    assert all(each.progress.attempts == 0 for each in await stored(house) if "slow" not in each.subscription.callback)


async def test_after_a_restart_each_subscriber_gets_missed_events_once(autojump_clock: object) -> None:
    house = make_house()
    async with a_hub(house) as (_, callbacks), await house.client() as client:
        record = await published(client)
        await subscribed(house, record["feeds"]["atom"], secret=SECRET)
        await house.publish("one")
        await trio.sleep(2)
        assert [each.titles for each in callbacks.told] == [["one"]]
    await house.publish("while it was down")
    again = make_house()
    again.storage, again.mint = house.storage, house.mint
    again.context = replace(again.context, storage=house.storage)
    async with a_hub(again) as (_, callbacks):
        await trio.sleep(2)
        assert [each.titles for each in callbacks.told] == [["while it was down"]]


async def test_two_first_subscribers_at_once_both_get_the_event(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither found the publication in memory; both read it from storage, and the later one put out the earlier."""
    house, callbacks = hub
    record = await published(client)
    plain = house.storage.publications.get

    async def slowly(publication: str) -> Publication | None:
        await trio.sleep(0.1)
        return await plain(publication)

    monkeypatch.setattr(house.storage.publications, "get", slowly)
    readers = ["https://one.test/in", "https://two.test/in"]
    for reader in readers:
        await wished(house, record, reader, reader)
    await trio.sleep(1)
    await house.publish("news")
    await trio.sleep(5)
    assert sorted((each.url, *each.titles) for each in callbacks.told) == [(reader, "news") for reader in readers]


@pytest.mark.parametrize("ending", ["atom", "json"])
@pytest.mark.parametrize("count", [50, 51, 95, 151])
async def test_a_burst_arrives_whole_and_oldest_first(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, count: int, ending: str
) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"][ending])
    names = [f"e{number}" for number in range(count)]
    await house.publish(*names)
    await trio.sleep(10)
    if ending == "json":
        told = [[item["title"] for item in json.loads(each.body)["items"]] for each in callbacks.told]
    else:
        told = [each.titles for each in callbacks.told]
    came = [name for titles in told for name in reversed(titles)]
    assert (list(dict.fromkeys(came)) if ending == "json" else came) == names


async def test_events_of_very_different_sizes_arrive_whole(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"])
    large, wide = (
        a_draft(name, content="words " * (size // 6)) for name, size in (("large", 900_000), ("wide", 400_000))
    )
    await house.publish("small", large, wide, "last")
    await trio.sleep(10)
    assert [title for each in callbacks.told for title in reversed(each.titles)] == ["small", "large", "wide", "last"]


async def test_a_renewed_lease_goes_on_beyond_the_first(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    topic = (await published(client))["feeds"]["atom"]
    await subscribed(house, topic, lease_seconds="600")
    await trio.sleep(400)
    await subscribed(house, topic, lease_seconds="600")
    await trio.sleep(400)
    await house.publish("after the first lease")
    await trio.sleep(2)
    assert [each.titles for each in callbacks.told] == [["after the first lease"]]
    await trio.sleep(400)
    await house.publish("after the second")
    await trio.sleep(2)
    assert len(callbacks.told) == 1 and not await stored(house)


async def test_after_many_failed_tries_all_of_it_arrives(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    await subscribed(house, (await published(client))["feeds"]["atom"])
    callbacks.status["reader.test"] = 500
    await house.publish(*(f"e{number}" for number in range(60)))
    await trio.sleep(3600)
    assert len({each.body for each in callbacks.told}) <= 2, "it is one document that is tried again"
    callbacks.status["reader.test"] = 200
    callbacks.told.clear()
    await trio.sleep(3 * 3600)
    assert [title for each in callbacks.told for title in reversed(each.titles)] == [f"e{n}" for n in range(60)]


async def test_a_new_address_or_the_end_of_a_publication_ends_its_subscriptions(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"])
    await client.post(f"/v1/publications/{record['id']}/address")
    await house.publish("one")
    await trio.sleep(1)
    assert not callbacks.told and not await stored(house)
    async with house.stranger() as reader:
        answer = await reader.post("/hub", data=wish(record["feeds"]["atom"]))
        assert answer.status_code == 400 and "withdrawn" in answer.text


async def test_after_the_last_day_the_hub_sends_nothing_until_a_later_one(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"])
    path = f"/v1/publications/{record['id']}"
    await client.patch(path, json={"ends_on": "2020-02-29"})
    await house.publish("one")
    await trio.sleep(1)
    assert not callbacks.told
    async with house.stranger() as reader:
        assert (await reader.post("/hub", data=wish(record["feeds"]["atom"]))).status_code == 400
    await client.patch(path, json={"ends_on": None})
    await house.publish("two")
    await trio.sleep(1)
    assert [told.titles for told in callbacks.told] == [["two", "one"]]


async def test_a_subscriber_of_a_new_address_outlives_the_end_of_the_old_one(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub learned from a slow reading that the old address was gone, and forgot the new one with it."""
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"])
    plain = house.storage.publications.by_hash

    async def slowly(token_hash: str) -> Published | None:
        found = await plain(token_hash)
        await trio.sleep(1 if found is None else 0)
        return found

    monkeypatch.setattr(house.storage.publications, "by_hash", slowly)
    renewed = (await client.post(f"/v1/publications/{record['id']}/address")).json()
    await house.publish("one")
    await trio.sleep(0.5)
    await wished(house, renewed, "https://new.test/in", "another")
    await trio.sleep(5)
    await house.publish("two")
    await trio.sleep(5)
    assert [(each.url, each.titles) for each in callbacks.told] == [("https://new.test/in", ["two"])]


@pytest.mark.parametrize("shared", ["domain", "address", "client"])
async def test_a_domain_address_or_client_over_its_quota_is_refused(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, shared: str
) -> None:
    house, callbacks = hub
    record = await published(client)
    monkeypatch.setattr(actor, "MOST_OF_ONE", 2)
    for number in range(3):
        host = f"h{number}.reader.test" if shared == "domain" else f"reader{number}.test"
        callbacks.addresses[host] = "93.184.216.34" if shared == "address" else f"93.184.216.{number}"
        if shared == "client":
            await subscribed(house, record["feeds"]["rss"], callback=f"https://{host}/")
        else:
            await wished(house, record, f"https://{host}/", f"client {number}")
    assert callbacks.asked[-1]["hub.mode"] == "denied" and "this host" in callbacks.asked[-1]["hub.reason"]
    assert len(await stored(house)) == 2
    (reader, _) = await stored(house)
    await subscribed(house, record["feeds"]["rss"], callback=reader.subscription.callback, mode="unsubscribe")
    await subscribed(house, record["feeds"]["rss"], callback=f"https://{host}/")
    assert len(await stored(house)) == 2, "a place that was left is free"


async def test_x1_no_answer_reveals_an_address_or_network(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    callbacks.closed = {
        "vm": UrlRefused("address-loopback", "vm is not public"),
        "10.0.0.1": UrlRefused("address-private", "10.0.0.1 is not public; SANDERLING_HUB_NETWORKS would open it"),
        "nosuchhost.test": CheckFailed(Blame.REMOTE_PERMANENT, "there is no such name"),
        "silent.test": CheckFailed(Blame.LOCAL, "the resolver is silent"),
    }
    seen = set()
    async with house.stranger() as reader:
        for host in ("reader.test", *callbacks.closed):
            for scheme in ("http", "https"):
                form = wish(record["feeds"]["atom"], callback=f"{scheme}://{host}/reboot")
                answer = await reader.post("/hub", data=form)
                seen.add((answer.status_code, answer.text))
    assert seen == {(202, "The callback is asked.\n")}
    await trio.sleep(10)
    assert {each.subscription.callback for each in await stored(house)} == {
        "http://reader.test/reboot",
        "https://reader.test/reboot",
    }
    assert len(callbacks.asked) == 2, "a callback that is refused is not asked"
    whys = [fields["why"] for name, fields in house.logs if name == "hub.not_subscribed"]
    assert sorted(whys) == sorted(2 * [str(error) for error in callbacks.closed.values()])


HANGING = {
    "one domain": lambda number: (f"h{number}.hangs.test", f"93.184.{number // 200}.{number % 200}"),
    "one address": lambda number: (f"hangs{number}.test", "93.184.216.34"),
    "nothing in common": lambda number: (f"hangs{number}.test", f"93.184.{number // 200}.{number % 200}"),
}


@pytest.mark.parametrize("common", ["one domain", "one address"])
async def test_challenges_that_hang_hold_up_no_other_domain(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, common: str
) -> None:
    house, callbacks = hub
    record = await published(client)
    for number in range(90):
        host, callbacks.addresses[host] = HANGING[common](number)
        callbacks.challenges_wait[host] = 14.0
        await wished(house, record, f"https://{host}/", f"client {number}")
    await trio.sleep(0.1)
    await wished(house, record, CALLBACK, "honest")
    await trio.sleep(5)
    assert len(await stored(house)) == 1
    await trio.sleep(30)
    assert len(await stored(house)) == 1, "a challenge has 3 s"


@pytest.mark.parametrize("common", HANGING)
async def test_300_callbacks_that_hang_delay_the_first_event_of_another_by_less_than_5_s(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, common: str
) -> None:
    house, callbacks = hub
    record = await published(client)
    for number in range(300):
        host, callbacks.addresses[host] = HANGING[common](number)
        callbacks.waits[host] = 15.0
        await wished(house, record, f"https://{host}/", f"client {number}")
    await wished(house, record, CALLBACK, "honest")
    assert len(await stored(house)) == 301
    for name in ("first", "second", "third"):
        await house.publish(name)
        await trio.sleep(4.9 if name == "first" else 1)
        assert (CALLBACK, [name]) in [(each.url, each.titles) for each in callbacks.told]
        callbacks.told.clear()
        await trio.sleep(20)


async def test_an_answering_subscriber_is_no_longer_new(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient
) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"], callback="https://proven.test/")
    await house.publish("one")
    await trio.sleep(1)
    for number in range(2 * (actor.NEW + actor.SLOW)):
        host, callbacks.addresses[host] = HANGING["nothing in common"](number)
        callbacks.waits[host] = 15.0
        await wished(house, record, f"https://{host}/", f"client {number}")
    await house.publish("two")
    await trio.sleep(0.5)
    assert [each.url for each in callbacks.told] == 2 * ["https://proven.test/"]


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"mode": "publish"}, 400, "hub.mode"),
        ({"topic": "https://elsewhere.test/feed"}, 400, "hub.topic"),
        ({"topic": "http://sanderling.test/published/none.atom"}, 400, "no feed at hub.topic"),
        ({"callback": ""}, 400, "hub.callback"),
        ({"callback": "https://reader.test/#x"}, 400, "fragment"),
        ({"callback": "ftp://reader.test/"}, 422, "url-refused"),
        ({"callback": "http://sanderling.test/in"}, 422, "url-refused"),
        ({"callback": "https://reader.test/" + "x" * 3_000}, 400, "hub.callback"),
        ({"lease_seconds": "0"}, 400, "hub.lease_seconds"),
        ({"lease_seconds": "-5"}, 400, "hub.lease_seconds"),
        ({"lease_seconds": "soon"}, 400, "hub.lease_seconds"),
        ({"secret": "x" * 200}, 400, "hub.secret"),
        ({"secret": "x" * MOST_BYTES}, 413, "at most"),
    ],
)
async def test_a_wish_that_cannot_be_granted_is_refused_in_words(
    hub: tuple[House, Callbacks], client: httpx.AsyncClient, fields: dict[str, str], status: int, words: str
) -> None:
    house, callbacks = hub
    record = await published(client)
    async with house.stranger() as reader:
        answer = await reader.post("/hub", data=wish(record["feeds"]["atom"], **fields))
        assert answer.status_code == status and words in answer.text, answer.text
        assert (await reader.post("/hub", json={})).status_code == 415
        assert (await reader.get("/hub")).status_code == 405
    await trio.sleep(1)
    assert not callbacks.asked and not await stored(house)


async def test_a_lease_is_at_most_thirty_days(hub: tuple[House, Callbacks], client: httpx.AsyncClient) -> None:
    house, callbacks = hub
    record = await published(client)
    await subscribed(house, record["feeds"]["atom"], lease_seconds="9" * 15)
    assert callbacks.asked[0]["hub.lease_seconds"] == str(LONGEST_LEASE)

"""Traces of the whole service: from a check to the receiver, each span in its trace, with an existing parent."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import httpx
import trio

from extras.tracing.identity import is_sampled
from tests.actors.sources.harness import page, rss
from tests.actors.test_delivering import Town, asked
from tests.extras.cluster.members.harness import Land
from tests.extras.tracing.parents import parent_in
from tests.support.collector import ENDPOINT, Collector, Seen
from tests.support.memory_network import Answer, web

MINUTE = 60.0
HTML = {"content-type": "text/html"}
K3Y = "k3y0fTheCollector"
TRACED = {"otlp_endpoint": ENDPOINT, "otlp_headers": f"api-key={K3Y}"}


class TracedTown(Town):
    """The town with a collector."""

    def __init__(self, nursery: trio.Nursery) -> None:
        super().__init__(nursery)
        self.collector = Collector()
        self.collector.join(self.network)

    def traced(self, **more: Any) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        """Run the service with traces during the block."""
        self.given = {**TRACED, **more}
        return self.running()

    async def set_up(self, client: Any, **alert: Any) -> dict[str, Any]:
        await asked(client, "/v1/sources", url="http://news.test/feed", schedule="1m")
        made = await asked(client, "/v1/alerts", **{"filter_query": "", **alert})
        return await asked(client, f"/v1/alerts/{made['id']}/destinations", url="https://hook.test/in?token=h00kT0ken")


def one(spans: list[Seen], name: str) -> Seen:
    (found,) = [span for span in spans if span.name == name and not span.attributes.get("http.request.resend_count")]
    return found


async def test_an_event_has_one_trace_from_check_to_receiver(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            hook = await town.set_up(client)
            town.titles += ["News"]
            await trio.sleep(3 * MINUTE)
        (arrival,) = town.arrived
        event = json.loads(arrival.body)
        parent = parent_in(arrival.headers["traceparent"])
        assert parent is not None and parent.sampled and "tracestate" not in arrival.headers
        spans = town.collector.of(parent.context.trace.hex())
        look, commit, match = one(spans, "look"), one(spans, "commit"), one(spans, "match")
        (post,) = [span for span in spans if span.name == "POST"]
        assert (look.parent, commit.parent, match.parent, post.parent) == ("", look.id, look.id, match.id)
        assert post.id == parent.context.span.hex()
        assert look.attributes["sanderling.source.id"] == event["source_id"]
        assert look.attributes["sanderling.look.verdict"] == "changed" and look.attributes["sanderling.look.told"] == 1
        assert (
            commit.attributes["sanderling.event.ids"]
            == match.attributes["sanderling.event.id"].split()
            == [event["id"]]
        )
        assert match.attributes["sanderling.alerts"] == 1
        assert post.attributes["http.response.status_code"] == 200 and post.kind == 3
        assert post.attributes["sanderling.destination.id"] == hook["id"]
        assert look.start <= commit.start <= commit.end <= look.end and commit.end <= match.end <= post.end
        assert town.collector.orphans() == [] and town.collector.doubles() == [] and town.collector.faults == []
        (part,) = [part for part in town.system.supervisor.children if part.spec.id == "tracing"]
        assert part.note_text == f"the last batch was taken; spans: {len(town.collector.spans)} sent"
    (resource, *_) = town.collector.resources
    assert resource["service.name"] == "sanderling" and resource["service.instance.id"] and resource["service.version"]


async def test_a_check_has_its_steps_as_children_and_an_unchanged_one_a_trace_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        site = page("Plovers run along the tide line.")
        town.network.add("page.test", "93.184.216.41", web(lambda asked: Answer(body=site, headers=HTML)))
        async with town.traced() as client:
            await asked(client, "/v1/sources", url="http://page.test/birds", schedule="1m")
            town.system.egress.robots._sites.clear()
            await trio.sleep(4 * MINUTE)
        looks = town.collector.named("look")
        assert [look.attributes["sanderling.look.verdict"] for look in looks] == ["unchanged"] * len(looks) != []
        look = looks[0]
        (robots,) = [span for span in town.collector.of(look.trace) if span.name == "robots.txt"]
        gets = {span.attributes["url.full"]: span for span in town.collector.of(look.trace) if span.name == "GET"}
        assert gets.keys() == {"http://page.test/robots.txt", "http://page.test/birds"}
        assert gets["http://page.test/robots.txt"].parent == robots.id and robots.parent == look.id
        get = gets["http://page.test/birds"]
        assert get.parent == look.id and get.kind == 3 and get.attributes["http.request.method"] == "GET"
        assert get.attributes["http.response.status_code"] == 200 and get.attributes["server.address"] == "page.test"
        assert get.moments == ["connected", "request sent", "first byte"]
        waits = [span for span in town.collector.of(look.trace) if span.name == "wait for the host"]
        assert [span.parent for span in waits] == [robots.id, look.id]
        assert waits[1].end - waits[1].start >= 900_000_000, "a second between two requests to a host"
        assert town.collector.orphans() == [] and town.collector.doubles() == []


async def test_a_changed_body_is_judged_and_read_within_that(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            await town.set_up(client)
            town.titles += ["News"]
            await trio.sleep(3 * MINUTE)
        (judge,), (read,) = town.collector.named("judge"), town.collector.named("read")
        assert read.parent == judge.id and read.trace == judge.trace
        assert read.attributes["sanderling.task"] == "look_feed"


async def test_retries_are_siblings_and_say_their_number(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            await town.set_up(client)
            town.statuses = [503, 500, 200]
            town.titles += ["News"]
            await trio.sleep(20 * MINUTE)
        posts = town.collector.named("POST")
        assert [span.attributes["http.response.status_code"] for span in posts] == [503, 500, 200]
        assert [span.attributes.get("http.request.resend_count") for span in posts] == [None, 1, 2]
        assert [span.attributes.get("error.type") for span in posts] == ["503", "500", None]
        assert len({span.parent for span in posts}) == 1 and len({span.id for span in posts}) == 3
        headers = [parent_in(arrival.headers["traceparent"]) for arrival in town.arrived]
        assert [header.context.span.hex() for header in headers] == [span.id for span in posts]


async def test_a_failed_check_has_its_fault_as_attribute(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            await town.set_up(client)
            town.network.servers["93.184.216.34", 80] = web(lambda asked: Answer(500))
            await trio.sleep(3 * MINUTE)
        failed = [span for span in town.collector.named("look") if span.failed]
        assert failed and failed[0].attributes["error.type"] == "remote-transient"
        gets = [span for span in town.collector.of(failed[0].trace) if span.name == "GET"]
        assert [span.attributes["http.response.status_code"] for span in gets] == [500]
        assert town.collector.orphans() == []


async def test_over_a_restart_between_commit_and_delivery_the_trace_goes_on(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            await town.set_up(client)
            town.statuses = [503]
            town.titles += ["News"]
            await trio.sleep(2 * MINUTE)
            assert town.arrived
        town.restart()
        before = len(town.arrived)
        town.statuses = [200]
        async with town.traced():
            await trio.sleep(20 * MINUTE)
        assert len(town.arrived) > before
        posts = town.collector.named("POST")
        assert posts[-1].attributes["http.response.status_code"] == 200
        spans = town.collector.of(posts[-1].trace)
        assert {"look", "commit", "match", "POST"} <= {span.name for span in spans}
        assert len({parent_in(arrival.headers["traceparent"]).context.trace for arrival in town.arrived}) == 1
        assert town.collector.orphans() == [] and town.collector.doubles() == []


async def test_on_two_nodes_each_reports_its_part_of_one_trace(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land, collector = Land(nursery, **TRACED), Collector()
        collector.join(land.network)
        sites = [land.site(number) for number in range(6)]
        hooks = [land.hook(number) for number in range(4)]
        one, other = await land.start("one"), await land.start("other")
        await one.alert("", *hooks)
        for site in sites:
            await one.add(site)
        await trio.sleep(120)
        for number in range(6):
            land.publish(number, "news", "first")
        await trio.sleep(600)
        assert one.watched() and other.watched()
        for node in (one, other):
            node.system.stop()
        await trio.sleep(30)
        nursery.cancel_scope.cancel()
    assert len(land.posts) == 24 and collector.faults == []
    assert collector.orphans() == [] and collector.doubles() == []
    traces = {parent_in(post.headers["traceparent"]).context.trace.hex() for post in land.posts}
    assert len(traces) == 6
    for trace in traces:
        spans = collector.of(trace)
        assert [span.name for span in spans].count("POST") == 4
        assert {"look", "commit", "match"} <= {span.name for span in spans}
    assert {resource["service.instance.id"] for resource in collector.resources} == {"one-1", "other-2"}


async def test_a_trace_is_sampled_as_a_whole_and_the_receiver_learns_it(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced(otlp_sampling=0.5) as client:
            await town.set_up(client)
            for number in range(24):
                town.titles.insert(0, f"News {number}")
                await trio.sleep(1.5 * MINUTE)
        kept = {span.trace for span in town.collector.spans}
        parents = [parent_in(arrival.headers["traceparent"]) for arrival in town.arrived]
        assert len(parents) == 24
        assert all(parent.sampled is is_sampled(parent.context.trace, 0.5) for parent in parents)
        assert 4 < sum(parent.sampled for parent in parents) < 20
        for parent in parents:
            assert (parent.context.trace.hex() in kept) is parent.sampled
        for span in town.collector.named("POST"):
            names = {other.name for other in town.collector.of(span.trace)}
            assert {"look", "commit", "match", "POST"} <= names
        assert town.collector.orphans() == []


async def test_with_no_collector_named_nothing_is_sent_and_no_header_added(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.running() as client:
            await town.set_up(client)
            town.titles += ["News"]
            await trio.sleep(3 * MINUTE)
        assert len(town.arrived) == 1 and "traceparent" not in town.arrived[0].headers
        assert town.collector.asked == []


async def test_a_digest_has_a_trace_of_its_own_that_is_linked_to_those_of_its_events(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            hook = await town.set_up(client)
            answer = await client.patch(f"/v1/destinations/{hook['id']}", json={"delivery_mode": "15min"})
            assert answer.is_success, answer.text
            for number in range(2):
                town.titles.insert(0, f"News {number}")
                await trio.sleep(2 * MINUTE)
            await trio.sleep(15 * MINUTE)
        (digest,), (post,) = town.collector.named("digest"), town.collector.named("POST")
        matches = town.collector.named("match")
        assert post.parent == digest.id and post.trace == digest.trace
        assert set(digest.links) == {(match.trace, match.id) for match in matches}
        assert json.loads(town.arrived[0].body)["id"] == digest.attributes["sanderling.digest.id"]
        assert digest.attributes["sanderling.events"] == len(matches) == 2
        assert town.collector.orphans() == []


async def test_a_notice_without_a_check_begins_a_trace(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            hook = await town.set_up(client, notices=["destination_disabled"])
            pager = await client.post(
                f"/v1/alerts/{hook['alert_id']}/destinations", json={"url": "https://pager.test/in"}
            )
            assert pager.is_success
            town.statuses = [410]
            town.titles += ["News"]
            await trio.sleep(3 * MINUTE)
        (notice,) = town.collector.named("notice")
        names = [span.name for span in town.collector.of(notice.trace)]
        assert sorted(names) == ["POST", "commit", "match", "notice"]
        assert town.collector.orphans() == []


async def test_a_first_check_with_a_backfill_begins_a_trace(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            await asked(client, "/v1/sources", url="http://news.test/feed", backfill=1)
            await trio.sleep(60)
        (first,) = town.collector.named("first look")
        assert sorted(span.name for span in town.collector.of(first.trace)) == ["commit", "first look", "match"]
        assert town.collector.orphans() == []


async def test_an_item_with_a_fetched_page_has_the_trace_of_that_fetch(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        town.network.add("news.test", "93.184.216.34", web(partial(_with_pages, town)))
        async with town.traced() as client:
            await town.set_up(client)
            (source,) = (await client.get("/v1/sources")).json()
            assert (await client.patch(f"/v1/sources/{source['id']}", json={"follow": "new_links"})).is_success
            await trio.sleep(2 * MINUTE)
            town.titles += ["News"]
            await trio.sleep(10 * MINUTE)
        (hop,) = town.collector.named("hop")
        assert hop.attributes["url.full"] == "http://news.test/News"
        names = [span.name for span in town.collector.of(hop.trace)]
        assert {"hop", "GET", "read", "commit", "match", "POST"} <= {*names}
        assert town.collector.orphans() == [] and town.collector.doubles() == []


def _with_pages(town: Town, asked: Any) -> Answer:
    if asked.target != "/feed":
        return Answer(body=page("The whole text of the news, as its own page has it."), headers=HTML)
    return Answer(body=rss(*town.titles).replace(b"https://site.example/", b"http://news.test/"))


async def test_a_test_of_a_destination_looks_like_a_delivery_and_begins_a_trace(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        async with town.traced() as client:
            hook = await town.set_up(client)
            assert (await client.post(f"/v1/destinations/{hook['id']}/test")).is_success
            await trio.sleep(10)
        (post,) = town.collector.named("POST")
        parent = parent_in(town.arrived[0].headers["traceparent"])
        assert parent is not None
        assert (post.trace, post.id, post.parent) == (parent.context.trace.hex(), parent.context.span.hex(), "")
        assert post.attributes["sanderling.delivery.test"] is True


async def test_no_secret_is_in_a_span(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = TracedTown(nursery)
        town.network.add("shop.test", "93.184.216.40", web(lambda asked: Answer(body=rss("First"))))
        town.statuses = [404, 200]
        async with town.traced() as client:
            hook = await town.set_up(client)
            url = "http://shop.test/feed?id=4&access_token=s0urceT0ken"
            await asked(client, "/v1/sources", url=url, headers="Authorization: Bearer h3aderK3y")
            town.titles += ["News"]
            await trio.sleep(20 * MINUTE)
        secret = hook["secret"]
    sent = b"".join(town.collector.raw).decode()
    assert "http://shop.test/feed?id=4&access_token=REDACTED" in sent
    for hidden in (K3Y, "s0urceT0ken", "h3aderK3y", "h00kT0ken", secret, secret.removeprefix("whsec_")):
        assert hidden not in sent
    assert {each.headers["api-key"] for each in town.collector.asked} == {K3Y}
    assert town.collector.faults == []

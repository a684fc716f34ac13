from __future__ import annotations

import pytest
import trio
from msgspec.structs import replace

from storage.errors import Corrupt
from storage.records.event import Diff
from storage.records.identity import START, Millis, id_of, seq_at
from tests.actors.matcher.rig import an_alert
from tests.api.house import ALL, House, ids
from tests.api.listening import listening
from tests.support.build import NOW, a_draft, a_source_id

ZERO = id_of(START, 0)


async def test_a_stream_begins_live_with_its_headers_and_its_two_opening_frames(house: House) -> None:
    (old,) = ids(await house.publish("old"))
    async with listening(house) as client:
        assert client.status == 200
        assert client.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert client.headers["cache-control"] == "no-store"
        assert client.headers["x-accel-buffering"] == "no"
        assert client.headers["sanderling-replay-from"] == old
        assert "x-request-id" in client.headers and "ratelimit-remaining" in client.headers
        assert await client.frame() == b"retry: 3000"
        assert await client.frame() == f": replay-from {old}".encode()
        (new,) = await house.publish("new")
        body = new.body.decode()
        assert await client.frame() == f"event: feed\ndata: {body}\nid: {ids([new])[0]}".encode()


async def test_since_replays_later_events_once(house: House) -> None:
    """The reader has seen the event of its cursor, so replay begins with the next one."""
    events = ids(await house.publish("a", "b", "c"))
    async with listening(house, f"/v1/stream?since={events[0]}") as client:
        assert client.headers["sanderling-replay-from"] == events[0]
        assert await client.titles(2) == ["b", "c"]
        await house.publish("d")
        assert await client.titles(1) == ["d"]


async def test_since_earliest_begins_with_the_oldest_stored_event(house: House) -> None:
    events = await house.publish("a", "b", "c")
    async with listening(house, "/v1/stream?since=earliest") as client:
        assert await client.titles(3) == ["a", "b", "c"]
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    async with listening(house, "/v1/streams/feed?since=earliest") as client:
        began = client.headers["sanderling-replay-from"]
        assert await client.titles(1) == ["c"], "and no 410, however much retention has cut"
    async with listening(house, f"/v1/stream?since={began}") as client:
        assert await client.titles(1) == ["c"], "where it began is a cursor"


async def test_last_event_id_wins_over_since(house: House) -> None:
    events = ids(await house.publish("a", "b", "c"))
    path = f"/v1/stream?since={events[0]}"
    async with listening(house, path, Last_Event_ID=events[1]) as client:
        assert await client.titles(1) == ["c"]


@pytest.mark.parametrize("cursor", ["x", "1", "019e7044-8800-4000-8800-00000000002a", "0" * 36, "Earliest", "latest"])
async def test_a_malformed_cursor_is_400_with_the_parameter(house: House, cursor: str) -> None:
    async with await house.client() as client:
        by_query = await client.get("/v1/stream", params={"since": cursor})
        by_header = await client.get("/v1/stream", headers={"Last-Event-ID": cursor})
    assert (by_query.status_code, by_query.json()["errors"][0]["location"]) == (400, "query.since")
    assert (by_header.status_code, by_header.json()["errors"][0]["location"]) == (400, "header.Last-Event-ID")
    assert by_query.json()["errors"][0]["value"] == cursor


async def test_a_cursor_older_than_the_log_is_410(house: House) -> None:
    events = await house.publish("a", "b", "c")
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    async with await house.client() as client:
        answer = await client.get("/v1/stream", params={"since": ids(events)[0]})
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (410, "cursor-expired")
    async with listening(house, f"/v1/stream?since={ids(events)[1]}") as client:
        assert await client.titles(1) == ["c"], "the floor itself has no gap after it"


async def test_a_cursor_in_the_future_tails_live(house: House) -> None:
    await house.publish("old")
    future = id_of(seq_at(Millis(NOW + 10**9)), 0)
    async with listening(house, f"/v1/stream?since={future}") as client:
        await house.publish("new")
        assert await client.titles(1) == ["new"]


async def test_a_silent_stream_gets_a_keepalive_with_the_newest_id(house: House, autojump_clock: object) -> None:
    async with listening(house) as client:
        await client.frame(), await client.frame()
        began = trio.current_time()
        assert await client.frame() == f": keepalive {id_of(house.storage.tail.head, 0)}".encode()
        assert trio.current_time() - began == pytest.approx(15)
        (newest,) = ids(await house.publish("a"))
        await client.event()
        began = trio.current_time()
        assert await client.chunk() == f": keepalive {newest}\n\n".encode()
        assert trio.current_time() - began == pytest.approx(15)


async def test_a_filtered_stream_is_kept_alive_while_others_events_pass_by(
    house: House, autojump_clock: object, nursery: trio.Nursery
) -> None:
    async def others() -> None:
        while True:
            await trio.sleep(4)
            await house.publish("other")

    nursery.start_soon(others)
    async with listening(house, "/v1/stream?source_type=push") as client:
        await client.frame(), await client.frame()
        began = trio.current_time()
        assert (await client.frame()).startswith(b": keepalive ")
        assert trio.current_time() - began == pytest.approx(15)
    nursery.cancel_scope.cancel()


async def test_ndjson_is_the_same_a_line_an_event(house: House, autojump_clock: object) -> None:
    first, second = await house.publish("a", "b")
    async with listening(house, f"/v1/stream?since={ZERO}", Accept="application/x-ndjson") as client:
        assert client.headers["content-type"] == "application/x-ndjson"
        assert await client.frame(b"\n") == first.body
        assert await client.frame(b"\n") == second.body
        assert await client.frame(b"\n") == b""


async def test_the_five_filters(house: House) -> None:
    """Values of one parameter are alternatives; all parameters must match."""
    one, two = a_source_id(1), a_source_id(2)
    await house.publish(a_draft("a", tags=("topic:x",)), a_draft("b", tags=("topic:y",), content="Prices were raised."))
    await house.publish(a_draft("c", source_type="html", tags=("topic:x", "topic:z")), source=2)
    await house.publish(a_draft("d", alert_type="source_quiet", source_type="html", content="prices"), source=2)
    end = (await house.publish("end", source=3))[0]
    wanted = {
        "": ["a", "b", "c", "d"],
        f"source={one}": ["a", "b"],
        f"source={one}&source={two}": ["a", "b", "c", "d"],
        f"source={one[:10]}.*": ["a", "b", "c", "d"],
        "source_type=html": ["c", "d"],
        "source_type=push": [],
        "tag=topic:x": ["a", "c"],
        "tag=topic:y&tag=topic:z": ["b", "c"],
        f"tag=topic:x&source={two}": ["c"],
        "keyword=price": ["b"],
        "keyword=price&source_type=html": [],
        "keyword=nothing&keyword=raised": ["b"],
    }
    for query, titles in wanted.items():
        async with await house.client() as client:
            answer = await client.get(f"/v1/events?{query}&to={ids([end])[0]}")
        assert [event["title"] for event in answer.json()["events"]] == titles, query
        both = "" if "source=" in query else f"&source={one}&source={two}"
        async with listening(house, f"/v1/stream?since={ZERO}&{query}{both}") as stream:
            assert await stream.titles(len(titles)) == titles, query


async def test_channels_restrict_to_a_tier_or_to_notices(house: House) -> None:
    await house.publish("a", a_draft("b", source_type="html"), a_draft("c", source_type="push"))
    await house.publish(a_draft("d", alert_type="source_quiet"))
    for channel, title in {"feed": "a", "html": "b", "push": "c", "alerts": "d"}.items():
        async with listening(house, f"/v1/streams/{channel}?since={ZERO}") as client:
            assert await client.titles(1) == [title]
    async with await house.client() as client:
        answer = await client.get("/v1/streams/nothing")
        assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (404, "not-found")


@pytest.mark.parametrize(
    ("query", "location"),
    [
        ("nothing=1", "query.nothing"),
        ("source=x", "query.source[0]"),
        ("source_type=rss", "query.source_type[0]"),
        ("since=x&since=y", "query.since"),
        ("keyword=%22", "query.keyword"),
        ("keyword=", "query.keyword[0]"),
        ("&".join(f"tag=t:{n}" for n in range(51)), "query.tag"),
        ("tag=%ff", "query"),
    ],
)
async def test_a_bad_filter_is_400_with_the_position(house: House, query: str, location: str) -> None:
    async with await house.client() as client:
        answer = await client.get(f"/v1/stream?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, location)


async def test_x15_a_deleted_keys_open_streams_end_within_a_second(house: House, autojump_clock: object) -> None:
    doomed, other = await house.key(), await house.key()
    async with listening(house, key=doomed) as first, listening(house, key=other) as second:
        await trio.sleep(5)
        await house.revoke(doomed)
        with trio.fail_after(1):
            while await first.chunk():
                pass
        assert first.ended, "the body ends as it should, it is not cut"
        await house.publish("a")
        assert await second.titles(1) == ["a"]
    async with await house.client() as _, house.stranger(Authorization=f"Bearer {doomed}") as client:
        assert (await client.get("/v1/stream")).status_code == 401


async def test_a_key_has_a_limit_of_open_streams_and_so_has_the_service(autojump_clock: object) -> None:
    from tests.api.house import make_house, running

    async with running(make_house(max_streams=3, key_streams=2)) as house:
        key = await house.key()
        async with listening(house, key=key), listening(house, key=key) as second:
            async with listening(house, key=key) as third:
                assert (third.status, third.headers["retry-after"]) == (429, "10")
            async with listening(house), listening(house) as beyond:
                assert (beyond.status, beyond.headers["retry-after"]) == (503, "10")
            await trio.aclose_forcefully(second.stream)
            await trio.sleep(1)
            async with listening(house, key=key) as again:
                assert again.status == 200


async def test_no_more_streams_open_at_one_moment_than_a_key_may_have(autojump_clock: object) -> None:
    from tests.api.house import make_house, running

    answers: list[tuple[int, str]] = []
    async with running(make_house(key_streams=2)) as house, trio.open_nursery() as nursery:
        key = await house.key()

        async def open_one() -> None:
            async with listening(house, key=key) as stream:
                answers.append((stream.status, stream.headers.get("retry-after", "")))
                await trio.sleep_forever()

        for _ in range(20):
            nursery.start_soon(open_one)
        await trio.sleep(5)
        nursery.cancel_scope.cancel()
    assert sorted(answers) == [(200, "")] * 2 + [(429, "10")] * 18


async def test_a_head_request_opens_no_stream(house: House) -> None:
    async with await house.client() as client:
        answer = await client.head("/v1/stream")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_after_a_stream_has_ended_its_connection_serves_on(house: House, autojump_clock: object) -> None:
    key = await house.key()
    async with listening(house, key=key) as client:
        await house.revoke(key)
        while await client.chunk():
            pass
        client._h11.start_next_cycle()
        await client.ask("/healthz")
        assert client.status == 200


async def test_a_wrong_scope_gets_no_stream(house: House) -> None:
    scopes = [scope for scope in ALL if scope != "stream:read"]
    async with await house.client(*scopes) as client:
        assert (await client.get("/v1/stream")).status_code == 403
    async with listening(house, "/v1/streams/html", key=await house.key("stream:read:html")) as stream:
        assert stream.status == 200
    async with await house.client("stream:read:html") as client:
        assert (await client.get("/v1/streams/feed")).status_code == 403
        assert (await client.get("/v1/stream")).status_code == 403


# --- channels of alerts ----------------------------------------------------------------------------------------------


async def test_a_channel_of_an_alert_carries_its_matches_live_and_in_replay(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", "price", channel="pricing"))
    events = ids(await house.publish("old price", "weather", "another price"))
    async with listening(house, f"/v1/streams/pricing?since={ZERO}") as client:
        assert await client.titles(2) == ["old price", "another price"]
        await house.publish("rain", "PRICES up")
        assert await client.titles(1) == ["PRICES up"]
    async with listening(house, f"/v1/streams/pricing?since={events[0]}&keyword=another") as client:
        assert await client.titles(1) == ["another price"]


async def test_a_channel_carries_its_alerts_part_and_a_keyword_reads_the_whole_page(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", "price", channel="pricing", match="added"))
    page = a_draft("came", content="A price", source_type="html", diff=Diff(("A price",), (), ()))
    await house.publish(page, replace(page, title="other", diff=Diff(("x",), (), ())), a_draft("feed", content="price"))
    async with listening(house, f"/v1/streams/pricing?since={ZERO}") as client:
        assert await client.titles(2) == ["came", "feed"]
    async with listening(house, f"/v1/stream?since={ZERO}&keyword=price") as client:
        assert await client.titles(3) == ["came", "other", "feed"]


async def test_a_shared_channel_carries_the_matches_of_each_of_its_alerts(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", "price", channel="both", source_ids=(a_source_id(1),)))
    await house.storage.alerts.put(an_alert("b", "plan", channel="both"))
    await house.storage.alerts.put(an_alert("c", "", channel="both", enabled=False))
    async with listening(house, "/v1/streams/both") as client:
        await house.publish("price of one", "rain")
        await house.publish("price of two", "plan of two", source=2)
        assert await client.titles(2) == ["price of one", "plan of two"]


async def test_notices_are_on_the_channels_of_alerts_that_request_them(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", "", channel="mine", notices=("source_failing",)))
    async with listening(house, "/v1/streams/mine") as client:
        quiet, failing = (a_draft(name, alert_type=name) for name in ("source_quiet", "source_failing"))
        await house.publish(quiet, failing, "news")
        assert await client.titles(2) == ["source_failing", "news"]


async def test_a_change_of_an_alert_holds_for_the_streams_that_are_open(house: House) -> None:
    async with await house.client() as api:
        made = await api.post("/v1/alerts", json={"filter_query": "price", "language": "en", "channel": "pricing"})
        path = f"/v1/alerts/{made.json()['id']}"
        async with listening(house, "/v1/streams/pricing") as client:
            await house.publish("price 1", "plan 1")
            assert await client.titles(1) == ["price 1"]
            await api.patch(path, json={"filter_query": "plan"})
            await house.publish("price 2", "plan 2")
            assert await client.titles(1) == ["plan 2"]
            await api.patch(path, json={"channel": None})
            await house.publish("plan 3")
            await api.patch(path, json={"channel": "pricing"})
            await house.publish("plan 4")
            assert await client.titles(1) == ["plan 4"]
        await api.delete(path)
        assert (await api.get("/v1/streams/pricing")).status_code == 404


async def test_one_channel_of_an_alert_may_be_all_that_a_key_can_read(house: House) -> None:
    await house.storage.alerts.put(an_alert("a", channel="pricing"))
    async with await house.client("stream:read:pricing") as client:
        assert (await client.get("/v1/streams/feed")).status_code == 403
        assert (await client.get("/v1/streams/unknown")).status_code == 403
    async with listening(house, "/v1/streams/pricing", key=await house.key("stream:read:pricing")) as client:
        assert client.status == 200


async def test_r10_a_stream_that_meets_damage_ends_with_that_reason(house: House) -> None:
    await house.publish("a", "b")

    async def torn(*_: object, **__: object) -> None:
        raise Corrupt("the database is damaged (malformed)")

    house.storage.log.replay = torn  # type: ignore[assignment, method-assign]
    house.storage.tail.since = lambda _: None  # type: ignore[method-assign, assignment]  # no longer in memory
    async with listening(house, "/v1/stream?since=earliest") as client:
        said = [await client.frame() for _ in range(3)][2]
        assert said == b"retry: 60000\n: ended: the database is damaged; a backup must be restored"


# --- heartbeats ------------------------------------------------------------------------------------------------------


async def test_heartbeats_are_on_no_stream_but_theirs_and_those_that_ask_for_them(house: House) -> None:
    await house.publish("a")
    await house.beat()
    async with listening(house, "/v1/streams/heartbeats?since=earliest") as client:
        assert await client.titles(1) == ["Heartbeat"]
        await house.publish("b")
        await house.beat()
        assert await client.titles(1) == ["Heartbeat"]
    every = ["a", "Heartbeat", "b", "Heartbeat"]
    for asked, expected in (
        ("", ["a", "b"]),
        ("&heartbeats=true", every),
        (f"&source={a_source_id(1)}&heartbeats=true", every),
        ("&keyword=b&heartbeats=true", every[1:]),
        (f"&source={a_source_id(2)}&heartbeats=true", ["Heartbeat"] * 2),
    ):
        async with listening(house, f"/v1/stream?since=earliest{asked}") as client:
            assert await client.titles(len(expected)) == expected
    async with listening(house, "/v1/stream") as plain, listening(house, "/v1/stream?heartbeats=true") as asking:
        await house.beat()
        await house.publish("live")
        assert await plain.titles(1) == ["live"]
        assert await asking.titles(2) == ["Heartbeat", "live"]


async def test_an_alerts_channel_has_heartbeats_when_the_alert_names_them_for_any_sources(house: House) -> None:
    named = ("heartbeat",)
    await house.storage.alerts.put(an_alert("a", "price", channel="with", notices=named, source_ids=(a_source_id(2),)))
    await house.storage.alerts.put(an_alert("b", "price", channel="without"))
    for channel, expected in (("with", "Heartbeat"), ("without", "The price is 5")):
        async with listening(house, f"/v1/streams/{channel}") as client:
            await house.beat()
            await house.publish("The price is 5", source=2)
            assert await client.titles(1) == [expected]


async def test_a_key_for_one_channel_gets_no_other_heartbeats(house: House) -> None:
    async with await house.client("stream:read:feed") as client:
        answer = await client.get("/v1/streams/feed?heartbeats=true")
        assert (answer.status_code, "stream:read:heartbeats" in answer.text) == (403, True)
    key = await house.key("stream:read:feed", "stream:read:heartbeats")
    async with listening(house, "/v1/streams/feed?heartbeats=true", key=key) as stream:
        await house.beat()
        assert await stream.titles(1) == ["Heartbeat"]

"""The life of open streams: keepalives, last frames, slow readers, and the meaning of keywords."""

from __future__ import annotations

import pytest
import trio
from trio.testing import lockstep_stream_pair, memory_stream_pair

from actors.observer import Gauge
from api.streams.streams import Streams
from storage.records.identity import START, id_of
from storage.tail import Tail
from tests.actors.matcher.rig import an_alert
from tests.api.house import House, ids, make_house, running
from tests.api.listening import Listening, listening
from tests.api.server.test_server import connections
from tests.storage.contract.builders import an_api_key
from tests.support.build import a_draft

ZERO = id_of(START, 0)


async def test_keep_alives_after_one_event_to_all_are_spread_out(
    house: House, autojump_clock: object, nursery: trio.Nursery
) -> None:
    """Each stream draws an interval from 10 to 15 seconds, so keepalives spread evenly over five."""
    key, times = await house.key(), list[float]()

    async def listen() -> None:
        async with listening(house, key=key) as client:
            while not (await client.frame()).startswith(b"event: "):
                pass
            assert (await client.frame()).startswith(b": keepalive ")
            times.append(trio.current_time() - began)

    async with trio.open_nursery() as clients:
        for _ in range(50):
            clients.start_soon(listen)
        await trio.sleep(5)
        began = trio.current_time()
        await house.publish("to all")
    assert min(times) >= 10 and max(times) <= 15
    assert max(sum(at <= other < at + 0.5 for other in times) for at in times) <= 8, "five were even"


async def test_keep_alives_under_load_have_the_newest_id(
    house: House, autojump_clock: object, nursery: trio.Nursery
) -> None:
    """The id shows a reader of rare events that it has missed none of the common ones."""
    newest = ""

    async def others() -> None:
        nonlocal newest
        while True:
            (newest,) = ids(await house.publish("common"))
            await trio.sleep(0.01)

    nursery.start_soon(others)
    async with listening(house, "/v1/stream?source_type=push") as client:
        await client.frame(), await client.frame()
        for _ in range(3):
            assert await client.frame() == f": keepalive {newest}".encode()
    nursery.cancel_scope.cancel()


async def test_a_stop_says_when_to_come_back_and_not_to_all_the_same(autojump_clock: object) -> None:
    house, hints = make_house(), list[bytes]()
    async with running(house):
        key = await house.key()

        async def listen() -> None:
            async with listening(house, key=key) as client:
                await client.frame(), await client.frame()
                hints.append(await client.frame())
                assert await client.chunk() == b"" and client.ended, "the body ends as it should"

        async with trio.open_nursery() as clients:
            for _ in range(4):
                clients.start_soon(listen)
            await trio.sleep(1)
            house.child.stopping.set()
    waits = [int(hint.removeprefix(b"retry: ").partition(b"\n")[0]) for hint in hints]
    assert all(hint.endswith(b"\n: ended: the service stops") for hint in hints)
    assert len(set(waits)) == 4 and all(3000 <= wait < 6000 for wait in waits)


async def test_a_reader_overtaken_by_retention_gets_a_comment_and_then_410(
    autojump_clock: object,
) -> None:
    async with running(make_house(lockstep_stream_pair)) as house:
        events = await house.publish(*[a_draft(str(n), content="x" * 2_000) for n in range(400)])
        house.storage.tail = Tail(events[-1].seq)
        key = await house.key()
        async with listening(house, f"/v1/stream?since={ZERO}", key=key) as client:
            got = [await client.event()]
            await house.storage.log.retain(events[-1].seq, 399, house.storage.lease)
            while not (frame := await client.frame()).startswith(b": ended"):
                got.append({"id": frame.rpartition(b"id: ")[2].decode()})
            assert await client.chunk() == b"" and client.ended, "the body ends as it should"
        seen = [event["id"] for event in got]
        assert seen == ids(events)[: len(seen)] and len(seen) < 400, "what came is a beginning without gaps"
        async with listening(house, key=key, Last_Event_ID=seen[-1]) as client:
            assert client.status == 410


async def test_f5_a_client_that_takes_a_byte_a_second_is_disconnected_at_the_deadline_too(
    autojump_clock: object,
) -> None:
    """The deadline is for a whole send of 64 KiB, not for a keepalive."""
    async with running(make_house(lockstep_stream_pair, send_timeout=30)) as house:
        key = await house.key()
        slow = Listening(await house.listener.connect())
        await slow.ask("/v1/stream", Authorization=f"Bearer {key}")
        house.listener.pair = memory_stream_pair
        async with listening(house, key=key) as reader:
            began = trio.current_time()
            await house.publish(*[a_draft(str(n), content="x" * 1_000) for n in range(300)])
            while connections() == 2:
                await slow.stream.receive_some(1)
                await trio.sleep(1)
            assert trio.current_time() - began == pytest.approx(30, abs=1)
            assert await reader.titles(300) == [str(n) for n in range(300)]


@pytest.mark.parametrize(
    ("keyword", "matched"),
    [
        ("price", ["Prices rise"]),
        ("PRICING", ["Prices rise"]),
        ("sanktioner", ["Sanktionen avgjord", "Inga sanktioner"]),
        ("forelagga", ["Ett föreläggande"]),
        ("rul*", ["New rules"]),
        ("new rules", ["New rules"]),
        ("rules new", []),
        ('"prices rise"', ["Prices rise"]),
    ],
)
async def test_a_keyword_matches_as_an_alerts_term_does_in_any_configured_language(
    house: House, keyword: str, matched: list[str]
) -> None:
    titles = ["Prices rise", "Sanktionen avgjord", "Inga sanktioner", "Ett föreläggande", "New rules"]
    await house.storage.alerts.put(an_alert("a", "tillsyn", language="sv"))
    await house.publish(*titles, "end")
    query = f"since={ZERO}&keyword={keyword.replace(' ', '%20').replace(chr(34), '%22')}&keyword=end"
    async with listening(house, f"/v1/stream?{query}") as client:
        assert await client.titles(len(matched) + 1) == [*matched, "end"]


async def test_fifty_values_of_a_filter_are_taken(house: House) -> None:
    query = "&".join(f"tag=t:{n}" for n in range(50))
    await house.publish(a_draft("no", tags=("t:50",)), a_draft("yes", tags=("x:y", "t:49")))
    async with listening(house, f"/v1/stream?since={ZERO}&{query}") as client:
        assert await client.titles(1) == ["yes"]


async def test_a_replay_as_ndjson_has_the_stored_bytes(house: House) -> None:
    """Both forms escape only the separators that some readers take for line ends."""
    (event,) = await house.publish(a_draft("a\u2028b", content="c\u0085d\u2029"))
    line = event.body.replace("\u2028".encode(), rb"\u2028").replace("\u0085".encode(), rb"\u0085")
    line = line.replace("\u2029".encode(), rb"\u2029")
    async with listening(house, f"/v1/stream?since={ZERO}", Accept="application/x-ndjson") as client:
        assert await client.frame(b"\n") == line
    async with listening(house, f"/v1/stream?since={ZERO}") as client:
        await client.frame(), await client.frame()
        assert b"\ndata: " + line + b"\nid: " in await client.frame()


async def test_a_stream_that_opens_after_all_were_ended_ends_at_once(autojump_clock: object) -> None:
    house = make_house()
    streams = Streams(house.storage, house.context.settings)
    streams.end_all()
    with trio.fail_after(5), trio.CancelScope() as scope:
        streams.add(scope, an_api_key())
        await trio.sleep_forever()
    assert scope.cancelled_caught
    streams.drop(scope, an_api_key())
    assert len(streams) == 0


async def test_open_streams_are_counted() -> None:
    house, gauge = make_house(), Gauge()
    streams = Streams(house.storage, house.context.settings, gauge)
    first, second = trio.CancelScope(), trio.CancelScope()
    streams.add(first, an_api_key())
    streams.add(second, an_api_key())
    assert gauge.value == 2
    streams.drop(first, an_api_key())
    assert gauge.value == 1
    streams.drop(second, an_api_key())
    assert gauge.value == 0


def test_a_place_is_taken_once_and_given_back_once() -> None:
    house = make_house()
    streams, key = Streams(house.storage, house.context.settings), an_api_key()
    with streams.place(key):
        with streams.place(key):
            assert streams._of_key[key.id] == 2
        assert streams._of_key[key.id] == 1
    assert not streams._of_key

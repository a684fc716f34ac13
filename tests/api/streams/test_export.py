"""The export over the connection code: complete, in constant memory, and visibly cut when it fails."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import h11
import httpx
import msgspec
import pytest
import trio
import trio.testing

from api.streams import export as module
from api.streams.export import PAGE, Export
from api.streams.reader import EventFilter
from storage.errors import Unavailable
from storage.records.event import Stored
from storage.records.identity import START, Seq, id_of, rfc3339, seq_of
from tests.api.calls import BusyLog
from tests.api.house import House, ids, make_house, running
from tests.api.listening import Listening
from tests.support.build import NOW, a_draft

FORMATS = ("json", "ndjson", "csv")


@asynccontextmanager
async def exporting(house: House, query: str = "format=ndjson", key: str = "") -> AsyncIterator[Listening]:
    stream = await house.listener.connect()
    try:
        client = Listening(stream)
        await client.ask(f"/v1/events/export?{query}", Authorization=f"Bearer {key or await house.key()}")
        yield client
    finally:
        await trio.aclose_forcefully(stream)


async def rest_of(client: Listening) -> bytes:
    """Read to the end, which is proper (`client.ended`) or a cut."""
    data = bytearray()
    with suppress(h11.RemoteProtocolError):  # "incomplete chunked read"
        while piece := await client.chunk():
            data += piece
    return bytes(data)


async def fill(house: House, count: int, size: int = 50) -> list[Stored]:
    events: list[Stored] = []
    for start in range(0, count, 500):
        drafts = [a_draft(str(n), content="x" * size) for n in range(start, min(count, start + 500))]
        events += await house.publish(*drafts)
    return events


def rows_in(answer: httpx.Response, form: str) -> list[Any]:
    if form == "json":
        return list(answer.json())
    if form == "ndjson":
        return [msgspec.json.decode(line) for line in answer.content.splitlines()]
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline=""), strict=True))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 1_234])
async def test_every_event_is_in_the_file_once_and_in_order(
    house: House, client: httpx.AsyncClient, form: str, count: int
) -> None:
    events = await fill(house, count) if count else []
    answer = await client.get(f"/v1/events/export?format={form}")
    assert answer.status_code == 200
    assert [row["id"] for row in rows_in(answer, form)] == ids(events)


async def test_lines_of_ndjson_are_the_logs_own_bytes(house: House, client: httpx.AsyncClient) -> None:
    events = await house.publish(a_draft("one\u2028two", content='"\n'), a_draft("b"))
    answer = await client.get("/v1/events/export?format=ndjson")
    assert answer.content == b"".join(event.body + b"\n" for event in events)
    array = await client.get("/v1/events/export")
    assert array.content == b"[\n" + b",\n".join(event.body for event in events) + b"\n]\n"


@pytest.mark.parametrize(
    ("form", "media"), [("json", "application/json"), ("ndjson", "application/x-ndjson"), ("csv", "text/csv")]
)
async def test_the_export_headers_name_the_file_and_the_position_to_continue(
    house: House, client: httpx.AsyncClient, form: str, media: str
) -> None:
    events = await house.publish(*"abc")
    answer = await client.get(f"/v1/events/export?format={form}&from={ids(events)[0]}")
    assert answer.headers["content-type"].startswith(media)
    name = rf'attachment; filename="sanderling-events-\d{{8}}T\d{{6}}Z\.{form}"'
    assert re.fullmatch(name, answer.headers["content-disposition"])
    assert seq_of(answer.headers["sanderling-export-end"]) == events[-1].seq
    assert answer.headers["sanderling-window-from"] == rfc3339(NOW)
    assert answer.headers["sanderling-retention-clamped"] == "false"
    assert [row["title"] for row in rows_in(answer, form)] == ["b", "c"]


async def test_the_filters_are_those_of_the_history(house: House, client: httpx.AsyncClient) -> None:
    drafts = [a_draft(str(n), tags=(f"t:{n % 3}",), content="needle" if n % 2 else "hay") for n in range(12)]
    events = await house.publish(*drafts)
    for query in (
        "tag=t:0,t:2",
        "keyword=needle&tag=t:1",
        "source_type=html",
        f"from={ids(events)[3]}&to={ids(events)[6]}",
        "source=019.*",
        "from=earliest",
    ):
        page = (await client.get(f"/v1/events?{query}")).json()["events"]
        assert (await client.get(f"/v1/events/export?{query}")).json() == page
    for bad in ("format=xml", "order=asc", "limit=5", "tag=,", "from=now"):
        assert (await client.get(f"/v1/events/export?{bad}")).status_code == 400


async def test_the_end_is_fixed_at_the_start(house: House) -> None:
    events = await fill(house, 300)
    async with exporting(house) as client:
        await house.publish("late")
        lines = (await rest_of(client)).splitlines()
    assert [msgspec.json.decode(line)["id"] for line in lines] == ids(events) and client.ended


async def test_a_clamped_export_is_reported(house: House, client: httpx.AsyncClient) -> None:
    events = await house.publish(*"abc")
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    answer = await client.get(f"/v1/events/export?from={ids(events)[0]}")
    assert answer.headers["sanderling-retention-clamped"] == "true" and len(answer.json()) == 1


async def test_an_export_holds_one_page_of_events_for_any_log_and_filter() -> None:
    """It counts rows, not bytes: each step holds at most a page, and a piece is bounded."""
    house = make_house()
    await fill(house, 5_000, size=200)
    for words in (False, True):
        event_filter = EventFilter()
        event_filter.turn = 7 if words else event_filter.turn
        export = Export(house.storage.log, event_filter, "ndjson", after=START, before=Seq(2**63 - 1))
        await export.begin()
        most, total = 0, 0
        while (piece := await export.take()) is not None:
            most, total = max(most, export.statistics().held), total + piece.count(b"\n")
            assert len(piece) < module.PIECE + 1_000
        assert (most <= PAGE, total, export.statistics().written) == (True, 5_000, 5_000)


async def test_a_client_that_takes_nothing_holds_up_nothing_and_is_cut(autojump_clock: object) -> None:
    house = make_house(send_timeout=5)
    await fill(house, 2_000, size=2_000)
    taken: list[Export] = []
    begin = Export.begin

    async def noted(self: Export) -> None:
        taken.append(self)
        await begin(self)

    async with running(house):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Export, "begin", noted)
            client = await unread(house, await house.key())
        await trio.sleep(4)
        before = taken[0].statistics()
        assert before.looked < 2_000, "back-pressure: what nobody reads is not read from the log either"
        async with await house.client() as other:
            assert (await other.get("/v1/events?limit=1")).status_code == 200
        await trio.sleep(4)
        data = await rest_of(client)
        assert not client.ended and data.count(b"\n") < 2_000


async def broken(house: House, monkeypatch: pytest.MonkeyPatch, fault: Any) -> Listening:
    """Run an export, cause `fault` midway, and return the client."""
    reads = 0

    async def meanwhile() -> None:
        nonlocal reads
        reads += 1
        if reads == 8:
            await fault()

    log = BusyLog(house.storage.log, meanwhile)
    begin = Export.begin

    async def with_log(self: Export) -> None:
        self._log = log  # type: ignore[assignment]
        await begin(self)

    monkeypatch.setattr(Export, "begin", with_log)
    async with exporting(house, "format=json") as client:
        client._buffer = await rest_of(client)
        return client


async def test_an_error_in_the_middle_cuts_the_connection_and_leaves_the_array_open(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(house, 1_000)

    async def fault() -> None:
        raise Unavailable("the disk is gone")

    client = await broken(house, monkeypatch, fault)
    assert not client.ended
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(client._buffer)
    assert [name for name, _ in house.logs if name == "export.cut"] == ["export.cut"]
    async with await house.client() as other:
        assert (await other.get("/v1/events?limit=1")).status_code == 200


async def test_a_gap_that_retention_makes_below_the_cursor_is_such_an_error(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(house, 1_000)

    async def fault() -> None:
        await house.storage.log.retain(Seq(2**63 - 1), 900, house.storage.lease)

    client = await broken(house, monkeypatch, fault)
    assert not client.ended and not client._buffer.endswith(b"]\n")


async def test_a_deleted_key_ends_its_export(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEY_CHECK", 0.0)
    await fill(house, 3_000)
    key = await house.key()
    async with exporting(house, key=key) as client:
        await client.chunk()
        await house.revoke(key)
        await rest_of(client)
        assert not client.ended


async def test_storage_that_does_not_answer_at_the_start_is_503_and_no_file(
    house: House, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dead(*args: Any) -> Any:
        raise Unavailable("closed")

    monkeypatch.setattr(house.storage.log, "read", dead)
    answer = await client.get("/v1/events/export")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


async def unread(house: House, key: str) -> Listening:
    """Start an export that its client never reads."""
    ours, theirs = trio.testing.lockstep_stream_pair()
    await house.listener._send.send(theirs)
    client = Listening(ours)
    await client.ask("/v1/events/export?format=ndjson", Authorization=f"Bearer {key}")
    return client


async def test_a_key_and_the_service_have_a_limit_of_exports_at_once(house: House) -> None:
    await fill(house, 2_000, size=2_000)
    key, other = await house.key(), await house.key()
    open_ones = [await unread(house, key), await unread(house, key), await unread(house, other)]
    async with house.stranger(Authorization=f"Bearer {key}") as client:
        answer = await client.get("/v1/events/export?to=2001-01-01T00:00:00Z")
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
        open_ones.append(await unread(house, other))
        async with await house.client() as third:
            assert (await third.get("/v1/events/export")).status_code == 503
        for each in open_ones:
            await trio.aclose_forcefully(each.stream)
        await trio.testing.wait_all_tasks_blocked()
        assert (await client.get("/v1/events/export?to=2001-01-01T00:00:00Z")).json() == []


async def test_a_head_request_writes_no_file(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("a")
    answer = await client.head("/v1/events/export")
    assert (answer.status_code, answer.content) == (200, b"") and "content-disposition" in answer.headers
    assert (await client.get("/v1/events?limit=1")).status_code == 200


async def test_a_stream_continues_an_export_without_a_gap(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("a")
    end = (await client.get("/v1/events/export")).headers["sanderling-export-end"]
    later = await house.publish("b", "c")
    assert seq_of(end) < later[0].seq and end == id_of(seq_of(end), 0)


@pytest.mark.real
async def test_an_export_over_tcp_arrives_whole_at_a_reader_of_uneven_pace() -> None:
    house = make_house()
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    house.listener = listener  # type: ignore[assignment]  # a real listener
    events = await fill(house, 3_000, size=1_000)
    chance = random.Random(1)
    async with running(house):
        client = Listening(await trio.open_tcp_stream(*listener.socket.getsockname()[:2]))
        await client.ask("/v1/events/export?format=ndjson", Authorization=f"Bearer {await house.key()}")
        data = bytearray()
        while piece := await client.chunk():
            data += piece
            if chance.random() < 0.05:
                await trio.sleep(0.002)
        assert bytes(data) == b"".join(event.body + b"\n" for event in events) and client.ended
        await trio.aclose_forcefully(client.stream)

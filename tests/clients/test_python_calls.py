"""The Python client's calls on the running application: records there and back, pages, typed problems."""

from __future__ import annotations

from uuid import UUID

import httpx
import pytest
import trio

from sanderling_client import AnswerError, AsyncClient, Client, ProblemError, refusals
from sanderling_client import records as r
from tests.api.house import BASE_URL, House, ids, on_loopback


async def test_it_reads_and_writes(house: House) -> None:
    api = AsyncClient(BASE_URL, http=await house.client())
    source = await api.add_source(r.NewSource(url="https://new.example/feed", tags=["topic:new"]))
    assert isinstance(source, r.SourceRecord) and source.tags == ["topic:new"]
    both = await api.add_source(r.SourceBatch(sources=[r.NewSource(url=f"https://{n}.example/") for n in range(2)]))
    assert isinstance(both, r.BatchAnswer) and [one.status for one in both.results] == ["created", "created"]
    assert await api.read_source(source.id) == source

    alert = await api.add_alert(r.NewAlert(filter_query="price", channel="prices", tags=["topic:new"]))
    changed = await api.change_alert(alert.id, r.AlertPatch(channel=None, enabled=False))
    assert (changed.channel, changed.enabled, changed.filter_query) == (None, False, "price")
    destination = await api.add_destination(alert.id, r.NewDestination(url="https://hooks.example/in"))
    assert (destination.secret or "").startswith("whsec_")
    await api.delete_alert(alert.id)
    with pytest.raises(refusals.NotFound):
        await api.read_alert(alert.id)


async def test_lists_come_page_by_page_or_whole(house: House) -> None:
    api = AsyncClient(BASE_URL, http=await house.client())
    names = [f"{number}" for number in range(5)]
    for name in names:
        await api.add_alert(r.NewAlert(filter_query=name))
    page = await api.list_alerts(limit=2)
    assert len(page) == 2 and page.next_cursor
    every = [one.filter_query async for one in api.each(api.list_alerts, limit=2)]
    assert sorted(every) == names and every[:2] == [one.filter_query for one in page]
    stored = await house.publish("first", "second")
    history = await api.list_events(limit=1, tag=["change:new"], order="desc")
    assert [event.id for event in history.events] == ids(stored)[1:]


async def test_the_same_call_twice_is_made_once(house: House) -> None:
    api = AsyncClient(BASE_URL, http=await house.client())
    made = [await api.add_alert(r.NewAlert(filter_query="a"), idempotency_key="k-1") for _ in range(2)]
    assert made[0] == made[1] and len(await api.list_alerts()) == 1


async def test_a_problem_is_typed_with_pointer_and_retry_time(house: House, autojump_clock: object) -> None:
    api = AsyncClient(BASE_URL, http=await house.client(rate=60, burst=3))
    with pytest.raises(refusals.InvalidRequest) as wrong:
        await api.add_alert(r.NewAlert(filter_query="(price"))
    assert [error.location for error in wrong.value.errors] == ["body.filter_query"]
    assert wrong.value.status == 400 and wrong.value.request_id and wrong.value.retry_after is None
    with pytest.raises(refusals.NotFound):
        await api.read_source(str(UUID(int=7)))
    with pytest.raises(refusals.NotFound):
        await api.read_source("../../healthz")
    with pytest.raises(refusals.RateLimited) as often:
        await api.list_sources()
    assert often.value.retry_after == 1.0


async def test_a_key_without_the_scope_is_forbidden_and_a_wrong_one_unauthorized(house: House) -> None:
    with pytest.raises(refusals.Forbidden):
        await AsyncClient(BASE_URL, http=await house.client("bins:read")).list_sources()
    with pytest.raises(refusals.Unauthorized):
        await AsyncClient(BASE_URL, "svc_wrong", http=house.stranger()).list_sources()


def answering(status: int, content: bytes) -> Client:
    transport = httpx.MockTransport(lambda request: httpx.Response(status, content=content))
    return Client(BASE_URL, http=httpx.Client(transport=transport))


def test_a_proxy_on_the_way_is_a_problem_without_a_kind() -> None:
    with pytest.raises(ProblemError) as raised:
        answering(502, b"<html>Bad gateway</html>").list_sources()
    assert (type(raised.value), raised.value.status, raised.value.problem.type) == (ProblemError, 502, "about:blank")


@pytest.mark.parametrize("content", [b"", b"<html>", b"{}", b'[{"id": 7}]'])
def test_an_answer_that_is_none_is_no_record(content: bytes) -> None:
    with pytest.raises(AnswerError):
        answering(200, content).list_sources()


@pytest.mark.real
async def test_it_blocks_as_well() -> None:
    async with on_loopback() as (house, port):
        key = await house.key()

        def use() -> list[str]:
            with Client(f"http://127.0.0.1:{port}", key) as client:
                client.add_source(r.NewSource(url="https://new.example/feed"))
                return [one.url for one in client.each(client.list_sources, limit=1)]

        assert await trio.to_thread.run_sync(use) == ["https://new.example/feed"]

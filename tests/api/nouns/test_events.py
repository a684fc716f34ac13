from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest

from storage.records.identity import Millis, id_of, rfc3339, seq_at
from tests.api.house import House, ids
from tests.support.build import NOW, a_draft, a_source_id


async def pages(client: httpx.AsyncClient, query: str) -> list[dict[str, Any]]:
    """Follow the links to the end and return all pages."""
    found, target = [], f"/v1/events?{query}"
    while target:
        answer = await client.get(target)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        link = answer.headers.get("link", "")
        target = link.partition("<")[2].partition(">")[0]
        assert bool(link) == (found[-1]["next_cursor"] is not None)
    return found


def titles(found: list[dict[str, Any]]) -> list[str]:
    return [event["title"] for page in found for event in page["events"]]


async def test_pages_follow_each_other_in_both_orders(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(*"abcdefg")
    assert titles(await pages(client, "limit=3")) == [*"abcdefg"]
    assert titles(await pages(client, "limit=3&order=desc")) == [*"gfedcba"]
    assert [len(page["events"]) for page in await pages(client, "limit=3")] == [3, 3, 1]


async def test_an_empty_log_is_an_empty_page(client: httpx.AsyncClient) -> None:
    for order in ("asc", "desc"):
        (page,) = await pages(client, f"order={order}")
        assert (page["events"], page["next_cursor"], page["retention_clamped"]) == ([], None, False)


async def test_a_window_begins_at_a_time_or_after_an_event_and_does_not_hold_its_end(
    house: House, client: httpx.AsyncClient
) -> None:
    events = ids(await house.publish(*"abcde"))
    for order in ("asc", "desc"):
        found = await pages(client, f"from={events[0]}&to={events[3]}&order={order}&limit=1")
        assert sorted(titles(found)) == ["b", "c"]
    assert titles(await pages(client, f"from={events[4]}")) == [], "a poll with the last id repeats nothing"
    assert titles(await pages(client, f"from={events[2]}&to={events[2]}")) == []
    now, later = rfc3339(NOW), rfc3339(Millis(NOW + 1000))
    assert len(titles(await pages(client, f"from={now}&to={later}"))) == 5
    assert titles(await pages(client, f"from={later}")) == []
    assert titles(await pages(client, f"to={now}")) == []
    assert len(titles(await pages(client, "from=2026-05-28T22:26:40+02:00"))) == 5


@pytest.mark.parametrize("query", ["limit=2", "limit=2&order=desc", "limit=2&tag=t:1", "limit=2&from=earliest"])
async def test_next_cursor_also_works_as_from(house: House, client: httpx.AsyncClient, query: str) -> None:
    await house.publish(*[a_draft(name, tags=("t:1",)) for name in "abcdefg"])
    found, cursor, rest = [], "", query.replace("&from=earliest", "")
    while cursor is not None:
        answer = (await client.get(f"/v1/events?{rest}&from={cursor}" if cursor else f"/v1/events?{query}")).json()
        found.append(answer)
        cursor = answer["next_cursor"]
    assert titles(found) == titles(await pages(client, query)) and len(found) == 4


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_a_next_cursor_as_from_keeps_the_beginning_of_its_window(
    house: House, client: httpx.AsyncClient, order: str
) -> None:
    events = ids(await house.publish(*"abcdef"))
    first = (await client.get(f"/v1/events?limit=2&order={order}&from={events[1]}")).json()
    target = f"limit=2&order={order}&from={first['next_cursor']}"
    assert sorted(titles([first, *await pages(client, target)])) == ["c", "d", "e", "f"]


async def test_a_next_cursor_as_from_still_belongs_to_its_filters(house: House, client: httpx.AsyncClient) -> None:
    events = ids(await house.publish(*"abc"))
    cursor = (await client.get("/v1/events?limit=1&order=desc")).json()["next_cursor"]
    for target in (f"order=asc&from={cursor}", f"order=desc&tag=t:1&from={cursor}", f"order=desc&from={cursor}x"):
        answer = await client.get(f"/v1/events?{target}")
        assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, "query.from")
    other = await client.get(f"/v1/events?order=desc&from={events[0]}&cursor={cursor}")
    assert (other.status_code, other.json()["errors"][0]["location"]) == (400, "query.cursor")


async def test_a_next_cursor_as_from_is_410_once_retention_has_overtaken_it(
    house: House, client: httpx.AsyncClient
) -> None:
    events = await house.publish(*"abcd")
    cursor = (await client.get("/v1/events?limit=1")).json()["next_cursor"]
    await house.storage.log.retain(events[3].seq, 10, house.storage.lease)
    assert (await client.get(f"/v1/events?limit=1&from={cursor}")).status_code == 410


async def test_from_earliest_begins_with_the_oldest_stored_event(house: House, client: httpx.AsyncClient) -> None:
    events = await house.publish(*"abc")
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    (page,) = await pages(client, "from=earliest")
    assert (titles([page]), page["retention_clamped"]) == (["c"], False)


async def test_a_clamped_period_is_reported(house: House, client: httpx.AsyncClient) -> None:
    events = await house.publish(*"abc")
    await house.storage.log.retain(events[2].seq, 10, house.storage.lease)
    (page,) = await pages(client, f"from={ids(events)[0]}")
    assert page["retention_clamped"] is True and page["window_from"] == rfc3339(NOW)
    assert [event["title"] for event in page["events"]] == ["c"]
    (page,) = await pages(client, "")
    assert page["retention_clamped"] is False, "nobody asked for more than there is"


async def test_a_cursor_that_retention_has_overtaken_is_410(house: House, client: httpx.AsyncClient) -> None:
    events = await house.publish(*"abcd")
    cursor = (await client.get("/v1/events?limit=1")).json()["next_cursor"]
    await house.storage.log.retain(events[3].seq, 10, house.storage.lease)
    assert (await client.get(f"/v1/events?limit=1&cursor={cursor}")).status_code == 410


async def test_a_filter_that_passes_little_still_comes_to_its_end(house: House, client: httpx.AsyncClient) -> None:
    """Each answer scans a bounded part of the log; the cursor advances even without a match."""
    await house.publish(a_draft("first", content="needle"))
    for _ in range(12):
        await house.publish(*["hay"] * 500)
    await house.publish(a_draft("last", content="needle"))
    found = await pages(client, "keyword=needle&limit=1000")
    assert titles(found) == ["first", "last"] and len(found) > 1
    assert titles(await pages(client, "keyword=needle&order=desc")) == ["last", "first"]


async def test_in_lists_a_comma_also_separates(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(a_draft("a", tags=("t:1",)), a_draft("b", tags=("t:2",)), a_draft("c", tags=("t:3",)))
    assert titles(await pages(client, "tag=t:1,t:2&tag=t:3")) == ["a", "b", "c"]
    assert (await client.get("/v1/events?source_type=html,rss")).status_code == 400
    assert (await client.get("/v1/events?tag=" + ",".join(f"t:{n}" for n in range(51)))).status_code == 400


async def test_one_event_has_exactly_the_signed_bytes(house: House, client: httpx.AsyncClient) -> None:
    (event,) = await house.publish("a")
    answer = await client.get(f"/v1/events/{ids([event])[0]}")
    assert answer.content == event.body
    assert (await client.get("/v1/events")).content[len(b'{"events":[') :].startswith(event.body)
    for unknown in (id_of(seq_at(NOW), 1), "x", "%2e%2e"):
        assert (await client.get(f"/v1/events/{unknown}")).status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday",
        "from=2026-01-01",
        "from=2026-01-01T00:00:00",
        "to=5",
        "order=up",
        "limit=0",
        "limit=1001",
        "cursor=x",
        "to=2026-01-01T00:00:00Z&from=2026-01-01T00:00:00.001Z",
    ],
)
async def test_a_bad_window_is_400(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.get(f"/v1/events?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, f"query.{query.partition('=')[0]}")


async def test_a_cursor_of_the_other_order_is_400(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(*"abc")
    cursor = (await client.get("/v1/events?limit=1")).json()["next_cursor"]
    assert (await client.get(f"/v1/events?limit=1&order=desc&cursor={cursor}")).status_code == 400


async def test_the_answer_is_json_for_any_events(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(a_draft('quote " \\ \u2028', content="\x00"))
    page = msgspec.json.decode((await client.get("/v1/events")).content)
    assert page["events"][0]["title"] == 'quote " \\ \u2028'


async def test_a_bare_word_as_tag_is_a_label_as_for_sources(house: House, client: httpx.AsyncClient) -> None:
    """`tag=prices` silently never found a source with the tag `prices`."""
    await house.publish(a_draft("told", tags=("label:prices",)))
    await house.publish(a_draft("other", tags=("label:other", "topic:prices")))
    assert titles(await pages(client, "tag=prices")) == titles(await pages(client, "tag=label:prices")) == ["told"]
    assert titles(await pages(client, "tag=topic:prices")) == ["other"]
    assert titles(await pages(client, "tag=prices,other")) == ["told", "other"]


async def test_heartbeats_are_nowhere_unless_requested(house: House, client: httpx.AsyncClient) -> None:
    await house.publish("a")
    await house.beat()
    await house.publish("b", source=2)
    assert titles(await pages(client, "")) == ["a", "b"]
    assert titles(await pages(client, "heartbeats=true")) == ["a", "Heartbeat", "b"]
    for narrow in (f"source={a_source_id(1)}", "keyword=a"):
        assert titles(await pages(client, narrow)) == ["a"]
        assert titles(await pages(client, f"{narrow}&heartbeats=true")) == ["a", "Heartbeat"]
    assert titles(await pages(client, "tag=kind:heartbeat")) == []
    assert titles(await pages(client, "source_type=html")) == []
    file = await client.get("/v1/events/export?format=ndjson")
    assert "Heartbeat" not in file.text
    assert "Heartbeat" in (await client.get("/v1/events/export?format=ndjson&heartbeats=true")).text

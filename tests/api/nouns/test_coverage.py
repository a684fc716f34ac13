"""A receipt of coverage through the API."""

from __future__ import annotations

from typing import Any, cast

import httpx
import pytest

from actors.messages.views import SourceView
from actors.signatures import LoggedEvents, jwks, new_signing_key
from api.nouns.why import logged_in
from sanderling_client.verify import check_event, key_set
from storage.records import coverage
from storage.records.checks import Verdict
from storage.records.event import id_in
from storage.records.identity import Millis, Seq, rfc3339
from storage.records.source import SourceRuntime
from tests.api.house import House
from tests.api.nouns.test_why import a_page_draft, commit
from tests.support.build import NOW, a_source, a_source_id

HOUR = 3_600_000
KEYS = key_set(jwks([new_signing_key(bytes(32), Millis(0))]))
A_CHILD = cast("Any", type("Child", (), {"ready": lambda self: None})())


async def watched(house: House, looks: int = 4) -> None:
    """Add a source that was checked every 15 minutes until now."""
    now, counted = house.context.world.now(), b""
    for number in range(looks):
        at = Millis(now - (looks - number) * 900_000)
        counted = coverage.noted(counted, at, Verdict.CHANGED if number == 1 else Verdict.UNCHANGED)
    source = a_source(created_at=Millis(now - 30 * 86_400_000))
    house.registry.views[a_source_id()] = SourceView(source, SourceRuntime(tally=counted))
    await house.context.shifts.begin(A_CHILD)


async def receipt(client: httpx.AsyncClient, **query: str) -> dict[str, Any]:
    answer = await client.get(f"/v1/sources/{a_source_id()}/coverage", params=query)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) <= 2048
    return dict(answer.json())


async def test_a_receipt_verifies_and_names_its_gaps(house: House, client: httpx.AsyncClient) -> None:
    await watched(house)
    found = await receipt(client)
    assert check_event(found, KEYS).valid
    assert found["type"] == "coverage"
    assert (found["looks"], found["answered"], found["outcomes"]["changed"]) == (4, 4, 1)
    assert [span["why"] for span in found["unknown"]] == ["no_record"]
    assert found["unknown"][0]["to"] == rfc3339(house.context.world.now())


async def test_an_altered_receipt_does_not_verify(house: House, client: httpx.AsyncClient) -> None:
    await watched(house)
    found = await receipt(client)
    for change in ({"looks": 5}, {"unknown": []}, {"url": "https://other.example/"}):
        assert not check_event({**found, **change}, KEYS).valid


async def test_all_numbers_are_whole(house: House, client: httpx.AsyncClient) -> None:
    await watched(house)
    found = await receipt(client)
    numbers = [found[name] for name in ("looks", "answered", "versions", "unknown_seconds", "not_running_seconds")]
    assert all(isinstance(number, int) for number in (*numbers, *found["outcomes"].values()))


async def test_a_time_is_widened_to_whole_hours_and_cut_off_now(house: House, client: httpx.AsyncClient) -> None:
    await watched(house)
    now = house.context.world.now()
    found = await receipt(client, **{"from": rfc3339(Millis(now - 90_000)), "to": rfc3339(Millis(now + 86_400_000))})
    assert (found["from"], found["to"]) == (rfc3339(Millis(now // HOUR * HOUR)), rfc3339(now))


async def test_the_first_and_last_event_of_that_time_are_named(house: House) -> None:
    events = [event for _ in range(3) for event in await commit(house, a_page_draft(NOW))]

    async def logged(start: int, end: int) -> LoggedEvents:
        return await logged_in(house.storage.log, a_source_id(), Millis(start), Millis(end))

    ids = [id_in(event.body) for event in events]
    assert await logged(NOW - HOUR, NOW + HOUR) == LoggedEvents(ids[0], ids[-1], None)
    assert await logged(NOW - 2 * HOUR, NOW - HOUR) == LoggedEvents(None, None, None)
    assert await logged(NOW + HOUR, NOW + 2 * HOUR) == LoggedEvents(None, None, None)
    await house.storage.log.retain(Seq(events[1].seq + 1), 10, house.storage.lease)
    assert await logged(NOW - HOUR, NOW + HOUR) == LoggedEvents(ids[2], ids[2], NOW)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "yesterday"}, "query.from"),
        ({"from": "2126-01-01T00:00:00Z"}, "query.from"),
        ({"from": "2020-01-02T00:00:00Z", "to": "2020-01-01T00:00:00Z"}, "query.to"),
        ({"from": "1971-01-01T00:00:00Z"}, "query.from"),
        ({"to": "1"}, "query.to"),
    ],
)
async def test_a_time_that_is_none_is_refused(
    house: House, client: httpx.AsyncClient, query: dict[str, str], field: str
) -> None:
    await watched(house)
    answer = await client.get(f"/v1/sources/{a_source_id()}/coverage", params=query)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["location"] == field


async def test_a_source_that_is_none_is_not_found(house: House, client: httpx.AsyncClient) -> None:
    assert (await client.get(f"/v1/sources/{a_source_id()}/coverage")).status_code == 404


async def test_a_long_address_is_shown_as_its_hash(house: House, client: httpx.AsyncClient) -> None:
    await watched(house)
    view = house.registry.views[a_source_id()]
    url = "https://shop.example/" + "ä" * 900
    house.registry.views[a_source_id()] = SourceView(a_source(url=url, created_at=view.source.created_at), view.hot)
    found = await receipt(client)
    assert ("url" in found, len(found["url_sha256"])) == (False, 64)

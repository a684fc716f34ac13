from __future__ import annotations

import string
from typing import Any

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.messages.views import SourceView
from api.pagination import decode_cursor, encode_cursor
from api.problems import Refusal
from storage.records.checks import Verdict, add_row, check_row
from storage.records.destination import Attempt
from storage.records.identity import Millis
from storage.records.source import Health, SourceRuntime
from tests.api.house import House
from tests.api.nouns.test_alerts import made
from tests.api.nouns.test_destinations import HOOK, hooked
from tests.support.build import NOW, a_source
from tests.support.disks import note_attempt

URLSAFE = string.ascii_letters + string.digits + "-_"


async def walked(client: httpx.AsyncClient, target: str) -> list[Any]:
    """Follow the links to the end and return the pages."""
    pages = []
    while target:
        answer = await client.get(target)
        assert answer.status_code == 200, answer.text
        pages.append(answer.json())
        link = answer.headers.get("link", "")
        assert not link or link.endswith('rel="next"')
        target = link.partition("<")[2].partition(">")[0]
    return pages


@given(st.integers(0, 2**63 - 1), st.data())
def test_a_cursor_that_was_altered_cut_or_made_longer_is_refused(position: int, data: st.DataObject) -> None:
    cursor = encode_cursor(position, "/v1/events?tag=a")
    assert decode_cursor(cursor, int, "/v1/events?tag=a") == position
    at = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(st.sampled_from(URLSAFE))
    for false in (cursor[:at] + letter + cursor[at + 1 :], cursor[:at], cursor + letter):
        try:
            assert decode_cursor(false, int, "/v1/events?tag=a") == position, "the bits that base64 does not use"
        except Refusal as refusal:
            assert (refusal.status, refusal.errors[0].location) == (400, "query.cursor")


@pytest.mark.parametrize(
    ("target", "goes_on"),
    [
        ("/v1/events?tag=a&source=b&limit=7", True),
        ("/v1/events?source=b&tag=a&cursor=x", True),
        ("/v1/events?tag=%61&source=b", True),
        ("/v1/events?tag=a", False),
        ("/v1/events?tag=a&source=b&order=desc", False),
        ("/v1/alerts?tag=a&source=b", False),
    ],
)
def test_a_cursor_continues_only_its_own_request(target: str, goes_on: bool) -> None:
    cursor = encode_cursor([1, "x"], "/v1/events?tag=a&source=b")
    if goes_on:
        assert decode_cursor(cursor, tuple[int, str], target) == (1, "x")
    else:
        with pytest.raises(Refusal):
            decode_cursor(cursor, tuple[int, str], target)


async def test_lists_page_by_links_and_concurrent_changes_shift_nothing(
    house: House, client: httpx.AsyncClient
) -> None:
    names = [(await made(client, name=f"alert {number}"))["id"] for number in range(5)]
    first = await client.get("/v1/alerts?limit=2")
    await client.delete(f"/v1/alerts/{names[0]}")
    await client.delete(f"/v1/alerts/{names[1]}")
    last = (await made(client))["id"]
    link = first.headers["link"].partition("<")[2].partition(">")[0]
    rest = [alert["id"] for page in await walked(client, link) for alert in page]
    assert rest == [*names[2:], last]


async def test_the_destinations_of_one_alert_and_of_all_are_paged(house: House, client: httpx.AsyncClient) -> None:
    alert = (await made(client))["id"]
    there = []
    for number in range(3):
        body = {**HOOK, "url": f"https://hook{number}.test/in"}
        await trio.sleep(0.001)
        there.append((await client.post(f"/v1/alerts/{alert}/destinations", json=body)).json()["id"])
    await trio.sleep(0.001)
    other = (await hooked(client))["id"]
    for target, expected in ((f"/v1/alerts/{alert}/destinations", there), ("/v1/destinations", [*there, other])):
        pages = await walked(client, f"{target}?limit=2")
        assert [each["id"] for page in pages for each in page] == expected and len(pages) == 2


async def test_attempts_are_paged_newest_first_also_those_of_one_result(
    house: House, client: httpx.AsyncClient
) -> None:
    hook = (await hooked(client))["id"]

    def attempt(number: int) -> None:
        result: Any = "sent" if number % 2 else "retry"
        line = Attempt(hook, f"event {number}", 1, result, NOW, 200, 5, None, None)
        note_attempt(house.storage.disk, line)

    for number in range(7):
        attempt(number)
    first = await client.get(f"/v1/destinations/{hook}/deliveries?limit=3")
    attempt(7)
    link = first.headers["link"].partition("<")[2].partition(">")[0]
    rest = await walked(client, link)
    seen = [line["webhook_id"] for page in [first.json(), *rest] for line in page]
    assert seen == [f"event {number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    sent = await walked(client, f"/v1/destinations/{hook}/deliveries?limit=2&result=sent")
    assert [[line["webhook_id"][-1] for line in page] for page in sent] == [["7", "5"], ["3", "1"]]


async def test_the_word_null_is_no_absent_parameter(house: House, client: httpx.AsyncClient) -> None:
    hook = (await hooked(client))["id"]
    answer = await client.get(f"/v1/destinations/{hook}/deliveries?result=null")
    assert (answer.status_code, answer.json()["errors"][0]["location"]) == (400, "query.result")


async def test_the_trail_is_paged_while_checks_go_on(house: House, client: httpx.AsyncClient) -> None:
    trail = b""
    verdicts = (Verdict.CHANGED, Verdict.UNCHANGED, Verdict.THROTTLED, Verdict.CHANGED, Verdict.UNCHANGED)
    for number, verdict in enumerate(verdicts):
        trail = add_row(trail, check_row(Millis(NOW + number * 60_000), verdict, 200))
    source = a_source()

    def show(trail: bytes) -> None:
        hot = SourceRuntime(health=Health(), trail=trail)
        house.registry.views[source.id] = SourceView(source, hot)

    show(trail)
    first = await client.get(f"/v1/sources/{source.id}/looks?limit=2")
    show(add_row(trail, check_row(Millis(NOW + 600_000), Verdict.UNCHANGED, 200)))
    link = first.headers["link"].partition("<")[2].partition(">")[0]
    rows = [row for page in [first.json(), *await walked(client, link)] for row in page["looks"]]
    assert [row["verdict"] for row in rows] == ["unchanged", "changed", "throttled", "unchanged", "changed"]
    assert len(await walked(client, f"/v1/sources/{source.id}/looks")) == 1

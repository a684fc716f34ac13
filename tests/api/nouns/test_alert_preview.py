"""The preview of an alert over real storage: matches with reasons, bounded in events and time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest
import trio

from actors.query import languages
from actors.world import WorkerDied
from api.nouns.alerts import AT_ONCE, MOST_EVENTS, PACE, SLICE, WITHIN
from storage.records.event import Change, Diff
from tests.api.house import House, ids, make_house, running
from tests.support.build import NOW, a_draft, a_source_id
from tests.support.inline_jail import InlineJail

PREVIEW = "/v1/alerts/preview"


async def previewed(client: httpx.AsyncClient, query: str = "price", **more: Any) -> dict[str, Any]:
    answer = await client.post(PREVIEW, json={"filter_query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_matches_come_newest_first_with_the_matched_text_and_position(
    house: House, client: httpx.AsyncClient
) -> None:
    first, _, last = await house.publish(
        a_draft("Old prices", content="All of them."),
        a_draft("Weather"),
        a_draft("News", content="Förr: a <b>price</b> and plans 👍 for a PRICE."),
    )
    found = await previewed(client, 'price OR "no such" -gone')
    assert [each["id"] for each in found["matches"]] == ids([last, first])
    newest = found["matches"][0]
    (excerpt,) = newest["highlights"]["content"]
    text = "Förr: a <b>price</b> and plans 👍 for a PRICE."
    places = [[text.index(word), text.index(word) + 5] for word in ("price", "PRICE")]
    assert excerpt == {"start": 0, "text": text, "marks": places}
    assert (newest["title"], newest["highlights"]["title"], newest["matched"]) == ("News", [], ["price"])
    assert found["matches"][1]["highlights"]["title"] == [[4, 10]]
    assert (found["query"], found["language"]) == ('price OR "no such" -gone', "en")
    assert (found["looked_at"], found["complete"], found["matches_found"]) == (3, True, 2)
    assert found["terms"] == [{"text": "price", "events": 2}, {"text": '"no such"', "events": 0}]
    assert found["days"] == [{"day": "2026-05-28", "looked_at": 3, "matches": 2}]
    assert found["warnings"] == [] and newest["source_id"] == a_source_id(1)


async def test_the_preview_reads_the_newest_events_and_no_notices(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(*(f"price {number}" for number in range(120)))
    await house.publish("price elsewhere", source=2)
    await house.publish(a_draft("price of silence", alert_type="source_quiet"))
    everything = await previewed(client, limit=3)
    assert (everything["looked_at"], everything["matches_found"], len(everything["matches"])) == (121, 121, 3)
    assert everything["matches"][0]["title"] == "price elsewhere"
    one = await previewed(client, source_ids=[a_source_id(2).upper()])
    assert (one["looked_at"], [each["title"] for each in one["matches"]]) == (1, ["price elsewhere"])
    few = await previewed(client, last=AT_ONCE + 3, limit=0)
    assert (few["looked_at"], few["complete"], few["matches"]) == (AT_ONCE + 3, True, [])
    assert (await previewed(client, "nothing"))["matches_found"] == 0


async def test_an_alert_covers_events_with_one_of_its_tags_or_sources(house: House, client: httpx.AsyncClient) -> None:
    await house.publish(a_draft("price 1", tags=("label:shop",)), "price 2")
    await house.publish(a_draft("price 3", tags=("label:shop", "label:sea")), "price 4", source=2)
    for scope, titles in (
        ({"tags": ["shop"]}, ["price 3", "price 1"]),
        ({"tags": ["sea", "pond"]}, ["price 3"]),
        ({"tags": ["sea"], "source_ids": [a_source_id(1)]}, ["price 3", "price 2", "price 1"]),
        ({"tags": ["pond"]}, []),
    ):
        found = await previewed(client, **scope)
        assert ([each["title"] for each in found["matches"]], found["looked_at"]) == (titles, len(titles))
    refused = await client.post(PREVIEW, json={"filter_query": "price", "tags": [":"]})
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "body.tags[0]")


async def test_an_empty_log_says_nothing_of_the_volume(client: httpx.AsyncClient) -> None:
    found = await previewed(client, "-old")
    assert (found["looked_at"], found["complete"], found["per_day"], found["looked_from"]) == (0, True, None, None)
    assert "only excludes" in found["warnings"][0]


async def test_the_volume_is_estimated_from_the_searched_period(house: House, autojump_clock: object) -> None:
    await house.publish(*(["price"] * 600))
    await trio.sleep(86_400)
    async with await house.client() as client:
        found = await previewed(client)
    days = (house.context.world.now() - NOW) / 86_400_000  # the events are from the start of the house's clock
    assert found["per_day"] == pytest.approx(600 / days, abs=0.02)


@pytest.mark.parametrize(
    ("change", "status", "where", "says"),
    [
        ({"filter_query": "a OR"}, 400, "body.filter_query", "(at character 5)"),
        ({"filter_query": "x " * 3000}, 400, "body.filter_query", "4096 characters"),
        ({"filter_query": "a OR " * 300 + "b"}, 400, "body.filter_query", "256 words"),
        ({"filter_query": "(" * 100}, 400, "body.filter_query", "32 deep"),
        ({"language": "klingon"}, 422, "body.language", ", ".join(languages())),
        ({"source_ids": [a_source_id(9)]}, 422, "body.source_ids[0]", "there is no source"),
        ({"source_ids": ["x"]}, 400, "body.source_ids[0]", "not a source id"),
        ({"limit": 101}, 400, "body.limit", "100"),
        ({"last": MOST_EVENTS + 1}, 400, "body.last", "2000"),
        ({"colour": 1}, 400, "body.colour", "unknown field"),
    ],
)
async def test_an_invalid_query_is_refused_as_in_a_new_alert(
    client: httpx.AsyncClient, change: dict[str, Any], status: int, where: str, says: str
) -> None:
    answer = await client.post(PREVIEW, json={"filter_query": "x", **change})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["location"], says in error["message"]) == (status, where, True), answer.text


async def test_it_is_for_readers_of_alerts_and_at_a_pace(house: House, autojump_clock: object) -> None:
    async with (
        await house.client("alerts:write", "stream:read") as writer,
        await house.client("alerts:read", "stream:read") as reader,
    ):
        assert (await writer.post(PREVIEW, json={"filter_query": "x"})).status_code == 403
        answers = [await reader.post(PREVIEW, json={"filter_query": "x"}) for _ in range(PACE.burst + 1)]
        assert [answer.status_code for answer in answers] == [200] * PACE.burst + [429]
        await trio.sleep(int(answers[-1].headers["retry-after"]))
        assert (await reader.post(PREVIEW, json={"filter_query": "x"})).status_code == 200


class SlowJail(InlineJail):
    """A slow worker; `sizes` has the size of each request."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self.sizes: list[int] = []

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        self.sizes.append(len(request))
        await trio.sleep(self._seconds)
        return await super().call(task, request, deadline=deadline)


class DeadJail(InlineJail):
    """A worker that dies."""

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        raise WorkerDied("it ended")


def with_jail(jail: Any) -> House:
    house = make_house()
    house.context = replace(house.context, world=replace(house.context.world, jail=jail))
    return house


async def test_a_preview_ends_at_its_deadline_and_says_how_far_it_got(autojump_clock: object) -> None:
    async with running(with_jail(SlowJail(WITHIN / 2))) as house, await house.client() as client:
        await house.publish(*(f"price {number}" for number in range(AT_ONCE * 4)))
        began = trio.current_time()
        found = await previewed(client)
        assert trio.current_time() - began <= WITHIN + 0.1
    assert (found["looked_at"], found["complete"]) == (AT_ONCE * 2, False)
    assert (found["matches_found"], found["terms"]) == (AT_ONCE * 2, [{"text": "price", "events": AT_ONCE * 2}])


async def test_long_events_go_to_a_worker_a_few_at_a_time(autojump_clock: object) -> None:
    jail = SlowJail(0)
    async with running(with_jail(jail)) as house, await house.client() as client:
        await house.publish(*(a_draft(f"price {number}", content="long " * 12_000) for number in range(10)))
        assert (await previewed(client))["looked_at"] == 10
    assert len(jail.sizes) == 2 and max(jail.sizes) < SLICE + 100_000


async def test_a_worker_that_dies_is_503(autojump_clock: object) -> None:
    async with running(with_jail(DeadJail())) as house, await house.client() as client:
        await house.publish("price")
        answer = await client.post(PREVIEW, json={"filter_query": "x"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


async def test_a_preview_reads_the_alerts_part_and_marks_the_words(house: House, client: httpx.AsyncClient) -> None:
    diff = Diff(("Fees rise",), ("No fees",), (Change("5 euros", "6 euros"),))
    await house.publish(a_draft("Terms", content="Arbitration. Fees rise", source_type="html", diff=diff))
    for match, found in (("change", 0), ("page", 1)):
        assert (await previewed(client, "arbitration", match=match))["matches_found"] == found
    (event,) = (await previewed(client, "fees OR 6 OR euros"))["matches"]
    parts = [(one["part"], one["index"], one["text"], one["marks"]) for one in event["highlights"]["diff"]]
    assert parts == [
        ("added", 0, "Fees rise", [[0, 4]]),
        ("removed", 0, "No fees", [[3, 7]]),
        ("before", 0, "5 euros", [[2, 7]]),
        ("after", 0, "6 euros", [[0, 1], [2, 7]]),
    ]
    assert event["highlights"]["content"] == []
    (event,) = (await previewed(client, "6 OR euros", match="added"))["matches"]
    assert [(one["part"], one["marks"]) for one in event["highlights"]["diff"]] == [("after", [[0, 1]])]
    assert (await previewed(client, "euros", match="added"))["matches_found"] == 0

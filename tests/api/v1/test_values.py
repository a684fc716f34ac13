"""The values of a source over time, read from its events."""

from __future__ import annotations

from typing import Any

import httpx

from actors.messages.views import SourceView
from storage.records.identity import Millis
from storage.records.source import SourceRuntime
from storage.records.times import rfc3339
from storage.records.value import TypedChange, Value
from tests.api.house import House
from tests.api.v1.test_why import a_page_draft, commit
from tests.support.build import NOW, a_source, a_source_id

DAY = 86_400_000


def price(before: str, after: str, label: str = "Team · Price", unit: str = "EUR") -> TypedChange:
    return TypedChange("price", label, before=money(before, unit), after=money(after, unit))


def money(digits: str, unit: str) -> Value:
    whole, _, decimals = digits.partition(".")
    return Value(f"{digits} {unit}", "money", int(whole + decimals), len(decimals), unit)


async def told(house: House, *changes: tuple[TypedChange, ...]) -> None:
    house.registry.views[a_source_id()] = SourceView(a_source(type="html", created_at=NOW), SourceRuntime())
    for number, some in enumerate(changes, 1):
        await commit(house, a_page_draft(Millis(NOW + number * DAY), changes=some))


async def values(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get(f"/v1/sources/{a_source_id()}/values")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_source_without_values_has_no_series(house: House, client: httpx.AsyncClient) -> None:
    await told(house, (), (TypedChange("text", before=Value("a"), after=Value("b")),))
    assert await values(client) == {"id": a_source_id(), "since": rfc3339(NOW), "series": []}


async def test_values_are_read_from_the_events_prices_first(house: House, client: httpx.AsyncClient) -> None:
    seats = TypedChange("number", "Seats", before=Value("5", "number", 5), after=Value("7", "number", 7))
    await told(house, (seats, price("20", "30.50")), (price("30.50", "-5"), price("1", "2", "=1+1")))
    found = (await values(client))["series"]
    assert [(one["type"], one["label"], one["unit"]) for one in found] == [
        ("money", "Team · Price", "EUR"),
        ("money", "=1+1", "EUR"),
        ("number", "Seats", ""),
    ]
    team = found[0]
    assert [(point["value"], point["number"], point["scale"]) for point in team["points"]] == [
        ("20", 20, 0),
        ("30.50", 3050, 2),
        ("-5", -5, 0),
    ]
    assert team["points"][0]["at"] == rfc3339(NOW), "what stood there first, it did since the source was added"
    assert (team["lowest"]["value"], team["highest"]["value"]) == ("-5", "30.50")


async def test_a_spreadsheet_has_a_line_for_each_value_and_no_formula(house: House, client: httpx.AsyncClient) -> None:
    await told(house, (price("20", "30.50", "=1+1"),))
    answer = await client.get(f"/v1/sources/{a_source_id()}/values?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    header, *lines = answer.text.splitlines()
    assert header == "at,label,path,type,value,unit"
    assert [line.partition(",")[2] for line in lines] == ["'=1+1,,money,20,EUR", "'=1+1,,money,30.50,EUR"]


async def test_an_unknown_source_has_no_values(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"/v1/sources/{a_source_id(9)}/values")).status_code == 404
    assert (await client.get(f"/v1/sources/{a_source_id(9)}/values?format=xml")).status_code == 400

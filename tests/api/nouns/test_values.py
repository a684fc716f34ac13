"""The values of a source over time, read from its events."""

from __future__ import annotations

from typing import Any

import httpx

from actors.content.changes.diff import compare
from actors.messages.views import SourceView
from storage.records.event import EVERYTHING, StandingValue, StandingValues, TypedChange, Value
from storage.records.identity import START, Millis, millis_of, rfc3339
from storage.records.source import SourceRuntime
from tests.api.house import House
from tests.api.nouns.test_versions import reported_page
from tests.api.nouns.test_why import a_page_draft, commit
from tests.support.build import NOW, a_draft, a_source, a_source_id

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
    nothing = {"id": a_source_id(), "since": rfc3339(NOW), "current": [], "more": 0, "series": []}
    assert await values(client) == nothing


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
    assert header == "at,label,path,type,value,unit,until"
    assert [line.partition(",")[2] for line in lines] == ["'=1+1,,money,20,EUR,", "'=1+1,,money,30.50,EUR,"]


async def test_an_unknown_source_has_no_values(client: httpx.AsyncClient) -> None:
    assert (await client.get(f"/v1/sources/{a_source_id(9)}/values")).status_code == 404
    assert (await client.get(f"/v1/sources/{a_source_id(9)}/values?format=xml")).status_code == 400


NOT_TOLD = ("Plans", "20 EUR", "Sold out", "30 EUR", "30 EUR")
STANDING = (
    StandingValue(Value("20 EUR", "money", 20, 0, "EUR"), 1, "Team · Price"),
    StandingValue(Value("30 EUR", "money", 30, 0, "EUR"), 3, "Other"),
    StandingValue(Value("30 EUR", "money", 30, 0, "EUR"), 4, "Other"),
    StandingValue(Value("Sold out", "availability", value="out_of_stock"), 2, "Team · Stock"),
)


def stands(house: House, *texts: str, more: int = 0, began: int = NOW, cut: int = 0) -> None:
    """Let the page contain these texts, with the values `STANDING`."""
    page = reported_page(texts or NOT_TOLD, cut)
    house.registry.told[a_source_id()] = page._replace(standing=StandingValues(STANDING, more, began))


async def test_an_unchanged_value_is_listed_since_the_first_check(house: House, client: httpx.AsyncClient) -> None:
    await told(house)
    stands(house, more=7, began=NOW + 5)
    found = await values(client)
    first = rfc3339(Millis(NOW + 5))
    assert [(one["label"], one["type"], one["value"], one["unit"], one["since"]) for one in found["current"]] == [
        ("Team · Price", "money", "20", "EUR", first),
        ("Team · Stock", "availability", "out_of_stock", "", first),
        ("Other", "money", "30", "EUR", first),
        ("Other", "money", "30", "EUR", first),
    ]
    assert found["more"] == 7
    points = [(one["label"], [(point["at"], point["value"]) for point in one["points"]]) for one in found["series"]]
    assert points == [
        ("Team · Price", [(first, "20")]),
        *2 * [("Other", [(first, "30")])],
        ("Team · Stock", [(first, "out_of_stock")]),
    ]
    text = (await client.get(f"/v1/sources/{a_source_id()}/values?format=csv")).text
    assert text.splitlines()[1:] == [
        f"{first},Team · Price,,money,20,EUR,",
        *2 * [f"{first},Other,,money,30,EUR,"],
        f"{first},Team · Stock,,availability,out_of_stock,,",
    ]


async def test_a_value_is_known_since_the_change_that_brought_its_text(house: House, client: httpx.AsyncClient) -> None:
    before = ("Plans", "20 EUR", "30 EUR")
    stands(house)
    diff, delta = compare(before, NOT_TOLD)
    house.registry.views[a_source_id()] = SourceView(a_source(type="html", created_at=NOW), SourceRuntime())
    at = Millis(NOW + DAY)
    await commit(house, a_draft("Plans", source_type="html", fetched_at=at, diff=diff, delta=delta))
    since = [one["since"] for one in (await values(client))["current"]]
    assert since[0] == since[3] == rfc3339(NOW) and since[1] == since[2] != rfc3339(NOW)
    stands(house, cut=1)
    assert {one["since"] for one in (await values(client))["current"]} == {rfc3339(NOW)}, "the texts are not all kept"


async def test_a_series_ends_with_the_current_value(house: House, client: httpx.AsyncClient) -> None:
    await told(house, (price("10", "15"),))  # no event names the change to 20
    stands(house)
    team = next(one for one in (await values(client))["series"] if one["label"] == "Team · Price")
    assert [point["value"] for point in team["points"]] == ["10", "15", "20"]
    await told(house, (price("15", "20.00"),))
    team = next(one for one in (await values(client))["series"] if one["label"] == "Team · Price")
    assert [point["value"] for point in team["points"]] == ["10", "15", "20.00"], "and says it once"


async def test_a_removed_and_returned_price_is_one_series(house: House, client: httpx.AsyncClient) -> None:
    went = TypedChange("removed", "Team · Price", before=money("25", "EUR"))
    came = TypedChange("added", "Team · Price", after=money("20", "EUR"))
    other = TypedChange("added", "Bike", after=money("9", "EUR"))
    await told(house, (went,), (came, other))
    stands(house)
    found = {one["label"]: [at["value"] for at in one["points"]] for one in (await values(client))["series"]}
    stock = {"Team · Stock": ["out_of_stock"]}
    wanted = {"Team · Price": ["25", "20"], "Other": ["30"]} | stock
    assert found == wanted, "what came, and stands nowhere now, is no thing"


async def test_a_removed_value_has_its_end(house: House, client: httpx.AsyncClient) -> None:
    went = TypedChange("removed", "Bike · Price", before=money("12", "EUR"))
    bike, boat = price("10", "12", "Bike · Price"), price("90", "80", "Boat · Price")
    await told(house, (bike, boat), (price("15", "20"), went), (price("20", "20.00"),))
    stands(house)

    async def ended() -> dict[str, str | None]:
        return {one["label"]: one["points"][-1]["until"] for one in (await values(client))["series"]}

    events = [rfc3339(millis_of(event.seq)) for event in (await house.storage.log.read(START, 10, EVERYTHING)).events]
    assert await ended() == {
        "Team · Price": None,
        "Other": None,
        "Team · Stock": None,
        "Bike · Price": events[1],
        "Boat · Price": events[2],
    }, "the boat has gone by the newest event, and none said when"
    text = (await client.get(f"/v1/sources/{a_source_id()}/values?format=csv")).text
    assert f"Bike · Price,,money,12,EUR,{events[1]}" in text
    stands(house, more=1)
    assert (await ended())["Boat · Price"] is None, "it may be among the values that are not kept"


async def test_states_versions_and_dates_are_series_in_the_pages_own_words(
    house: House, client: httpx.AsyncClient
) -> None:
    stock = [Value(text, "availability", value=value) for text, value in (("Ja", "in_stock"), ("Slut", "out_of_stock"))]
    days = [
        Value(text, "date", value=value) for text, value in (("1 maj 2027", "2027-05-01"), ("3 mars", "2027-03-03"))
    ]
    changes = [("availability", "Stock", stock), ("date", "Opens", days)]
    typed = [TypedChange(kind, name, before=before, after=after) for kind, name, (before, after) in changes]  # type: ignore[arg-type]
    await told(house, (*typed, price("1", "2")))
    money, states, dates = (await values(client))["series"]
    assert [(at["value"], at["text"], at["number"]) for at in states["points"]] == [
        ("in_stock", "Ja", None),
        ("out_of_stock", "Slut", None),
    ]
    assert states["lowest"] is states["highest"] is None and money["points"][0]["text"] == ""
    assert (dates["lowest"]["value"], dates["highest"]["value"]) == ("2027-03-03", "2027-05-01")

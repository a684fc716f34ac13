"""sanderling sources values: the history of prices and numbers, as lines, JSON and CSV."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

import httpx
import pytest

from sanderling.client.api import Client
from sanderling.commands.history import MOST_POINTS, value_lines, values
from sanderling.exits import Exit
from tests.sanderling.client.documented import run
from tests.support.build import a_source_id


def point(value: str, day: int) -> dict[str, Any]:
    return {"at": f"2026-05-{day:02}T10:00:00Z", "number": 1, "scale": 0, "value": value}


POINTS = [point(str(number), number) for number in range(1, 13)]
SERIES = {
    "type": "money",
    "label": "Team \x1b[2J",
    "path": "",
    "unit": "EUR",
    "lowest": POINTS[0],
    "highest": POINTS[-1],
}
CURRENT = {"type": "money", "text": "€5", "value": "5", "label": "Team", "path": "", "unit": "EUR"}
ANSWER = {"id": a_source_id(1), "since": "2026-05-01T00:00:00Z", "series": [{**SERIES, "points": POINTS}]}


def client(asked: list[httpx.Request]) -> Client:
    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if request.url.path == "/v1/sources":
            return httpx.Response(200, json=[{"id": a_source_id(1), "url": "https://a.test/prices"}])
        if request.url.params.get("format") == "csv":
            return httpx.Response(200, text="at,label\r\n1,a\r\n")
        return httpx.Response(200, json=ANSWER)

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


def test_the_newest_values_come_first_and_the_rest_is_counted() -> None:
    said = list(value_lines(ANSWER, UTC))
    assert "\x1b" not in said[0] and said[0].startswith("Team")
    assert said[1] == "  lowest €1, 1 May 2026 10:00; highest €12, 12 May 2026 10:00"
    assert said[2] == "  12 May 2026 10:00  €12" and len(said) == 2 + MOST_POINTS + 1
    assert said[-1] == "  and 4 before"


def test_an_unchanged_value_says_so() -> None:
    unchanged = {**SERIES, "points": POINTS[:1]}
    (said,) = value_lines({**ANSWER, "series": [unchanged]}, UTC)
    assert said == "No price, number, state, version or date has changed since 1 May 2026 00:00."


def test_a_state_is_shown_in_the_pages_words_and_a_former_one_with_its_end() -> None:
    point = {"number": None, "scale": 0, "value": "in_stock", "text": "Yes\x1b", "at": "2026-05-01T10:00:00Z"}
    ended = {
        **point,
        "value": "out_of_stock",
        "text": "No",
        "at": "2026-05-02T10:00:00Z",
        "until": "2026-05-03T10:00:00Z",
    }
    state = {**SERIES, "type": "availability", "unit": "", "lowest": None, "highest": None, "points": [point, ended]}
    assert list(value_lines({**ANSWER, "series": [state]}, UTC))[1:] == [
        "  2 May 2026 10:00  No, gone since 3 May 2026 10:00",
        "  1 May 2026 10:00  Yes\\x1b",
    ]
    dates = {**state, "type": "date", "points": [ended], "lowest": {**ended, "value": "2026"}, "highest": ended}
    assert list(value_lines({**ANSWER, "series": [dates]}, UTC))[1].startswith(
        "  earliest 2026, 2 May 2026 10:00; latest out"
    )


def test_current_values_come_first_and_prices_before_others() -> None:
    since = {"since": "2026-05-01T10:00:00Z", "number": None, "scale": 0}
    state = {**CURRENT, **since, "type": "availability", "text": "Sold\x1bout", "value": "out_of_stock", "unit": ""}
    number = {**CURRENT, **since, "type": "number", "label": "", "unit": "GB"}
    dollars = {**CURRENT, **since, "text": "$5", "label": "Max", "unit": ""}
    now = [number, state, {**CURRENT, **since}, dollars]
    said = list(value_lines({**ANSWER, "series": [], "current": now, "more": 3}, UTC))
    assert said[:6] == [
        "The page's values now:",
        "  €5  Team, since 1 May 2026 10:00",
        "  $5  Max, since 1 May 2026 10:00",
        "  Sold\\x1bout  Team, since 1 May 2026 10:00",
        "  5 GB  number, since 1 May 2026 10:00",
        "  and 3 more",
    ]


@pytest.mark.parametrize(("form", "prints"), [("csv", "at,label\r\n1,a\r\n"), ("json", json.dumps(ANSWER)[:9])])
def test_programs_get_the_services_own_answer(
    form: Any, prints: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    asked: list[httpx.Request] = []
    assert run(values, client(asked), "a.test", f"--{form}") == Exit.WELL
    assert capsysbinary.readouterr().out.decode().replace(" ", "").startswith(prints.replace(" ", ""))
    assert asked[-1].url.path == f"/v1/sources/{a_source_id(1)}/values"

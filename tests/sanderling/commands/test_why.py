"""sanderling why: finds the source, and prints its evidence for a text in readable lines."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from typing import Any

import httpx
import pytest

from sanderling.client.api import Client
from sanderling.client.lines import why_lines
from sanderling.commands.history import why
from sanderling.exits import CommandFailed, Exit
from tests.sanderling.client.documented import run
from tests.support.build import a_source_id

SOURCES = [
    {"id": a_source_id(1), "url": "https://a.test/prices"},
    {"id": a_source_id(2), "url": "https://a.test/prices/old"},
    {"id": a_source_id(3), "url": "https://b.test/news", "title": "", "found_title": "Notices of the harbour"},
    {"id": a_source_id(4), "url": "https://d.test/x", "title": "Notices", "found_title": "Home"},
]
ANSWER: dict[str, Any] = {
    "id": a_source_id(1),
    "url": "https://a.test/prices",
    "type": "html",
    "says": "",
    "state": "The last check was on 28 May 2026 20:26 UTC.",
    "reasons": [{"kind": "withheld", "says": "Seen on 28 May 2026 23:26 UTC.", "at": None, "text": "29 \x1beuros"}],
}


def client(asked: list[httpx.Request]) -> Client:
    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=SOURCES if request.url.path == "/v1/sources" else ANSWER)

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


@pytest.mark.parametrize(
    ("named", "number"),
    [
        (a_source_id(7), 7),
        ("https://a.test/prices", 1),
        ("prices/old", 2),
        ("b.test", 3),
        ("the harbour", 3),
        ("Notices", 4),
    ],
    ids=["id", "URL that begins another", "part", "host", "part of what it calls itself", "name that begins another"],
)
def test_a_source_is_named_by_its_id_its_names_its_url_or_a_part_of_these(named: str, number: int) -> None:
    asked: list[httpx.Request] = []
    assert run(why, client(asked), named, "a b", "--check") == Exit.WELL
    assert asked[-1].url.path == f"/v1/sources/{a_source_id(number)}/why"
    assert dict(asked[-1].url.params) == {"text": "a b", "look": "true"}


@pytest.mark.parametrize(("named", "words"), [("a.test", "2 watched URLs"), ("c.test", "No watched URL")])
def test_a_name_that_is_not_clear_is_refused(named: str, words: str) -> None:
    with pytest.raises(CommandFailed, match=words):
        run(why, client([]), named)


def test_times_are_local_and_nothing_of_a_page_reaches_the_terminal_raw() -> None:
    zone = timezone(timedelta(hours=2))
    shown = list(why_lines(ANSWER, asked=True, zone=zone))
    assert shown[0] == "html  https://a.test/prices"
    assert next(why_lines({**ANSWER, "title": "Prices"}, asked=True)) == "html  https://a.test/prices  (Prices)"
    assert shown[1] == "  Seen on 29 May 2026 01:26."
    assert "\x1b" not in shown[2] and "euros" in shown[2]
    assert shown[3] == "  The last check was on 28 May 2026 22:26."
    assert "--check" in shown[4]
    assert len(list(why_lines(ANSWER, asked=True, looked=True))) == 4


def test_json_is_the_services_own_answer(capsys: pytest.CaptureFixture[str]) -> None:
    run(why, client([]), "b.test", "--json")
    assert json.loads(capsys.readouterr().out) == ANSWER

"""The stored versions of a page and comparisons of two, over the API."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import httpx

from actors.content.changes.diff import DiffContexts, compare
from actors.messages.views import ReportedBlock, ReportedPage, SourceView
from storage.records.event import CONTENT_CAP, Context
from storage.records.identity import Millis, rfc3339
from storage.records.source import SourceRuntime
from tests.api.house import House
from tests.api.nouns.test_why import commit, id_in
from tests.support.build import NOW, a_draft, a_source, a_source_id

HISTORY = (
    ("Plans", "5 seats", "Menu of today"),
    ("Plans", "7 seats", "Menu of today"),
    ("Plans", "9 seats", "Menu of today", "A new offer"),
)
SEATS = Context("Plans", "Team", "Seats")
HERE = f"/v1/sources/{a_source_id()}"


def reported_page(texts: tuple[str, ...], more: int = 0) -> ReportedPage:
    return ReportedPage([ReportedBlock(text, False, False, False, "", "") for text in texts], more, 0)


async def told(house: House, *, now: tuple[str, ...] = HISTORY[-1], cut: bool = False, more: int = 0) -> list[str]:
    """Commit the history; return its event ids, oldest first. now: the current texts. cut: no event is complete."""
    house.registry.views[a_source_id()] = SourceView(a_source(type="html", created_at=NOW), SourceRuntime())
    house.registry.told[a_source_id()] = reported_page(now, more)
    ids = []
    for number, (before, after) in enumerate(pairwise(HISTORY), 1):
        places = [SEATS if "seats" in text else Context() for text in after]
        diff, delta = compare(before, after, DiffContexts(places[: len(before)], places))
        draft = a_draft(
            "Plans",
            source_type="html",
            fetched_at=Millis(NOW + 1000 * number),
            content="\n".join(text for text in after if not text.startswith("Menu")),
            content_truncated=cut,
            diff=diff,
            delta=delta,
        )
        ids += [id_in(event) for event in await commit(house, draft)]
    return ids


async def asked(client: httpx.AsyncClient, path: str, status: int = 200) -> dict[str, Any]:
    answer = await client.get(path)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def test_each_change_left_a_version_and_so_did_the_first_check(house: House, client: httpx.AsyncClient) -> None:
    first, second = await told(house)
    found = (await asked(client, f"{HERE}/versions"))["versions"]
    assert [(one["version"], one["event_id"], one["kept"]) for one in found] == [
        (second, second, "whole"),
        (first, first, "whole"),
        ("start", None, "whole"),
    ]
    assert found[-1]["at"] is None and found[0]["at"] == rfc3339(Millis(NOW + 2000))


async def test_two_versions_in_any_order_differ_by_the_changes_between_them(
    house: House, client: httpx.AsyncClient
) -> None:
    _, second = await told(house)
    found = await asked(client, f"{HERE}/compare?from={second}&to=start")
    assert (found["from"]["version"], found["to"]["version"], found["partial"]) == ("start", second, False)
    altered, came = found["steps"]
    assert altered == {
        "op": "replace",
        "before": "5 seats",
        "after": "9 seats",
        "context": {"heading": "Plans", "row": "Team", "column": "Seats"},
        "spans": {"before": [[0, 1]], "after": [[0, 1]]},
    }
    assert (came["op"], came["after"]) == ("insert", "A new offer")
    newest = await asked(client, f"{HERE}/compare")
    assert [step["before"] for step in newest["steps"] if step["op"] == "replace"] == ["7 seats"]
    whole = await asked(client, f"{HERE}/compare?from=start&to={second}&show=text")
    assert [step["op"] for step in whole["steps"]] == ["keep", "replace", "keep", "insert"]


async def test_a_cut_chain_compares_the_main_text_only_and_says_so(house: House, client: httpx.AsyncClient) -> None:
    first, second = await told(house, now=("Another part", "of the page"))
    found = (await asked(client, f"{HERE}/versions"))["versions"]
    assert [(one["version"], one["kept"]) for one in found] == [
        ("now", "whole"),
        (second, "main_text"),
        (first, "main_text"),
    ], "and what stood there before nobody knows"
    partial = await asked(client, f"{HERE}/compare?from={first}&to={second}")
    assert partial["partial"]
    assert [step["op"] for step in partial["steps"]] == ["replace", "insert"]
    refused = await asked(client, f"{HERE}/compare?from={second}&to=now", 409)
    assert "only its main text" in refused["detail"]


async def test_a_cut_difference_is_not_guessed(house: House, client: httpx.AsyncClient) -> None:
    first, second = await told(house, more=3, cut=True)
    found = (await asked(client, f"{HERE}/versions"))["versions"]
    assert {one["kept"] for one in found} == {"part"}
    refused = await asked(client, f"{HERE}/compare?from={first}&to={second}", 409)
    assert "too long to be stored whole" in refused["detail"]
    assert CONTENT_CAP < 192 * 1024, "memory keeps more than an event"


async def test_an_unchanged_page_has_one_version_and_other_tiers_have_none(
    house: House, client: httpx.AsyncClient
) -> None:
    house.registry.views[a_source_id()] = SourceView(a_source(type="html"), SourceRuntime())
    assert (await asked(client, f"{HERE}/versions"))["versions"] == []
    house.registry.told[a_source_id()] = reported_page(("One",))
    assert [one["version"] for one in (await asked(client, f"{HERE}/versions"))["versions"]] == ["now"]


async def test_a_pruned_version_and_an_unknown_source_are_404(house: House, client: httpx.AsyncClient) -> None:
    await told(house)
    missing = await asked(client, f"{HERE}/compare?from=start&to=019db0a4-6a10-7000-8000-0000000000a7", 404)
    assert "no longer kept" in missing["detail"]
    await asked(client, f"/v1/sources/{a_source_id(9)}/versions", 404)
    house.registry.told.clear()
    assert "no versions" in (await asked(client, f"{HERE}/compare", 404))["detail"]

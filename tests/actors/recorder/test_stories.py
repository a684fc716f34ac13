"""The recorder's choice of story for each event, from drafts to signed bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from storage.records.event import UPDATED, Diff, Draft, Stored
from tests.actors.recorder.test_actor import running
from tests.support.build import a_draft, a_harvest, a_source_id

TEXT = "The council approved the new ferry line to Hamburg on Monday; boats leave from the old pier at seven every day."
EDITED = TEXT.replace("on Monday", "on Tuesday evening")


def news(number: int = 1, content: str = TEXT, **changes: Any) -> Draft:
    url = f"https://paper{number}.example/news/{number}"
    return a_draft(**{"title": "Ferry line approved", "url": url, "content": content} | changes)


async def stories(*drafts: tuple[int, Draft]) -> list[str]:
    """Return for each draft the number of the event that names its story, "" for none."""
    async with running(sources=3) as bench:
        bodies: list[dict[str, Any]] = []
        for source, draft in drafts:
            harvest = msgspec.structs.replace(a_harvest(a_source_id(source)), drafts=(draft,), state=None)
            events: Sequence[Stored] = await bench.record(harvest)
            bodies += [msgspec.json.decode(event.body) for event in events]
    numbers = {body["id"]: str(number) for number, body in enumerate(bodies)}
    return [numbers.get(body.get("story", ""), "") for body in bodies]


async def test_the_first_event_names_the_story_of_copies_and_others_have_their_own() -> None:
    other = news(
        3,
        "Nothing else happened in Porto, where the archive of the harbour stays shut until further notice.",
        title="Archive",
    )
    assert await stories((1, news(1)), (2, news(2)), (3, other), (3, news(3))) == ["0", "0", "2", "0"]


async def test_one_link_is_one_story_even_with_cut_text() -> None:
    again = news(1, "The council approved the new …", url="http://www.paper1.example/news/1/?utm_source=x")
    assert await stories((1, news(1)), (2, again)) == ["0", "0"]


async def test_a_sources_repeats_and_edits_are_stories_of_their_own() -> None:
    edited = news(1, EDITED, tags=(UPDATED,))
    assert await stories((1, news(1)), (1, edited), (2, edited), (1, news(1))) == ["0", "1", "2", "3"]


async def test_changes_of_pages_are_compared_by_their_added_text() -> None:
    def changed(number: int, *added: str) -> Draft:
        page = f"https://paper{number}.example/"
        return news(number, "Menu. " * 90, url=page, source_url=page, tags=(UPDATED,), diff=Diff(added, (), ()))

    assert await stories((1, changed(1, TEXT)), (2, changed(2, TEXT)), (3, changed(3, "It costs 5 EUR now"))) == [
        "0",
        "0",
        "2",
    ]
    assert await stories((1, changed(1, "It costs 5 EUR")), (2, changed(1, "Sold out, come back on Friday"))) == [
        "0",
        "1",
    ]


async def test_notices_practice_and_held_events_join_no_story() -> None:
    notice = news(2, alert_type="source_failing")
    assert await stories((1, notice), (2, news(2)), (3, news(3, practice=True)), (1, news(1))) == ["", "1", "2", "1"]

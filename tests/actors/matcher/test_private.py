"""Faces finding 1: an alert older than a source's privacy skips the source until it names it."""

from __future__ import annotations

import pytest

from storage.records.event import id_in
from storage.records.identity import Millis
from tests.actors.matcher.rig import Rig, an_alert
from tests.actors.matcher.test_actor import running, wait_all_tasks_blocked
from tests.support.build import NOW, a_draft, a_source_id

MEMBERS = a_source_id(2)
OVER = {
    "all": {},
    "a tag": {"tags": ("label:shop",)},
    "all, and it by name": {"private_source_ids": (MEMBERS,)},
    "a tag, and it by name": {"tags": ("label:shop",), "private_source_ids": (MEMBERS,)},
    "it": {"source_ids": (MEMBERS,)},
    "all, made when it was private": {"created_at": Millis(NOW + 1)},
}


@pytest.mark.parametrize("over", OVER)
async def test_an_alert_reports_nothing_of_a_source_that_becomes_private_until_it_names_it(over: str) -> None:
    rig, private, asked = Rig(), set[str](), list[str]()

    async def private_since(source: str) -> Millis | None:
        asked.append(source)
        return Millis(NOW + 1) if source in private else None

    await rig.prepare(an_alert("alert", **OVER[over], once_per_story=True))
    async with running(rig, private_since=private_since):
        await rig.commit_draft(a_draft("price 1", tags=("label:shop",)), 2)
        await wait_all_tasks_blocked()
        private.add(MEMBERS)
        await rig.commit_draft(a_draft("price 2", tags=("label:shop",)), 2)
        await rig.commit_draft(a_draft("notice", alert_type="source_failing", tags=("label:shop",)), 2)
        await wait_all_tasks_blocked()
        included = over == "all, made when it was private" or "it" in over.split()
        assert rig.outbox()["alert-hook"] == ["price 1", *(["price 2"] if included else []), "notice"]
        assert bool(asked) is (over in ("all", "a tag", "all, made when it was private"))  # none names it


async def test_a_story_first_seen_in_a_private_source_is_reported_by_the_next_source() -> None:
    rig = Rig()

    async def private_since(source: str) -> Millis | None:
        return Millis(NOW + 1) if source == MEMBERS else None

    await rig.prepare(an_alert("alert", once_per_story=True))
    async with running(rig, private_since=private_since):
        (first,) = await rig.commit("price 1", source=2)
        await rig.commit_draft(a_draft("price 2", story=id_in(first.body)), 1)
        await wait_all_tasks_blocked()
        assert rig.outbox()["alert-hook"] == ["price 2"]

"""Faces finding 1: an alert leaves private sources out until it names them, whenever it was made."""

from __future__ import annotations

import pytest

from storage.records.body import id_in
from tests.actors.matcher.rig import Rig, an_alert
from tests.actors.matcher.test_actor import running, wait_all_tasks_blocked
from tests.support.build import a_draft, a_source_id

MEMBERS = a_source_id(2)
OVER = {
    "all": {},
    "a tag": {"tags": ("label:shop",)},
    "all, and it by name": {"private_source_ids": (MEMBERS,)},
    "a tag, and it by name": {"tags": ("label:shop",), "private_source_ids": (MEMBERS,)},
    "it": {"source_ids": (MEMBERS,)},
}


@pytest.mark.parametrize("over", OVER)
async def test_an_alert_tells_nothing_of_a_source_that_becomes_private_until_it_names_it(over: str) -> None:
    rig, private = Rig(), set[str]()

    async def is_private(source: str) -> bool:
        return source in private

    await rig.prepare(an_alert("alert", **OVER[over], once_per_story=True))
    async with running(rig, is_private=is_private):
        await rig.commit_draft(a_draft("price 1", tags=("label:shop",)), 2)
        await wait_all_tasks_blocked()
        private.add(MEMBERS)
        await rig.commit_draft(a_draft("price 2", tags=("label:shop",)), 2)
        await rig.commit_draft(a_draft("notice", alert_type="source_failing", tags=("label:shop",)), 2)
        await wait_all_tasks_blocked()
        assert rig.outbox()["alert-hook"] == ["price 1", *(["price 2"] if "it" in over else []), "notice"]


async def test_a_story_that_a_private_source_told_first_is_told_by_the_next_one() -> None:
    rig = Rig()

    async def is_private(source: str) -> bool:
        return source == MEMBERS

    await rig.prepare(an_alert("alert", once_per_story=True))
    async with running(rig, is_private=is_private):
        (first,) = await rig.commit("price 1", source=2)
        await rig.commit_draft(a_draft("price 2", story=id_in(first.body)), 1)
        await wait_all_tasks_blocked()
        assert rig.outbox()["alert-hook"] == ["price 2"]

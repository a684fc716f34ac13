from __future__ import annotations

import pytest
from msgspec.structs import replace

from storage.records.source import TagDefaults
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW

PRICES = TagDefaults("label:prices", NOW, 900, "weekdays 08-18 Europe/Stockholm", 0.4, "main", ("nav", ".ad"), ("d1",))
NEWS = TagDefaults("label:news", NOW, bar=0.3)


async def test_defaults_come_back_by_their_tags_are_replaced_and_taken_away(storage: Storage) -> None:
    store = storage.tag_defaults
    assert (list(await store.all()), await store.get("label:prices")) == ([], None)
    assert await store.edit("label:prices", lambda _: PRICES) == PRICES
    await store.edit("label:news", lambda _: NEWS)
    assert list(await store.all()) == [NEWS, PRICES]
    edited = await store.edit("label:prices", lambda old: old and replace(old, bar=0.6))
    assert edited == await store.get("label:prices") == replace(PRICES, bar=0.6)
    assert await store.edit("label:prices", lambda _: None) is None
    assert list(await store.all()) == [NEWS]


async def test_the_revision_grows_with_each_change_and_a_change_that_raises_leaves_all(storage: Storage) -> None:
    def refuse(_: TagDefaults | None) -> TagDefaults | None:
        raise ValueError("stale")

    store, seen = storage.tag_defaults, []
    for change in (lambda _: PRICES, lambda _: NEWS, lambda _: None):
        await store.edit("label:prices", change)
        seen.append(await store.revision())
    assert seen == sorted(set(seen))
    with pytest.raises(ValueError, match="stale"):
        await store.edit("label:prices", refuse)
    assert (await store.revision(), await store.get("label:prices")) == (seen[-1], None)

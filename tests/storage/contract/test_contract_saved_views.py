from __future__ import annotations

from msgspec.structs import replace

from storage.records.access import SavedView
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW

ONE = SavedView("v1", "sources", "Prices <b>", "tag=prices&sort=changed", NOW)
TWO = SavedView("v2", "stream", "Prices", "keyword=price", Millis(NOW - 1))


async def test_saved_views_come_back_oldest_first_are_replaced_and_deleted(storage: Storage) -> None:
    assert list(await storage.saved_views.all()) == []
    await storage.saved_views.put(ONE)
    await storage.saved_views.put(TWO)
    assert list(await storage.saved_views.all()) == [TWO, ONE]
    await storage.saved_views.put(replace(ONE, query="tag=x"))
    assert [view.query for view in await storage.saved_views.all()] == ["keyword=price", "tag=x"]
    assert await storage.saved_views.delete("v2") and not await storage.saved_views.delete("v2")
    assert [view.id for view in await storage.saved_views.all()] == ["v1"]

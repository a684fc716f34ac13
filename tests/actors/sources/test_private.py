"""Private sources: derived from how they are checked, never a setting."""

from __future__ import annotations

from uuid import UUID

import pytest
import trio
from msgspec.structs import replace

from actors.messages.sources import DeleteSource
from storage.errors import StorageError
from storage.records.identity import SERVICE, Millis
from tests.actors.sources.harness import watching
from tests.actors.sources.test_lending import APART, BELOW, HEADERS, URL, Site, edited
from tests.storage.contract.builders import a_publication, an_alert
from tests.support.build import a_source_id

INSIDE = "https://nas.home.example/"


async def test_own_headers_borrowed_ones_and_opened_networks_make_a_source_private(autojump_clock: object) -> None:
    async with watching(allow_watch_networks=("10.0.0.0/8",)) as (run, _):
        site, table = Site(run), run.registry.table
        run.network.names["nas.home.example"] = [("10.0.0.5",)]
        run.network.servers["10.0.0.5", 443] = run.network.servers["93.184.216.50", 443]
        ids = {url: (await run.add(url)).view.source.id for url in (BELOW, APART, INSIDE)}
        assert [table.is_private(ids[url]) for url in (BELOW, APART, INSIDE)] == [False, False, True]
        assert run.registry.table.get(ids[INSIDE]).hot.private, "it is known after a restart, too"
        before = table.changes
        lender = (await run.add(URL, headers=HEADERS, headers_for=("api.site.example",))).view
        assert lender.private and table.is_private(ids[BELOW]) and not table.is_private(ids[APART])
        assert table.changes > before
        await edited(run, lender.source.id, headers=None, headers_for=())
        assert table.is_private(lender.source.id), "as after an import, which brings no headers"
        await trio.sleep(20_000)
        assert not table.is_private(lender.source.id) and not table.is_private(ids[BELOW])
        await run.registry_box.ask(lambda reply: DeleteSource(ids[APART], reply))
        assert table.is_private(ids[APART]), "of what is gone nobody knows how it was checked"
        assert await table.stored_private_since(ids[APART]) is None, "while it rests, its row knows"
        inside = table.get(ids[INSIDE]).source.created_at
        assert [await table.stored_private_since(id) for id in (ids[INSIDE], ids[BELOW], SERVICE)] == [
            inside,
            None,
            None,
        ]
        assert await table.stored_private_since(str(UUID(int=7)))
        assert not table.is_private(SERVICE)
        assert site.asked


async def test_a_source_that_becomes_private_is_logged_once_with_the_alerts_it_leaves(autojump_clock: object) -> None:
    async with watching() as (run, _):
        Site(run)
        source = (await run.add(URL)).view.source.id
        storage, long_ago = run.storage, Millis(1)
        await storage.alerts.put(an_alert("all", updated_at=long_ago))
        await storage.alerts.put(an_alert("other", source_ids=(a_source_id(9),), updated_at=long_ago))
        await storage.publications.put(a_publication("all", updated_at=long_ago))
        await storage.publications.put(a_publication("named", source_ids=(source,), updated_at=long_ago))
        live = run.registry.table.get(source)
        live.hot = replace(live.hot, events=1)
        await trio.sleep(3_000)
        assert live.hot.private_since is None
        for headers in (HEADERS, None):
            await edited(run, source, headers=headers)
            await trio.sleep(20_000)
            assert bool(run.registry.table.get(source).hot.private_since) is bool(headers)
        says = {"level": "warning", "source_id": source, "publications": ["all"], "alerts": ["all"]}
        assert [fields for name, fields in run.logged if name == "source.became_private"] == [says]


async def test_a_source_that_becomes_private_is_logged_also_while_storage_fails(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        raise StorageError("the disk is full")

    async with watching() as (run, _):
        Site(run)
        source = (await run.add(URL)).view.source.id
        await trio.sleep(3_000)
        await edited(run, source, headers=HEADERS)
        monkeypatch.setattr(run.storage.publications, "all", fails)
        await trio.sleep(20_000)
        says = {"level": "warning", "source_id": source}
        assert [fields for name, fields in run.logged if name == "source.became_private"] == [says]


async def test_a_source_that_has_always_been_private_has_left_nothing(autojump_clock: object) -> None:
    async with watching() as (run, _):
        Site(run)
        source = (await run.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(20_000)
        assert run.registry.table.get(source).hot.private_since == 0
        assert "source.became_private" not in dict(run.logged)

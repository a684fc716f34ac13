"""Which sources are private: derived from how they are checked, never set."""

from __future__ import annotations

import trio

from actors.messages.sources import DeleteSource
from storage.records.identity import SERVICE
from tests.actors.sources.harness import watching
from tests.actors.sources.test_lending import APART, BELOW, HEADERS, URL, Site, edited

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
        assert not table.is_private(SERVICE)
        assert site.asked

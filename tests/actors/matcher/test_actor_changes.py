"""Alerts on the changed part of a page, from the commit to the outbox."""

from __future__ import annotations

import msgspec
from trio.testing import wait_all_tasks_blocked

from storage.records.event import Diff
from tests.actors.matcher.rig import Rig, an_alert
from tests.actors.matcher.test_actor import changed, running
from tests.support.build import a_draft


async def test_an_alert_on_the_change_reads_the_change_and_one_on_the_page_reads_all_of_it() -> None:
    rig = Rig()
    matches = ("change", "added", "removed", "page")
    await rig.prepare(*(an_alert(match, "arbitration", match=match) for match in matches))
    page = a_draft("Terms", content="Fees. Arbitration.", source_type="html")
    diffs = {
        "came": Diff(("Arbitration.",), (), ()),
        "went": Diff((), ("Arbitration.",), ()),
        "other": Diff(("Fees.",), (), ()),
    }
    async with running(rig):
        for title, diff in diffs.items():
            await rig.commit_draft(msgspec.structs.replace(page, title=title, diff=diff))
        await wait_all_tasks_blocked()
        assert rig.outbox() == {
            "change-hook": ["came", "went"],
            "added-hook": ["came"],
            "removed-hook": ["went"],
            "page-hook": ["came", "went", "other"],
        }


async def test_an_alerts_scope_changes_from_the_next_event_on() -> None:
    rig = Rig()
    await rig.prepare(an_alert(query="fees", match="page"))
    page = a_draft("one", content="Fees. Arbitration.", source_type="html", diff=Diff(("Arbitration.",), (), ()))
    async with running(rig):
        await rig.commit_draft(page)
        await wait_all_tasks_blocked()
        await rig.storage.alerts.put(an_alert(query="fees", match="change"))
        await changed(rig)
        await rig.commit_draft(msgspec.structs.replace(page, title="two"))
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"alert-hook": ["one"]}

"""Why didn't I get this? Each reason for a missed text has its own sentence."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.errors import NotFound
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource, ExplainSource
from actors.messages.views import SourceExplanation
from actors.sources.explanation import note_reasons
from storage.records.checks import Note, Part
from storage.records.identity import Millis, SourceId
from tests.actors.sources.harness import Watching, page, rss, watching
from tests.actors.sources.push.test_push import Pusher
from tests.storage.records.test_note import PROSE, notes_in
from tests.support.build import NOW, a_source_id
from tests.support.in_loop import Disk

PAGE, FEED = "https://site.example/page", "https://site.example/feed"
NEWS = "Le café ouvre ses portes le dimanche à partir du mois prochain, après deux ans de fermeture complète."


async def ask(service: Watching, source: SourceId, text: str = "", **more: Any) -> SourceExplanation:
    return await service.registry_box.ask(lambda reply: ExplainSource(source, reply, text, **more))


async def best(service: Watching, source: SourceId, text: str, **more: Any) -> tuple[str, str]:
    found = await ask(service, source, text, **more)
    return found.reasons[0].kind, str(found.reasons[0].says)


async def edit(service: Watching, source: SourceId, **changes: Any) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**changes), reply))


async def test_a_reported_text_is_found_with_its_event_despite_accents(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.bodies["/page"] = page(*PROSE, NEWS)
        await trio.sleep(3600)
        (event,) = await service.events()
        found = await ask(service, source, "CAFE  OUVRE")
        assert (found.reasons[0].kind, found.reasons[0].event) == ("told", event["id"])
        assert "It was reported on 28 May 2026" in str(found.reasons[0].says)
        assert str(found.state).startswith("The last check was on 28 May 2026") and "next check is due" in str(
            found.state
        )


async def test_content_of_the_first_check_is_not_reported(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        kind, says = await best(service, source, "an audit log and help by mail")
        assert kind == "there"
        assert says == (
            "It is in the stored page, block 3, and no event reported it: it was there at the first check, "
            "on 28 May 2026 20:26 UTC, and the baseline is not reported."
        )


async def test_withheld_text_is_found_with_its_rule_and_change_count(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        for number in (1, 2, 4):
            origin.bodies["/page"] = page(*PROSE, f"Wind {number}, rain {number * 7}, sun {number + 2}")
            await trio.sleep(2 * 3600)
        kind, says = await best(service, source, "wind 4")
        assert kind == "withheld"
        assert says.startswith(("Seen on 28 May 2026", "Seen on 29 May 2026"))
        assert "and not reported: a line of figures" in says


def test_the_frequency_is_of_the_checks_that_found_a_difference() -> None:

    part, other = Part("Offer of the day", "a label", "k", score=0.2), Part("Else", "too little", "e")
    notes = [Note(Millis(NOW + n), "churn", "", None, 0.2, 0.5, (other, *([part] if n % 2 else []))) for n in range(10)]
    (only,) = note_reasons(notes, "offer of the day")
    assert str(only.says) == (
        "Seen on 28 May 2026 20:26 UTC and not reported: a label (score 0.20; the threshold is 0.50); "
        "it was added or removed in 5 of the last 10 checks with a difference."
    )


async def test_text_outside_the_selector_is_found_by_a_preview(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE).replace(
            b"<footer>", b"<section id='more'><p>Stand am Hafen</p></section><footer>"
        )
        source = (await service.add(PAGE, selector="main")).view.source.id
        kind, says = await best(service, source, "Stand am Hafen")
        assert kind == "absent" and "Only the selector `main` is watched." in says
        await trio.sleep(61)
        kind, says = await best(service, source, "stand am hafen", check_now=True)
        assert (kind, says) == ("outside", "It is on the page now, outside of the selector `main`.")


async def test_a_preview_marks_new_text_boilerplate_and_missing_text(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        looks = len(origin.looks("/page"))
        kind, says = await best(service, source, "nothing of it", check_now=True)
        assert kind == "absent" and len(origin.looks("/page")) == looks  # the body from detection is still fresh
        await trio.sleep(61)
        origin.bodies["/page"] = page(*PROSE, NEWS, clock="Impressum und Kontakt")
        kind, says = await best(service, source, "impressum", check_now=True)
        assert kind == "furniture" and "footer" in says
        asked = len(origin.looks("/page"))
        assert (await best(service, source, "dimanche", check_now=True))[0] == "due"
        assert len(origin.looks("/page")) == asked  # the next question reuses the body
        await trio.sleep(3600)
        assert len(await service.events()) == 1  # the question did not affect the source


async def test_a_check_finds_the_blocks_that_the_next_one_weighs(autojump_clock: object) -> None:
    async with watching(cadence_floor=600.0) as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE, schedule="1d")).view.source.id
        await trio.sleep(601)
        origin.bodies["/page"] = page(*PROSE, NEWS)
        assert (await best(service, source, "dimanche", check_now=True))[0] == "due"
        await trio.sleep(601)
        assert await best(service, source, "lundi", check_now=True) == ("absent", "Checked now: it is not on the page.")
        origin.status = 500
        await trio.sleep(601)
        kind, says = await best(service, source, "lundi", check_now=True)
        assert kind == "failed" and "500" in says


async def test_an_entry_of_a_feed_is_found_in_its_events_its_notes_and_its_document(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("Alpha", "Beta")
        source = (await service.add(FEED, schedule="1d")).view.source.id
        assert (await best(service, source, "alpha"))[0] == "there"
        assert (await best(service, source, "text of beta"))[0] == "absent"
        await trio.sleep(61)
        kind, says = await best(service, source, "text of beta", check_now=True)
        assert kind == "there" and "“Beta”" in says and "an earlier check saw it" in says
        origin.bodies["/feed"] = rss("Gamma", "Alpha|another text", "Beta")
        await trio.sleep(61)
        assert (await best(service, source, "gamma", check_now=True))[0] == "due"
        await trio.sleep(61)
        kind, says = await best(service, source, "another text", check_now=True)
        assert kind == "due" and "its text has changed since the last check" in says
        await trio.sleep(2 * 86400)
        assert (await best(service, source, "GAMMA"))[0] == "told"


async def test_entries_that_a_reset_held_say_so(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*(f"old{n}" for n in range(12)))
        source = (await service.add(FEED)).view.source.id
        origin.bodies["/feed"] = rss(*(f"new{n}" for n in range(12)))
        await trio.sleep(3600)
        kind, says = await best(service, source, "new3")
        assert kind == "withheld" and "all of it was new at once" in says and "change:reset" in says


async def test_the_state_names_the_obstacle(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.status = 500
        await trio.sleep(7200)
        state = str((await ask(service, source)).state)
        assert state.startswith("The last") and "checks failed: " in state and "500" in state and "pauses" in state
        await edit(service, source, enabled=False)
        assert str((await ask(service, source)).state).startswith("The source is paused since 28 May 2026")
        kind, says = await best(service, source, "x", check_now=True)
        assert kind == "failed" and "paused" in says
        await edit(service, source, enabled=True)
        await service.sources.stop_child(source)
        live = service.registry.table.get(source)
        live.hot = replace(live.hot, breaker=replace(live.hot.breaker, failures=0), next_look_at=Millis(NOW))
        assert "the source is overdue" in str((await ask(service, source)).state)


async def test_without_a_text_the_last_checks_are_reported(autojump_clock: object) -> None:
    async with watching(disk=Disk()) as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.bodies["/page"] = page(*PROSE, NEWS)
        await trio.sleep(3600)
        found = await ask(service, source)
        assert [reason.kind for reason in found.reasons] == ["look", "look"]
        assert ", reported: " in str(found.reasons[0].says) and " UTC: First check" in str(found.reasons[1].says)
        with pytest.raises(NotFound):
            await ask(service, a_source_id(9))


async def test_unmatched_frames_are_only_counted(autojump_clock: object) -> None:
    disk, pusher = Disk(), Pusher()
    async with watching(disk=disk) as (service, _):
        pusher.join(service)
        source = (await service.add("ws://push.example/live", filter="prices")).view.source.id
        await trio.sleep(2)
        await pusher.send("prices rise", "weather", "weather", "prices rise")
        kind, says = await best(service, source, "weather")
        assert kind == "unasked" and "its source's filter or an alert" in says
        assert "4 frames have arrived: 1 reported, 2 that nothing matched, 1 repeated" in says
        assert (await best(service, source, "PRICES"))[0] == "told"
    (stretch,) = notes_in(disk, source)
    assert stretch.counts == {"frames": 4, "admitted": 1, "filtered": 2, "duplicates": 1, "unreadable": 0}
    assert stretch.came == "stretch" and stretch.until is not None and stretch.until >= stretch.at
    async with watching(disk=disk) as (service, _):
        kind, says = await best(service, source, "weather")
        assert kind == "unasked" and "4 frames, 1 duplicates, 2 filtered, 1 admitted" in says
        assert str((await ask(service, source)).reasons[0].says).startswith("28 May 2026 20:26 UTC: 4 frames")


async def test_a_long_connection_is_noted_by_the_hour(autojump_clock: object) -> None:
    pusher = Pusher()
    async with watching() as (service, _):
        pusher.join(service)
        source = (await service.add("ws://push.example/live", filter="")).view.source.id
        await trio.sleep(2)
        for number in range(150):
            await pusher.send(f"frame {number}")
            await trio.sleep(58)
        stretches = notes_in(service.disk, source)
    assert len(stretches) == 3
    assert 140 <= sum(stretch.counts["frames"] for stretch in stretches) <= 150


async def test_reported_and_withheld_text_is_not_called_missing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.bodies["/page"] = page(*PROSE, NEWS, "Two words")
        await trio.sleep(3600)
        assert [reason.kind for reason in (await ask(service, source, NEWS)).reasons] == ["told"]
        origin.bodies["/page"] = page(*PROSE, NEWS, "Two words", "Hm")
        await trio.sleep(3600)
        assert [reason.kind for reason in (await ask(service, source, "hm")).reasons] == ["withheld"]
        await trio.sleep(61)
        found = await ask(service, source, "hm", check_now=True)
        assert [reason.kind for reason in found.reasons] == ["withheld", "known"], found.reasons


async def test_a_question_is_no_reason_to_ask_the_origin_too_often(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        await trio.sleep(130)
        looks = len(origin.looks("/page"))
        kind, says = await best(service, source, "dimanche", check_now=True)
        assert kind == "failed" and "checked just now" in says
        assert len(origin.looks("/page")) == looks

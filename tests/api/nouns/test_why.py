"""The reasons of an event: from the event, the note of its check if stored, and earlier events; and feedback."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec

from actors.messages.sources import Teach
from actors.messages.views import SourceView
from storage.append import events_of
from storage.records.alert import Alert
from storage.records.checks import Note, Part, StoredMemory, add_note, pack_memory
from storage.records.destination import Met
from storage.records.event import Change, Delta, DeltaStats, Diff, Draft, Op, Stored
from storage.records.identity import COUNTER_BITS, Millis, Seq
from storage.records.source import Harvest, SourceRuntime, SourceState, Validators
from tests.api.house import House, stamp
from tests.support.build import NOW, a_draft, a_source, a_source_id

LATER = Millis(NOW + 600_000)
DIFF = Diff(("A new paragraph",), (), (Change("It costs 19", "It costs 29"),))
OPS = (Op("insert", 1, text="A new paragraph"), Op("replace", 2, before="It costs 19", after="It costs 29"))
NEWS = Part("It costs 29", "news", "k1", score=0.6, told=True)
TIME = Part("3 minutes ago", "only what changes by itself differs: how long ago", "k2", score=0.0)


def a_page_draft(at: Millis = LATER, **changes: Any) -> Draft:
    delta = Delta(OPS, DeltaStats(1, 0, 1, 5))
    return a_draft("Prices", source_type="html", fetched_at=at, diff=DIFF, delta=delta, **changes)


async def commit(house: House, *drafts: Draft, notes: tuple[Note, ...] = (), type: str = "html") -> list[Stored]:
    """Commit events of one source with these stored notes."""
    storage, source = house.storage, a_source_id()
    if await storage.sources.get(source) is None:
        await storage.sources.add(a_source(type=type), SourceState(source, SourceRuntime()), storage.lease)
    packed = b""
    for one in notes:
        packed = add_note(packed, one)
    state = SourceState(source, SourceRuntime(), pack_memory(StoredMemory(b"\x01", packed)) if notes else None)
    done: list[Stored] = []
    for draft in drafts:
        house.mint.raise_floor(Seq(draft.fetched_at << COUNTER_BITS))
        done += events_of(
            await storage.log.append([Harvest(source, (draft,), state)], storage.lease, house.mint, stamp)
        )
    return done


def id_in(event: Stored) -> str:
    return str(msgspec.json.decode(event.body)["id"])


async def why(client: httpx.AsyncClient, event: Stored) -> dict[str, Any]:
    answer = await client.get(f"/v1/events/{id_in(event)}/why")
    assert answer.status_code == 200
    return dict(answer.json())


async def test_why_gives_the_weights_of_a_pages_event_and_its_baseline(house: House, client: httpx.AsyncClient) -> None:
    first = Note(NOW, "baseline", "First check: 7 blocks.")
    told = Note(LATER, "told", "2 blocks came.", NOW, 0.8, 0.5, (NEWS, TIME))
    (event,) = await commit(house, a_page_draft(), notes=(first, told))
    answer = await why(client, event)
    assert answer["says"] == (
        "The change scored 0.80; the threshold is 0.50. Most of the score: “It costs 29” added (0.60). "
        "1 other difference did not count. "
        "It was compared with the page of the first check, on 28 May 2026 20:26 UTC."
    )
    assert (answer["kind"], answer["noted"], answer["score"], answer["bar"]) == ("page", True, 0.8, 0.5)
    assert [part["text"] for part in answer["weighed"]] == ["It costs 29"]
    assert [part["rule"] for part in answer["withheld"]] == [TIME.rule]
    assert answer["compared_with"] == "2026-05-28T20:26:40.000Z" and answer["compared_with_event"] is None


async def test_why_without_a_note_says_so_and_uses_the_event(house: House, client: httpx.AsyncClient) -> None:
    before, event = await commit(house, a_page_draft(NOW), a_page_draft())
    answer = await why(client, event)
    assert not answer["noted"] and answer["score"] is None and answer["weighed"] == []
    assert answer["says"].startswith(
        "The page changed: blocks added (1), removed (0), altered (1). The note of that check"
    )
    assert answer["compared_with_event"] == id_in(before)
    assert "page reported on 28 May 2026" in answer["says"]


async def test_a_feeds_event_names_the_identity_that_was_new(house: House, client: httpx.AsyncClient) -> None:
    told = Note(
        NOW, "told", "Of 3 entries: 1 new.", Millis(NOW - 60_000), parts=(Part("News", "new", "urn:7", told=True),)
    )
    edited = a_draft("Edit", tags=("change:updated",), fetched_at=LATER)
    new, changed = await commit(house, a_draft("News"), edited, notes=(told,), type="feed")
    answer = await why(client, new)
    assert (answer["kind"], answer["identity"]) == ("new_entry", "urn:7")
    assert answer["says"].startswith("The feed held an entry that had not been seen before (“urn:7”).")
    assert (await why(client, changed))["kind"] == "edited_entry"


async def test_a_notice_says_that_it_is_one_and_alerts_are_named(house: House, client: httpx.AsyncClient) -> None:
    alerts = house.storage.alerts
    await alerts.put(Alert("1", "prices", "prices", "en", (), NOW, NOW))
    await alerts.put(Alert("2", "elsewhere", "prices", "en", (a_source_id(9),), NOW, NOW))
    await alerts.put(Alert("3", "off", "prices", "en", (), NOW, NOW, enabled=False))
    await alerts.put(Alert("4", "troubles", "nothing", "en", (), NOW, NOW))
    page, notice = await commit(house, a_page_draft(), a_draft("A source is failing", alert_type="source_failing"))
    answer = await why(client, page)
    assert answer["alerts"] == {"count": 1, "names": ["prices"]}
    assert answer["says"].endswith("1 alert matches it now: “prices”.")
    answer = await why(client, notice)
    assert answer["kind"] == "notice" and "notice of the service itself (source_failing)" in answer["says"]
    assert set(answer["alerts"]["names"]) == {"prices", "troubles"}  # both ask for notices, which is the default


async def test_an_alert_that_got_the_story_from_another_event_is_listed_separately(
    house: House, client: httpx.AsyncClient
) -> None:
    for id in ("once", "every"):
        await house.storage.alerts.put(Alert(id, id, "prices", "en", (), NOW, NOW, once_per_story=id == "once"))
    (first,) = await house.publish("prices")
    again, other = await house.publish(a_draft("prices", story=id_in(first)), "prices of another", source=2)
    met = [Met("once", first.seq, first.seq), Met("once", other.seq, other.seq)]
    await house.storage.outbox.advance("x", None, other.seq, [], house.storage.lease, met=met)
    for event, once in ((first, 0), (again, 1), (other, 0)):
        answer = await why(client, event)
        assert (answer["alerts"]["count"], answer["alerts_once"]["count"]) == (2 - once, once)
        assert answer["says"].endswith("1 alert had this story from an earlier event.") == bool(once)


async def test_a_key_that_may_not_read_alerts_learns_their_number_and_no_name(house: House) -> None:
    await house.storage.alerts.put(Alert("1", "prices", "prices", "en", (), NOW, NOW))
    (page,) = await commit(house, a_page_draft())
    async with await house.client("stream:read") as reader:
        answer = await why(reader, page)
    assert answer["alerts"] == {"count": 1, "names": []}
    assert answer["says"].endswith("1 alert matches it now.")


async def test_feedback_teaches_every_text_of_the_difference(house: House, client: httpx.AsyncClient) -> None:
    (event,) = await commit(house, a_page_draft())
    house.registry.views[a_source_id()] = SourceView(a_source(type="html", noise=("k1",)), SourceRuntime())
    answer = await client.post(f"/v1/events/{id_in(event)}/feedback", json={"verdict": "noise"})
    assert answer.status_code == 200 and answer.json()["noise_count"] == 1
    assert answer.json()["says"].startswith("The 3 blocks of this event are noise from now on")
    (taught,) = house.registry.seen
    assert isinstance(taught, Teach) and taught.noise
    assert taught.texts == ("A new paragraph", "It costs 19", "It costs 29")
    answer = await client.post(f"/v1/events/{id_in(event)}/feedback", json={"verdict": "real"})
    assert "no longer noise" in answer.json()["says"] and not house.registry.seen[-1].noise


async def test_feedback_on_another_tier_is_refused_with_advice(house: House, client: httpx.AsyncClient) -> None:
    feed, notice = await commit(house, a_draft(), a_draft("x", alert_type="source_quiet"), type="feed")
    for event, words in ((feed, "an alert's query"), (notice, "notices")):
        answer = await client.post(f"/v1/events/{id_in(event)}/feedback", json={"verdict": "noise"})
        assert answer.status_code == 422 and words in answer.json()["detail"]
    answer = await client.post(f"/v1/events/{id_in(feed)}/feedback", json={"verdict": "bad"})
    assert answer.status_code == 400
    gone = id_in(feed)[:-1] + ("0" if id_in(feed)[-1] != "0" else "1")
    assert (
        await client.post(f"/v1/events/{gone[:-12]}000000000000/feedback", json={"verdict": "real"})
    ).status_code == 404
    reader = await house.client("stream:read")
    assert (await reader.post(f"/v1/events/{id_in(feed)}/feedback", json={"verdict": "real"})).status_code == 403
    assert (await reader.get(f"/v1/events/{id_in(feed)}/why")).status_code == 200


async def test_the_trail_has_notes_and_validators(house: House, client: httpx.AsyncClient) -> None:
    held = Note(LATER, "churn", "not news", NOW, 0.1, 0.5, (TIME,))
    await commit(house, a_page_draft(), notes=(Note(NOW, "baseline", "First look."), held))
    known = Validators('"e1"', None, "abc", "https://site1.test/feed")
    house.registry.views[a_source_id()] = SourceView(a_source(type="html"), SourceRuntime(validators=known))
    answer = (await client.get(f"/v1/sources/{a_source_id()}/looks")).json()
    assert [row["verdict"] for row in answer["notes"]] == ["churn", "baseline"]
    newest = answer["notes"][0]
    assert (newest["score"], newest["bar"], newest["told"]) == (0.1, 0.5, [])
    assert newest["withheld"][0] == {
        "text": TIME.text, "rule": TIME.rule, "key": "k2", "came": True, "told": False, "score": 0.0
    }  # fmt: skip
    assert answer["validators"] == {"etag": '"e1"', "last_modified": None, "body_hash": "abc"}


async def test_why_not_gives_the_best_reason_and_the_state_in_one_sentence(
    house: House, client: httpx.AsyncClient
) -> None:
    source = a_source(type="html")
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    answer = (await client.get(f"/v1/sources/{source.id}/why", params={"text": " prices "})).json()
    assert answer == {
        "id": source.id,
        "url": source.url,
        "title": source.name,
        "type": "html",
        "says": "Seen, not reported. All is well.",
        "state": "All is well.",
        "reasons": [
            {
                "kind": "withheld",
                "says": "Seen, not reported.",
                "at": "2026-05-28T20:26:40.000Z",
                "event_id": None,
                "text": "prices",
            }
        ],
    }
    assert not house.registry.seen[-1].check_now
    assert (await client.get(f"/v1/sources/{source.id}/why")).json()["says"] == "All is well."
    assert (await client.get(f"/v1/sources/{a_source_id(9)}/why")).status_code == 404


async def test_check_now_needs_the_right_to_change_sources(house: House) -> None:
    source = a_source(type="html")
    house.registry.views[source.id] = SourceView(source, SourceRuntime())
    reader = await house.client("sources:read")
    assert (await reader.get(f"/v1/sources/{source.id}/why?text=a")).status_code == 200
    assert (await reader.get(f"/v1/sources/{source.id}/why?text=a&look=true")).status_code == 403
    both = await house.client("sources:read", "sources:write")
    assert (await both.get(f"/v1/sources/{source.id}/why?text=a&look=true")).status_code == 200
    assert house.registry.seen[-1].check_now


async def test_the_bar_is_set_within_bounds_echoed_and_emptied(house: House, client: httpx.AsyncClient) -> None:
    made = (await client.post("/v1/sources", json={"url": "https://a.test/", "bar": 0.7})).json()
    assert (made["bar"], made["noise_count"]) == (0.7, 0)
    for wrong in (0.1, 0.95, "0.5"):
        assert (await client.patch(f"/v1/sources/{made['id']}", json={"bar": wrong})).status_code == 400
    assert (await client.patch(f"/v1/sources/{made['id']}", json={"bar": 0.3})).json()["bar"] == 0.3
    assert (await client.patch(f"/v1/sources/{made['id']}", json={"bar": None})).json()["bar"] is None


async def test_an_event_is_for_the_alerts_over_its_changed_part(house: House, client: httpx.AsyncClient) -> None:
    (event,) = await commit(house, a_page_draft(content="Arbitration. It costs 29. A new paragraph."))
    for match in ("change", "added", "removed", "page"):
        for query in ("arbitration", "19", "29"):
            alert = Alert(f"{match} {query}", f"{match} {query}", query, "en", (), NOW, NOW, match=match)
            await house.storage.alerts.put(alert)
    assert sorted((await why(client, event))["alerts"]["names"]) == [
        "added 29", "change 19", "change 29", "page 29", "page arbitration", "removed 19",
    ]  # fmt: skip

"""An instance with some of everything that is exported, and much that is not."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from actors.recorder.actor import build
from actors.signatures import Signer, new_signing_key
from extras.migrate.whole.writing import export, snapshot
from storage.append import events_of
from storage.records.access import Password, Session, SetUpLink
from storage.records.destination import Hit, Match, QuietHours, Secret
from storage.records.event import MATCHED, Draft, Stored, id_in
from storage.records.identity import COUNTER_BITS, SERVICE, Managed, Millis, Seq, SourceId, id_of
from storage.records.publication import Retraction, hash_of
from storage.records.source import BreakerState, Harvest, Health, SourceRuntime, TagDefaults, Validators
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_bin,
    a_capture,
    a_destination,
    a_draft,
    a_harvest,
    a_publication,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    an_api_key,
)

KEY = new_signing_key(b"k" * 32, NOW)
OLD_KEY = new_signing_key(b"o" * 32, Millis(NOW - 1000))
ADDRESS = "an-address-that-nobody-guesses"
SECRETS = (
    *("whsec_dGhlIHNlY3JldCBvZiBhIHdlYmhvb2s", "subscribe with token 12345", "argon2 of the password", "the-token"),
    ADDRESS,
)
DAY = 86_400_000


def an_id(number: int) -> str:
    return id_of(Seq((NOW + number) << COUNTER_BITS), number)


ALERT, OTHER_ALERT = an_id(100), an_id(101)
HOOK, OFF, FAILED = an_id(200), an_id(201), an_id(202)
TAG_MARK = Managed("shop", "topic:x", "bar=5b0e6a3c")


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return Signer(KEY).sign(build(event_id, source, draft, "https://old.example", NOW), NOW)


async def opened(folder: Path) -> Storage:
    return await open_sqlite(folder, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)


async def fill(storage: Storage, events: int = 7) -> None:
    """Fill an instance; one destination has deliveries waiting from its third event on."""
    lease = storage.lease
    await storage.keys.add_signing(OLD_KEY)
    await storage.keys.add_signing(KEY)
    await _watched(storage)
    mint = CountingMint()
    drafts = [a_draft(f"news {n}", ("topic:x",), practice=n == 1) for n in range(events)]
    told = events_of(
        await storage.log.append([a_harvest(1, *drafts, base=b"seen \x00\xff", looks=3)], lease, mint, stamp)
    )
    notice = a_draft("quiet", alert_type="source_quiet", source_type="html")
    gone = a_source(9)
    await storage.sources.add(gone, a_state(9), lease)
    await storage.log.append([a_harvest(9, "of a source that is gone")], lease, mint, stamp)
    await storage.sources.delete(gone.id, lease)
    (last,) = events_of(await storage.log.append([Harvest(SERVICE, (notice,), None)], lease, mint, stamp))
    await storage.log.retain(told[1].seq, 1, lease)
    await _alerting(storage)
    await _publishing(storage, told[2:4])
    waiting = [Match(HOOK, told[n].seq, NOW) for n in (2, 3)]
    hits = [Hit(ALERT, 2, Millis(NOW - DAY)), Hit(ALERT, 3, NOW)]
    await storage.outbox.advance(MATCHED, None, last.seq, waiting, lease, hits=hits)
    await _not_travelling(storage)


async def _watched(storage: Storage) -> None:
    hot = SourceRuntime(
        validators=Validators('"etag"', None, "hash", "https://news1.example/feed"),
        breaker=BreakerState("open", 3, 1, Millis(NOW + 60_000)),
        health=Health(0.31, "degraded", "It fails.", NOW, "reach"),
        interval=123.456,
        pace=b"\x00\xfe",
        trail=b"\x01",
    )
    source = a_source(1, tags=("topic:x",), selector="main", title="Nyheter å", bar=0.1, noise=("a", "b"), schedule=60)
    await storage.sources.add(source, replace(a_state(1), hot=hot, base=b"base"), storage.lease)
    await storage.sources.add(a_source(2, enabled=False), a_state(2), storage.lease)


async def _alerting(storage: Storage) -> None:
    await storage.alerts.put(
        an_alert(id=ALERT, name="news", source_ids=(a_source_id(1),), channel="pricing", match="added")
    )
    await storage.alerts.put(an_alert(id=OTHER_ALERT, name="all", filter_query="", enabled=False, match_count=7))
    quiet = QuietHours("22:00", "07:00", "Europe/Stockholm", ("mon",))
    secrets = (Secret(SECRETS[0]), Secret(SECRETS[0], NOW))
    for hook in (
        a_destination(id=HOOK, alert_id=ALERT, secrets=secrets, quiet_hours=quiet, last_delivery_at=NOW),
        a_destination(id=OFF, alert_id=ALERT, secrets=secrets, enabled=False, missed_after=Seq(NOW << COUNTER_BITS)),
        a_destination(id=FAILED, alert_id=OTHER_ALERT, secrets=secrets, state="disabled", failing_since=NOW, told=2),
    ):
        await storage.alerts.put_destination(hook)
    tagged = TagDefaults(
        "topic:x", NOW, 900, "weekdays 08-18 Europe/Stockholm", 0.4, "main", ("nav", ".ad"), (HOOK,), "ops", TAG_MARK
    )
    await storage.tag_defaults.edit("topic:x", lambda _: tagged)
    await storage.tag_defaults.edit("label:å", lambda _: TagDefaults("label:å", NOW, bar=0.3, destinations=("gone",)))


async def _publishing(storage: Storage, noise: Sequence[Stored]) -> None:
    """Publish under an address with a known token, at most two events."""
    await storage.publications.put(
        a_publication(
            "one", id=an_id(300), token=ADDRESS, token_hash=hash_of(ADDRESS), alert_ids=(ALERT,), tags=("topic:x",)
        )
    )
    await storage.publications.put(a_publication("two", id=an_id(301), channel="pricing"))
    for number, event in enumerate(noise):
        await storage.publications.retract(Retraction(event.seq, id_in(event.body), Millis(NOW + number)))


async def _not_travelling(storage: Storage) -> None:
    await storage.keys.add(an_api_key())
    await storage.people.offer(SetUpLink("the-token", NOW))
    session = Session("id", "sha", NOW, NOW, "agent", "address")
    await storage.people.settle(Password("argon2 of the password", NOW), session)
    await storage.bins.add(a_bin(token="the-token"))
    await storage.bins.capture("bin", a_capture(), keep=9, room=1 << 20)


async def a_folder(folder: Path, events: int = 7) -> Path:
    """Make a filled data folder that no service uses."""
    storage = await opened(folder)
    await fill(storage, events)
    await storage.aclose()
    return folder


async def exported(folder: Path, since: Seq | None = None, *, events: bool = True) -> bytes:
    out = io.BytesIO()
    await export(snapshot(folder), out, NOW, since, events=events)
    return out.getvalue()


def lines_of(data: bytes, kind: str) -> list[dict[str, object]]:
    """Return the decoded lines of a kind."""
    every = [msgspec.json.decode(line) for line in data.splitlines()]
    return [line for line in every if line["line"] == kind]

"""Export and import of a whole instance: the same bytes again, and an instance that continues from there."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from actors.recorder.actor import SigningKeys
from actors.settings import Settings
from actors.signatures import jwks, new_signing_key
from extras.migrate.whole.loading import ImportResult, load, look_through
from extras.migrate.whole.reading import LEFT_OUT, DestinationLine, as_text, schema
from extras.migrate.whole.writing import CannotWrite, export, position_of, snapshot, write_export
from sanderling import keyring
from sanderling.data_folder import STAGE, unfinished
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy
from sanderling_client.verify import Cause, check_encoded
from storage.append import events_of
from storage.records.destination import Destination, Match, Portion, Private
from storage.records.event import EVERYTHING, HEARTBEAT, MATCHED, RESET, Heartbeat
from storage.records.identity import START, Millis, day_of, seq_of
from storage.records.publication import hash_of
from storage.records.source import TagDefaults
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from storage.sqlite.engine import DATABASE, FolderLock
from storage.sqlite.master_key import NEXT, OWN
from tests.extras.migrate.whole.inventory import CARRIED
from tests.extras.migrate.whole_instance import (
    ADDRESS,
    ALERT,
    FAILED,
    HOOK,
    KEY,
    OFF,
    OLD_KEY,
    SECRETS,
    TAG_MARK,
    a_folder,
    exported,
    lines_of,
    opened,
    stamp,
)
from tests.rules.source_files import ROOT
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_destination,
    a_draft,
    a_harvest,
    a_source,
    a_source_id,
    a_state,
    an_alert,
    an_api_key,
)
from tests.support.parts import PARTS
from tests.support.waiting import until

pytestmark = pytest.mark.real
LAST_ID = "ffffffff-ffff-7000-8000-000000000000"
"""An id after all events."""


async def taken(data: bytes, folder: Path) -> ImportResult:
    return await trio.to_thread.run_sync(lambda: load(io.BytesIO(data), "export", folder, entropy))


def body(data: bytes) -> bytes:
    return data.partition(b"\n")[2]


@pytest.fixture
async def data(tmp_path: Path) -> bytes:
    return await exported(await a_folder(tmp_path / "old"))


@pytest.fixture
async def moved(data: bytes, tmp_path: Path) -> Storage:
    await taken(data, tmp_path / "new")
    return await opened(tmp_path / "new")


async def test_an_imported_instance_exports_the_same_bytes(data: bytes, tmp_path: Path) -> None:
    loaded = await taken(data, tmp_path / "new")
    assert body(await exported(tmp_path / "new")) == body(data)
    end = loaded.end
    assert (end.keys, end.sources, end.alerts, end.destinations, end.events) == (2, 2, 2, 3, 8)
    assert sorted(os.listdir(tmp_path / "new")) == [OWN, DATABASE, "sanderling.head", "sanderling.lock"]
    assert stat.S_IMODE((tmp_path / "new" / DATABASE).stat().st_mode) == 0o600


async def test_a_tally_stays_with_the_instance_that_made_the_checks(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "old")
    await storage.sources.add(a_source(1), a_state(1, tally=b"\x02", pace=b"\x01"), storage.lease)
    await storage.aclose()
    (line,) = lines_of(await exported(tmp_path / "old"), "source")
    assert isinstance(line["memory"], dict)
    assert (line["memory"]["tally"], line["memory"]["pace"]) == ("", "AQ==")


async def test_nothing_secret_is_in_it(data: bytes, tmp_path: Path) -> None:
    secrets = [*SECRETS, KEY.seed.hex(), OLD_KEY.seed.hex(), an_api_key().sha256]
    old = await opened(tmp_path / "old")
    held = [secret.value for each in await old.alerts.destinations() for secret in each.secrets]
    await old.aclose()
    assert SECRETS[0] in held[0]
    assert [secret for secret in secrets if secret.encode() in data] == []
    assert KEY.seed not in data


async def test_cursors_and_ids_continue(data: bytes, moved: Storage) -> None:
    events = [line["event"] for line in lines_of(data, "event")]
    first, last = events[0]["id"], events[-1]["id"]
    bounds = await moved.log.bounds()
    (log,) = lines_of(data, "log")
    assert bounds.floor == seq_of(log["forgotten"]) < bounds.oldest == seq_of(first)
    found = await moved.log.get(last)
    assert found is not None
    assert msgspec.json.decode(found.body) == events[-1]
    await moved.sources.add(a_source(5), a_state(5), moved.lease)
    (new,) = events_of(await moved.log.append([a_harvest(5, "new")], moved.lease, CountingMint(0), stamp))
    assert new.seq > seq_of(last)
    await moved.aclose()


async def test_old_events_verify_under_the_key_set_of_the_new_instance(moved: Storage) -> None:
    await moved.keys.add_signing(new_signing_key(b"n" * 32, NOW))
    published = jwks(await moved.keys.signing(), await moved.keys.public())
    page = await moved.log.read(START, 500, EVERYTHING)
    assert [check_encoded(each.body, published).cause for each in page.events] == [Cause.VERIFIED] * 8
    await moved.aclose()


async def test_the_watching_memory_is_imported_too(moved: Storage) -> None:
    one = await moved.sources.get(a_source_id(1))
    assert one is not None
    assert (one.base, one.hot.looks) == (b"seen \x00\xff", 3)
    assert (one.source.selector, one.source.title) == ("main", "Nyheter å")
    await moved.aclose()


async def test_alerts_keep_their_matches_and_matching_continues(data: bytes, moved: Storage) -> None:
    alert = await moved.alerts.get(ALERT)
    assert alert is not None
    assert (alert.match_count, alert.last_match_at, alert.match) == (5, NOW, "added")
    today = day_of(NOW)
    assert await moved.alerts.matched([ALERT], [today - 1, today]) == {ALERT: {today - 1: 2, today: 3}}
    (log,) = lines_of(data, "log")
    assert await moved.outbox.cursor(MATCHED) == seq_of(log["matched"])
    await moved.aclose()


async def test_destinations_arrive_disabled_with_their_replay_position(data: bytes, moved: Storage) -> None:
    events = [line["event"]["id"] for line in lines_of(data, "event")]
    hooks = {hook.id: hook for hook in await moved.alerts.destinations()}
    assert [hooks[id].was_enabled for id in (HOOK, OFF, FAILED)] == [True, False, True]
    assert not any(hook.enabled for hook in hooks.values())
    values = [secret.value for hook in hooks.values() for secret in hook.secrets]
    assert len(set(values)) == 3
    assert all(value.startswith("whsec_") and value not in SECRETS for value in values)
    waiting = seq_of(events[1])  # retention took the first one; the third and the fourth were waiting
    assert hooks[HOOK].missed_after == waiting - 1
    assert hooks[FAILED].missed_after is None
    assert await moved.outbox.backlog(HOOK) == 0
    await moved.aclose()


async def test_a_digest_and_running_attempts_are_offered_for_a_replay_too(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "old")
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    told = events_of(await storage.log.append([a_harvest(1, *"abcde")], storage.lease, CountingMint(), stamp))
    await storage.alerts.put(an_alert(id=ALERT))
    for id in (HOOK, OFF):
        await storage.alerts.put_destination(a_destination(id=id, alert_id=ALERT))
    waits = [Match(id, told[n].seq, NOW) for id, n in ((HOOK, 1), (HOOK, 2), (HOOK, 3), (OFF, 2), (OFF, 4))]
    await storage.outbox.advance(MATCHED, None, told[-1].seq, waits, storage.lease)
    digest = b'{"events":[%b,%b]}' % (told[1].body, told[2].body)
    portion = Portion(NOW, Millis(NOW + 1), 2, 1 << 20)
    assert await storage.outbox.freeze(HOOK, portion, lambda _: ("digest", digest), storage.lease) == 2
    assert len(await storage.outbox.claim(OFF, NOW, 1, storage.lease)) == 1
    hooks = {
        line["destination"]["id"]: line["destination"]
        for line in lines_of(await exported(tmp_path / "old"), "destination")
    }
    assert [seq_of(hooks[id]["missed_after"]) for id in (HOOK, OFF)] == [told[1].seq - 1, told[2].seq - 1]
    assert await storage.outbox.backlog(HOOK) == 2
    assert len(await storage.outbox.claim(OFF, NOW, 9, storage.lease)) == 1  # the other one is still under way
    await storage.aclose()


async def test_a_chat_comes_in_without_its_token_and_one_without_any_as_it_was(tmp_path: Path) -> None:
    storage = await opened(await a_folder(tmp_path / "old"))
    old = await storage.alerts.destination(HOOK)
    assert old is not None
    sealed: dict[str, Any] = {"private": {"token": Private("t0ken")}, "private_names": ("token",)}
    shared: dict[str, Any] = {"kind": "ntfy", "secrets": (), "options": {"topic": "prices"}}
    await storage.alerts.put_destination(replace(old, **shared, **sealed))
    await storage.alerts.put_destination(replace(old, id=HOOK[:-1] + "f", **shared))
    await storage.aclose()
    data = await exported(tmp_path / "old")
    assert b"t0ken" not in data
    await taken(data, tmp_path / "new")
    storage = await opened(tmp_path / "new")
    closed, open_one = [await storage.alerts.destination(id) for id in (HOOK, HOOK[:-1] + "f")]
    await storage.aclose()
    assert closed is not None and open_one is not None
    assert open_one.enabled and open_one.was_enabled is None and open_one.values == {"topic": "prices"}
    assert (closed.enabled, closed.was_enabled, closed.lost, closed.secrets) == (False, True, ("token",), ())


async def test_readers_of_a_publication_keep_their_secret_address(data: bytes, moved: Storage) -> None:
    published = await moved.publications.by_hash(hash_of(ADDRESS))
    assert published is not None and published.publication.title and published.publication.alert_ids == (ALERT,)
    one, two = await moved.publications.all()
    assert (one.id, one.token, two.token) == (published.publication.id, None, None)
    noise = await moved.publications.retracted(START, seq_of(LAST_ID), 100)
    events = [msgspec.json.decode(msgspec.json.encode(line["event"])) for line in lines_of(data, "event")]
    told = {event["title"]: event["id"] for event in events}
    assert [retraction.id for retraction in noise] == [told["news 3"], told["news 2"]]
    assert published.retractions == 2
    assert ADDRESS.encode() not in data
    await moved.aclose()


async def test_defaults_of_tags_travel_without_destinations_that_are_gone(data: bytes, tmp_path: Path) -> None:
    await taken(data, tmp_path / "new")
    moved = await opened(tmp_path / "new")
    one, two = await moved.tag_defaults.all()
    assert (one.tag, one.bar, one.destinations) == ("label:å", 0.3, ())
    assert (two.schedule, two.selector, two.ignore, two.destinations) == (900, "main", ("nav", ".ad"), (HOOK,))
    assert (two.updated_by, two.managed) == ("ops", TAG_MARK)
    await moved.aclose()


async def test_an_export_of_before_publications_travelled_still_comes_in(data: bytes, tmp_path: Path) -> None:
    kept = [line for line in data.splitlines(keepends=True) if b'"line":"publication"' not in line]
    kept = [line for line in kept if b'"line":"retraction"' not in line and b'"line":"tag"' not in line]
    digest = hashlib.sha256(b"".join(kept[1:-1])).hexdigest()
    end = {**msgspec.json.decode(kept[-1]), "sha256": digest}
    del end["publications"], end["retractions"], end["tags"]
    kept[-1] = msgspec.json.encode(end) + b"\n"
    loaded = await taken(b"".join(kept), tmp_path / "new")
    assert (loaded.end.events, loaded.end.publications) == (8, 0)


@pytest.mark.parametrize(
    ("line", "bend", "says"),
    [
        ("publication", lambda it: it["publication"].update(token="x"), "holds an address"),
        ("publication", lambda it: it["publication"].update(token_hash="zz"), "hash of an address"),
        ("publication", lambda it: it["publication"].update(alert_ids=["nobody"]), "alert nobody is not there"),
        ("publication", lambda it: it["publication"].update(id="1"), "UUID"),
        ("publication", lambda it: it["publication"].update(colour="red"), "does not know the field"),
        ("retraction", lambda it: it.update(event="x"), "badly formed"),
        ("tag", lambda it: it["defaults"].update(destinations=["nobody"]), "destination nobody is not there"),
        ("tag", lambda it: it["defaults"].update(tag="label:å"), "is none, or there twice"),
        ("tag", lambda it: it["defaults"].update(tag="label:"), "is none, or there twice"),
        ("tag", lambda it: it["defaults"].update(tag="label:\0"), "is none, or there twice"),
        ("tag", lambda it: it["defaults"].update(hours="always"), "always"),
        ("tag", lambda it: it["defaults"].update(schedule=0), "interval of the tag topic:x is none"),
        ("retraction", lambda it: it.update(event=LAST_ID), "does not come before"),
    ],
)
async def test_a_publication_that_is_none_is_refused(data: bytes, line: str, bend: Any, says: str) -> None:
    lines = [msgspec.json.decode(each) for each in data.splitlines()]
    there = [each for each in lines if each["line"] == line]
    bend(there[-1])
    bent = b"".join(msgspec.json.encode(each) + b"\n" for each in lines)
    with pytest.raises(CommandFailed, match=says):
        look_through(io.BytesIO(bent), "export")


async def test_a_source_that_greets_comes_in_without_its_greeting_and_disabled(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "old")
    await storage.sources.add(a_source(1, type="push", hello=SECRETS[1]), a_state(1), storage.lease)
    await storage.aclose()
    data = await exported(tmp_path / "old")
    assert SECRETS[1].encode() not in data
    assert (await taken(data, tmp_path / "new")).speechless == [a_source_id(1)]
    (source,) = lines_of(await exported(tmp_path / "new"), "source")
    assert (source["greets"], source["source"]["enabled"]) == (False, False)


async def test_renewed_cookies_travel_as_little_as_the_headers_that_they_renew(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "old")
    state = a_state(1, cookies='[["session","r3newed"]]', looks=4)
    await storage.sources.add(a_source(1, headers="Cookie: session=g1ven"), state, storage.lease)
    await storage.aclose()
    data = await exported(tmp_path / "old")
    assert b"r3newed" not in data and b"g1ven" not in data
    (line,) = lines_of(data, "source")
    assert (line["greets"], line["memory"]["looks"]) == (True, 4)


async def test_chosen_parts_and_own_values_of_sources_are_exported(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "old")
    parts = tuple(PARTS.values())
    given = [
        a_source(n, type="html", selector=part, ignore=(parts[n - 1], part), own_only=("selector", "bar"))
        for n, part in enumerate(parts, 1)
    ]
    for n, source in enumerate(given, 1):
        await storage.sources.add(source, a_state(n), storage.lease)
        defaults = TagDefaults(f"label:{n}", NOW, selector=source.selector, ignore=source.ignore)
        await storage.tag_defaults.edit(defaults.tag, lambda _, defaults=defaults: defaults)
    await storage.aclose()
    data = await exported(tmp_path / "old")
    await taken(data, tmp_path / "new")
    assert lines_of(await exported(tmp_path / "new"), "source") == lines_of(data, "source")
    there = await opened(tmp_path / "new")
    assert [one.source for one in await there.sources.page(None, 100)] == given
    assert {one.selector for one in await there.tag_defaults.all()} == {*parts}
    await there.aclose()


async def test_each_kind_of_event_is_exported_as_its_kind(tmp_path: Path) -> None:
    """A held entry of a wholly new feed once ended every export."""
    storage = await opened(tmp_path / "old")
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    drafts = [
        a_draft(source_type="feed"),
        a_draft(source_type="html"),
        a_draft(source_type="push"),
        a_draft(alert_type="source_failing"),
        a_draft(practice=True),
        a_draft(tags=(RESET,)),
        a_draft(alert_type=HEARTBEAT, heartbeat=Heartbeat(1, 60, "", None, None, "", 0, "", 0, 0, 0)),
    ]
    await storage.log.append([a_harvest(1, *drafts)], storage.lease, CountingMint(), stamp)
    kinds = [event.kind for event in (await storage.log.read(START, 10, EVERYTHING)).events]
    await storage.aclose()
    assert sorted(kinds) == sorted(number for name, number in vars(Kind).items() if name.isupper())
    data = await exported(tmp_path / "old")
    named = ["feed", "html", "push", "notice", "practice", "held", "heartbeat"]
    assert [line["kind"] for line in lines_of(data, "event")] == named
    await taken(data, tmp_path / "new")
    storage = await opened(tmp_path / "new")
    assert [event.kind for event in (await storage.log.read(START, 10, EVERYTHING)).events] == kinds
    await storage.aclose()


async def test_a_part_of_the_events_leaves_a_log_that_begins_there(tmp_path: Path) -> None:
    folder = await a_folder(tmp_path / "old")
    ids = [line["event"]["id"] for line in lines_of(await exported(folder), "event")]
    some = await exported(folder, position_of(ids[3]))
    assert [line["event"]["id"] for line in lines_of(some, "event")] == ids[4:]
    none = await exported(folder, events=False)
    assert lines_of(none, "event") == []
    await taken(none, tmp_path / "new")
    storage = await opened(tmp_path / "new")
    bounds = await storage.log.bounds()
    assert bounds.floor == bounds.newest == seq_of(ids[-1])
    await storage.aclose()
    assert body(await exported(tmp_path / "new")) == body(none)


async def test_it_is_one_moment_of_an_instance_that_goes_on(tmp_path: Path) -> None:
    """The service appends during the export: a source's memory and its events are of the same moment."""
    storage = await opened(tmp_path / "old")
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    mint, begun, stop = CountingMint(), trio.Event(), trio.Event()

    async def go_on() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            await storage.log.append([a_harvest(1, str(number), looks=number)], storage.lease, mint, stamp)
            begun.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(go_on)
        await begun.wait()
        file = tmp_path / "e.ndjson"
        end = await trio.to_thread.run_sync(
            lambda: write_export(snapshot(tmp_path / "old"), str(file), None, events=True)
        )
        stop.set()
    await storage.aclose()
    (source,) = lines_of(file.read_bytes(), "source")
    assert source["memory"]["looks"] == end.events > 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not list((tmp_path / "old").glob(".backup-*"))


async def test_an_instance_that_was_started_keeps_its_keys_and_its_password(data: bytes, tmp_path: Path) -> None:
    storage = await opened(tmp_path / "new")
    await storage.keys.add(an_api_key())
    await storage.keys.add_signing(new_signing_key(b"n" * 32, NOW))
    await storage.aclose()
    await taken(data, tmp_path / "new")
    again = await opened(tmp_path / "new")
    assert [key.name for key in await again.keys.all()] == ["key"]
    assert (len(await again.keys.signing()), len(await again.keys.public())) == (1, 2)
    assert len(await again.sources.page(None, 9)) == 2
    await again.aclose()


async def test_an_instance_with_an_interrupted_key_change_accepts_an_import(data: bytes, tmp_path: Path) -> None:
    await (await opened(tmp_path / "new")).aclose()
    (tmp_path / "new" / OWN).rename(tmp_path / "new" / NEXT)
    await taken(data, tmp_path / "new")
    await (await opened(tmp_path / "new")).aclose()
    assert sorted(name for name in os.listdir(tmp_path / "new") if "key" in name) == [OWN]


async def test_a_file_that_is_no_export_is_never_overwritten(tmp_path: Path) -> None:
    folder = await a_folder(tmp_path / "old")

    def refused(file: str) -> str:
        with pytest.raises(CommandFailed) as failed:
            write_export(snapshot(folder), file, None, events=True)
        return failed.value.message

    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CannotWrite, match="No space left"), open("/dev/full", "wb", buffering=0) as full:  # noqa: ASYNC230
        await export(snapshot(folder), full, NOW, None)
    assert "is no export, so it stays unchanged" in await trio.to_thread.run_sync(refused, str(tmp_path / "mine.txt"))
    assert "there is no such folder" in await trio.to_thread.run_sync(refused, str(tmp_path / "no/e.ndjson"))
    assert "cannot be written" in await trio.to_thread.run_sync(refused, str(tmp_path / ("e" * 300)))
    assert sorted(os.listdir(tmp_path)) == ["mine.txt", "old"]


@pytest.mark.parametrize("twice", [False, True])
async def test_an_instance_that_holds_something_or_is_served_is_left_as_it_is(
    data: bytes, tmp_path: Path, *, twice: bool
) -> None:
    lock = FolderLock(tmp_path / "new")
    if twice:
        await taken(data, tmp_path / "new")
    else:
        (tmp_path / "new").mkdir()
        lock.acquire()
    with pytest.raises(CommandFailed, match="already|in use") as refused:  # noqa: RUF043 - one of two
        await taken(data, tmp_path / "new")
    assert refused.value.code == Exit.BAD_DATA
    lock.release()
    assert not unfinished(tmp_path / "new")


async def test_a_killed_import_says_so_and_can_start_over(data: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    process = await trio.lowlevel.open_process(
        [sys.executable, "-P", "-m", "sanderling", "import", "--yes", "-", "--data", str(folder)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
    )
    assert process.stdin is not None
    await process.stdin.send_all(b"".join(data.splitlines(keepends=True)[:-1]))
    await until((folder / STAGE / "sanderling.head").exists)
    process.kill()
    await process.wait()
    assert unfinished(folder)
    assert not (folder / DATABASE).exists()
    await taken(data, folder)
    assert not unfinished(folder)
    assert body(await exported(folder)) == body(data)


def test_leftovers_of_a_killed_root_import_are_explained_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shut(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "shut", str(path))

    monkeypatch.setattr(Path, "exists", shut)
    assert unfinished(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_files_imported_by_root_belong_to_the_folders_owner(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:  # others can't walk through pytest's own
        os.chmod(place, 0o711)
        folder = Path(place) / "new"
        folder.mkdir()
        os.chown(folder, 4_242, 4_243)
        await taken(data, folder)
        made = {name: (folder / name).stat() for name in os.listdir(folder)}
    assert {DATABASE, OWN} < set(made)
    assert {(each.st_uid, each.st_gid) for each in made.values()} == {(4_242, 4_243)}


# --- completeness ----------------------------------------------------------------------------------------------------


async def test_every_table_and_column_travels_or_stays_on_purpose(tmp_path: Path) -> None:
    storage = await opened(tmp_path / "new")
    columns = await storage.log._readers.run(  # type: ignore[attr-defined]  # the engine's own connection
        lambda connection: connection.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type='table'"
        ).fetchall()
    )
    await storage.aclose()
    there = {(table, column) for table, column in columns if not table.startswith(("sqlite_", "_sqlite"))}
    assert {table for table, _ in there} == set(CARRIED) | set(LEFT_OUT.tables)
    assert {pair for pair in there if pair[0] in CARRIED} == {
        (table, column) for table, of_table in CARRIED.items() for column in of_table
    }


def test_every_field_of_a_destination_travels_but_its_secrets() -> None:
    stays, in_their_place = {"secrets", "private", "was_enabled"}, {"signed"}
    assert set(DestinationLine.__struct_fields__) - in_their_place == set(Destination.__struct_fields__) - stays


async def test_the_schema_that_is_shipped_is_of_these_lines_and_they_fulfil_it(data: bytes) -> None:
    assert (ROOT / "docs/schemas/export.json").read_bytes() == as_text()
    validator = Draft202012Validator(schema())
    for line in data.splitlines():
        validator.validate(msgspec.json.decode(line))
    assert not validator.is_valid({"line": "alert", "alert": {}})


async def test_a_files_content_is_listed_without_writing_anything(data: bytes, tmp_path: Path) -> None:
    before = sorted(os.listdir(tmp_path))
    assert look_through(io.BytesIO(data), "export").end.events == 8
    assert sorted(os.listdir(tmp_path)) == before


async def test_s18_the_keys_that_an_import_publishes_are_named_and_can_be_forgotten(
    data: bytes, tmp_path: Path
) -> None:
    found = look_through(io.BytesIO(data), "export")
    assert set(found.keys) == {KEY.key_id, OLD_KEY.key_id}
    await taken(data, tmp_path / "new")
    settings = Settings(data=str(tmp_path / "new"))
    storage = await opened(tmp_path / "new")
    await storage.keys.add_signing(new_signing_key(b"n" * 32, NOW))
    service = SigningKeys(storage, await storage.keys.signing())
    assert OLD_KEY.key_id.encode() in await service.published()
    await trio.to_thread.run_sync(lambda: keyring.forget_signing(settings, OLD_KEY.key_id))
    assert OLD_KEY.key_id.encode() not in await service.published(), "the running service follows"
    assert KEY.key_id.encode() in await service.published()
    own = (await storage.keys.signing())[0].key_id
    for key_id, why in ((OLD_KEY.key_id, "no such key"), (own, "own")):
        with pytest.raises(CommandFailed, match=why):
            await trio.to_thread.run_sync(lambda id=key_id: keyring.forget_signing(settings, id))  # type: ignore[misc]
    await storage.aclose()

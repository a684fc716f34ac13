"""Secrets in the data folder are sealed; their key is found, changed and abandoned as documented."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.signatures import public_half
from extras.publish.hub import Subscriptions
from extras.webpush.key import PushKey, add_first_key, push_key
from storage.errors import Exposed, NoKey, Unopened
from storage.records.destination import Private, Secret
from storage.records.identity import START, Millis
from storage.secrets import Vault, read_master, written
from storage.sql.storage import Storage
from storage.sqlite import open_keys, open_sqlite, upkeep
from storage.sqlite.engine import DATABASE, WRITER, connect
from storage.sqlite.master_key import NEXT, OWN, make_own
from storage.sqlite.upkeep import rotate
from tests.storage.contract.builders import (
    a_destination,
    a_harvest,
    a_publication,
    a_signing_key,
    a_source,
    a_state,
    a_subscription,
    an_alert,
)
from tests.storage.sqlite.upkeep.test_upgrade import SEALED, written_by

NAMED, OTHER = Vault(b"n" * 32), Vault(b"o" * 32)
SECRETS = (Secret("whsec_bmV3ZXI="), Secret("whsec_b2xkZXI=", until=a_destination().created_at))
HEADERS = "Cookie: c00kie=1"
JAR = '[["c00kie","r3newed"]]'
HELLO = '{"token": "of the feed"}'
SEED = a_signing_key("k").seed
TOKEN = {"token": Private("t0ken of the chat"), "url": Private("https://chat.example/h00k")}
PUBLICATION = a_publication(token="t0ken of the feed")
SUBSCRIPTION = a_subscription(secret="s3cret of the reader")
PUSH = PushKey("Bpublic", b"the k3y that push services know.", Millis(1_800_000_000_000))
PLAIN = (
    *(secret.value.encode() for secret in SECRETS),
    b"of the feed",
    b"c00kie",
    b"r3newed",
    b"t0ken of",
    b"h00k",
    b"t0ken of the feed",
    b"s3cret of the reader",
    PUSH.secret,
    SEED,
    SEED.hex().encode(),
)


async def opened(folder: Path, named: Vault | None = None, said: list[str] | None = None) -> Storage:
    warn = (said if said is not None else []).append
    return await open_sqlite(folder, clock=lambda: 1_800_000_000.0, owner="test", warn=warn, named=named)


async def filled(folder: Path, named: Vault | None = None) -> Storage:
    """Open a folder and put every kind of secret into it."""
    storage = await opened(folder, named)
    await storage.sources.add(replace(a_source(1, type="push"), hello=HELLO), a_harvest(1).state, storage.lease)
    await storage.sources.add(replace(a_source(2), headers=HEADERS), a_state(2, cookies=JAR), storage.lease)
    await storage.keys.add_signing(a_signing_key("k"))
    await storage.alerts.put(an_alert())
    private: dict[str, Any] = {"private": TOKEN, "private_names": tuple(TOKEN)}
    await storage.alerts.put_destination(a_destination(secrets=SECRETS, **private))
    await storage.publications.put(PUBLICATION)
    await Subscriptions(storage).put(SUBSCRIPTION, START)
    await add_first_key(storage, PUSH)
    return storage


async def secrets_in(folder: Path, named: Vault | None = None) -> None:
    """Assert that the folder has all data of `filled`."""
    storage = await opened(folder, named)
    try:
        assert [key.seed for key in await storage.keys.signing()] == [SEED]
        (destination,) = await storage.alerts.destinations()
        assert (destination.secrets, destination.private) == (SECRETS, TOKEN)
        rows = await storage.sources.page(None, 9)
        assert [(row.source.secret, row.hot.cookies) for row in rows] == [(HELLO, ""), (HEADERS, JAR)]
        assert list(await storage.publications.all()) == [PUBLICATION]
        assert [each.subscription for each in await Subscriptions(storage).all()] == [SUBSCRIPTION]
        assert await push_key(storage) == PUSH
    finally:
        await storage.aclose()


def planted_in(folder: Path) -> list[tuple[str, bytes]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(path.name, secret) for path in files for secret in PLAIN if secret in path.read_bytes()]


# --- boxes -----------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=99), st.text(max_size=9), st.data())
def test_x20_a_box_that_was_altered_or_moved_does_not_open(secret: bytes, name: str, data: st.DataObject) -> None:
    box = NAMED.seal("destination", name, secret)
    assert NAMED.open("destination", name, box) == secret
    assert secret not in box or len(secret) < 3
    assert box != NAMED.seal("destination", name, secret)
    bit = data.draw(st.integers(0, len(box) * 8 - 1))
    altered = bytearray(box)
    altered[bit // 8] ^= 1 << bit % 8
    cut = data.draw(st.integers(0, len(box) - 1))
    for vault, kind, row, what in (
        (NAMED, "destination", name, bytes(altered)),
        (NAMED, "destination", name, box[:cut]),
        (NAMED, "destination", name + "x", box),
        (NAMED, "source", name, box),
        (OTHER, "destination", name, box),
    ):
        with pytest.raises(Unopened):
            vault.open(kind, row, what)


def test_a_master_key_is_read_as_it_is_written_and_nothing_else_is() -> None:
    assert read_master(f" {written(b'k' * 32)}\n") == b"k" * 32
    for text in ("", "smk_", written(b"k" * 32)[:-1], written(b"k" * 32) + "A", "svc_" + "A" * 43):
        assert read_master(text) is None
    assert "k" * 8 not in repr(Vault(b"k" * 32))


# --- the folder's contents -------------------------------------------------------------------------------------------


async def test_x20_no_secret_lies_plain_in_any_file_while_it_is_used_and_afterwards(tmp_path: Path) -> None:
    storage = await filled(tmp_path)
    await storage.alerts.edit_destination(a_destination().id, lambda it: replace(it, label="other"))
    assert (tmp_path / f"{DATABASE}-wal").stat().st_size > 0
    assert planted_in(tmp_path) == []
    assert stat.S_IMODE((tmp_path / OWN).stat().st_mode) == 0o600
    await storage.aclose()
    assert planted_in(tmp_path) == []
    await secrets_in(tmp_path)


@pytest.mark.parametrize("step", range(1, SEALED))
async def test_x20_an_upgrade_leaves_nothing_plain_but_in_the_copy_that_it_keeps(step: int, tmp_path: Path) -> None:
    """This includes free pages with data deleted long ago."""
    path = written_by(step, tmp_path)
    with closing(connect(path, WRITER)) as database:
        database.execute("UPDATE signing_key SET seed=?", (b"\x5e" * 32,))
        database.execute("CREATE TABLE gone AS SELECT 'deleted ' || hex(randomblob(4000)) || ? AS x", (HELLO,))
        database.execute("DROP TABLE gone")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    said: list[str] = []
    storage = await opened(tmp_path, said=said)
    held = b"".join((tmp_path / name).read_bytes() for name in os.listdir(tmp_path) if name.startswith(DATABASE))
    assert len(said) == 1  # of the copy
    for secret in (b"whsec_", b"\x5e" * 32, b"of the feed"):
        assert secret not in held
        assert secret == b"of the feed" or secret in (tmp_path / f"before-upgrade-from-schema-{step}.db").read_bytes()
    (key,) = await storage.keys.signing()
    with closing(connect(path, WRITER)) as database:
        halves = dict(database.execute("SELECT key_id, x FROM public_key").fetchall())
    assert halves[key.key_id] == public_half(key).x
    await storage.aclose()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE destination SET sealed=(SELECT sealed FROM source)",
        "UPDATE destination SET sealed=NULL",
        "UPDATE destination SET private=sealed",
        "UPDATE destination SET private=x'01'",
        "UPDATE signing_key SET key_id='another'",
        "UPDATE source SET sealed=x'01'",
        "UPDATE source_hot SET jar=x'01'",
        "UPDATE source_hot SET jar=(SELECT sealed FROM source WHERE sealed IS NOT NULL)",
        "UPDATE publication SET sealed=x'01'",
        "UPDATE subscription SET sealed=x'01'",
    ],
)
async def test_x20_a_box_that_is_not_its_rows_own_is_noticed_at_the_start(statement: str, tmp_path: Path) -> None:
    await (await filled(tmp_path)).aclose()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute(statement)
        database.commit()
    with pytest.raises(Unopened, match="altered, or moved"):
        await opened(tmp_path)


# --- choosing the key ------------------------------------------------------------------------------------------------


async def test_x20_the_named_key_is_taken_and_without_it_nothing_opens(tmp_path: Path) -> None:
    await (await filled(tmp_path, NAMED)).aclose()
    assert not (tmp_path / OWN).exists()
    before = (tmp_path / DATABASE).read_bytes()
    for wrong, says in ((None, "no master key is here"), (OTHER, "none of the master keys here opens them")):
        with pytest.raises(NoKey, match=says):
            await opened(tmp_path, wrong)
        with open_keys(tmp_path, wrong) as keys:
            assert list(keys.all()) == []  # this needs no secret
            with pytest.raises(NoKey):
                keys.signing()
            with pytest.raises(NoKey):
                keys.add_signing(a_signing_key("mine"))
    assert (tmp_path / DATABASE).read_bytes() == before
    await secrets_in(tmp_path, NAMED)


async def test_the_folders_own_key_still_opens_its_secrets_and_is_reported(tmp_path: Path) -> None:
    await (await filled(tmp_path)).aclose()
    said: list[str] = []
    await (await opened(tmp_path, NAMED, said)).aclose()
    assert len(said) == 1 and "rotate-master" in said[0]
    (tmp_path / OWN).unlink()
    with pytest.raises(NoKey):
        await opened(tmp_path)


async def test_a_command_that_comes_first_leaves_the_choice_of_the_key_open(tmp_path: Path) -> None:
    with open_keys(tmp_path) as keys:
        assert list(keys.signing()) == []
    await (await filled(tmp_path, NAMED)).aclose()
    with open_keys(tmp_path, NAMED) as keys:
        keys.add_signing(replace(a_signing_key("second"), seed=b"2" * 32))
    storage = await opened(tmp_path, NAMED)
    assert [key.seed for key in await storage.keys.signing()] == [b"2" * 32, SEED]
    await storage.aclose()


async def test_x20_an_own_key_that_others_can_read_is_shut_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await filled(tmp_path)).aclose()
    (tmp_path / OWN).chmod(0o644)
    with monkeypatch.context() as other, pytest.raises(Exposed, match="0644"):
        other.setattr(os, "geteuid", lambda: 4_242)
        open_keys(tmp_path)
    await secrets_in(tmp_path)
    assert stat.S_IMODE((tmp_path / OWN).stat().st_mode) == 0o600
    (tmp_path / OWN).write_text("smk_half")
    with pytest.raises(NoKey, match="damaged"):
        await opened(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_key_that_root_makes_belongs_to_the_folders_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 4_242, 4_243)
    make_own(tmp_path)
    made = (tmp_path / OWN).stat()
    assert (made.st_uid, made.st_gid, stat.S_IMODE(made.st_mode)) == (4_242, 4_243, 0o600)


# --- rotation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [(None, None), (None, NAMED), (NAMED, OTHER), (NAMED, None)])
async def test_x20_after_a_rotation_only_the_new_key_opens_anything(
    old: Vault | None, new: Vault | None, tmp_path: Path
) -> None:
    await (await filled(tmp_path, old)).aclose()
    kept = (tmp_path / OWN).read_text() if old is None else None
    done = rotate(tmp_path, old, new)
    assert (done.boxes, done.lost, done.scrubbed) == (9, None, True)
    assert (tmp_path / OWN).exists() == (new is None) and not (tmp_path / NEXT).exists()
    await secrets_in(tmp_path, new)
    (tmp_path / OWN).unlink(missing_ok=True)
    if kept is not None:
        (tmp_path / OWN).write_text(kept)
    with pytest.raises(NoKey):
        await opened(tmp_path, old)


@pytest.mark.parametrize("new", [None, OTHER], ids=["own", "named"])
@pytest.mark.parametrize("point", ["make_own", "reseal", "settle", "forget_own", "scrub"])
async def test_a_rotation_that_is_cut_off_leaves_the_old_key_or_the_new_one(
    point: str, new: Vault | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No code after the cut runs, as after a kill."""
    await (await filled(tmp_path)).aclose()
    inner: Callable[..., object] = getattr(upkeep, point)

    def cut(*given: object) -> None:
        if point == "reseal":
            inner(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(upkeep, point, cut)
        rotate(tmp_path, None, new)
    await secrets_in(tmp_path, new)
    assert not (tmp_path / NEXT).exists()
    rotate(tmp_path, new, None)
    await secrets_in(tmp_path)


async def test_x20_a_key_of_ones_own_is_never_taken_for_the_folders_next_one(tmp_path: Path) -> None:
    await (await filled(tmp_path)).aclose()
    mine = tmp_path / "master.key.new"
    mine.write_text(written(b"m" * 32))
    rotate(tmp_path, None, Vault(b"m" * 32))
    await secrets_in(tmp_path, Vault(b"m" * 32))
    assert mine.read_text() == written(b"m" * 32)


async def test_a_lost_key_costs_the_secrets_and_nothing_else(tmp_path: Path) -> None:
    await (await filled(tmp_path, NAMED)).aclose()
    with pytest.raises(NoKey):
        rotate(tmp_path, OTHER, None)
    assert rotate(tmp_path, None, OTHER, fresh=lambda: "whsec_bmV3").lost == (1, 1, 2)
    storage = await opened(tmp_path, OTHER)
    assert list(await storage.keys.signing()) == []
    assert [(key.key_id, key.x) for key in await storage.keys.public()] == [("k", public_half(a_signing_key("k")).x)]
    (destination,) = await storage.alerts.destinations()
    assert destination.secrets == (Secret("whsec_bmV3"),) and not destination.enabled
    assert not destination.private and destination.lost == ("token", "url") and destination.was_enabled
    for row in await storage.sources.page(None, 9):
        assert row.source.secret is None and not row.source.enabled
    published = await storage.publications.by_hash(PUBLICATION.token_hash)
    assert published is not None and list(await storage.publications.all()) == [replace(PUBLICATION, token=None)], (
        "who has the address goes on reading"
    )
    assert list(await Subscriptions(storage).all()) == [], "its reader subscribes anew"
    assert await push_key(storage) is None, "another is made, and devices are asked anew"
    await storage.aclose()

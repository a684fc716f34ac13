"""PostgreSQL stops, ends a session or hangs: writes fail, and work continues when it returns."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from functools import partial
from itertools import count

import psycopg
import pytest
import trio

from extras.cluster.members.membership import shard_of
from extras.cluster.postgres import database
from extras.cluster.postgres.engine import PostgresConnection, all_steps, connect, upgrade
from sanderling.real_world import wall
from storage.append import events_of
from storage.errors import Corrupt, Fenced, NewerSchema, NoKey, Unavailable
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.secrets import SIZE, Vault
from storage.sql.storage import Storage
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_source_id, a_state, an_api_key, stamp
from tests.storage.contract.test_contract_following import following
from tests.support.postgres import cluster
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
VAULT = Vault(bytes(SIZE))
_OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname=current_database() AND pid<>pg_backend_pid()"""


async def opened(url: str, vault: Vault = VAULT, safe: tuple[str, ...] = ()) -> Storage:
    clock = partial(next, count(wall(), 0.05))
    return await database.open_postgres(url, vault=vault, clock=clock, owner="test", warn=lambda _: None, safe=safe)


@pytest.fixture
def url() -> str:
    return cluster().url(cluster().fresh())


@pytest.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    storage = await opened(url)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    yield storage
    await storage.aclose()


async def appended(storage: Storage, mint: CountingMint, *titles: str) -> list[Seq]:
    answers = await storage.log.append([a_harvest(1, *titles)], storage.lease, mint, stamp)
    return [event.seq for event in events_of(answers)]


async def until(storage: Storage, mint: CountingMint, title: str) -> list[Seq]:
    """Append as the recorder does: retry until the result is known."""
    with trio.fail_after(HANG):
        while True:
            try:
                return await appended(storage, mint, title)
            except Unavailable:
                await trio.sleep(0.02)


async def test_an_outage_is_waited_out_and_nothing_is_lost(storage: Storage) -> None:
    mint = CountingMint()
    before = await appended(storage, mint, "before")
    key = an_api_key()
    await storage.keys.add(key)
    async with following(storage):
        cluster().stop()
        try:
            for _ in range(3):  # also while it waits for its next try
                with pytest.raises(Unavailable):
                    await appended(storage, mint, "away")
            with pytest.raises(Unavailable):
                await storage.keys.by_hash(key.sha256)
            with pytest.raises(Unavailable):
                await storage.log.bounds()
            with pytest.raises(Unavailable):
                await storage.keys.add(an_api_key("another"))
        finally:
            cluster().start()
        after = await until(storage, mint, "after")
        assert await storage.tail.wait_past(before[-1]) == after[-1]
    assert [event.seq for event in (await storage.log.read(START, 10, EVERYTHING)).events] == [*before, *after]
    with trio.fail_after(HANG):
        while True:
            try:
                assert await storage.keys.by_hash(key.sha256) == key
                break
            except Unavailable:
                await trio.sleep(0.02)


async def test_a_session_ended_by_the_server_fails_no_call(storage: Storage, url: str) -> None:
    mint = CountingMint()
    first = await appended(storage, mint, "first")
    key = an_api_key()
    await storage.keys.add(key)
    assert await storage.keys.by_hash(key.sha256) == key
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(_OTHERS)
    assert await storage.keys.by_hash(key.sha256) == key
    second = await appended(storage, mint, "second")
    assert await storage.keys.revoke(key.id)
    assert [event.seq for event in (await storage.log.read(START, 10, EVERYTHING)).events] == [*first, *second]


@pytest.mark.parametrize("happened", [True, False])
async def test_a_commit_without_an_answer_is_unknown_and_its_effect_is_shown(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, happened: bool
) -> None:
    whole = PostgresConnection.commit

    def lost(connection: PostgresConnection, before: str = "") -> None:
        monkeypatch.undo()
        if happened:
            whole(connection, before)
        connection.cut()
        whole(connection, before)

    mint = CountingMint()
    async with following(storage):
        monkeypatch.setattr(PostgresConnection, "commit", lost)
        with pytest.raises(Unavailable):
            await appended(storage, mint, "unknown")
        last = (await until(storage, mint, "after"))[-1]
        while storage.tail.head < last:
            await storage.tail.wait_past(storage.tail.head)
        shown = storage.tail.since(START)
    assert shown is not None
    assert len(shown) == (2 if happened else 1)


async def test_a_commit_that_gets_no_answer_is_cut_off(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stuck = PostgresConnection.commit, ["once"]

    def slow(connection: PostgresConnection, before: str = "") -> None:
        if stuck:
            stuck.clear()
            connection.run("SET LOCAL statement_timeout=0; SELECT pg_sleep(2)")
        whole(connection, before)

    monkeypatch.setattr(database, "DEADLINE", 0.2)
    monkeypatch.setattr(database, "EVERY", 0.1)
    monkeypatch.setattr(PostgresConnection, "commit", slow)
    mint = CountingMint()
    async with following(storage):
        with pytest.raises(Unavailable):
            await appended(storage, mint, "stuck")
        monkeypatch.setattr(database, "DEADLINE", HANG)
        await until(storage, mint, "after")


async def test_another_nodes_commits_are_shown_in_order(storage: Storage, url: str) -> None:
    """A second start fences the first one off, so a plain connection plays the other node."""
    mint = CountingMint()
    async with following(storage):
        (first,) = await appended(storage, mint, "ours")
        with psycopg.connect(url) as other:
            row = (
                "INSERT INTO log(seq, source, kind, codec, body) SELECT %s, source, kind, codec, body FROM log LIMIT 1"
            )
            other.execute(row, (first + 5,))
            other.execute("NOTIFY sanderling_log")
            other.commit()
        assert await storage.tail.wait_past(first) == first + 5
        assert (await appended(storage, mint, "ours"))[0] > first + 5, "the head is read under the lock"


async def test_an_earlier_process_writes_nothing_more(storage: Storage, url: str) -> None:
    again = await opened(url)
    with pytest.raises(Fenced):
        await appended(storage, CountingMint(), "late")
    await again.aclose()


async def test_a_value_with_nul_is_nowhere(storage: Storage) -> None:
    assert await storage.keys.by_hash("a\0b") is None
    assert await storage.sources.get(a_source_id(1)) is not None
    assert await storage.publications.get("\0") is None


async def test_a_source_is_assigned_by_the_host_it_fetches(storage: Storage, url: str) -> None:
    moved = a_source(1, watch_url="https://www.other.example/feed")
    await storage.sources.update(moved, storage.lease, before=None)
    with psycopg.connect(url) as other:
        assert other.execute("SELECT shard FROM source").fetchall() == [(shard_of("http://other.example"),)]


# --- opening ---------------------------------------------------------------------------------------------------------


async def test_the_first_start_makes_the_tables_and_another_key_opens_nothing() -> None:
    url = cluster().url(cluster().empty())
    first = await opened(url)
    await first.aclose()
    with pytest.raises(NoKey):
        await opened(url, Vault(b"x" * SIZE))
    await (await opened(url)).aclose()


async def test_two_first_starts_at_once_make_the_tables_once() -> None:
    url = cluster().url(cluster().empty())
    made: list[Storage] = []

    async def start() -> None:
        made.append(await opened(url))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(start)
        nursery.start_soon(start)
    assert sorted(each.lease.epoch for each in made) == [1, 2]
    for each in made:
        await each.aclose()


def test_a_newer_schema_is_refused_only_when_it_says_so(url: str) -> None:
    name = cluster().empty()
    connection = connect(cluster().url(name))
    upgrade(connection, [*all_steps(), "UPDATE schema SET version=version+1"])
    upgrade(connection, all_steps())  # the previous release accepts the additions
    connection.run("UPDATE schema SET oldest=version")
    with pytest.raises(NewerSchema):
        upgrade(connection, all_steps())
    connection.close()


def test_a_step_that_fails_leaves_nothing() -> None:
    connection = connect(cluster().url(cluster().empty()))
    with pytest.raises(psycopg.errors.UndefinedTable):
        upgrade(connection, [all_steps()[0] + "SELECT * FROM nothing"])
    assert connection.execute("SELECT to_regclass('log')").fetchone() == (None,)
    upgrade(connection, all_steps())
    connection.close()


def test_a_step_that_waits_for_a_table_lets_others_read_it() -> None:
    url = cluster().url(cluster().empty())
    connection = connect(url)
    upgrade(connection, all_steps())
    steps = [*all_steps(), "ALTER TABLE source_hot ADD COLUMN new int; UPDATE schema SET version=version+1"]
    raised: list[BaseException] = []

    def step() -> None:
        try:
            upgrade(connection, steps, lock_timeout=0.05)
        except BaseException as error:
            raised.append(error)

    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as reader:
        holder.execute("LOCK TABLE source_hot IN ACCESS SHARE MODE")
        upgrading = threading.Thread(target=step)
        upgrading.start()
        reader.execute("SET statement_timeout='5s'")
        for _ in range(20):
            reader.execute("SELECT count(*) FROM source_hot")
        holder.rollback()
        upgrading.join(60)
        assert not raised and connection.execute("SELECT new FROM source_hot").fetchall() == []
        holder.execute("LOCK TABLE source_hot IN ACCESS SHARE MODE")
        with pytest.raises(Unavailable, match="another session holds"):
            upgrade(connection, [*steps, "ALTER TABLE source_hot DROP COLUMN new"], lock_timeout=0.001)
    connection.close()


async def test_tables_of_somebody_else_are_left_alone() -> None:
    url = cluster().url(cluster().empty())
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("CREATE TABLE source(id TEXT)")
    with pytest.raises(Corrupt, match="not Sanderling's"):
        await opened(url)


_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND datname=current_database()"


async def test_a_check_up_behind_a_lock_ends_and_delays_no_other_call(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOOK_UP_WITHIN", 0.5)
    storage = await opened(url)
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="has not answered"):
            await storage.keys.by_hash("0" * 64)
        storage._lookups._pool._within = HANG  # type: ignore[attr-defined]
        with psycopg.connect(url, autocommit=True) as watching, trio.fail_after(HANG):
            while watching.execute(_WAITING).fetchone() != (0,):  # noqa: ASYNC110 - of another process
                await trio.sleep(0.05)  # the session that was given up ends, too: they would pile up
        with trio.fail_after(HANG):
            assert await storage.people.session("0" * 64) is None
    await storage.aclose()


async def test_a_server_with_a_wrong_clock_is_warned_about_and_refused_from_a_minute(url: str) -> None:
    said: list[str] = []
    named = {"vault": VAULT, "owner": "test", "warn": said.append, "safe": ()}
    storage = await database.open_postgres(url, clock=lambda: wall() - 30, **named)
    await storage.aclose()
    assert [sentence.partition(" s ahead")[1] for sentence in said] == [" s ahead"]
    with pytest.raises(Unavailable, match=r"s behind ours\. Set both clocks"):
        await database.open_postgres(url, clock=lambda: wall() + 90, **named)


@pytest.mark.parametrize("unsafe", ["fsync", "full_page_writes"])
async def test_a_server_that_may_lose_commits_is_refused(url: str, unsafe: str) -> None:
    with pytest.raises(Unavailable, match=f"{unsafe} is off"):
        await opened(url, safe=(unsafe,))


async def test_an_unreachable_server_is_reported() -> None:
    with pytest.raises(Unavailable, match="PostgreSQL does not answer"):
        await opened("host=/nowhere dbname=x")


def test_variables_of_libpq_lead_to_no_other_server_or_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    url = cluster().url(cluster().fresh())
    monkeypatch.setenv("PGHOSTADDR", "192.0.2.1")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=elsewhere")
    connection = connect(url)
    try:
        assert connection.execute("SHOW search_path").fetchone() == ('"$user", public',)
    finally:
        connection.close()

"""A standby, for real: the service is killed at work, the standby takes over, clients go on, the old one stays down."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from sanderling.client.api import Client
from sanderling.data_folder import STANDBY
from sanderling.exits import Exit
from storage.sqlite.master_key import OWN
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add, run_command
from tests.e2e.test_kill import ask_for_looks, publish, read_log, watch
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


def give(key: Path, to: Path) -> None:
    """Put the master key where the docs require it."""
    to.write_bytes(key.read_bytes())
    to.chmod(0o600)


@asynccontextmanager
async def a_follower(replica: Path, data: Path, key: Path) -> AsyncIterator[trio.Process]:
    give(key, data / OWN)
    process = await trio.lowlevel.open_process(
        [sys.executable, "-P", "-m", "sanderling", "standby", "--from", str(replica), "--data", str(data)],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def test_killed_at_work_the_standby_goes_on_and_the_old_one_does_not(tmp_path: Path) -> None:
    one, two, replica = tmp_path / "one", tmp_path / "two", tmp_path / "replica"
    for folder in (one, two, replica):
        folder.mkdir(mode=0o700)
    chance, origin, key, seen = random.Random(20261125), Origin(), a_key(one), dict[str, str]()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with (
            a_service(one, SANDERLING_REPLICA=str(replica)) as service,
            a_follower(replica, two, one / OWN) as follower,
        ):
            async with Client(service.url, key) as client:
                source = str((await add(client, f"http://{origin.place}/feed"))["id"])
            async with trio.open_nursery() as life:
                live = trio.Event()
                life.start_soon(publish, origin, 0.02)
                life.start_soon(watch, service, key, seen, live)
                life.start_soon(ask_for_looks, service, key, source)
                with trio.fail_after(HANG):
                    await live.wait()
                await trio.sleep(chance.uniform(2.0, 3.0))
                service.process.kill()
                await service.process.wait()
                life.cancel_scope.cancel()
            refused = await run_command("serve", "--port", "0", "--data", str(two))
            assert refused.returncode == Exit.BAD_DATA and b"is a standby's" in refused.stderr
            follower.terminate()
            with trio.fail_after(HANG):
                assert await follower.wait() == 0
            done = await run_command("standby", "--from", str(replica), "--data", str(two), "--take-over")
            assert done.returncode == 0, done.stderr
        assert not (two / STANDBY).exists()
        async with a_service(two, SANDERLING_REPLICA=str(replica)) as service:
            log = await read_log(service, key, source, until=origin.items[-1])
            again = await trio.lowlevel.open_process(
                [sys.executable, "-P", "-m", "sanderling", "serve", "--port", "0", "--data", str(one)],
                env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "SANDERLING_REPLICA": str(replica)},
                stderr=subprocess.DEVNULL,
            )
            with trio.fail_after(HANG):
                assert await again.wait() == Exit.BAD_DATA, "the old one must not serve again"
            assert await service.end(signal.SIGTERM) == 0
        nursery.cancel_scope.cancel()
    assert sorted(log.values()) == sorted(origin.items[1:]), "every item that was published, exactly once"
    lost = [id for id in seen if id not in log]
    kept = [id for id in seen if id in log]
    assert [id for id in log if id in seen] == kept
    assert lost == list(seen)[len(kept) :], "only the newest can be missing"
    assert all(id > max(seen) for id in log if id not in seen and id > max(kept)), "no id is given twice"

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import trio
import trio.testing

from actors.egress.failures import Blame, ReadingStopped
from actors.jail import pool
from actors.jail.parent_process import ParentProcess
from actors.jail.pool import MOST_FAILED_STARTS, ProcessJail
from actors.jail.rights import VIOLATION_EXIT
from actors.sources.checks.fetch import in_jail
from actors.world import TaskRefused, WorkerDied, WorkerNotStarted, WorkerTooSlow
from supervision import Child
from tests.actors.jail.hostile_worker import DEEDS
from tests.support.children import first_line
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.real
WORKER = [sys.executable, "-m", "tests.actors.jail.hostile_worker"]


class FakeChild:
    def __init__(self) -> None:
        self.stopping, self.is_ready = trio.Event(), trio.Event()

    def ready(self) -> None:
        self.is_ready.set()


@asynccontextmanager
async def a_jail(command: Sequence[str] = WORKER, *, wait: bool = True, **given: Any) -> AsyncIterator[ProcessJail]:
    jail = ProcessJail(command, **{"workers": 1, "memory": 512 << 20, "deadline": 2.0, **given})
    child = FakeChild()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(jail.run, cast(Child, child))
        if wait:
            await child.is_ready.wait()
        yield jail
        child.stopping.set()


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


async def test_answers_come_back_whole() -> None:
    async with a_jail() as jail:
        big = bytes(range(256)) * (3 << 12)
        assert await jail.call("echo", b"") == b""
        assert await jail.call("echo", big) == big


async def test_x8_a_stall_is_killed_at_its_deadline_and_the_loop_does_not_notice() -> None:
    async with a_jail(workers=2) as jail:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await trio.sleep(0.005)
                ticks += 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(tick)
            with pytest.raises(WorkerTooSlow, match=r"stall: not done after 0\.5 s of processor time"):
                await jail.call("stall", b"", deadline=0.5)
            nursery.cancel_scope.cancel()
        assert ticks > 2  # a blocked loop would have had two


async def test_r11_a_worker_that_waits_for_its_turn_is_given_the_time_that_it_has_not_used() -> None:
    async with a_jail() as jail:
        pid = int(await jail.call("pid", b""))
        answered: list[bytes] = []

        async def ask() -> None:
            answered.append(await jail.call("burn", b"0.2", deadline=0.4))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await until(lambda: jail.statistics().calls == 2)
            os.kill(pid, signal.SIGSTOP)  # like another program that takes the processors
            await trio.sleep(0.6)
            os.kill(pid, signal.SIGCONT)
        assert answered == [str(pid).encode()]
        assert jail.statistics().killed == 0


async def test_r11_a_stalled_worker_is_killed_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "wall_limit", lambda seconds: 3 * seconds)
    async with a_jail() as jail:
        with pytest.raises(WorkerTooSlow, match=r"nap: not done after 0\.6 s by the clock"):
            await jail.call("nap", b"30", deadline=0.2)
        assert await jail.call("echo", b"x") == b"x"


async def test_r11_time_that_was_used_for_one_task_is_not_counted_for_the_next() -> None:
    async with a_jail(workers=1) as jail:
        for _ in range(4):
            await jail.call("burn", b"0.2", deadline=0.4)
        assert jail.statistics().killed == 0


async def test_the_call_after_a_kill_does_not_wait_for_a_start() -> None:
    """The next worker forks from the same parent in milliseconds, without loading Python and the parsers again."""
    async with a_jail() as jail:
        with pytest.raises(WorkerTooSlow):
            await jail.call("stall", b"", deadline=0.1)
        assert await jail.call("echo", b"x") == b"x"
        assert (jail._parents, jail.statistics().started) == (1, 2)


async def test_a_crash_is_described_and_affects_no_other_call() -> None:
    async with a_jail() as jail:
        with pytest.raises(WorkerDied, match="SIGSEGV"):
            await jail.call("crash", b"")
        assert await jail.call("echo", b"still here") == b"still here"


async def test_the_memory_limit_ends_a_task() -> None:
    async with a_jail() as jail:
        with pytest.raises(WorkerDied, match="out of memory"):
            await jail.call("hog", str(2 << 30).encode())


async def test_a_refusal_keeps_its_reason_and_its_worker() -> None:
    async with a_jail() as jail:
        with pytest.raises(TaskRefused) as caught:
            await jail.call("refuse", b"")
        assert caught.value.reason == "this is a PDF"
        assert jail.statistics().killed == 0


async def test_an_unexpected_exception_is_reported_and_ends_the_worker() -> None:
    async with a_jail() as jail:
        with pytest.raises(WorkerDied, match="bug: KeyError: 'planted'"):
            await jail.call("bug", b"")
        assert jail.statistics().killed == 1


async def test_prints_and_floods_of_complaints_do_not_reach_the_answers() -> None:
    async with a_jail() as jail:
        assert await jail.call("chatter", b"") == b"quiet"


async def test_a_cancelled_call_kills_its_worker_and_the_next_is_answered_in_step() -> None:
    async with a_jail() as jail:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(jail.call, "nap", b"60")
            await until(lambda: jail.statistics().calls == 1)
            nursery.cancel_scope.cancel()
        assert await jail.call("echo", b"mine") == b"mine"
        assert jail.statistics().killed == 1


async def test_a_worker_is_replaced_after_its_number_of_calls() -> None:
    async with a_jail(calls_each=3) as jail:
        pids = [await jail.call("pid", b"") for _ in range(12)]
        assert all(pids.count(pid) <= 3 for pid in pids)
        assert len(set(pids)) >= 4


async def test_a_worker_that_grew_is_replaced() -> None:
    async with a_jail(resident_kib=100 << 10) as jail:
        first = await jail.call("pid", b"")
        assert await jail.call("pid", b"") == first
        await jail.call("leak", str(120 << 20).encode())
        assert await jail.call("pid", b"") != first


async def test_a_worker_that_ends_while_idle_is_not_handed_out() -> None:
    async with a_jail() as jail:
        for _ in range(3):
            pid = int(await jail.call("pid", b""))
            os.kill(pid, signal.SIGKILL)
            await until(lambda: jail.statistics().free == 0)
            assert await jail.call("echo", b"x") == b"x"


async def test_workers_are_made_as_they_are_needed_and_of_one_parent() -> None:
    async with a_jail(workers=3) as jail:
        assert jail.statistics().alive == 1
        parents: list[bytes] = []

        async def ask() -> None:
            parents.append(await jail.call("ppid", b""))
            await jail.call("nap", b"0.3")

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ask)
        assert len(set(parents)) == 1
        assert (jail.statistics().alive, jail.statistics().parents) == (3, 1)


async def test_an_idle_pool_keeps_nothing_and_answers_the_next_call() -> None:
    async with a_jail(idle=0.3) as jail:
        parents = [int(await jail.call("ppid", b""))]
        await until(lambda: jail.statistics().alive == 0 and is_gone(parents[0]))
        parents.append(int(await jail.call("ppid", b"")))
        await until(lambda: jail.statistics().alive == 0 and is_gone(parents[1]))
    assert parents[0] != parents[1]


async def test_a_call_that_lasts_longer_than_idleness_keeps_the_workers() -> None:
    async with a_jail(idle=0.2) as jail:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(jail.call, "nap", b"0.7")
            await until(lambda: jail.statistics().calls == 1)
            parents = jail.statistics().parents
        assert jail.statistics().parents == parents


async def test_a_parent_that_dies_takes_its_workers_along_and_the_next_calls_are_answered() -> None:
    async with a_jail(workers=2, draw=lambda: 0.0) as jail:
        pid, parent = int(await jail.call("pid", b"")), int(await jail.call("ppid", b""))
        async with trio.open_nursery() as nursery:
            failed = trio.Event()

            async def nap() -> None:
                with pytest.raises(WorkerDied):
                    await jail.call("nap", b"30", deadline=60)
                failed.set()

            nursery.start_soon(nap)
            await until(lambda: jail.statistics().calls == 3)
            os.kill(parent, signal.SIGKILL)
            await failed.wait()
        assert await jail.call("echo", b"again") == b"again"
        await until(lambda: is_gone(pid))


async def test_cancelling_a_call_that_is_still_without_a_worker_harms_no_other() -> None:
    async with a_jail(workers=4) as jail:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(jail.call, "nap", b"0.5")
            await until(lambda: jail.statistics().calls == 1)
            for _ in range(10):
                with trio.CancelScope() as scope:
                    scope.cancel()
                    await jail.call("pid", b"")
                with trio.move_on_after(0.002):
                    await jail.call("pid", b"")
        assert await jail.call("echo", b"in step") == b"in step"
        assert jail.statistics().parents == 1


async def test_a_service_that_is_killed_leaves_no_process_behind() -> None:
    program = (
        "import trio, sys; from tests.actors.jail.test_pool import a_jail\n"
        "async def main():\n"
        "    async with a_jail() as jail:\n"
        "        print((await jail.call('pid', b'')).decode(), (await jail.call('ppid', b'')).decode(), flush=True)\n"
        "        await jail.call('stall', b'', deadline=60)\n"
        "trio.run(main)\n"
    )
    service = await trio.lowlevel.open_process([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert service.stdout is not None
    pids = [int(pid) for pid in (await first_line(service.stdout)).split()]
    service.kill()
    await service.wait()
    await until(lambda: all(map(is_gone, pids)))


async def test_calls_at_once_are_bounded_by_the_workers() -> None:
    async with a_jail(workers=2) as jail, trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(jail.call, "nap", b"60")
        await until(lambda: jail.statistics().calls == 2)
        assert jail.statistics().waiting == 2
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("command", [["/nonexistent/worker"], [sys.executable, "-c", "import sys; sys.exit('no')"]])
async def test_workers_that_never_start_are_an_error_and_not_a_hang(command: list[str]) -> None:
    async with a_jail(command, wait=False, draw=lambda: 0.0) as jail:
        with trio.fail_after(HANG), pytest.raises(WorkerNotStarted, match="no worker can be started"):
            await jail.call("echo", b"")
        with trio.fail_after(HANG), pytest.raises(WorkerDied):
            await jail.call("echo", b"")
        assert jail.statistics().start_error
        assert MOST_FAILED_STARTS == 3


async def test_a_worker_that_is_not_up_in_time_has_not_used_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_jail(workers=2) as jail:
        monkeypatch.setattr(pool, "START_WITHIN", 0.0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(jail.call, "nap", b"60")
            await until(lambda: jail.statistics().calls == 1)
            with trio.fail_after(HANG), pytest.raises(WorkerNotStarted, match="not up after 0 s"):
                await jail.call("echo", b"")
            with trio.fail_after(HANG), pytest.raises(ReadingStopped, match="parse_not_started") as stopped:
                await in_jail(jail, "echo", b"", bytes)
            nursery.cancel_scope.cancel()
    assert stopped.value.blame is Blame.LOCAL and "memory" not in stopped.value.reason


async def test_a_worker_of_another_build_is_not_talked_to() -> None:
    program = "import os, struct, time; os.write(0, struct.pack('>IB', 6, 2) + b'other'); time.sleep(30)"
    async with a_jail([sys.executable, "-c", program], wait=False, draw=lambda: 0.0) as jail:
        with trio.fail_after(HANG), pytest.raises(WorkerDied, match="another build"):
            await jail.call("echo", b"")


async def test_a_dead_parent_with_a_leaked_socket_is_cleaned_up() -> None:
    ours, theirs = trio.socket.socketpair()
    parent = ParentProcess(await trio.lowlevel.open_process(["true"]), ours)
    with theirs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(parent.listen)
            await trio.testing.wait_all_tasks_blocked()
            await parent.terminate()
    assert parent.ended.is_set()


async def test_a_worker_has_no_environment_and_no_rights_to_speak_of() -> None:
    async with a_jail() as jail:
        assert await jail.call("rights", b"") == b"as=512"


@pytest.mark.parametrize("deed", DEEDS)
async def test_x6_a_worker_that_reaches_out_is_ended_before_it_gets_anything(deed: str) -> None:
    async with a_jail() as jail:
        with pytest.raises(WorkerDied, match=rf"exit code {VIOLATION_EXIT}\): a worker must not do this"):
            await jail.call("deed", deed.encode())


async def test_a_call_before_run_waits_for_it_and_a_second_run_works_like_the_first() -> None:
    jail = ProcessJail(WORKER, workers=1, memory=512 << 20, deadline=2.0)
    for _ in range(2):
        child = FakeChild()
        async with trio.open_nursery() as nursery:
            answered = trio.Event()

            async def early(answered: trio.Event = answered) -> None:
                assert await jail.call("echo", b"early") == b"early"
                answered.set()

            nursery.start_soon(early)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(jail.run, cast(Child, child))
            await answered.wait()
            child.stopping.set()
        assert jail.statistics().alive == 0


async def test_no_process_is_left_behind_when_run_is_cancelled() -> None:
    jail = ProcessJail(WORKER, workers=1, memory=512 << 20, deadline=2.0)
    child = FakeChild()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(jail.run, cast(Child, child))
        pid = int(await jail.call("pid", b""))
        nursery.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

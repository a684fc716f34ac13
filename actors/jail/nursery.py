"""The service's side of the process that workers are forked from. The process's own side is `parent.py`."""

from __future__ import annotations

import array
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import trio

from actors.jail.framing import BadFrame, Frames, Kind, Task, build_id, decode, encode, frame
from actors.jail.process import Complaints, WorkerProcess, ending
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

FORKED_WITHIN = 10.0
_READ = 1 << 12
_END_WITHIN = 2.0
_REAP_WITHIN = 5.0


class Nursery:
    """A running parent. `over` is set once it makes no more workers."""

    def __init__(self, process: trio.Process, control: trio.socket.SocketType) -> None:
        self._process, self._control = process, control
        self._frames = Frames()
        self._complaints = Complaints()
        self._workers: dict[int, WorkerProcess] = {}
        self._one_at_a_time = trio.Lock()
        self._forked, self._pids = trio.open_memory_channel[int](1)
        self._up = trio.Event()
        self._greeting = b""
        self._tasks: trio.Nursery
        self.over = trio.Event()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def up(self) -> None:
        """Wait until it can fork. Raises WorkerDied."""
        await self._up.wait()
        if self.over.is_set():
            raise WorkerDied(await self.cause())
        if self._greeting != build_id():
            raise WorkerDied(f"a worker of another build: {self._greeting[:100]!r}, not {build_id()!r}")

    async def fork(self) -> WorkerProcess:
        """Return a new worker, before its greeting. Raises OSError, WorkerDied."""
        talk, its_talk = trio.socket.socketpair()
        complain, its_complaints = trio.socket.socketpair()
        try:
            for theirs in (its_talk, its_complaints):
                os.set_blocking(theirs.fileno(), True)
            async with self._one_at_a_time:
                pid = await self._ask_for_one(its_talk.fileno(), its_complaints.fileno())
        except BaseException:
            talk.close()
            complain.close()
            raise
        finally:
            its_talk.close()
            its_complaints.close()
        worker = WorkerProcess(pid, trio.SocketStream(talk), trio.SocketStream(complain), self._end)
        self._workers[pid] = worker
        return worker

    async def _ask_for_one(self, *descriptors: int) -> int:
        """Return a new worker's process id. Raises WorkerDied.

        Cancellation does not interrupt it; otherwise the next caller would get this worker.
        """
        beside = [(trio.socket.SOL_SOCKET, trio.socket.SCM_RIGHTS, array.array("i", descriptors))]
        try:
            with trio.fail_after(FORKED_WITHIN, shield=True):
                await self._control.sendmsg([frame(Kind.FORK)], beside)
                return await self._pids.receive()
        except (trio.EndOfChannel, trio.TooSlowError, BrokenPipeError, ConnectionResetError):
            self.kill()
            raise WorkerDied(await self.cause()) from None

    def tend(self, nursery: trio.Nursery) -> None:
        """Read its messages and stderr in tasks of this nursery, which also runs its workers' tasks."""
        self._tasks = nursery
        nursery.start_soon(self.listen)
        nursery.start_soon(self.drain)

    def look_after(self, run: Callable[[WorkerProcess], Awaitable[None]], worker: WorkerProcess) -> None:
        """Run a task for a worker's lifetime; it is cancelled with the parent."""
        self._tasks.start_soon(run, worker)

    async def listen(self) -> None:
        """Read its messages until it is gone; then set `over`. Runs in the background."""
        try:
            with self._forked, suppress(OSError, BadFrame, trio.ClosedResourceError):  # `cause` says why
                while data := await self._control.recv(_READ):
                    for kind, payload in self._frames.feed(data):
                        self._take(kind, payload)
        finally:
            self.over.set()
            self._up.set()
            for worker in self._workers.values():
                worker.has_ended(-signal.SIGKILL)  # the kernel kills them with their parent

    def _take(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.HELLO:
            self._greeting = payload
            self._up.set()
        elif kind is Kind.FORKED:
            self._forked.send_nowait(decode(payload))
        elif kind is Kind.ENDED:
            pid, code = decode(payload)
            if (worker := self._workers.pop(pid, None)) is not None:
                worker.has_ended(code)

    async def drain(self) -> None:
        assert self._process.stderr is not None
        await self._complaints.drain(self._process.stderr)

    def kill(self) -> None:
        """Kill it and its workers now. Never waits."""
        if self._process.returncode is None:
            self._process.kill()
        self.over.set()

    async def bury(self) -> None:
        """Have it end its workers and itself, wait for the system to release it, and close its socket and pipe."""
        self.over.set()
        with suppress(OSError):  # it is already gone
            self._control.shutdown(trio.socket.SHUT_WR)
        with trio.move_on_after(_END_WITHIN, shield=True):
            await self._process.wait()
        self.kill()
        with trio.move_on_after(_REAP_WITHIN, shield=True):
            await self._process.wait()
        self._control.close()
        if self._process.stderr is not None:
            with trio.move_on_after(0, shield=True):  # a pipe closes at once
                await self._process.stderr.aclose()

    async def cause(self) -> str:
        """Return why it is gone, in a few words."""
        with trio.move_on_after(1.0):
            how = ending(await self._process.wait())
            return ": ".join(filter(None, (f"the parent of the workers ended ({how})", self._complaints.last())))
        return "the parent of the workers does not answer"

    def _end(self, pid: int) -> None:
        """Have a worker killed. Such a short message is written at once, unless the parent has stopped listening."""
        try:
            sent = os.write(self._control.fileno(), frame(Kind.KILL, encode(pid)))
        except OSError:
            sent = 0
        if not sent:
            self.kill()


async def start(command: Sequence[str], environment: Mapping[str, str]) -> Nursery:
    """Start a parent. Raises OSError. It inherits only its socket, a pipe for stderr, and this directory."""
    ours, theirs = trio.socket.socketpair()
    try:
        os.set_blocking(theirs.fileno(), True)
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,  # not read: /dev/null is a file, and a bare root has none
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    assert process.stdout is not None
    await process.stdout.aclose()
    return Nursery(process, ours)


async def ask_one_worker(
    command: Sequence[str], environment: Mapping[str, str], memory: int, tasks: Sequence[Task]
) -> tuple[Sequence[bytes], WorkerProcess]:
    """Run tasks in a single worker with its own parent. Returns the results and the worker.

    Raises OSError, and all errors of `WorkerProcess.ask`.
    """
    results: list[bytes] = []
    failure: Exception | None = None
    parent = await start(command, environment)
    async with trio.open_nursery() as nursery:
        parent.tend(nursery)
        try:
            await parent.up()
            worker = await parent.fork()
            nursery.start_soon(worker.drain)
            try:
                await worker.greet(memory)
                for task in tasks:
                    results.append(await worker.ask(task))
            finally:
                await worker.bury()
        except (OSError, WorkerDied, WorkerTooSlow, TaskRefused) as error:
            failure = error  # raised below: out of a nursery it would come in a group
        finally:
            await parent.bury()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return results, worker

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
from actors.jail.process import StderrTail, WorkerProcess, exit_text
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

FORKED_WITHIN, _READ, _EXIT_WITHIN, _REAP_WITHIN = 10.0, 1 << 12, 2.0, 5.0


class ParentProcess:
    """A running parent. `ended` is set once it makes no more workers."""

    def __init__(self, process: trio.Process, control: trio.socket.SocketType) -> None:
        self._process, self._control = process, control
        self._frames = Frames()
        self._stderr_tail = StderrTail()
        self._workers: dict[int, WorkerProcess] = {}
        self._fork_lock = trio.Lock()
        self._forked, self._pids = trio.open_memory_channel[int](1)
        self._ready = trio.Event()
        self._hello = b""
        self._tasks: trio.Nursery
        self.ended = trio.Event()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait_ready(self) -> None:
        """Wait until it can fork. Raises WorkerDied."""
        await self._ready.wait()
        if self.ended.is_set():
            raise WorkerDied(await self.exit_reason())
        if self._hello != build_id():
            raise WorkerDied(f"a worker of another build: {self._hello[:100]!r}, not {build_id()!r}")

    async def fork(self) -> WorkerProcess:
        """Return a new worker, before its greeting. Raises OSError, WorkerDied."""
        channel, remote_channel = trio.socket.socketpair()
        stderr, remote_stderr = trio.socket.socketpair()
        try:
            for end in (remote_channel, remote_stderr):
                os.set_blocking(end.fileno(), True)
            async with self._fork_lock:
                pid = await self._request_fork(remote_channel.fileno(), remote_stderr.fileno())
        except BaseException:
            channel.close()
            stderr.close()
            raise
        finally:
            remote_channel.close()
            remote_stderr.close()
        worker = WorkerProcess(pid, trio.SocketStream(channel), trio.SocketStream(stderr), self._request_kill)
        self._workers[pid] = worker
        return worker

    async def _request_fork(self, *descriptors: int) -> int:
        """Return a new worker's id, even if cancelled: the next caller would get it. Raises WorkerDied."""
        ancillary = [(trio.socket.SOL_SOCKET, trio.socket.SCM_RIGHTS, array.array("i", descriptors))]
        try:
            with trio.fail_after(FORKED_WITHIN, shield=True):
                await self._control.sendmsg([frame(Kind.FORK)], ancillary)
                return await self._pids.receive()
        except (trio.EndOfChannel, trio.TooSlowError, BrokenPipeError, ConnectionResetError):
            self.kill()
            raise WorkerDied(await self.exit_reason()) from None

    def start_tasks(self, nursery: trio.Nursery) -> None:
        """Read its messages and stderr in tasks of this nursery, which also runs its workers' tasks."""
        self._tasks = nursery
        nursery.start_soon(self.listen)
        assert self._process.stderr is not None
        nursery.start_soon(self._stderr_tail.drain, self._process.stderr)

    def start_task(self, run: Callable[[WorkerProcess], Awaitable[None]], worker: WorkerProcess) -> None:
        self._tasks.start_soon(run, worker)

    async def listen(self) -> None:
        """Read its messages until it is gone; then set `ended`. Runs in the background."""
        try:
            with self._forked, suppress(OSError, BadFrame, trio.ClosedResourceError):  # `exit_reason` says why
                while data := await self._control.recv(_READ):
                    for kind, payload in self._frames.feed(data):
                        self._handle(kind, payload)
        finally:
            self.ended.set()
            self._ready.set()
            for worker in self._workers.values():
                worker.on_exit(-signal.SIGKILL)  # the kernel kills them with their parent

    def _handle(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.HELLO:
            self._hello = payload
            self._ready.set()
        elif kind is Kind.FORKED:
            self._forked.send_nowait(decode(payload))
        elif kind is Kind.ENDED:
            pid, code = decode(payload)
            if (worker := self._workers.pop(pid, None)) is not None:
                worker.on_exit(code)

    def kill(self) -> None:
        """Kill it and its workers now. Never waits."""
        if self._process.returncode is None:
            self._process.kill()
        self.ended.set()

    async def terminate(self) -> None:
        """Have it end its workers and itself, wait for the system to release it, and close its socket and pipe."""
        self.ended.set()
        with suppress(OSError):  # it is already gone
            self._control.shutdown(trio.socket.SHUT_WR)
        with trio.move_on_after(_EXIT_WITHIN, shield=True):
            await self._process.wait()
        self.kill()
        with trio.move_on_after(_REAP_WITHIN, shield=True):
            await self._process.wait()
        self._control.close()
        if self._process.stderr is not None:
            with trio.move_on_after(0, shield=True):  # a pipe closes at once
                await self._process.stderr.aclose()

    async def exit_reason(self) -> str:
        with trio.move_on_after(1.0):
            exited = exit_text(await self._process.wait())
            return ": ".join(filter(None, (f"the parent of the workers ended ({exited})", self._stderr_tail.last())))
        return "the parent of the workers does not answer"

    def _request_kill(self, pid: int) -> None:
        """Have a worker killed. Such a short message is written at once, unless the parent has stopped listening."""
        try:
            sent = os.write(self._control.fileno(), frame(Kind.KILL, encode(pid)))
        except OSError:
            sent = 0
        if not sent:
            self.kill()


async def start(command: Sequence[str], environment: Mapping[str, str]) -> ParentProcess:
    """Start a parent. Raises OSError. It inherits only its socket, a pipe for stderr, and this directory."""
    control, remote = trio.socket.socketpair()
    try:
        os.set_blocking(remote.fileno(), True)
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=remote.fileno(),
            stdout=subprocess.PIPE,  # not read: /dev/null is a file, and a bare root has none
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
    except BaseException:
        control.close()
        raise
    finally:
        remote.close()
    assert process.stdout is not None
    await process.stdout.aclose()
    return ParentProcess(process, control)


async def run_in_one_worker(
    command: Sequence[str], environment: Mapping[str, str], memory: int, tasks: Sequence[Task]
) -> tuple[Sequence[bytes], WorkerProcess]:
    """Run tasks in a worker with its own parent. Raises OSError, and all errors of `WorkerProcess.ask`."""
    results: list[bytes] = []
    failure: Exception | None = None
    parent = await start(command, environment)
    async with trio.open_nursery() as nursery:
        parent.start_tasks(nursery)
        try:
            await parent.wait_ready()
            worker = await parent.fork()
            nursery.start_soon(worker.drain)
            try:
                await worker.handshake(memory)
                for task in tasks:
                    results.append(await worker.ask(task))
            finally:
                await worker.terminate()
        except (OSError, WorkerDied, WorkerTooSlow, TaskRefused) as error:
            failure = error  # raised below: out of a nursery it would come in a group
        finally:
            await parent.terminate()
            nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return results, worker

"""The service's side of the process that workers are forked from, and of each worker, which gets one task at a time
and may be killed at any moment. The processes' own side is `parent.py`.
"""

from __future__ import annotations

import array
import json
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import trio

from actors.jail.framing import BadFrame, Frames, Kind, Task, build_id, decode, encode, frame, read_answer, read_hello
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

FORKED_WITHIN, _READ, _EXIT_WITHIN, _REAP_WITHIN = 10.0, 1 << 16, 2.0, 5.0


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


OPEN_FILES, STDERR_TAIL = 16, 2 << 10
_WORKER_EXIT_WITHIN = 1.0


class StderrTail:
    """The end of a process's standard error."""

    def __init__(self) -> None:
        self._text = b""

    async def drain(self, stream: trio.abc.ReceiveStream) -> None:
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await stream.receive_some(_READ):
                self._text = (self._text + data)[-STDERR_TAIL:]

    def last(self) -> str:
        lines = self._text.decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""


class WorkerProcess:
    """A running worker, unusable once `ended` is set: its owner then calls `terminate`. request_kill: by its parent."""

    def __init__(
        self, pid: int, channel: trio.SocketStream, stderr: trio.SocketStream, request_kill: Callable[[int], object]
    ) -> None:
        self._channel, self._stderr, self._request_kill = channel, stderr, request_kill
        self._frames = Frames()
        self._stderr_tail = StderrTail()
        self._pending = False
        self._exit_code: int | None = None
        self._exited = trio.Event()
        self.pid, self.calls = pid, 0
        self.memory_kib, self.missing = 0, ""
        self.ended = trio.Event()

    @property
    def is_idle(self) -> bool:
        """Whether its last request was answered; otherwise its next answer would belong to the wrong one."""
        return not self._pending

    @property
    def alive(self) -> bool:
        return not self.ended.is_set()

    async def handshake(self, memory: int) -> None:
        """Set its limits and wait until it is ready, then set `missing`. Raises WorkerDied. If cancelled, kill it."""
        limits = json.dumps({"memory": memory, "files": OPEN_FILES}).encode()
        kind, payload = await self._exchange(frame(Kind.LIMITS, limits))
        build, self.missing = read_hello(payload)
        if kind is not Kind.HELLO or build != build_id():
            raise WorkerDied(f"a worker of another build: {payload[:100]!r}, not {build_id()!r}")

    async def ask(self, task: Task) -> bytes:
        """Return a task's result. Raises TaskRefused, WorkerTooSlow, WorkerDied. If cancelled, kill it."""
        self.calls += 1
        self._pending = True
        kind, payload = await self._exchange(frame(Kind.TASK, encode(task)))
        self._pending = kind is Kind.FAILED  # that was its last message
        self.memory_kib, result = read_answer(payload)
        if kind is Kind.DONE:
            return result
        reason = result.decode(errors="replace")
        raise TaskRefused(reason) if kind is Kind.REFUSED else WorkerDied(f"{task.name}: {reason}")

    def kill(self) -> None:
        """Kill it. Never waits; its owner buries it."""
        if not self._exited.is_set():
            self._request_kill(self.pid)
        self.ended.set()

    def on_exit(self, exit_code: int) -> None:
        """Record its end, reported by its parent. exit_code: of its exit, or minus the signal."""
        self._exit_code = exit_code
        self._exited.set()
        self.ended.set()

    async def drain(self) -> None:
        await self._stderr_tail.drain(self._stderr)
        self.ended.set()

    async def terminate(self) -> None:
        """Kill it, wait for the system to release it, and close its sockets."""
        self.kill()
        with trio.move_on_after(_REAP_WITHIN, shield=True):
            await self._exited.wait()
        for stream in (self._channel, self._stderr):
            with trio.move_on_after(0, shield=True):  # a socket closes at once
                await stream.aclose()

    async def _exchange(self, request: bytes) -> tuple[Kind, bytes]:
        try:
            await self._channel.send_all(request)
            while data := await self._channel.receive_some(_READ):
                for answer in self._frames.feed(bytes(data)):
                    return answer
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # it is gone: `_failure` says why
        except BadFrame as error:
            raise WorkerDied(f"the worker broke the protocol: {error}") from None
        raise await self._failure()

    async def _failure(self) -> WorkerDied | WorkerTooSlow:
        with trio.move_on_after(_WORKER_EXIT_WITHIN):
            await self._exited.wait()
        if self._exit_code is None:
            return WorkerDied("the worker closed its socket")
        if self._exit_code == -signal.SIGPROF:
            return WorkerTooSlow("its processor time is used up")
        said = f"the worker ended ({exit_text(self._exit_code)})", self._stderr_tail.last()
        return WorkerDied(": ".join(filter(None, said)))


def exit_text(code: int) -> str:
    """Return how a process ended, from its exit code or minus the signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"

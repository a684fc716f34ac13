"""The service's side of one worker process: it gets one task at a time, and may be killed at any moment."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import suppress

import trio

from actors.jail.framing import BadFrame, Frames, Kind, Task, build_id, encode, frame, read_answer, read_hello
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

OPEN_FILES, STDERR_TAIL, _READ = 16, 2 << 10, 1 << 16
_EXIT_WITHIN, _REAP_WITHIN = 1.0, 5.0


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
        with trio.move_on_after(_EXIT_WITHIN):
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

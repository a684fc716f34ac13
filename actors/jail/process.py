"""The service's side of one worker process: it gets one task at a time, and may be killed at any moment."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import suppress

import trio

from actors.jail.framing import BadFrame, Frames, Kind, Task, build_id, frame, read_answer, read_hello, task_frame
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

OPEN_FILES = 16
STDERR_KEPT = 2 << 10
_READ = 1 << 16
_TOLD_WITHIN = 1.0
_REAP_WITHIN = 5.0


class Complaints:
    """The end of a process's standard error."""

    def __init__(self) -> None:
        self._text = b""

    async def drain(self, stream: trio.abc.ReceiveStream) -> None:
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await stream.receive_some(_READ):
                self._text = (self._text + data)[-STDERR_KEPT:]

    def last(self) -> str:
        lines = self._text.decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""


class WorkerProcess:
    """A running worker. `over` is set once it is unusable; its owner then calls `bury`.

    end: asks its parent to kill it.
    """

    def __init__(
        self, pid: int, talk: trio.SocketStream, complain: trio.SocketStream, end: Callable[[int], object]
    ) -> None:
        self._talk, self._complain, self._end = talk, complain, end
        self._frames = Frames()
        self._complaints = Complaints()
        self._asking = False
        self._code: int | None = None
        self._ended = trio.Event()
        self.pid = pid
        self.calls = 0
        self.memory_kib = 0
        self.lacks = ""
        self.over = trio.Event()

    @property
    def in_step(self) -> bool:
        """Whether its last request was answered; otherwise its next answer would belong to the wrong one."""
        return not self._asking

    @property
    def alive(self) -> bool:
        return not self.over.is_set()

    async def greet(self, memory: int) -> None:
        """Set its limits and wait until it is ready; then `lacks` has its missing confinement. Raises WorkerDied.

        If cancelled, kill it.
        """
        limits = json.dumps({"memory": memory, "files": OPEN_FILES}).encode()
        kind, payload = await self._exchange(frame(Kind.LIMITS, limits))
        build, self.lacks = read_hello(payload)
        if kind is not Kind.HELLO or build != build_id():
            raise WorkerDied(f"a worker of another build: {payload[:100]!r}, not {build_id()!r}")

    async def ask(self, task: Task) -> bytes:
        """Return a task's result. Raises TaskRefused, WorkerTooSlow (its processor time is used up), WorkerDied.

        If cancelled, kill it: it is out of step.
        """
        self.calls += 1
        self._asking = True
        kind, payload = await self._exchange(task_frame(task))
        self._asking = kind is Kind.FAILED  # that was its last message
        self.memory_kib, result = read_answer(payload)
        match kind:
            case Kind.DONE:
                return result
            case Kind.REFUSED:
                raise TaskRefused(result.decode(errors="replace"))
            case _:
                raise WorkerDied(f"{task.name}: {result.decode(errors='replace')}")

    def kill(self) -> None:
        """Kill it. Never waits; its owner buries it."""
        if not self._ended.is_set():
            self._end(self.pid)
        self.over.set()

    def has_ended(self, code: int) -> None:
        """Record its end, reported by its parent. code: of its exit, or minus the signal."""
        self._code = code
        self._ended.set()
        self.over.set()

    async def drain(self) -> None:
        await self._complaints.drain(self._complain)
        self.over.set()

    async def bury(self) -> None:
        """Kill it, wait for the system to release it, and close its sockets."""
        self.kill()
        with trio.move_on_after(_REAP_WITHIN, shield=True):
            await self._ended.wait()
        for stream in (self._talk, self._complain):
            with trio.move_on_after(0, shield=True):  # a socket closes at once
                await stream.aclose()

    async def _exchange(self, request: bytes) -> tuple[Kind, bytes]:
        try:
            await self._talk.send_all(request)
            while data := await self._talk.receive_some(_READ):
                for answer in self._frames.feed(bytes(data)):
                    return answer
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # it is gone: `_cause` says why
        except BadFrame as error:
            raise WorkerDied(f"the worker broke the protocol: {error}") from None
        raise await self._cause()

    async def _cause(self) -> WorkerDied | WorkerTooSlow:
        with trio.move_on_after(_TOLD_WITHIN):
            await self._ended.wait()
        if self._code is None:
            return WorkerDied("the worker closed its socket")
        if self._code == -signal.SIGPROF:
            return WorkerTooSlow("its processor time is used up")
        return WorkerDied(
            ": ".join(filter(None, (f"the worker ended ({ending(self._code)})", self._complaints.last())))
        )


def ending(code: int) -> str:
    """Return how a process ended, from its exit code or minus the signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"

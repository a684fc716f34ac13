"""One worker process as the service sees it: started, asked one task at a time, and killed without regret."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

import trio

from actors.jail.framing import BadFrame, Frames, Kind, Task, build_id, frame, read_answer, read_hello, task_frame
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow

OPEN_FILES = 16
STDERR_KEPT = 2 << 10
_READ = 1 << 16
_REAP_WITHIN = 5.0


class WorkerProcess:
    """A running worker. `over` is set once it is of no more use; whoever started it then reaps it with `reap`."""

    def __init__(self, process: trio.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._frames = Frames()
        self._stderr = b""
        self._asking = False
        self.calls = 0
        self.memory_kib = 0
        self.lacks = ""
        self.over = trio.Event()

    def __repr__(self) -> str:
        state = "over" if self.over.is_set() else "alive"
        return f"<WorkerProcess {self._process.pid}, {state}, {self.calls} calls, {self.memory_kib >> 10} MiB>"

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def in_step(self) -> bool:
        """Whether its last question was answered; else what it says next would answer the wrong one."""
        return not self._asking

    @property
    def alive(self) -> bool:
        """Whether it can be asked: nobody killed it, and it has not ended by itself."""
        return not self.over.is_set() and self._process.poll() is None

    async def greet(self, memory: int) -> None:
        """Set its limits and wait until it can be asked; then `lacks` says what its jail has not. Raises WorkerDied.

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
        self._asking = kind is Kind.FAILED  # that was its last word
        self.memory_kib, result = read_answer(payload)
        match kind:
            case Kind.DONE:
                return result
            case Kind.REFUSED:
                raise TaskRefused(result.decode(errors="replace"))
            case _:
                raise WorkerDied(f"{task.name}: {result.decode(errors='replace')}")

    def kill(self) -> None:
        """End it now. Never waits; the process is reaped by whoever started it."""
        if self._process.returncode is None:
            self._process.kill()
        self.over.set()

    async def drain(self) -> None:
        """Read what it complains about, keeping only the end; set `over` when it closes. Runs beside the worker."""
        assert self._process.stderr is not None
        with suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await self._process.stderr.receive_some(_READ):
                self._stderr = (self._stderr + data)[-STDERR_KEPT:]
        self.over.set()

    async def reap(self) -> None:
        """Kill it and wait until the system has let go of it; close its pipes."""
        self.kill()
        with trio.move_on_after(_REAP_WITHIN, shield=True):
            await self._process.wait()
        for pipe in (self._stdin, self._stdout, self._process.stderr):
            if pipe is not None:
                with trio.move_on_after(0, shield=True):  # a pipe closes at once
                    await pipe.aclose()

    def complaint(self) -> str:
        """Return what it said last on standard error, as one short line."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    async def _exchange(self, request: bytes) -> tuple[Kind, bytes]:
        try:
            await self._stdin.send_all(request)
            while True:
                data = await self._stdout.receive_some(_READ)
                if not data:
                    break
                for answer in self._frames.feed(bytes(data)):
                    return answer
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        except BadFrame as error:
            raise WorkerDied(f"the worker broke the protocol: {error}") from None
        raise await self._cause()

    async def _cause(self) -> WorkerDied | WorkerTooSlow:
        with trio.move_on_after(1.0):
            code = await self._process.wait()
            if code == -signal.SIGPROF:
                return WorkerTooSlow("its processor time is used up")
            how = _signal_name(-code) if code < 0 else f"exit code {code}"
            return WorkerDied(": ".join(filter(None, (f"the worker ended ({how})", self.complaint()))))
        return WorkerDied("the worker closed its pipe")


async def start(command: Sequence[str], environment: Mapping[str, str]) -> WorkerProcess:
    """Start a worker. Raises OSError. It inherits nothing but its three pipes, and this working directory."""
    process = await trio.lowlevel.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
    )
    return WorkerProcess(process)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

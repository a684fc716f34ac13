"""The parent of all workers: it has loaded the parsers, reads no hostile bytes, and forks on request.

A forked worker is up in milliseconds and shares the memory of everything that was loaded. This process has one thread,
keeps no descriptor of a worker, and alone learns when a worker has ended; it ends with the service, whose socket is its
standard input, and its workers with it.

A worker runs task after task on hostile bytes. Its limits come in the first frame and apply before the first task
(`rights`). Each task has a limit of processor time, and the kernel ends a worker that exceeds it, even in C code. A
wall-clock alarm backs up the service's own, so that a worker whose service was killed does not stay. It knows no
secrets: its environment is empty, and it gets only the bytes of the task.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from io import FileIO
from typing import Final, NoReturn

from actors.jail.framing import Frames, Kind, Task, answer_frame, build_id, decode, encode, frame
from actors.jail.rights import confine
from actors.settings import wall_limit

Tasks = Mapping[str, Callable[[bytes], bytes]]
_READ, _PR_SET_PDEATHSIG = 1 << 16, 1
_REQUEST_READ, _REASON_LIMIT, _ALARM_SLACK = 1 << 20, 500, 5.0
_DESCRIPTORS: Final = 256  # more than this process ever has open: a worker keeps none of them


def product_tasks() -> Tasks:
    """Return the product's tasks, ready for use. Slow: it imports the parsers."""
    from actors.jail.tasks import TASKS, warm  # noqa: PLC0415

    warm()
    return TASKS


def main(load: Callable[[], Tasks] = product_tasks) -> int:
    """Fork workers for the service at standard input until it is gone. Returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service decides about us
    os.dup2(2, 1)  # a library that prints has no other output
    tasks = load()
    gc.collect()
    gc.freeze()  # else the first collection in a worker would write to every shared page
    return Parent(socket.socket(fileno=os.dup(0)), tasks).run()


class Parent:
    """Forks, kills and reaps workers. control: the service."""

    def __init__(self, control: socket.socket, tasks: Tasks) -> None:
        self._control, self._tasks = control, tasks
        self._frames = Frames()
        self._workers: set[int] = set()
        self._wakeup_reader, self._wakeup_writer = os.pipe()
        self._descriptors: list[int] = []

    def run(self) -> int:
        """Serve until the service is gone. Returns the exit code."""
        os.set_blocking(self._wakeup_writer, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler there is no wakeup
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        self._control.sendall(frame(Kind.HELLO, build_id()))
        try:
            while self._handle_events():
                self._reap()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service is gone
        finally:
            for pid in self._workers:
                os.kill(pid, signal.SIGKILL)
            for pid in self._workers:
                os.waitpid(pid, 0)
        return 0

    def _handle_events(self) -> bool:
        """Wait for a message of the service, or the end of a worker. False when the service is gone."""
        ready, _, _ = select.select([self._control.fileno(), self._wakeup_reader], [], [])
        if self._wakeup_reader in ready:
            os.read(self._wakeup_reader, _READ)
        if self._control.fileno() not in ready:
            return True
        data, descriptors, _, _ = socket.recv_fds(self._control, _READ, 2)
        self._descriptors += descriptors
        for kind, payload in self._frames.feed(data):
            if kind is Kind.FORK:
                channel, stderr = self._descriptors
                self._descriptors = []
                own_pid = os.getpid()
                pid = os.fork()
                if pid == 0:
                    self._run_worker(channel, stderr, own_pid)
                os.close(channel)
                os.close(stderr)
                self._workers.add(pid)
                self._control.sendall(frame(Kind.FORKED, encode(pid)))
            elif kind is Kind.KILL and (pid := decode(payload)) in self._workers:
                os.kill(pid, signal.SIGKILL)  # it is ours and not yet reaped, so the number is still its own
        return bool(data)

    def _run_worker(self, channel: int, stderr: int, parent: int) -> NoReturn:
        """Serve tasks as the new process; the child's code ends here."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for source, target in ((channel, 0), (stderr, 1), (stderr, 2)):
                os.dup2(source, target)
            os.closerange(3, _DESCRIPTORS)
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() == parent:  # else it has ended before we could ask for its death signal
                code = serve(self._tasks)
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while self._workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._workers.discard(pid)
            self._control.sendall(frame(Kind.ENDED, encode((pid, os.waitstatus_to_exitcode(status)))))


def serve(tasks: Tasks) -> int:
    """Serve tasks at the socket in descriptor 0 until it ends. Returns the exit code."""
    channel = open(0, "r+b", buffering=0, closefd=False)  # noqa: SIM115  # for as long as the process lives
    frames = _frames(channel)
    first, limits = next(frames, (Kind.FAILED, b""))
    if first is not Kind.LIMITS:
        return 2
    statm = _open_statm()
    _send(channel, frame(Kind.HELLO, build_id(), b"\n", confine(json.loads(limits)).encode()))
    for kind, payload in frames:
        if kind is not Kind.TASK:
            return 2
        status, result = run_task(decode(payload, type=Task), tasks)
        _send(channel, answer_frame(status, resident_kib(statm), result))
        if status is Kind.FAILED:
            return 1
    return 0


def run_task(task: Task, tasks: Tasks) -> tuple[Kind, bytes]:
    """Run one task. ContentError is a refusal; any other exception is a failure, and ends the worker."""
    seconds = task.deadline_ms / 1000
    signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF has no handler, so it ends the process
    signal.setitimer(signal.ITIMER_REAL, wall_limit(seconds) + _ALARM_SLACK)
    try:
        return Kind.DONE, tasks[task.name](task.request)
    except MemoryError:
        return Kind.FAILED, b"out of memory"
    except Exception as error:
        # Refusals are recognised by the shape of their class, so that this module need not import the parsers' room.
        reason = getattr(error, "reason", None)
        if type(error).__name__ == "ContentError" and isinstance(reason, str):
            return Kind.REFUSED, reason[:_REASON_LIMIT].encode(errors="replace")
        return Kind.FAILED, f"{type(error).__name__}: {error}"[:_REASON_LIMIT].encode(errors="replace")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def resident_kib(statm: int | None) -> int:
    """Return this process's current memory, or its peak if the system does not report that."""
    if statm is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(os.pread(statm, 100, 0).split()[1]) * (resource.getpagesize() >> 10)


def _open_statm() -> int | None:
    """Open the file with this process's memory usage now, as it can't open files later."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None


def _frames(requests: FileIO) -> Iterator[tuple[Kind, bytes]]:
    frames = Frames()
    while data := requests.read(_REQUEST_READ):
        yield from frames.feed(data)


def _send(answers: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[answers.write(view) :]


if __name__ == "__main__":
    sys.exit(main())

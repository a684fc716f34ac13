"""The worker's side: runs task after task on hostile bytes, with as few rights as a process can cheaply have.

Its limits come in the first frame and apply before the first task (`rights`): address space, open files, no growing
file, no core, no new privileges, and the kernel forbids opening, connecting, running and forking. Each task has a
limit of processor time, and the kernel ends a worker that exceeds it, even in C code. A wall-clock alarm backs up the
service's own, so that a worker whose service was killed does not stay. It knows no secrets: its environment is empty,
and it gets only the bytes of the task.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator, Mapping
from io import FileIO

from actors.jail.framing import Frames, Kind, Task, answer_frame, build_id, decode, frame
from actors.jail.rights import confine
from actors.settings import wall_limit

Tasks = Mapping[str, Callable[[bytes], bytes]]

_READ, _REASON_LIMIT, _ALARM_SLACK = 1 << 20, 500, 5.0


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
    while data := requests.read(_READ):
        yield from frames.feed(data)


def _send(answers: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[answers.write(view) :]

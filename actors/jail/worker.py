"""The worker's side: one task after the other, on hostile bytes, with as few rights as a process can cheaply have.

Its limits come in the first frame and hold before the first task (`rights`): address space, open files, no file may
grow, no core, no new privileges, and by the kernel's word nothing is opened, connected, run or forked any more.
Each task has its processor time, and the kernel ends the worker that has used it up, also in the middle of C code. An
alarm by the clock stands behind the service's own: a worker whose service was killed must not stay. It knows no
secrets: its environment is empty, and it is given nothing but the bytes of the task.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from actors.jail.framing import Frames, Kind, Task, answer_frame, hello_frame, read_task
from actors.jail.rights import shut_in
from actors.settings import wall_limit

Tasks = Mapping[str, Callable[[bytes], bytes]]

_READ = 1 << 20
_REASON_LIMIT = 500
_ALARM_SLACK = 5.0


def product_tasks() -> Tasks:
    """Return the tasks of the product, ready for use. Slow: it imports the parsers."""
    from actors.jail.tasks import TASKS, warm  # noqa: PLC0415

    warm()
    return TASKS


def main(load: Callable[[], Tasks] = product_tasks) -> int:
    """Serve tasks from standard input until it ends. Returns the exit code."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the service decides about its workers
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # a library that prints must not write into the answers
    frames = _frames(open(0, "rb", buffering=0, closefd=False))  # noqa: SIM115  # for as long as the process lives
    first, limits = next(frames, (Kind.FAILED, b""))
    if first is not Kind.LIMITS:
        return 2
    tasks = load()  # before the limits: importing takes files and memory
    lacks = shut_in(json.loads(limits))
    _send(answers, hello_frame(lacks))
    for kind, payload in frames:
        if kind is not Kind.TASK:
            return 2
        outcome, result = perform(read_task(payload), tasks)
        _send(answers, answer_frame(outcome, resident_kib(), result))
        if outcome is Kind.FAILED:
            return 1
    return 0


def perform(task: Task, tasks: Tasks) -> tuple[Kind, bytes]:
    """Run one task. A refusal is the task's own word; anything else that it raises is a failure, and the worker's
    last.
    """
    seconds = task.deadline_ms / 1000
    signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF, which nobody handles, is the end
    signal.setitimer(signal.ITIMER_REAL, wall_limit(seconds) + _ALARM_SLACK)
    try:
        return Kind.DONE, tasks[task.name](task.request)
    except MemoryError:
        return Kind.FAILED, b"out of memory"
    except Exception as error:
        # The class of refusals is recognised by its shape, so that this module need not import the parsers' room.
        reason = getattr(error, "reason", None)
        if type(error).__name__ == "ContentError" and isinstance(reason, str):
            return Kind.REFUSED, reason[:_REASON_LIMIT].encode(errors="replace")
        return Kind.FAILED, f"{type(error).__name__}: {error}"[:_REASON_LIMIT].encode(errors="replace")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def resident_kib() -> int:
    """Return the memory that this process holds now; its highest mark where the system does not tell."""
    if _STATM is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(os.pread(_STATM, 100, 0).split()[1]) * (resource.getpagesize() >> 10)


def _open_statm() -> int | None:
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None


_STATM = _open_statm()  # once: later this process opens nothing


def _frames(requests: BinaryIO) -> Iterator[tuple[Kind, bytes]]:
    frames = Frames()
    while data := requests.read(_READ):
        yield from frames.feed(data)


def _send(answers: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[answers.write(view) :]


if __name__ == "__main__":
    sys.exit(main())

"""The parent of all workers: it has loaded the parsers, reads no hostile bytes, and forks on request.

A forked worker is up in milliseconds and shares the memory of everything that was loaded. It enters its jail after the
fork (`worker.py`). This process has one thread, keeps no descriptor of a worker, and alone learns when a worker has
ended; it ends with the service, whose socket is its standard input, and its workers with it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Final, NoReturn

from actors.jail.framing import Frames, Kind, build_id, decode, encode, frame
from actors.jail.worker import Tasks, serve

_READ, _PR_SET_PDEATHSIG = 1 << 16, 1
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


if __name__ == "__main__":
    sys.exit(main())

"""A worker with planted tasks, for `python -m tests.jail.hostile_worker`."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from actors.content.errors import ContentError
from actors.jail.worker import Tasks, main


def echo(request: bytes) -> bytes:
    return request


def stall(request: bytes) -> bytes:
    """Hold the processor in C code, as a parser does."""
    total = 0
    while True:
        total += sum(range(10_000_000))


def crash(request: bytes) -> bytes:
    ctypes.string_at(0)
    return b""


def hog(request: bytes) -> bytes:
    return bytes(int(request))


def leak(request: bytes) -> bytes:
    _LEAKED.append(b"x" * int(request))
    return b""


def refuse(request: bytes) -> bytes:
    raise ContentError("this is a PDF")


def bug(request: bytes) -> bytes:
    raise KeyError("planted")


def chatter(request: bytes) -> bytes:
    print("this must not reach the answers")
    os.write(1, b"nor this")
    os.write(2, b"complaint\n" * 100_000)
    return b"quiet"


def pid(request: bytes) -> bytes:
    return str(os.getpid()).encode()


def nap(request: bytes) -> bytes:
    time.sleep(float(request))
    return b"rested"


def rights(request: bytes) -> bytes:
    """Say what of the outside can be had without asking the system for anything."""
    got = [f"env:{name}" for name in os.environ if name != "LC_CTYPE"]  # noqa: TID251
    got.append(f"as={resource.getrlimit(resource.RLIMIT_AS)[0] >> 20}")
    return ",".join(got).encode()


def _write() -> None:
    with open("/tmp/sanderling-jail-test", "wb") as file:
        file.write(b"x")


DEEDS: dict[str, Callable[[], object]] = {
    "read": lambda: open("/etc/hostname", "rb").read(),  # noqa: SIM115  # it is not to come so far
    "write": _write,
    "overwrite a module": lambda: os.open(__file__, os.O_RDWR),
    "low-level": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "socket": socket.socket,
    "name": lambda: socket.getaddrinfo("localhost", 80),
    "process": lambda: subprocess.run(["/bin/true"], check=False),
    "shell": lambda: os.system("true"),
    "fork": os.fork,
    "kill": lambda: os.kill(os.getppid(), 0),
    "remove": lambda: os.remove("/tmp/sanderling-jail-test"),
    "library": lambda: ctypes.CDLL("libm.so.6"),
}


def deed(request: bytes) -> bytes:
    """Do what a worker must not, and pretend that nothing was."""
    with suppress(Exception):
        DEEDS[request.decode()]()
    return b"done"


_LEAKED: list[bytes] = []
TASKS: Tasks = {f.__name__: f for f in (echo, stall, crash, hog, leak, refuse, bug, chatter, pid, nap, rights, deed)}

if __name__ == "__main__":
    if "late" in sys.argv:
        time.sleep(0.3)
    sys.exit(main(lambda: TASKS))

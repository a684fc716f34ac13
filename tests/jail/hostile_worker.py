"""A worker with planted tasks, for `python -m tests.jail.hostile_worker`."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time

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
    os.kill(os.getpid(), signal.SIGSEGV)
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
    """Say what of the outside can be had."""
    got: list[str] = [f"env:{name}" for name in os.environ if name != "LC_CTYPE"]  # noqa: TID251
    try:
        with open("/tmp/sanderling-jail-test", "wb") as file:
            file.write(b"x")
        got.append("write")
    except OSError:
        pass
    held = []
    try:
        for _ in range(64):
            held.append(socket.socket())
        got.append("sockets")
    except OSError:
        pass
    got.append(f"as={resource.getrlimit(resource.RLIMIT_AS)[0] >> 20}")
    return ",".join(got).encode()


_LEAKED: list[bytes] = []
TASKS: Tasks = {f.__name__: f for f in (echo, stall, crash, hog, leak, refuse, bug, chatter, pid, nap, rights)}

if __name__ == "__main__":
    if "late" in sys.argv:
        time.sleep(0.3)
    sys.exit(main(lambda: TASKS))

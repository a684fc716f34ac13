"""A worker with planted tasks, for `python -m tests.actors.jail.hostile_worker`."""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import resource
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from lxml import etree

from actors.content.errors import ContentError
from actors.jail.parent import Tasks, main


def echo(request: bytes) -> bytes:
    return request


def stall(request: bytes) -> bytes:
    """Block the processor in C code, as a parser does."""
    total = 0
    while True:
        total += sum(range(10_000_000))


def burn(request: bytes) -> bytes:
    """Use so many seconds of the processor; return the process id."""
    until = time.process_time() + float(request)
    while time.process_time() < until:
        pass
    return str(os.getpid()).encode()


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


def ppid(request: bytes) -> bytes:
    return str(os.getppid()).encode()


def nap(request: bytes) -> bytes:
    time.sleep(float(request))
    return b"rested"


def rights(request: bytes) -> bytes:
    """Return the environment variables and the memory limit, which need no system call to the outside."""
    got = [f"env:{name}" for name in os.environ if name != "LC_CTYPE"]  # noqa: TID251
    got.append(f"as={resource.getrlimit(resource.RLIMIT_AS)[0] >> 20}")
    return ",".join(got).encode()


def _write() -> None:
    with open("/tmp/sanderling-jail-test", "wb") as file:
        file.write(b"x")


DEEDS: dict[str, Callable[[], object]] = {
    "read": lambda: open("/etc/hostname", "rb").read(),  # noqa: SIM115  # it must fail before
    "write": _write,
    "overwrite a module": lambda: os.open(__file__, os.O_RDWR),
    "low-level": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "socket": socket.socket,
    "name": lambda: socket.getaddrinfo(b"localhost", 80),
    "process": lambda: subprocess.run(["/bin/true"], check=False),
    "shell": lambda: os.system("true"),
    "fork": os.fork,
    "kill": lambda: os.kill(os.getppid(), 0),
    "remove": lambda: os.remove("/tmp/sanderling-jail-test"),
    "library": lambda: ctypes.CDLL("libm.so.6"),
}


def deed(request: bytes) -> bytes:
    """Do a forbidden deed, and hide it."""
    with suppress(Exception):
        DEEDS[request.decode()]()
    return b"done"


def in_c(request: bytes) -> bytes:
    """Act as a hijacked parser would, past every hook of Python; return the result."""
    name, _, path = request.rpartition(b" ")
    if name == b"lxml":
        try:
            return b"read " + etree.tostring(etree.parse(path.decode()))
        except OSError as error:
            return f"refused: {error}".encode()
    ctypes.set_errno(0)
    if (got := C_DEEDS[name.decode()](path)) != -1:
        return f"done: {got}".encode()
    return f"refused: {errno.errorcode[ctypes.get_errno()]}".encode()


def goes_on(request: bytes) -> bytes:
    """Use a parser's needs: memory, threads, time, randomness."""
    done: list[int] = []
    threads = [threading.Thread(target=lambda: done.append(len(bytes(8 << 20)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.001)
    return f"{len(done)} threads, {len(ssl.RAND_bytes(8))} bytes".encode()


def imports(request: bytes) -> bytes:
    try:
        importlib.import_module(request.decode())
    except ImportError as error:
        return str(error).encode()
    return b"imported"


def aborts(request: bytes) -> bytes:
    _LIBC.abort()
    return b""


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_ssize_t
_LOOPBACK = struct.pack("=HHI8x", socket.AF_INET, socket.htons(9), 0x0100007F)
_ANONYMOUS = 0x22
C_DEEDS: dict[str, Callable[[bytes], int]] = {
    "open": lambda path: _LIBC.open(path, os.O_RDONLY),
    "open to write": lambda path: _LIBC.open(path, os.O_RDWR),
    "make": lambda path: _LIBC.open(path + b".new", os.O_CREAT | os.O_WRONLY, 0o600),
    "stat": lambda path: _LIBC.access(path, os.R_OK),
    "unlink": _LIBC.unlink,
    "rename": lambda path: _LIBC.rename(path, path + b".new"),
    "socket": lambda _: _LIBC.socket(socket.AF_INET, socket.SOCK_STREAM, 0),
    "unix socket": lambda _: _LIBC.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0),
    "connect": lambda _: _LIBC.connect(0, _LOOPBACK, len(_LOOPBACK)),
    "fork": lambda _: _LIBC.fork(),
    "exec": lambda _: _LIBC.execv(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None)),
    "kill": lambda _: _LIBC.kill(os.getppid(), 0),
    "ptrace": lambda _: _LIBC.ptrace(16, os.getppid(), 0, 0),
    "read another's memory": lambda _: _LIBC.process_vm_readv(os.getppid(), None, 0, None, 0, 0),
    "memory file": lambda _: _LIBC.memfd_create(b"x", 0),
    "run what was written": lambda _: _LIBC.mmap(None, 4096, 7, _ANONYMOUS, -1, 0),
    "raise a limit": lambda _: _LIBC.prlimit(0, resource.RLIMIT_FSIZE, bytes(16), None),
    "io_uring": lambda _: _LIBC.syscall(425, 8, None),
    "bpf": lambda _: _LIBC.syscall(321, 0, None, 0),
}

_LEAKED: list[bytes] = []
TASKS: Tasks = {f.__name__: f for f in (echo, stall, crash, hog, leak, refuse, bug, chatter, pid, nap, rights, deed)}
TASKS = {**TASKS, **{f.__name__: f for f in (burn, ppid, in_c, goes_on, imports, aborts)}}

if __name__ == "__main__":
    if "late" in sys.argv:
        time.sleep(0.3)
    sys.exit(main(lambda: TASKS))

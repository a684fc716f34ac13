"""The rights that a worker gives up permanently before its first task: Landlock, seccomp and limits.

There are four layers, from the outside in. The limits are the system's: memory, open files, no growing file. Landlock
(Linux 5.13 or later) and a filter of system calls (seccomp) are the kernel's and apply to C code, threads and children:
a compromised parser can't open a file, reach a network, start a process or make memory executable. If the kernel lacks
them, or a container refuses them, the worker's first frame reports that. An audit hook sees Python's actions (PEP 578):
opening a file, making a socket or starting a process ends the worker at once, since no parser of ours has a reason to.
And imports are disabled: `tasks.py` has loaded everything. Numbers and bits are from the kernel's headers.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

_CREATE, _RESTRICT, _VERSION = 444, 446, 1
_FILES: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of file rights by interface version: one bit each, from the lowest."""
_NETWORK: Final = 4  # from this version on: binding and connecting TCP, two bits
_SCOPES: Final = 6  # from this version on: abstract sockets of others, and signals to them, two bits


def apply_landlock(libc: ctypes.CDLL) -> str:
    """Give up every right that Landlock knows. Returns the obstacle, or "". Needs no_new_privs."""
    version = _call(libc, _CREATE, None, 0, _VERSION)
    if version < 1:
        return _reason()
    rights = _attributes(version)
    ruleset = _call(libc, _CREATE, rights, len(rights), 0)
    if ruleset < 0:
        return _reason()
    reason = _reason() if _call(libc, _RESTRICT, ruleset, 0, 0) else ""
    os.close(ruleset)
    return reason


def _attributes(version: int) -> bytes:
    """Return the kernel's `landlock_ruleset_attr` with everything that this version handles."""
    files = max(bits for since, bits in _FILES.items() if since <= version)
    words = [(1 << files) - 1, *(0b11 for since in (_NETWORK, _SCOPES) if version >= since)]
    return struct.pack(f"{len(words)}Q", *words)


def _call(libc: ctypes.CDLL, number: int, first: bytes | int | None, second: int, third: int) -> int:
    head = ctypes.c_long(first) if isinstance(first, int) else ctypes.c_char_p(first)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(number), head, ctypes.c_long(second), ctypes.c_long(third)))


def _reason() -> str:
    return os.strerror(ctypes.get_errno())


_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_X32, _LOW = 0x40000000, 0xFFFFFFFF
_CLONE_THREAD, _PROT_EXEC = 0x10000, 4


@dataclass(frozen=True, slots=True)
class Machine:
    """An architecture: its name for the kernel's audit, and its call numbers."""

    audit: int
    calls: dict[str, int]


_X86_64: Final = (
    "read 0 write 1 close 3 fstat 5 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12 rt_sigaction 13 "
    "rt_sigprocmask 14 rt_sigreturn 15 pread64 17 readv 19 writev 20 select 23 sched_yield 24 mremap 25 madvise 28 "
    "nanosleep 35 getitimer 36 setitimer 38 getpid 39 clone 56 exit 60 uname 63 gettimeofday 96 getrlimit 97 "
    "getrusage 98 sysinfo 99 times 100 getuid 102 getgid 104 geteuid 107 getegid 108 getppid 110 sigaltstack 131 "
    "gettid 186 time 201 futex 202 sched_getaffinity 204 restart_syscall 219 clock_gettime 228 clock_getres 229 "
    "clock_nanosleep 230 exit_group 231 tgkill 234 pselect6 270 ppoll 271 set_robust_list 273 prlimit64 302 "
    "getrandom 318 membarrier 324 rseq 334 clone3 435"
)
_AARCH64: Final = (
    "read 63 write 64 close 57 fstat 80 lseek 62 mmap 222 mprotect 226 munmap 215 brk 214 rt_sigaction 134 "
    "rt_sigprocmask 135 rt_sigreturn 139 pread64 67 readv 65 writev 66 sched_yield 124 mremap 216 madvise 233 "
    "nanosleep 101 getitimer 102 setitimer 103 getpid 172 clone 220 exit 93 uname 160 gettimeofday 169 getrlimit 163 "
    "getrusage 165 sysinfo 179 times 153 getuid 174 getgid 176 geteuid 175 getegid 177 getppid 173 sigaltstack 132 "
    "gettid 178 futex 98 sched_getaffinity 123 restart_syscall 128 clock_gettime 113 clock_getres 114 "
    "clock_nanosleep 115 exit_group 94 tgkill 131 pselect6 72 ppoll 73 set_robust_list 99 prlimit64 261 "
    "getrandom 278 membarrier 283 rseq 293 clone3 435"
)


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


MACHINES: Final = {"x86_64": Machine(0xC000003E, _table(_X86_64)), "aarch64": Machine(0xC00000B7, _table(_AARCH64))}
Condition = tuple[int, int, int]  # the argument's index, the relevant bits of its 64, and their required value


def install_seccomp_filter(libc: ctypes.CDLL) -> str:
    """Install the filter. Returns the obstacle, or "". Needs no_new_privs."""
    name = os.uname().machine
    machine = MACHINES.get(name)
    if machine is None or sys.maxsize < 1 << 32:
        return f"there is no table of system calls for {name}"
    bytecode = seccomp_program(machine, os.getpid())
    code = ctypes.create_string_buffer(bytecode, len(bytecode))
    # struct sock_fprog: a count of 16 bits, then a pointer, which the compiler aligns.
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(bytecode) // 8, ctypes.addressof(code)))
    status = libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(head), ctypes.c_ulong(0))
    return "" if status == 0 else os.strerror(ctypes.get_errno())


def seccomp_program(machine: Machine, pid: int) -> bytes:
    """Return the filter for a machine in the kernel's format (classic BPF, 8 bytes a step). pid: of this process."""
    all_bits = (1 << 64) - 1
    limited: dict[str, Sequence[Condition]] = {
        "mmap": [(2, _PROT_EXEC, 0)],
        "mprotect": [(2, _PROT_EXEC, 0)],
        "clone": [(0, _CLONE_THREAD, _CLONE_THREAD)],  # a thread of this process, never another process
        "tgkill": [(0, _LOW, pid)],  # abort() is a signal to oneself
        "prlimit64": [(0, _LOW, 0), (2, all_bits, 0)],  # reads its own limits, sets none
    }
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, machine.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _X32, 0, 1),  # x86-64's other set of numbers, a way round every table
        _step(_RETURN, _KILL),
    ]
    for name, number in machine.calls.items():
        # Its flags are in memory, where no filter sees them; without it the C library uses `clone`.
        answer = _ERROR | _ENOSYS if name == "clone3" else _ALLOW
        block = [*_checked(limited.get(name, ())), _step(_RETURN, answer)]
        steps += [_step(_EQUAL, number, 0, len(block)), *block]
    return b"".join([*steps, _step(_RETURN, _ERROR | _EPERM)])


def _checked(conditions: Sequence[Condition]) -> list[bytes]:
    """Return steps that return EPERM unless all conditions hold. Arguments are read in halves of 32 bits."""
    steps = []
    for argument, bits, required in conditions:
        for half in (0, 1):
            mask, value = (bits >> 32 * half) & _LOW, (required >> 32 * half) & _LOW
            if mask:
                steps += [_step(_LOAD, _FIRST_ARGUMENT_AT + 8 * argument + 4 * half), _step(_AND, mask)]
                steps += [_step(_EQUAL, value, 1, 0), _step(_RETURN, _ERROR | _EPERM)]
    return steps


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


VIOLATION_EXIT: Final = 86  # the exit code of a worker that did something forbidden

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_FORBIDDEN_EVENTS: Final = ("socket.", "subprocess.", "os.", "pty.", "ctypes.dlopen", "urllib.", "shutil.", "tempfile.")
_HARMLESS: Final = frozenset({"builtins.id", "array.__new__", "import", "compile", "exec", "marshal.loads"})
"""Frequent events of parsers; skipped first, the hook costs about 1 % of reading a feed."""


def confine(limits: Mapping[str, int]) -> str:
    """Give up rights; return the missing ones in a few words. limits: `memory` in bytes, `files` open at once."""
    _limit(resource.RLIMIT_AS, limits["memory"])
    _limit(resource.RLIMIT_NOFILE, limits["files"])
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    sys.meta_path[:] = [_NoImports()]
    missing = _confine_in_kernel()
    sys.addaudithook(_audit)
    return missing


def _confine_in_kernel() -> str:
    if sys.platform != "linux":
        _limit(resource.RLIMIT_NPROC, 0)
        return f"no Landlock and no seccomp on {sys.platform}"
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    landlock, seccomp = apply_landlock(libc), install_seccomp_filter(libc)  # the filter forbids Landlock's calls
    if seccomp:
        _limit(resource.RLIMIT_NPROC, 0)  # root is exempt, and this also forbids threads; the filter distinguishes them
    missing = {"Landlock": landlock, "seccomp": seccomp}
    return ", ".join(f"no {mechanism} ({obstacle})" for mechanism, obstacle in missing.items() if obstacle)


def _limit(kind: int, value: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    allowed = value if hard_limit == resource.RLIM_INFINITY else min(value, hard_limit)
    resource.setrlimit(kind, (allowed, allowed))


class _NoImports:
    """Finds no module. The kernel would refuse the file as well, but libraries expect an ImportError."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> NoReturn:
        raise ModuleNotFoundError(f"a worker imports nothing once it has started: {name}", name=name)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _HARMLESS:
        return
    if event == "open":
        if isinstance(arguments[0], int):
            return  # it is already open
    elif not event.startswith(_FORBIDDEN_EVENTS):
        return
    os.write(2, f"a worker must not do this: {event} {arguments!r}"[:300].encode(errors="replace") + b"\n")
    os._exit(VIOLATION_EXIT)

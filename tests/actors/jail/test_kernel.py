"""The kernel's own limits on a worker: Landlock and seccomp, in real workers (S5)."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.jail import rights
from actors.jail.pool import MOST_FAILED_STARTS
from actors.world import WorkerDied
from tests.actors.jail.hostile_worker import C_DEEDS
from tests.actors.jail.test_pool import a_jail
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
PRODUCT = [sys.executable, "-m", "actors.jail.parent"]
WEAK = "no Landlock (Function not implemented), no seccomp (Invalid argument)"
WEAKER = f"import actors.jail.rights as r; r._confine_in_kernel = lambda: {WEAK!r}; "


def landlock_version() -> int:
    """Return this kernel's version of Landlock, 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux":
        return 0
    return max(0, int(libc.syscall(ctypes.c_long(444), None, ctypes.c_long(0), ctypes.c_long(1))))


def has_seccomp() -> bool:
    status = Path("/proc/self/status")
    return status.exists() and "Seccomp:" in status.read_text() and os.uname().machine in rights.MACHINES


needs_kernel = pytest.mark.skipif(
    not (landlock_version() and has_seccomp()), reason="this kernel has no Landlock, or no seccomp"
)


@pytest.fixture
def secret() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "master.key")
        path.write_text("<key>secret</key>")
        yield path


@needs_kernel
@pytest.mark.parametrize("name", ["lxml", *C_DEEDS])
async def test_s5_c_code_in_a_worker_gets_nothing_from_outside(name: str, secret: Path) -> None:
    async with a_jail() as jail:
        told = (await jail.call("in_c", f"{name} {secret}".encode())).decode()
        assert jail.lacks() == ""
    assert told.startswith("refused") and "secret" not in told, told
    if name != "lxml":
        assert told in {"refused: EPERM", "refused: EACCES"}
    assert await trio.Path(secret).read_text() == "<key>secret</key>"
    assert not await trio.Path(f"{secret}.new").exists()


@needs_kernel
async def test_s5_memory_threads_time_and_randomness_go_on_working() -> None:
    async with a_jail() as jail:
        assert await jail.call("goes_on", b"") == b"3 threads, 8 bytes"


@needs_kernel
async def test_s5_a_worker_that_aborts_still_says_so() -> None:
    async with a_jail() as jail:
        with pytest.raises(WorkerDied, match="SIGABRT"):
            await jail.call("aborts", b"")


async def test_s5_nothing_is_imported_after_the_start() -> None:
    async with a_jail() as jail:
        assert b"imports nothing" in await jail.call("imports", b"sched")


@needs_kernel
@pytest.mark.parametrize("missing", ["landlock", "seccomp"])
def test_s5_each_jail_works_without_the_other(missing: str, secret: Path) -> None:
    """In a container that refuses one wall, the other still works."""
    without = "apply_landlock" if missing == "landlock" else "install_seccomp_filter"
    program = (
        f"import ctypes, os, actors.jail.rights as r; r.{without} = lambda libc: 'not here'; libc = ctypes.CDLL(None); "
        "os.write(1, r.confine({'memory': 1 << 30, 'files': 16}).encode() + b'\\n'); "
        f"os.write(1, str(libc.open({os.fsencode(secret)!r}, 0)).encode())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    word = {"landlock": "Landlock", "seccomp": "seccomp"}[missing]
    assert ran.stdout.splitlines() == [f"no {word} (not here)", "-1"], ran.stderr


async def test_s5_a_worker_that_the_kernel_does_not_hold_works_and_says_so() -> None:
    said: list[Any] = []
    command = [
        sys.executable,
        "-c",
        WEAKER + "from tests.actors.jail.hostile_worker import *; sys.exit(main(lambda: TASKS))",
    ]
    async with a_jail(command, log=lambda event, **fields: said.append((event, fields))) as jail:
        assert await jail.call("echo", b"x") == b"x"
        assert jail.lacks() == jail.statistics().missing == WEAK
    assert said == [("jail.weaker", {"level": "warning", "lacks": WEAK})]


async def test_s5_a_required_kernel_sandbox_allows_no_other_worker() -> None:
    command = [
        sys.executable,
        "-c",
        WEAKER + "from tests.actors.jail.hostile_worker import *; sys.exit(main(lambda: TASKS))",
    ]
    async with a_jail(command, wait=False, demanded=True, draw=lambda: 0.0) as jail:
        with (
            trio.fail_after(HANG),
            pytest.raises(WorkerDied, match=r"cannot confine it: no Landlock .*jail = demanded"),
        ):
            await jail.call("echo", b"x")
        assert MOST_FAILED_STARTS == 3


@pytest.mark.parametrize(("version", "bits", "words"), [(1, 13, 1), (2, 14, 1), (3, 15, 1), (4, 15, 2), (7, 16, 3)])
def test_s5_every_right_that_a_kernel_knows_is_taken(version: int, bits: int, words: int) -> None:
    made = rights._attributes(version)
    assert len(made) == 8 * words
    assert struct.unpack(f"{words}Q", made)[0] == (1 << bits) - 1


@pytest.mark.parametrize("name", rights.MACHINES)
def test_s5_the_filter_names_its_machine_and_lets_only_the_table_pass(name: str) -> None:
    machine = rights.MACHINES[name]
    verdict = Filter(rights.seccomp_program(machine, 77))
    allow, kill, eperm, enosys = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
    assert verdict(0x40000003, machine.calls["read"]) == kill, "another architecture's numbers"
    assert verdict(machine.audit, 0x40000000 | machine.calls["read"]) == kill, "x32"
    plain = machine.calls.keys() - {"mmap", "mprotect", "clone", "tgkill", "prlimit64", "clone3"}
    for number in range(600):
        wanted = allow if number in {machine.calls[call] for call in plain} else None
        if wanted or number not in machine.calls.values():
            assert verdict(machine.audit, number) == (wanted or eperm), number
    assert verdict(machine.audit, machine.calls["clone3"]) == enosys
    assert verdict(machine.audit, machine.calls["clone"], 0x3D0F00) == allow, "a thread"
    assert verdict(machine.audit, machine.calls["clone"], 0x1200011) == eperm, "a process"
    assert verdict(machine.audit, machine.calls["mmap"], 0, 4096, 3) == allow
    assert verdict(machine.audit, machine.calls["mprotect"], 0, 4096, 5) == eperm
    assert verdict(machine.audit, machine.calls["tgkill"], 77) == allow
    assert verdict(machine.audit, machine.calls["tgkill"], 78) == eperm
    assert verdict(machine.audit, machine.calls["prlimit64"], 0, 9, 0) == allow
    assert verdict(machine.audit, machine.calls["prlimit64"], 0, 9, 1 << 40) == eperm, "the high half counts"


class Filter:
    """Run a filter as the kernel does."""

    def __init__(self, program: bytes) -> None:
        self._steps = list(struct.iter_unpack("HBBI", program))

    def __call__(self, audit: int, number: int, *arguments: int) -> int:
        data = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
        held = at = 0
        while True:
            code, if_true, if_false, value = self._steps[at]
            at += 1
            match code:
                case 0x20:
                    (held,) = struct.unpack_from("<I", data, value)
                case 0x54:
                    held &= value
                case 0x15:
                    at += if_true if held == value else if_false
                case 0x35:
                    at += if_true if held >= value else if_false
                case _:
                    return int(value)

"""Browsers that die, hang or lose their service: each costs little and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from actors.world import Rendered, RenderFailed
from extras.browser import engine
from extras.browser.engine import CALLS, HUNG_AFTER
from extras.browser.holder import PREFIX, descendants, sweep
from extras.browser.pool import ChromiumPool
from extras.browser.real import holder_command
from sanderling.program import SOCKET
from tests.extras.browser.real import BROWSER, Web, a_pool, a_web, shown
from tests.support.children import first_line
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("browser")


def folders_of(pids: Iterable[int]) -> set[Path]:
    """Return the profile folders of these processes' browsers; other tests have folders there too."""
    lived = re.compile(rf"--user-data-dir=(\S*/{PREFIX}[^/\s]+)")
    return {Path(found) for pid in pids for found in lived.findall(command_of(pid))}


def of_kind(kind: str) -> list[int]:
    """Return the process ids of our browsers' processes of a kind; "" for the browsers themselves."""
    return [pid for pid in descendants(os.getpid()) if is_of_kind(command_of(pid), kind)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def is_of_kind(command: str, kind: str) -> bool:
    if kind:
        return f"--type={kind}" in command
    return "--remote-debugging-pipe" in command and "--type=" not in command


def is_there(pid: int) -> bool:
    """A zombie that waits for its parent counts as dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


@asynccontextmanager
async def a_browser_at_work() -> AsyncIterator[tuple[Web, ChromiumPool]]:
    """Run a browser that has rendered a page; at the end nothing of it may be left."""
    lived = set()
    async with a_web() as (site, _):
        async with a_pool() as pool:
            site.page("quick", "<p>quick</p>")
            site.page("slow", "<p>slow</p><script>setInterval(()=>document.title+='x',20);fetch('/wait')</script>")
            site.page("wait", "", after=60.0)
            assert isinstance(await shown(pool, site.url("quick")), Rendered)
            lived |= folders_of(descendants(os.getpid()))
            yield site, pool
            lived |= folders_of(descendants(os.getpid()))
        assert of_kind("") == of_kind("renderer") == [], "a process is left"
    assert lived and not [folder for folder in lived if folder.exists()]


async def ended_at_work(how: int, kind: str = "") -> tuple[RenderFailed, int]:
    """Send a signal during a render; return the render's failure and the number of browsers lost."""
    async with a_browser_at_work() as (site, pool):
        outcome: list[object] = []

        async def look() -> None:
            outcome.append(await shown(pool, site.url("slow")))

        with pytest.MonkeyPatch.context() as patch:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(look)
                await until(lambda: "/wait" in {asked.target for asked in site.seen})
                for pid in of_kind(kind):
                    os.kill(pid, how)
                if how == signal.SIGSTOP:
                    patch.setattr(engine, "HUNG_AFTER", HUNG_AFTER)
                    patch.setattr(engine, "CALLS", CALLS)
        assert isinstance(await shown(pool, site.url("quick")), Rendered), "the next look is made as ever"
        assert isinstance(outcome[0], RenderFailed), outcome
        return outcome[0], pool.statistics().lost


async def test_a_dead_browser_fails_the_check() -> None:
    failure, lost = await ended_at_work(signal.SIGKILL)
    assert failure.blame == "local" and "SIGKILL" in failure.reason and lost == 1


async def test_a_hung_browser_fails_the_check_and_its_leftovers_are_ended() -> None:
    failure, lost = await ended_at_work(signal.SIGSTOP)
    assert failure.blame == "local" and "did not answer" in failure.reason and lost == 1


async def test_a_crashed_tab_fails_its_check_and_no_browser() -> None:
    failure, lost = await ended_at_work(signal.SIGKILL, "renderer")
    assert failure.blame == "remote" and "crashed" in failure.reason and lost == 0


async def test_a_unit_of_its_own_can_hold_the_browser_behind_a_socket(tmp_path: Path) -> None:
    """Like systemd with Accept=yes and StandardInput=socket."""
    address = str(tmp_path / "socket")
    with trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM) as listener:
        await listener.bind(address)
        listener.listen()

        async def accept() -> None:
            while True:
                connection, _ = await listener.accept()
                with connection:
                    os.set_blocking(connection.fileno(), True)
                    holder = subprocess.Popen(holder_command(BROWSER), stdin=connection.fileno())  # noqa: ASYNC220
                    started.append(holder)

        started: list[subprocess.Popen[bytes]] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept)
            async with a_web() as (site, _), a_pool(path=f"{SOCKET}{address}") as pool:
                assert isinstance(await shown(pool, site.page("a", "<p>a</p>")), Rendered)
            await until(lambda: all(holder.poll() is not None for holder in started))
            nursery.cancel_scope.cancel()
    assert of_kind("") == []


async def test_a_check_that_is_given_up_leaves_nothing_open() -> None:
    async with a_browser_at_work() as (site, pool):
        for seconds in (0.0, 0.05, 0.3):
            with trio.move_on_after(seconds):
                await shown(pool, site.url("slow"))
        assert isinstance(await shown(pool, site.url("quick")), Rendered)
        assert pool.statistics().lost == 0 and pool.statistics().busy == 0


SERVICE = """
import trio
from tests.extras.browser.real import a_pool, a_web, shown
async def main():
    async with a_web() as (site, _), a_pool() as pool:
        print(type(await shown(pool, site.page("a", "<p>a</p>"))).__name__, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


async def test_when_the_service_is_killed_its_browser_ends_with_it() -> None:
    service = await trio.lowlevel.open_process([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE)
    assert service.stdout is not None
    async with service.stdout:
        assert await first_line(service.stdout) == "Rendered"
    below = descendants(service.pid)
    (folder,) = folders_of(below)
    assert len(below) > 3 and folder.exists()
    service.kill()
    await service.wait()
    await until(lambda: not any(map(is_there, below)) and not folder.exists())


def test_the_folder_of_a_killed_browser_is_swept_and_one_in_use_is_not() -> None:
    left = Path(tempfile.mkdtemp(prefix=PREFIX))
    (left / "Default").mkdir()
    used = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl,os,sys,tempfile\nd=tempfile.mkdtemp(prefix=sys.argv[1])\n"
            "f=os.open(d,os.O_RDONLY);fcntl.flock(f,fcntl.LOCK_EX);print(d,flush=True);sys.stdin.read();os.rmdir(d)",
            PREFIX,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert used.stdout is not None
    place = Path(used.stdout.readline().strip())
    sweep()
    assert not left.exists() and place.exists()
    used.communicate()

"""The admin socket needs no key: the accounts it admits, and other files at its path."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from stat import S_IMODE, S_ISSOCK
from typing import Any

import pytest
import trio

from sanderling import ADMIN_SOCKET
from sanderling.client.api import client_at
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import OwnerListener, account_of, is_owner, open_admin_socket
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
NOBODY = 65_534
CONNECTS = f"""
import os, socket, sys
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
line = socket.socket(socket.AF_UNIX)
line.settimeout(240)
try:
    line.connect(sys.argv[1])
    line.sendall(b"GET /healthz HTTP/1.1\\r\\n\\r\\n")
    print("closed" if line.recv(1) == b"" else "answered")
except (ConnectionResetError, BrokenPipeError):
    print("closed")
except PermissionError:
    print("no way in")
"""
as_root = pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs a second account")


class Log(list[tuple[str, dict[str, Any]]]):
    def __call__(self, event: str, **fields: Any) -> None:
        self.append((event, fields))


@asynccontextmanager
async def answering(listeners: Sequence[trio.abc.Listener[Any]]) -> AsyncIterator[None]:
    """Answer every accepted connection with one letter, for the length of the block."""

    async def answer(stream: trio.abc.Stream) -> None:
        async with stream:
            await stream.send_all(b"x")

    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_listeners, answer, listeners)
        yield
        nursery.cancel_scope.cancel()


async def said_to(path: Path) -> bytes:
    """Return the socket's answer to this account, b"" when it only closes."""
    async with await trio.open_unix_socket(str(path)) as stream:
        with trio.fail_after(HANG):
            try:
                return bytes(await stream.receive_some())
            except trio.BrokenResourceError:
                return b""


async def nobody_tries(path: Path) -> str:
    """Return the socket's answer to another account."""
    done = await trio.run_process([sys.executable, "-I", "-c", CONNECTS, str(path)], capture_stdout=True)
    return done.stdout.decode().strip()


def test_only_the_services_account_and_root_are_owners() -> None:
    assert is_owner(os.geteuid()) and is_owner(0)
    assert not is_owner(NOBODY)


async def test_x25_a_foreign_account_is_disconnected_and_logged_and_blocks_no_other(tmp_path: Path) -> None:
    log, owners = Log(), set[int]()
    (opened,) = await open_admin_socket(tmp_path, log)
    guarded = OwnerListener(opened._inner, owners.__contains__, opened._tell)
    async with answering([guarded]):
        assert await said_to(tmp_path / ADMIN_SOCKET) == b""
        owners.add(os.geteuid())
        assert await said_to(tmp_path / ADMIN_SOCKET) == b"x"
    assert [(event, fields["account"]) for event, fields in log] == [("admin.refused", os.geteuid())]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that other accounts may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@as_root
async def test_x25_another_account_is_refused_or_disconnected(open_folder: Path) -> None:
    log, path = Log(), open_folder / ADMIN_SOCKET
    async with answering(await open_admin_socket(open_folder, log)):
        assert await nobody_tries(path) == "no way in"
        await trio.Path(path).chmod(0o666)
        assert await nobody_tries(path) == "closed"
        assert await said_to(path) == b"x"
    assert [fields["account"] for _, fields in log] == [NOBODY]


async def test_the_account_at_the_other_end_is_the_systems_word(tmp_path: Path) -> None:
    (listener,) = await open_admin_socket(tmp_path, Log())
    async with listener, await trio.open_unix_socket(str(tmp_path / ADMIN_SOCKET)), await listener.accept() as stream:
        assert account_of(stream.socket) in ((os.geteuid(),) if hasattr(socket, "SO_PEERCRED") else (None,))


async def test_x25_a_link_in_place_of_the_socket_is_removed_and_its_target_stays(tmp_path: Path) -> None:
    kept, path = tmp_path / "kept", tmp_path / ADMIN_SOCKET
    kept.write_text("mine")
    path.symlink_to(kept)
    async with answering(await open_admin_socket(tmp_path, Log())):
        assert S_ISSOCK(path.lstat().st_mode) and S_IMODE(path.lstat().st_mode) == 0o600
        assert await said_to(path) == b"x"
    assert kept.read_text() == "mine"


async def test_a_socket_that_a_dead_process_left_is_taken_over(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / ADMIN_SOCKET))
    dead.close()
    with pytest.raises(CommandFailed, match="No service runs on the data folder") as told:
        async with client_at(tmp_path) as client:
            await client.ask("GET", "/healthz")
    assert told.value.code == Exit.UNREACHABLE and f"serve --data {tmp_path}" in told.value.message
    async with answering(await open_admin_socket(tmp_path, Log())):
        assert await said_to(tmp_path / ADMIN_SOCKET) == b"x"


@pytest.mark.parametrize("stranger", ["link", "file", "account"])
def test_x25_a_command_refuses_a_socket_that_is_not_its_services(
    stranger: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ADMIN_SOCKET
    if stranger == "file":
        path.write_text("")
    else:
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(tmp_path / "other"))
        (path.symlink_to if stranger == "link" else path.hardlink_to)(tmp_path / "other")
    if stranger == "account":
        if os.geteuid() != 0:
            pytest.skip("needs a second account")
        os.chown(path, NOBODY, NOBODY)
    with pytest.raises(CommandFailed, match="not the socket of your service"):
        client_at(tmp_path)

"""The listener of the admin socket. It admits only the service's own account and root.

Two locks: the socket's mode (0600), which the kernel checks on connect, and the peer's account (SO_PEERCRED, Linux
only). The second holds even if the mode was changed or the socket was passed on.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from sanderling import ADMIN_SOCKET

BACKLOG = 128
ROOT = 0
_CREDENTIALS = struct.Struct("3i")
"""`struct ucred`: process, account, group (unix(7))."""


class OwnerListener(trio.abc.Listener[trio.SocketStream]):
    """Accepts connections from accounts that pass `is_owner`; reports the others to `tell` and closes them."""

    def __init__(
        self, inner: trio.SocketListener, is_owner: Callable[[int], bool], tell: Callable[[int], None]
    ) -> None:
        self._inner, self._is_owner, self._tell = inner, is_owner, tell

    async def accept(self) -> trio.SocketStream:
        """Return the next owner's connection. Raises OSError."""
        while True:
            stream = await self._inner.accept()
            account = account_of(stream.socket)
            if account is None or self._is_owner(account):
                return stream
            await trio.aclose_forcefully(stream)
            self._tell(account)

    async def aclose(self) -> None:
        await self._inner.aclose()


def account_of(connection: trio.socket.SocketType) -> int | None:
    """Return the account at the other end of a Unix socket; None if the system cannot report it."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    _process, account, _group = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return int(account)


def is_owner(account: int) -> bool:
    return account in (ROOT, os.geteuid())


async def open_admin_socket(folder: Path, log: Callable[..., None]) -> Sequence[OwnerListener]:
    """Listen on the admin socket of a data folder and log refused connections. Raises OSError.

    The folder is ours: an existing socket is stale, and unlinking a symlink removes only the link. Nothing can connect
    before the mode is set, because a bound socket refuses until it listens.
    """
    path = folder / ADMIN_SOCKET
    path.unlink(missing_ok=True)
    ours = trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM)
    try:
        await ours.bind(str(path))
        path.chmod(0o600)
        ours.listen(BACKLOG)
    except BaseException:
        ours.close()
        raise

    def tell(account: int) -> None:
        log("admin.refused", level="warning", account=account, says="The admin socket is for this account and root.")

    return [OwnerListener(trio.SocketListener(ours), is_owner, tell)]

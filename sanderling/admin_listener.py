"""The listener of the admin socket, which lets in the service's own account and root, and nobody else.

Two locks: the socket's mode (0600), which the kernel asks before it connects anybody, and the account at the other end
(SO_PEERCRED, Linux only), which holds also where the mode was changed, or the socket was handed on.
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
    """Accepts those whom `is_owner` lets in, by the number of their account, and closes on the others."""

    def __init__(
        self, inner: trio.SocketListener, is_owner: Callable[[int], bool], tell: Callable[[int], None]
    ) -> None:
        self._inner, self._is_owner, self._tell = inner, is_owner, tell

    async def accept(self) -> trio.SocketStream:
        """Return the next connection of an owner. Raises OSError."""
        while True:
            stream = await self._inner.accept()
            account = account_of(stream.socket)
            if account is None or self._is_owner(account):
                return stream
            await trio.aclose_forcefully(stream)
            self._tell(account)

    async def aclose(self) -> None:
        """Close the socket."""
        await self._inner.aclose()


def account_of(connection: trio.socket.SocketType) -> int | None:
    """Return the number of the account that connected a Unix socket; None where the system does not say it."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    _process, account, _group = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return int(account)


def is_owner(account: int) -> bool:
    """Return whether an account is the one that this process has, or root."""
    return account in (ROOT, os.geteuid())


async def open_admin_socket(folder: Path, log: Callable[..., None]) -> Sequence[OwnerListener]:
    """Listen on the admin socket of a data folder. Who is turned away is logged. Raises OSError.

    The folder is ours: a socket that is there is left from an earlier life, and of a link only the link goes. Nobody
    can connect before the mode is set, because a bound socket refuses until it listens.
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

"""The service's listeners: its own TLS certificate, and the admin socket, which admits only its own account and root.

Renewal writes the certificate's two files at different moments. A mismatched or unreadable pair is reported once and
the old one stays in use; each later change is tried again. Open connections keep their certificate.

The admin socket has two locks: its mode (0600), which the kernel checks on connect, and the peer's account
(SO_PEERCRED, Linux only). The second holds even if the mode was changed or the socket was passed on.
"""

from __future__ import annotations

import os
import socket
import ssl
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from actors.world import Renewal
from sanderling import ADMIN_SOCKET

ALPN = ("http/1.1",)
BACKLOG = 128
ROOT = 0
_CREDENTIALS = struct.Struct("3i")  # `struct ucred`: process, account, group (unix(7))
Stamp = tuple[tuple[int, int, int] | None, ...]


class CertificateUnusable(Exception):
    """The files are no usable pair; the message explains why."""


class CertificateFiles:
    """A PEM certificate chain and its private key. Raises CertificateUnusable on construction."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._paths = certificate, key
        self._seen = self._stamp()
        self._context = self._load()

    def wrap(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        """Wrap the server side in TLS with the newest good certificate. The handshake comes later."""
        return trio.SSLStream(stream, self._context, server_side=True, https_compatible=True)

    def refresh(self) -> Renewal | None:
        """Reload the files if they changed and return the outcome; None if unchanged."""
        stamp = self._stamp()
        if stamp == self._seen:
            return None
        self._seen = stamp
        try:
            self._context = self._load()
        except CertificateUnusable as error:
            return Renewal(False, f"{error} The old certificate stays in use.")
        return Renewal(True, f"{self._paths[0]} is in use for new connections.")

    def _stamp(self) -> Stamp:
        return tuple(_stamp_of(path) for path in self._paths)

    def _load(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(ALPN)
        certificate, key = self._paths
        for path in self._paths:
            _check_readable(path)
        try:
            context.load_cert_chain(certificate, key, password=_no_password)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                raise CertificateUnusable(f"{key} is not the key of {certificate}.") from None
            why = f" ({error.reason.replace('_', ' ').lower()})" if error.reason else ""
            raise CertificateUnusable(
                f"{certificate} and {key} must hold a certificate chain and its private key in PEM{why}."
            ) from None
        except _Encrypted:
            raise CertificateUnusable(f"{key} is encrypted: use a key without a password.") from None
        return context


class _Encrypted(Exception):
    """The key asks for a password."""


def _no_password() -> str:
    raise _Encrypted


def _check_readable(path: Path) -> None:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise CertificateUnusable(f"{path} can't be read: {error.strerror or error}.") from None


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return a stamp that changes when the file is written or replaced, even behind a link; None if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


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
    if (option := getattr(socket, "SO_PEERCRED", None)) is None:
        return None
    _process, account, _group = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return int(account)


def is_owner(account: int) -> bool:
    return account in (ROOT, os.geteuid())


async def open_admin_socket(folder: Path, log: Callable[..., None]) -> Sequence[OwnerListener]:
    """Listen on the admin socket of a data folder and log refused connections. Raises OSError. The folder is ours: an
    existing socket is stale, and unlinking a symlink removes only the link. Nothing can connect before the mode is set,
    because a bound socket refuses until it listens.
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
